//! Commands that run over an overlay before anything is decided about what they changed.

use crate::{Driver, Event, RunError, rows};
use cairn_engine::Recording;
use cairn_store::SpooledFile;
use cairn_types::{Action, Body, ContentRef, Coord, Reach, Status};
use cairn_world::{Acting, Performed, Prepared};
use std::borrow::Cow;
use tokio_util::sync::CancellationToken;

impl Driver {
    /// What an op would do. A command that may run over an overlay first has run when this returns, once.
    pub(crate) async fn would_at(
        &mut self,
        at: Coord,
        action: &Action,
    ) -> Result<Prepared, RunError> {
        let input = self.engine.op(at).map(|op| op.intent.input.hash);
        let hosts = self.engine.hosts(at);
        if let Some((of, with, prepared)) = self.prepared.take()
            && (of, Some(with)) == (at, input)
            && (prepared.ran.is_none() || prepared.reached_by == hosts)
        {
            return Ok(prepared);
        }
        match self.world.rehearses(action) && self.engine.runs_first(at) {
            true => self.rehearse(at, action).await,
            false => self.would(action).await,
        }
    }

    /// Keeps what was prepared until it is decided on.
    pub(crate) fn keep_prepared(&mut self, at: Coord, prepared: Prepared) {
        let input = self.engine.op(at).map(|op| op.intent.input.hash);
        self.prepared = input.map(|input| (at, input, prepared));
    }

    /// Runs a command over an overlay, taking commands meanwhile; an abort reaches it. What is told of it
    /// has no secrets in it.
    pub(crate) async fn rehearse(
        &mut self,
        at: Coord,
        action: &Action,
    ) -> Result<Prepared, RunError> {
        let hosts = self.engine.hosts(at);
        if !hosts.is_empty() {
            let reach = Reach { at, hosts: hosts.clone() };
            self.record(Recording::of(Body::Reach(reach)))?;
        }
        self.flush().await?;
        let (world, sink) = (self.world.clone(), self.sink.clone());
        sink.event(&Event::Running(at));
        let cancel = CancellationToken::new();
        let mut on_output = |piece: &[u8]| {
            let text = String::from_utf8_lossy(piece).into_owned();
            sink.event(&Event::Output { at, text });
        };
        let row = rows::address(at);
        let name = format!("{}-{}-{}-{}", self.run_id(), at.lap, at.turn, at.seq);
        let acting = Acting { row: &row, cancel: &cancel, on_output: &mut on_output };
        let mut running = Box::pin(world.rehearse(action, (&name, &hosts), acting));
        let mut prepared = self.meanwhile(&mut running, &cancel).await?;
        drop(running);
        prepared.reached_by = hosts;
        let told = [&mut prepared.shown, &mut prepared.label].into_iter();
        for text in told.chain(&mut prepared.wanted) {
            if let Cow::Owned(without) = self.settings.scrubber.text(text) {
                *text = without;
            }
        }
        Ok(prepared)
    }

    /// What was prepared for an op that is refused is forgotten; what a command printed is told with the
    /// refusal all the same.
    pub(crate) fn with_refused(&mut self, recording: Recording) -> Recording {
        let refused = recording.facts.iter().find_map(|body| match body {
            Body::Outcome(outcome) => Some(outcome.at),
            _ => None,
        });
        match self.prepared.take() {
            Some((of, _, prepared)) if Some(of) == refused => {
                self.with_what_it_printed(recording, &prepared)
            }
            other => {
                self.prepared = other;
                recording
            }
        }
    }

    /// A refusal of what a command changed, with what it printed.
    pub(crate) fn with_what_it_printed(
        &mut self,
        recording: Recording,
        prepared: &Prepared,
    ) -> Recording {
        let Some(ran) = &prepared.ran else { return recording };
        self.keep_spooled(ran);
        refused_having_printed(recording, ran)
    }

    /// Keeps what is too long for memory, with the next commit.
    pub(crate) fn keep_spooled(&mut self, done: &Performed) {
        if let Some(spooled) = done.spooled.clone() {
            let (file, content) = (spooled.file, spooled.content);
            self.pending.keep_file(SpooledFile { file, content });
        }
    }
}

fn refused_having_printed(mut recording: Recording, ran: &Performed) -> Recording {
    let Some(Body::Outcome(outcome)) = recording.facts.last_mut() else { return recording };
    let told = recording.contents.iter().find(|bytes| ContentRef::of(bytes) == outcome.result);
    let Some(told) = told.map(|bytes| String::from_utf8_lossy(bytes).into_owned()) else {
        return recording;
    };
    if outcome.status == Status::OK {
        return recording;
    }
    outcome.exit = ran.exit;
    outcome.output.clone_from(&ran.output);
    outcome.layers.clone_from(&ran.layers);
    let text = format!("{}\nnothing of what it changed is kept: {told}", ran.text).into_bytes();
    outcome.result = ContentRef::of(&text);
    recording.contents.push(text);
    recording.contents.extend(ran.contents.iter().cloned());
    recording
}
