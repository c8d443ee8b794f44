//! Hooks before an op acts: at the gate, before a person is asked, when that was decided, and when it is
//! about to begin.

use super::{HookAsk, OfOp, tool_of};
use crate::admit::Recording;
use crate::gates::Leave;
use crate::op::{Decided, OpStage};
use crate::op_in_run::OpInRun;
use crate::reach::Reach;
use crate::step::Step;
use crate::words;
use cairn_types::{ContentRef, HookEvent, HookWord, Hooked, Status};

/// What the hooks before an op say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HooksSaid {
    /// There are none.
    None,
    /// These would be asked.
    Unasked(Vec<String>),
    /// This one is to be asked.
    Pending(HookAsk),
    /// This one says no.
    Blocked(String, ContentRef),
    /// This one changed what hooks had changed before.
    ChangedTwice(String),
    /// This one gave the result.
    Substituted(String, ContentRef),
    /// None of these minds.
    Passed(Vec<String>, Option<HookWord>),
}

impl OfOp {
    /// Whether a hook made another op of what the model meant.
    fn is_changed(&self) -> bool {
        self.before.iter().any(|one| one.answer.input.is_some())
    }

    fn has_said(&self, event: HookEvent, again: bool, name: &str) -> bool {
        let is = |one: &Hooked| (one.event, one.again, &*one.name) == (event, again, name);
        self.before.iter().any(is)
    }

    /// Who decides, by all that was said. A question counts whenever it was asked for; a yes only since
    /// the op is what it is, so that nobody's yes to one op is one to another.
    fn word(&self) -> Option<HookWord> {
        let changed = self.before.iter().rposition(|one| one.answer.input.is_some());
        let asks = self.before.iter().any(|one| one.answer.word == Some(HookWord::Ask));
        let since = self.before.iter().skip(changed.unwrap_or(0));
        let allows = || since.filter_map(|one| one.answer.word).next();
        if asks { Some(HookWord::Ask) } else { allows() }
    }

    /// What was said about reaching exactly these hosts.
    pub(crate) fn about_hosts<'a>(
        &'a self,
        hosts: &'a [String],
    ) -> impl Iterator<Item = &'a Hooked> {
        self.hosts.iter().filter(move |one| one.hosts == hosts)
    }

    /// Who decides which hosts are reached, by all that was said about that; who wants a person asked
    /// about the op wants that, too.
    pub(crate) fn word_on_hosts(&self, hosts: &[String]) -> Option<HookWord> {
        let before = self.before.iter().filter(|one| one.answer.word == Some(HookWord::Ask));
        let words =
            || before.clone().chain(self.about_hosts(hosts)).filter_map(|one| one.answer.word);
        words().find(|word| *word == HookWord::Ask).or_else(|| words().next())
    }
}

impl OpInRun<'_> {
    /// What hooks say before an op. What was said counts, whoever drives now.
    pub(crate) fn hooks_said(&self) -> HooksSaid {
        let said = &self.op.hooks.before;
        // What a command in the background changed: they were asked before it ran.
        let called = tool_of(self.op).filter(|_| self.op.intent.of.is_none());
        let mut names: Vec<&str> = called.map_or_else(Vec::new, |tool| {
            self.run.driving.hooks_at(HookEvent::PreToolUse, Some(tool)).collect()
        });
        for one in said {
            if let Some(told) = one.answer.block {
                return HooksSaid::Blocked(one.name.clone(), told);
            }
            if one.again && one.answer.input.is_some() {
                return HooksSaid::ChangedTwice(one.name.clone());
            }
        }
        let rounds = if self.op.hooks.is_changed() { 2 } else { 1 };
        for again in [false, true].into_iter().take(rounds) {
            let has_said = |name: &str| self.op.hooks.has_said(HookEvent::PreToolUse, again, name);
            if let Some(name) = names.iter().find(|name| !has_said(name)) {
                let ask = HookAsk::about(self.op, HookEvent::PreToolUse, name);
                return HooksSaid::Pending(HookAsk { again, ..ask });
            }
        }
        if let Some(ask) = self.rest_before_question() {
            return HooksSaid::Pending(ask);
        }
        if let Some((name, result)) =
            said.iter().find_map(|one| Some((one.name.clone(), one.answer.substitute?)))
        {
            return HooksSaid::Substituted(name, result);
        }
        if names.is_empty() && said.is_empty() {
            return HooksSaid::None;
        }
        for one in said.iter().filter(|one| one.event == HookEvent::PermissionRequest) {
            if !names.contains(&&*one.name) {
                names.push(&one.name);
            }
        }
        let names = names.into_iter().map(str::to_owned).collect();
        HooksSaid::Passed(names, self.op.hooks.word())
    }

    /// A person would be asked about the op: who is asked before.
    pub(crate) fn before_question(&self) -> Option<HookAsk> {
        let (event, again) = (HookEvent::PermissionRequest, self.op.hooks.is_changed());
        let mut names = self.run.driving.hooks_at(event, Some(tool_of(self.op)?));
        let name = names.find(|name| !self.op.hooks.has_said(event, again, name))?;
        Some(HookAsk { again, ..HookAsk::about(self.op, event, name) })
    }

    /// A person would be asked which hosts it may reach: who is asked before.
    pub(crate) fn before_hosts(&self, hosts: Vec<String>) -> Option<HookAsk> {
        let event = HookEvent::PermissionRequest;
        let has_said = |name: &str| self.op.hooks.about_hosts(&hosts).any(|one| one.name == name);
        let name = self
            .run
            .driving
            .hooks_at(event, Some(tool_of(self.op)?))
            .find(|name| !has_said(name))?;
        let ask = HookAsk::about(self.op, event, name);
        Some(HookAsk { hosts, again: self.op.hooks.is_changed(), ..ask })
    }

    /// Once one was asked before a question, all are, so that a later no beats an earlier yes.
    fn rest_before_question(&self) -> Option<HookAsk> {
        let again = self.op.hooks.is_changed();
        let is_first =
            |one: &Hooked| one.event == HookEvent::PermissionRequest && one.again == again;
        let is_open = matches!(self.op.stage, OpStage::Requested);
        let has_begun = self.op.hooks.before.iter().any(is_first);
        self.before_question().filter(|_| is_open && has_begun)
    }

    /// An op that someone allowed still passes hooks that the present driver has not asked about it.
    pub(crate) fn step_unasked(&self) -> Option<Step> {
        match self.hooks_said() {
            HooksSaid::Pending(ask) => Some(Step::Hook(ask)),
            HooksSaid::Blocked(_, told) => {
                Some(Step::Record(Recording::outcome_by_ref(self.op, Status::REFUSED, told)))
            }
            HooksSaid::ChangedTwice(_) => {
                let told = words::CHANGED_TWICE;
                Some(Step::Record(Recording::not_performed(self.op, Status::REFUSED, told)))
            }
            HooksSaid::Substituted(..) => match self.leave(&Reach::default()) {
                Leave::Answered(gates, result) => Some(Step::Record(self.answered(gates, result))),
                _ => None,
            },
            _ => None,
        }
    }

    /// Somebody allowed an op that changes something: who is asked before it begins, or who vetoed it.
    pub(crate) fn step_accepting(&self) -> Option<Step> {
        let said = &self.op.hooks.accepting;
        if let Some(told) = said.iter().find_map(|one| one.answer.block) {
            return Some(Step::Record(Recording::outcome_by_ref(self.op, Status::REFUSED, told)));
        }
        let mut names = self.run.driving.hooks_at(HookEvent::Accepting, Some(tool_of(self.op)?));
        let name = names.find(|name| !said.iter().any(|one| one.name == *name))?;
        let again = self.op.hooks.is_changed();
        Some(Step::Hook(HookAsk { again, ..HookAsk::about(self.op, HookEvent::Accepting, name) }))
    }

    /// A question waits for a word: somebody is told of it first, if anybody is.
    pub(crate) fn step_question(&self) -> Step {
        let asked = self.watcher(HookEvent::Notification, None);
        asked.map_or(Step::Await(self.op.intent.at), Step::Hook)
    }

    /// The newest question about the op was decided: who looks at that.
    pub(crate) fn step_watched(&self) -> Option<Step> {
        let (decision, question) = match &self.op.stage {
            OpStage::Decided(Decided { question, decision }) => (decision, question.as_ref()?),
            OpStage::Begun(begun) => {
                let doubt = begun.doubt.as_ref()?;
                (doubt.decision.as_ref()?, &doubt.question)
            }
            OpStage::Requested
            | OpStage::Held(_)
            | OpStage::Performed { .. }
            | OpStage::Settled { .. } => {
                return None;
            }
        };
        if decision.proposal.as_ref() != Some(&question.id) || self.lap.is_aborted() {
            return None;
        }
        self.watcher(HookEvent::Decided, Some(tool_of(self.op)?)).map(Step::Hook)
    }

    fn watcher(&self, event: HookEvent, tool: Option<&str>) -> Option<HookAsk> {
        let watched = |name: &str| self.op.hooks.watched.contains(&(event, name.to_owned()));
        let name = self.run.driving.hooks_at(event, tool).find(|name| !watched(name))?.to_owned();
        Some(HookAsk::about(self.op, event, &name))
    }
}
