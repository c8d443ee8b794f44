//! Commands that a person sent to the background while they ran over an overlay. The loop they are of does
//! not end before them, and what one changed becomes an op of its own: its intent repeats the command's and
//! names its row, so rules, hooks and questions see what they would have seen, and nothing is run again.

use crate::admit::{Prepared, Recording};
use crate::gates::{Leave, Refusal};
use crate::lap_in_run::LapInRun;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::reach::Reach;
use crate::state::Engine;
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

impl Engine {
    /// An op whose command runs over an overlay is to go on in the background: the facts that its outcome
    /// follows. Absent where it may not, since nobody and nothing lets the command itself run.
    #[must_use]
    pub fn sends(&self, at: Coord) -> Option<Recording> {
        let op = self.op_in_run(at).filter(|op| op.status().is_none() && op.begin().is_none())?;
        if op.decision().is_some_and(|decision| decision.verdict == Verdict::Allow) {
            return Some(Recording::default());
        }
        match op.leave(&Reach::default()) {
            Leave::Granted(gates, by) => {
                let decision = Decision::new(at, Verdict::Allow, by, gates);
                Some(Recording::of(Body::Decision(decision)))
            }
            _ => None,
        }
    }

    /// Whether a command that was sent to the background keeps the running loop from ending.
    #[must_use]
    pub fn lingers(&self) -> bool {
        !self.background.sent.is_empty() && self.lap.as_ref().is_some_and(|lap| !lap.is_aborted())
    }

    /// An op is running in the background from now on. What runs over an overlay there was sent.
    pub(crate) fn note_sent(&mut self, done: &Outcome) {
        let Some(op) = self.op(done.at).filter(|_| done.is_sent()) else { return };
        let sent = Sent { intent: op.intent.clone(), word: op.word_on_command(), is_over: false };
        self.background.sent.insert(done.at, sent);
    }

    /// A command in the background is over. What it changed is discarded where somebody ended it.
    pub(crate) fn sent_is_over(&mut self, stream: &Stream) {
        match stream.state {
            StreamState::Removed | StreamState::Stopped => {
                drop(self.background.sent.remove(&stream.at))
            }
            StreamState::Exited
            | StreamState::Failed
            | StreamState::TimedOut
            | StreamState::Lost => {
                if let Some(sent) = self.background.sent.get_mut(&stream.at) {
                    sent.is_over = true;
                }
            }
        }
    }

    /// An op was asked for: if it is what a command in the background changed, that is no longer open.
    pub(crate) fn proposes_sent(&mut self, intent: &Intent) {
        let sent = intent.of.and_then(|row| self.background.sent.remove(&row));
        self.in_op(intent.at, |op| op.allowed_by = sent.and_then(|sent| sent.word));
    }
}

impl LapInRun<'_> {
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
    /// What a command changed that somebody had allowed as such: that word covers it, as it does where the
    /// command is waited for, but for what says what runs next.
    pub(crate) fn covered(&self, prepared: &Prepared, leave: &Leave) -> Option<Recording> {
        let by = self.op.allowed_by.clone()?;
        match leave {
            Leave::Refused(_, Refusal { is_final: true, .. }) => None,
            _ if self.run.guards(prepared) => Some(self.run.guarded(self.op.intent.at)),
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
