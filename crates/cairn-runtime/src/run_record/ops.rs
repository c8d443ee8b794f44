//! Ops in the record of their run: that one begins, what it came to, and what is kept of it until then. Performing it is
//! `perform`'s.

use super::RunRecord;
use crate::RunError;
use crate::ops::perform::Beginning;
use crate::ops::settled_op::SettledOp;
use cairn_engine::{Concluded, HostsReached, OpState, Recording};
use cairn_types::{Body, ContentRef, Coord, Hash, OpName, Seen, Settled, Status};
use cairn_world::{Performed, Prepared};
use std::borrow::Cow;

impl RunRecord {
    /// Whether the op's command ran where it may have reached hosts, and nobody let it run again since.
    pub(crate) fn has_reached(&self, at: Coord) -> bool {
        self.engine().op(at).is_some_and(|op| op.reached != HostsReached::Not)
    }

    /// Keeps what was prepared until it is decided on.
    pub(crate) fn keep_prepared(&mut self, at: Coord, prepared: Prepared) {
        let input = self.engine().op(at).map(OpState::input);
        self.open_ops.prepared.keep(at, input, prepared);
    }

    /// Takes secrets out of what is shown.
    pub(crate) fn scrub_shown(&self, prepared: &mut Prepared) {
        let shown = [&mut prepared.shown, &mut prepared.label].into_iter();
        for text in shown.chain(&mut prepared.wanted) {
            if let Cow::Owned(without) = self.journal.scrubber().text(text) {
                *text = without;
            }
        }
    }

    /// Makes it durable that an op begins, and what it is about to change.
    pub(crate) async fn begin_op(&mut self, beginning: Beginning<'_>) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "RunRecord::begin_op");
        let spooled = beginning.prepared.ran.as_ref().and_then(|ran| ran.spooled.clone());
        self.journal.keep_spooled(spooled);
        self.record(beginning.recording())?;
        self.flush().await
    }

    /// Records what an op came to, unless the model has been told the very same: then the row that told it.
    pub(crate) fn settle_op(
        &mut self,
        at: Coord,
        mut done: Performed,
        settled: Settled,
    ) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "RunRecord::settle_op");
        self.journal.keep_spooled(done.spooled.take());
        // Before it is compared with what the model has been told.
        let text = self.journal.scrubber().text(&done.text).into_owned();
        let own = ContentRef::of(text.as_bytes());
        (done.status, done.text) = self.as_told(at, (done.status, text), &done.seen);
        if done.status == Status::UNCHANGED {
            done.media.clear();
        }
        let settled = SettledOp::performed(at, done, settled).with_own_text(own);
        let op = self.engine().op_in_run(at)?;
        let recording = settled.into_recording_as(|outcome| op.result_fact(outcome));
        self.record(recording)
    }

    /// The status and text that the model is told: the text, or the row where it has it already.
    fn as_told(&self, at: Coord, told: (Status, String), seen: &[Seen]) -> (Status, String) {
        let (status, text) = told;
        let is_look = self
            .engine()
            .op(at)
            .is_some_and(|op| op.is_shown() || op.intent.op == Some(OpName::Read));
        // The same text of a file that changed where nothing is shown of it is no longer the same.
        let is_same = seen.iter().all(|file| self.engine().model_view().has_seen(file));
        if !is_look || !is_same || !status.is_success() {
            return (status, text);
        }
        let (engine, result) = (self.engine(), ContentRef::of(text.as_bytes()));
        match engine.model_view().same_as_in_view(&result, engine.surface()) {
            Some(stub) => (Status::UNCHANGED, stub),
            None => (status, text),
        }
    }

    /// Settles an op without acting. One that goes on in the background was let run.
    pub(crate) fn settle_without_acting(
        &mut self,
        at: Coord,
        done: Performed,
        settled: Settled,
    ) -> Result<(), RunError> {
        if done.status != Status::RUNNING {
            return self.settle_op(at, done, settled);
        }
        let allowed = self.engine().op_in_run(at)?.allow_in_background().unwrap_or_default();
        self.record(allowed)?;
        self.settle_op(at, done, Settled::Performed)
    }

    /// Records what became of an op, with what hooks made of it.
    pub(crate) fn conclude_op(&mut self, at: Coord) -> Result<(), RunError> {
        let concluded = self.engine().op_in_run(at)?.concluded();
        let Some(Concluded { mut outcome, result, added }) = concluded else { return Ok(()) };
        let mut told = match self.engine().op_in_run(at)?.withheld_result_text() {
            Some(instead) => instead.as_bytes().to_vec(),
            None => self.content(&result.hash)?,
        };
        let own = Hash::of(&told);
        if own != outcome.result.hash {
            outcome.media.clear();
        }
        if !added.is_empty() {
            outcome.own = Some(own);
        }
        for content in added {
            if !told.is_empty() && !told.ends_with(b"\n") {
                told.push(b'\n');
            }
            told.extend(self.content(&content.hash)?);
        }
        let mut recording = Recording::default();
        outcome.result = recording.keep(told);
        recording.facts.push(Body::Outcome(outcome));
        self.record(recording)
    }

    /// What was prepared for an op that is refused is forgotten; what a command printed is told with the
    /// refusal.
    pub(crate) fn with_refused(&mut self, recording: Recording) -> Recording {
        let refused = recording.facts.iter().find_map(|body| match body {
            Body::Outcome(outcome) => Some(outcome.at),
            _ => None,
        });
        let row = refused.and_then(|at| self.engine().op(at)?.intent.of);
        if let Some(prepared) = row.and_then(|row| self.open_ops.sent.get(row)).cloned() {
            self.open_ops.prepared.forget();
            return self.with_what_it_printed(recording, &prepared);
        }
        match refused.and_then(|at| self.open_ops.prepared.take(at)) {
            Some(prepared) => self.with_what_it_printed(recording, &prepared),
            None => recording,
        }
    }

    /// A refusal of what a command changed, with what it printed.
    pub(crate) fn with_what_it_printed(
        &mut self,
        recording: Recording,
        prepared: &Prepared,
    ) -> Recording {
        let Some(ran) = &prepared.ran else { return recording };
        self.journal.keep_spooled(ran.spooled.clone());
        match SettledOp::from_recording(recording) {
            Ok(refused) => refused.having_printed(ran).into_recording(),
            Err(recording) => recording,
        }
    }
}
