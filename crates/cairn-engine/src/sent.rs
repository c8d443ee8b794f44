//! Commands that a person sent to the background while they ran over an overlay. The loop they are of does
//! not end before them, and what one changed becomes an op of its own: its intent repeats the command's and
//! names its row, so rules, hooks and questions see what they would have seen, and nothing is run again.

use crate::admit::{Prepared, Recording};
use crate::gates::{Leave, Refusal};
use crate::lap_in_run::LapInRun;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::reach::Reach;
use crate::step::Step;
use cairn_types::{
    Body, By, Coord, Decision, Intent, Outcome, ProposalKind, Stream, StreamState, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};

/// A command that was sent to the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    /// What was asked for.
    intent: Intent,
    /// Who allowed the command itself, having been asked.
    word: Option<By>,
    is_over: bool,
}

/// The commands of a run that run in the background.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Background {
    /// Those whose end is not recorded.
    pub(crate) streams: BTreeSet<Coord>,
    /// Those that a person sent there, until it is asked what becomes of their changes.
    pub(crate) sent: BTreeMap<Coord, Sent>,
}

impl Recording {
    /// Whether a loop ends with it.
    #[must_use]
    pub fn ends(&self) -> bool {
        self.facts.iter().any(|body| matches!(body, Body::End(_)))
    }
}

impl Background {
    /// An op is running in the background from now on, in this state of the op. What runs over an overlay there was
    /// sent.
    pub(crate) fn took_running(&mut self, op: &OpState, done: &Outcome) {
        self.streams.insert(done.at);
        if done.is_sent() {
            let (intent, word) = (op.intent.clone(), op.word_on_command());
            self.sent.insert(done.at, Sent { intent, word, is_over: false });
        }
    }

    /// A command in the background is over. What it changed is discarded where somebody ended it.
    pub(crate) fn took_end(&mut self, stream: &Stream) {
        match stream.state {
            StreamState::Removed | StreamState::Stopped => drop(self.sent.remove(&stream.at)),
            StreamState::Exited
            | StreamState::Failed
            | StreamState::TimedOut
            | StreamState::Lost => {
                if let Some(sent) = self.sent.get_mut(&stream.at) {
                    sent.is_over = true;
                }
            }
        }
    }

    /// An op was asked for. If it is what a command here changed, that is no longer open: returns who allowed the
    /// command.
    pub(crate) fn take_word_on(&mut self, intent: &Intent) -> Option<By> {
        self.sent.remove(&intent.of?)?.word
    }
}

impl LapInRun<'_> {
    /// Whether a command that was sent to the background keeps the loop from ending.
    #[must_use]
    pub fn lingers(&self) -> bool {
        !self.run.background.sent.is_empty() && !self.lap.is_aborted()
    }

    /// Nothing of the newest turn is open: the first command that is over becomes an op of that turn.
    pub(crate) fn step_sent(&self) -> Option<Step> {
        let is_asked = self.lap.asked.is_some() && self.lap.fault.is_none();
        let (row, sent) = self.run.background.sent.iter().find(|(_, sent)| sent.is_over)?;
        if is_asked || self.lap.owes_intents || self.lap.turn == 0 {
            return None;
        }
        let last = self.lap.ops.iter().map(|op| op.intent.at.seq).max().unwrap_or(0);
        let at = Coord { lap: self.lap.lap, turn: self.lap.turn, seq: last.saturating_add(1) };
        let (of, call) = (Some(*row), String::new());
        let intent = Intent { at, of, call, repeatable: false, ..sent.intent.clone() };
        Some(Step::Record(Recording::of(Body::Intent(intent))))
    }
}

impl OpInRun<'_> {
    /// The decision that lets its command, which runs over an overlay, go on in the background: nothing more is recorded
    /// if it was allowed already. `None` if it may not.
    #[must_use]
    pub fn allow_in_background(&self) -> Option<Recording> {
        if self.status().is_some() || self.begin().is_some() {
            return None;
        }
        if self.decision().is_some_and(|decision| decision.verdict == Verdict::Allow) {
            return Some(Recording::default());
        }
        match self.leave(&Reach::default()) {
            Leave::Granted(gates, by) => {
                let decision = Decision::new(self.at(), Verdict::Allow, by, gates);
                Some(Recording::of(Body::Decision(decision)))
            }
            _ => None,
        }
    }

    /// What a command changed that somebody had allowed as such: that word covers it, as it does where the
    /// command is waited for, but for what says what runs next.
    pub(crate) fn covered(&self, prepared: &Prepared, leave: &Leave) -> Option<Recording> {
        let by = self.op.allowed_by.clone()?;
        match leave {
            Leave::Refused(_, Refusal { is_final: true, .. }) => None,
            _ if self.changes_what_runs_next(prepared) => Some(self.refuse_guarded()),
            _ => {
                let ruling = self.grant(leave.gates().to_vec(), by);
                Some(ruling.naming_paths(&Reach::from(prepared)).record())
            }
        }
    }
}

impl OpState {
    /// Who allowed the command itself, having been asked about it and not about what it changed.
    fn word_on_command(&self) -> Option<By> {
        let (question, decision) = (self.question()?, self.decision()?);
        let is_it = question.kind == ProposalKind::Exec
            && decision.proposal.as_ref() == Some(&question.id)
            && decision.verdict == Verdict::Allow
            && !decision.is_by_gates();
        is_it.then(|| decision.by.clone())
    }
}
