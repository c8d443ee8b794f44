//! Hooks and calls that make no sense: one may give the result, or say what was meant.

use super::HookAsk;
use crate::admit::{Recording, outcome};
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::step::Step;
use cairn_types::{HookEvent, Hooked, Problem, Settled, Status, Surface};

/// What is wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misread {
    /// There is no such tool.
    Unknown,
    /// Its arguments cannot be read.
    Invalid,
}

impl OpState {
    /// What is wrong with the call as the model wrote it, if that is what keeps it from being done.
    #[must_use]
    pub fn misread(&self) -> Option<Misread> {
        let problem = self.intent.problem.as_ref()?;
        let is_model = self.intent.op.is_none() && self.intent.surface != Surface::Client;
        let has_answer = self.hooks.misread.iter().any(is_answer);
        let has_change = self.hooks.before.iter().any(is_answer);
        match problem.status {
            _ if !is_model || has_answer || has_change => None,
            Status::NOT_IMPLEMENTED => Some(Misread::Unknown),
            Status::BAD_REQUEST => Some(Misread::Invalid),
            _ => None,
        }
    }
}

impl OpInRun<'_> {
    /// The op is not done because of this problem: who is asked about it, or what is recorded.
    pub(crate) fn step_problem(&self, problem: &Problem) -> Step {
        let said = &self.op.hooks.misread;
        let has_said = |name: &str| said.iter().any(|one| one.name == name);
        let asked =
            self.run.driving.hooks_at(HookEvent::UnknownTool, None).find(|name| !has_said(name));
        if let (Some(_), Some(name), false) = (self.op.misread(), asked, self.lap.is_aborted()) {
            return Step::Hook(HookAsk::about(self.op, HookEvent::UnknownTool, name));
        }
        if let Some(result) = said.iter().find_map(|one| one.answer.substitute) {
            return Step::Record(self.answered(Vec::new(), result));
        }
        let outcome = outcome(self.op, problem.status, problem.message, Settled::NotPerformed);
        Step::Record(Recording::of(self.result_fact(outcome)))
    }
}

/// Whether that settles what becomes of the call.
fn is_answer(one: &Hooked) -> bool {
    one.answer.substitute.is_some() || one.answer.input.is_some()
}
