//! Hooks after an op: who looks at a result, and what they make of it before its row is recorded.

use super::{HookAsk, HooksSaid, OfOp, tool_of};
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::step::Step;
use crate::words;
use cairn_types::{Body, ContentRef, HookEvent, Hooked, Outcome, Settled, Status};

/// What hooks made of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concluded {
    /// What happened.
    pub outcome: Outcome,
    /// The result that the model reads: a hook may have replaced it.
    pub result: ContentRef,
    /// What hooks add after it.
    pub added: Vec<ContentRef>,
}

impl OpState {
    /// What hooks made of its result. Absent when it was not performed or its row is settled.
    #[must_use]
    pub fn concluded(&self) -> Option<Concluded> {
        let (hooks, outcome) = (&self.hooks, self.performed()?.clone());
        let given = hooks.after.iter().rev().find_map(|one| one.answer.substitute);
        let late = hooks.after.iter().flat_map(added);
        let result = given.unwrap_or(outcome.result);
        Some(Concluded { outcome, result, added: hooks.early().chain(late).copied().collect() })
    }
}

impl OpInRun<'_> {
    /// It was performed, was tried and failed, or a hook gave its result: what is recorded of that
    /// now.
    #[must_use]
    pub fn result_fact(&self, outcome: Outcome) -> Body {
        let is_tried = outcome.settled == Settled::Performed || !outcome.status.is_success();
        match (is_tried || self.is_answered()) && self.is_looked_at(&outcome) {
            true => Body::Performed(outcome),
            false => Body::Outcome(outcome),
        }
    }

    /// What the model reads instead of its result when the run was stopped before all hooks had looked at
    /// it: one of them might have kept it back.
    #[must_use]
    pub fn withheld_result_text(&self) -> Option<&'static str> {
        let is_unheard = self.unheard(self.performed()?).is_some();
        (self.lap.is_aborted() && is_unheard).then_some(words::UNHEARD)
    }

    /// The op was performed and its result is looked at: who is next, or nobody.
    pub(crate) fn step_performed(&self, outcome: &Outcome) -> Step {
        match self.unheard(outcome).filter(|_| !self.lap.is_aborted()) {
            Some(name) => Step::Hook(HookAsk::about(self.op, looks_at(outcome.status), name)),
            None => Step::Conclude(self.op.intent.at),
        }
    }

    /// Who has not had a word on a result yet.
    fn unheard(&self, outcome: &Outcome) -> Option<&str> {
        let has_said = |name: &str| self.op.hooks.after.iter().any(|one| one.name == name);
        let mut wanted =
            self.run.driving.hooks_at(looks_at(outcome.status), Some(tool_of(self.op)?));
        wanted.find(|name| !has_said(name))
    }

    /// Whether hooks have something to say on a result before it is recorded.
    fn is_looked_at(&self, outcome: &Outcome) -> bool {
        let event = looks_at(outcome.status);
        self.op.hooks.early().next().is_some()
            || tool_of(self.op)
                .is_some_and(|tool| self.run.driving.hooks_at(event, Some(tool)).next().is_some())
    }

    fn is_answered(&self) -> bool {
        self.op.hooks.misread.iter().any(|one| one.answer.substitute.is_some())
            || matches!(self.hooks_said(), HooksSaid::Substituted(..))
            || self.made_before().is_some()
    }
}

impl OfOp {
    /// What hooks added before there was a result.
    fn early(&self) -> impl Iterator<Item = &ContentRef> {
        let before = self.before.iter().flat_map(|one| one.answer.context.iter());
        self.misread.iter().flat_map(added).chain(before).chain(self.hosts.iter().flat_map(added))
    }
}

/// What is told after a result by a hook whose no is only words.
fn added(one: &Hooked) -> impl Iterator<Item = &ContentRef> {
    one.answer.block.iter().chain(&one.answer.context)
}

/// Who looks at a result of this status.
fn looks_at(status: Status) -> HookEvent {
    match status.is_success() {
        true => HookEvent::PostToolUse,
        false => HookEvent::PostToolUseFailure,
    }
}
