//! An op began and nobody saw it end. What becomes of it.

use crate::admit::Recording;
use crate::op::{HostsReached, OpState};
use crate::op_in_run::OpInRun;
use crate::propose::{NewQuestion, unfinished};
use crate::state::Engine;
use crate::words;
use cairn_types::{Begin, ProposalItem, ProposalKind, Settled, Status};

/// What the disk shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Every path is as it was meant to be.
    Done,
    /// Every path is as it was before.
    NotDone,
    /// Some are as they were meant to be, the others as they were before.
    Partly,
    /// Neither, or the effect was no file write.
    Unknown,
}

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// Record these facts.
    Record(Recording),
    /// Perform it: it did not happen, or happening twice is harmless.
    Repeat,
    /// Make the changes that are missing; then it is done.
    Finish,
}

impl OpState {
    /// Whether what it changes is found out once more: not what a command in the background changed, nor
    /// one that may have reached hosts.
    fn is_found_out_again(&self) -> bool {
        self.intent.of.is_none() && self.reached == HostsReached::Not
    }
}

impl OpInRun<'_> {
    /// It began and has no outcome, and it is known what the disk shows of it; `shown` is what a person would be
    /// shown of doing it now.
    #[must_use]
    pub fn settle_found(&self, found: Found, shown: &str) -> Settlement {
        let op = self.op;
        let driving = &self.run.driving;
        let settled =
            |status, told, how| Settlement::Record(Recording::settled(op, status, told, how));
        let stopped = match self.lap.is_aborted() {
            true => Some((Status::CANCELLED, words::ABORTED)),
            false => {
                (!driving.may_act() && !op.is_look()).then_some((Status::REFUSED, words::READ_ONLY))
            }
        };
        // A command that ran over an overlay has ended before it began to count; with nothing to be made of
        // it, it is done.
        let has_ran = |begin: &Begin| begin.ran.is_some() && begin.changes.is_empty();
        let found = if op.begin().is_some_and(has_ran) { Found::Done } else { found };
        let is_write = op.begin().is_some_and(|begin| !begin.changes.is_empty());
        match (found, stopped) {
            (Found::Done, _) => Settlement::Record(settled_as_done(op)),
            (Found::NotDone, Some((status, told))) => settled(status, told, Settled::NotPerformed),
            (Found::NotDone, None) if op.is_found_out_again() => Settlement::Repeat,
            // What it changed is kept since it began.
            (Found::Partly | Found::NotDone, None) => {
                self.not_finished().map_or(Settlement::Finish, Settlement::Record)
            }
            (Found::Unknown, None) if op.intent.repeatable && !is_write => Settlement::Repeat,
            // A file that is neither as before nor as meant is somebody else's by now.
            (Found::Unknown, None) if driving.asks() && !is_write => {
                let label = format!("{} {}", op.intent.tool, op.intent.target);
                let items = vec![ProposalItem::whole(label)];
                let kind = ProposalKind::Indeterminate;
                let question = NewQuestion::about(op, kind, unfinished(shown), items);
                Settlement::Record(question.record(op))
            }
            (Found::Partly, Some(_)) => {
                settled(Status::FAILED, words::PARTLY, Settled::Indeterminate)
            }
            (Found::Unknown, _) => Settlement::Record(Recording::indeterminate(op)),
        }
    }
}

impl OpState {
    /// What is recorded of it where it was interrupted and nobody goes on with it: what is missing is not made.
    #[must_use]
    pub fn settle_abandoned(&self, found: Found) -> Recording {
        match found {
            Found::Done => settled_as_done(self),
            Found::NotDone => Recording::not_performed(self, Status::CANCELLED, words::NOT_BEGUN),
            Found::Partly => {
                Recording::settled(self, Status::FAILED, words::PARTLY, Settled::Indeterminate)
            }
            Found::Unknown => Recording::indeterminate(self),
        }
    }
}

impl Engine {
    /// The op that began to change something and has neither an outcome nor a result yet; none where
    /// no such op is open.
    #[must_use]
    pub fn interrupted_op(&self) -> Option<&OpState> {
        let changes = |op: &&OpState| {
            op.performed().is_none() && op.begin().is_some_and(|begin| !begin.changes.is_empty())
        };
        self.lap_in_run()?.open_ops().find(changes)
    }
}

/// The outcome of an op that was interrupted and is found done.
fn settled_as_done(op: &OpState) -> Recording {
    match op.begin().and_then(|begin| begin.told) {
        Some(told) => Recording::found_done(op, told),
        None => Recording::settled(op, Status::OK, words::FOUND_DONE, Settled::FoundDone),
    }
}
