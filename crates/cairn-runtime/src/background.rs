//! Commands in the background of a run: started by an op, looked at through its row, ended by another
//! op or with the driver. The model is told of none of it by itself.

use crate::{Driver, RunError, rows};
use cairn_engine::Recording;
use cairn_store::SpooledFile;
use cairn_types::{Action, Body, Coord, Read, Status, Stream, StreamState};
use cairn_world::{Background, Over, Performed, Prepared};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How many may run at a time.
const MOST: usize = 16;

/// The commands of this driver whose end is not recorded.
#[derive(Debug, Default)]
pub(crate) struct Streams(BTreeMap<Coord, Started>);

/// A command that was started.
#[derive(Debug)]
struct Started {
    /// What was asked for, for people.
    command: String,
    running: Background,
}

impl Streams {
    /// How many still run.
    pub(crate) fn running(&self) -> usize {
        self.0.values().filter(|started| !started.running.is_over()).count()
    }

    /// Lines of what one printed so far; nothing when there is none.
    pub(crate) fn lines(&self, at: Coord, read: &Read) -> Option<Performed> {
        let mut told = self.0.get(&at)?.running.lines(&read.path, read);
        told.text.push_str("\nrunning");
        Some(told)
    }
}

/// What the last line says of a command that is over.
pub(crate) fn ending(stream: &Stream) -> String {
    match (stream.state, stream.exit) {
        (StreamState::Exited, Some(exit)) => format!("exit={exit}"),
        (StreamState::Exited, None) => stream.why.clone(),
        (StreamState::Failed, _) => format!("failed: {}", stream.why),
        (StreamState::TimedOut, _) => "timed out, everything it started was ended".to_owned(),
        (StreamState::Removed, _) => "removed, everything it started was ended".to_owned(),
        (StreamState::Stopped, _) => "ended when the work was over".to_owned(),
        (StreamState::Lost, _) => {
            "ended when the program was interrupted; its output is not known".to_owned()
        }
    }
}

impl Driver {
    /// What an action would do, without doing anything. What is shown of it has no secrets in it, so
    /// that its hash is the one that a decision names.
    pub(crate) async fn would(&self, action: &Action) -> Result<Prepared, RunError> {
        let mut prepared = self.would_exactly(action).await?;
        for text in [&mut prepared.shown, &mut prepared.label] {
            if let Cow::Owned(without) = self.settings.scrubber.text(text) {
                *text = without;
            }
        }
        Ok(prepared)
    }

    async fn would_exactly(&self, action: &Action) -> Result<Prepared, RunError> {
        match action {
            Action::Kill { path } if rows::is_row(path) => self.would_end(path),
            Action::Exec(exec) if exec.background && self.streams.0.len() >= MOST => {
                let text = format!("{MOST} commands run in the background, and no more may");
                Ok(settled(Status::LIMIT, text))
            }
            _ => Ok(self.world.prepare_beside(action).await),
        }
    }

    /// What ending a command in the background would mean.
    fn would_end(&self, path: &str) -> Result<Prepared, RunError> {
        let Some(at) = rows::coordinate(path) else {
            return Ok(settled(Status::BAD_REQUEST, rows::not_an_address(path)));
        };
        if let Some(Started { command, .. }) = self.streams.0.get(&at) {
            let indented: String = command.lines().map(|line| format!("  {line}\n")).collect();
            let label = format!("end {path}");
            let shown = format!("end in the background: {path}\ncommand:\n{indented}");
            return Ok(Prepared { label, shown, ..Prepared::default() });
        }
        let facts = self.store.facts(self.run_id(), 0)?;
        // It may have ended just now.
        let mut known = facts.iter().chain(&self.pending.facts);
        Ok(match known.find_map(|fact| rows::stream_at(&fact.body, at)) {
            Some(stream) => settled(Status::GONE, format!("{path} is over: {}", ending(stream))),
            None => {
                let text = format!("{path} is no command in the background of this run");
                settled(Status::NOT_FOUND, text)
            }
        })
    }

    /// Starts a command and does not wait for it.
    pub(crate) fn start_beside(&mut self, at: Coord, action: &Action) -> Performed {
        match self.world.start(action) {
            Err(refusal) => refusal.into(),
            Ok(running) => {
                self.streams.0.insert(at, Started { command: action.target(), running });
                let row = rows::address(at);
                let text = format!("running in the background; its output is {row}#output");
                Performed::told(Status::RUNNING, text)
            }
        }
    }

    /// Ends a command in the background.
    pub(crate) async fn end_row(&mut self, path: &str) -> Result<Performed, RunError> {
        let at = rows::coordinate(path);
        let Some((at, started)) = at.and_then(|at| self.streams.0.remove_entry(&at)) else {
            return Ok(Performed::told(Status::GONE, format!("{path} is over")));
        };
        let over = started.running.end().await;
        let state =
            if over.state == StreamState::Stopped { StreamState::Removed } else { over.state };
        let stream = self.record_end(at, Over { state, ..over })?;
        let text = ending(&stream);
        let status = if state == StreamState::Removed { Status::OK } else { Status::GONE };
        Ok(Performed::told(status, text))
    }

    /// Records the ends of commands that are over.
    pub(crate) async fn note_ended(&mut self) -> Result<(), RunError> {
        let over = |(at, started): (&Coord, &Started)| started.running.is_over().then_some(*at);
        for at in self.streams.0.iter().filter_map(over).collect::<Vec<_>>() {
            if let Some(started) = self.streams.0.remove(&at) {
                let over = started.running.end().await;
                self.record_end(at, over)?;
            }
        }
        Ok(())
    }

    /// Ends every command in the background.
    pub(crate) async fn stop_streams(&mut self) -> Result<(), RunError> {
        for (at, started) in std::mem::take(&mut self.streams.0) {
            let over = started.running.end().await;
            self.record_end(at, over)?;
        }
        Ok(())
    }

    /// Commands of an earlier driver that died ended with it, and nobody saw how.
    pub(crate) fn note_lost(&mut self) -> Result<(), RunError> {
        let lost: Vec<Coord> = self.engine.streams().collect();
        lost.into_iter()
            .try_for_each(|at| self.record(Recording::of(Body::Stream(Stream::lost(at)))))
    }

    fn record_end(&mut self, at: Coord, over: Over) -> Result<Stream, RunError> {
        let Over { state, exit, why, output, contents, spooled, layers, ms } = over;
        if let Some(spooled) = spooled {
            let (file, content) = (spooled.file, spooled.content);
            self.pending.keep_file(SpooledFile { file, content });
        }
        let stream = Stream { at, state, exit, output, layers, why, ms };
        self.record(Recording { facts: vec![Body::Stream(stream.clone())], contents })?;
        Ok(stream)
    }
}

fn settled(status: Status, text: String) -> Prepared {
    Prepared { settled: Some(Performed::told(status, text)), ..Prepared::default() }
}
