//! Streams of a run: commands in its background that an op started or a person sent there. One is looked at through
//! its row, written to and ended by other ops, and ends with the driver at the latest.

mod feed;
mod mailbox;
pub(crate) mod open_feed;
pub(crate) mod say;
pub(crate) mod sent;

use crate::background::feed::Feed;
use crate::background::say::Unsaid;
use crate::background::sent::DISCARDED;
use crate::run_record::{RunRecord, rows};
use crate::{Driver, Event, RunError};
use cairn_engine::{Recording, Rows};
use cairn_types::{Action, Body, Coord, Origin, Read, RunId, Status, Stream, StreamState};
use cairn_world::{Background, Over, Performed, Prepared, Refusal, Rehearsing, World};
use futures_util::future::select_all;
use std::collections::BTreeMap;

/// How many may run at a time.
const MOST: usize = 16;

/// The commands of this driver in the background.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Those whose end is not recorded.
    running: BTreeMap<Coord, Started>,
    /// Those that ended and were to wake the run.
    waking: Vec<Coord>,
    /// The addresses of those that the run was last said to wait for.
    awaited: Vec<String>,
    /// Those that the loop's end was last said to wait for.
    lingering: Vec<Coord>,
}

/// A command that was started.
#[derive(Debug)]
struct Started {
    /// What was asked for, for people.
    command: String,
    /// Where what comes of it is found.
    address: String,
    running: Running,
    /// When it ends, the run goes on with one more loop.
    wakes: bool,
}

/// A command that runs.
#[derive(Debug)]
pub(crate) enum Running {
    /// An op started it, on the files themselves.
    Started(Background),
    /// A person sent it here while it ran over an overlay.
    Sent(Box<Rehearsing>),
    /// A server sends it.
    Feed(Box<Feed>),
}

impl Running {
    fn is_over(&self) -> bool {
        match self {
            Running::Started(running) => running.is_over(),
            Running::Sent(running) => running.is_over(),
            Running::Feed(feed) => feed.is_over(),
        }
    }

    async fn over(&self) {
        match self {
            Running::Started(running) => running.over().await,
            Running::Sent(running) => running.over().await,
            Running::Feed(feed) => feed.over().await,
        }
    }

    async fn write(&self, text: &str) -> Result<(), Refusal> {
        match self {
            Running::Started(running) => running.write(text).await,
            Running::Feed(feed) => feed.write(text).await,
            Running::Sent(_) => Err(Refusal {
                status: Status::CONFLICT,
                text: "it was started without an input".to_owned(),
            }),
        }
    }

    fn lines(&self, read: &Read) -> Performed {
        match self {
            Running::Started(running) => running.lines(&read.path, read),
            Running::Sent(running) => running.lines(&read.path, read),
            Running::Feed(feed) => feed.lines(&read.path, read),
        }
    }

    /// Ends it, unless it is over, and says how it ended. One that runs over an overlay is given back: more
    /// becomes of that.
    async fn end(self) -> Result<Over, Box<Rehearsing>> {
        match self {
            Running::Started(running) => Ok(running.end().await),
            Running::Feed(feed) => Ok(feed.end().await),
            Running::Sent(running) => Err(running),
        }
    }
}

impl Streams {
    /// How many still run.
    pub(crate) fn running(&self) -> usize {
        self.running.values().filter(|started| !started.running.is_over()).count()
    }

    /// Why no more may run, if none may.
    pub(crate) fn full(&self) -> Option<String> {
        let is_full = self.running.len() >= MOST;
        is_full.then(|| format!("{MOST} commands run in the background, and no more may"))
    }

    pub(crate) fn insert(&mut self, at: Coord, command: String, address: String, running: Running) {
        self.running.insert(at, Started { command, address, running, wakes: false });
    }

    /// The one of an address.
    pub(crate) fn at_address(&self, address: &str) -> Option<Coord> {
        self.running.iter().find(|(_, one)| one.address == address).map(|(at, _)| *at)
    }

    /// The address of the feed that a row opened and that goes on: rules are about that.
    pub(crate) fn feed(&self, at: Coord) -> Option<&str> {
        let one = self.running.get(&at)?;
        matches!(one.running, Running::Feed(_)).then_some(one.address.as_str())
    }

    /// Whether the run waits for the end of one of them.
    pub(crate) fn has_wakers(&self) -> bool {
        self.running.values().any(|one| one.wakes)
    }

    /// The addresses of those whose end the run waits for, if they are others than at the last call.
    pub(crate) fn newly_awaited(&mut self) -> Option<Vec<String>> {
        let wakers = self.running.values().filter(|one| one.wakes);
        let wakers: Vec<String> = wakers.map(|one| one.address.clone()).collect();
        let is_new = self.awaited != wakers;
        self.awaited.clone_from(&wakers);
        is_new.then_some(wakers)
    }

    /// Takes one that ended and was to wake the run.
    pub(crate) fn next_waking(&mut self) -> Option<Coord> {
        self.waking.pop()
    }

    /// The work was stopped: none of them opens another loop.
    pub(crate) fn let_sleep(&mut self) {
        self.running.values_mut().for_each(|one| one.wakes = false);
        self.waking.clear();
    }

    /// Those that the loop's end waits for, if they are others than at the last call.
    pub(crate) fn newly_lingering(&mut self) -> Option<Vec<Coord>> {
        let sent: Vec<Coord> = self.sent().map(|(at, _)| at).collect();
        let is_new = self.lingering != sent;
        self.lingering.clone_from(&sent);
        is_new.then_some(sent)
    }

    /// The loop's end waits for none of them.
    pub(crate) fn end_lingering(&mut self) {
        self.lingering.clear();
    }

    /// Waits until one of them is over; for ever where there is none.
    pub(crate) async fn over(&self) {
        let over = self.running.values().map(|one| Box::pin(one.running.over()));
        match over.collect::<Vec<_>>() {
            none if none.is_empty() => std::future::pending().await,
            over => drop(select_all(over).await),
        }
    }

    /// Writes to one.
    pub(crate) async fn write(&self, at: Coord, text: &str) -> Performed {
        let Some(started) = self.running.get(&at) else {
            return Performed::told(Status::GONE, format!("{} is over", rows::address(at)));
        };
        match started.running.write(text).await {
            Ok(()) if text.is_empty() => Performed::told(Status::OK, "its input is at its end"),
            Ok(()) => Performed::told(Status::OK, format!("written: {} bytes", text.len())),
            Err(refusal) => refusal.into(),
        }
    }

    /// Those that a person sent here and that are not known to be over.
    pub(crate) fn sent(&self) -> impl Iterator<Item = (Coord, &Rehearsing)> {
        self.running.iter().filter_map(|(at, started)| match &started.running {
            Running::Sent(running) => Some((*at, &**running)),
            Running::Started(_) | Running::Feed(_) => None,
        })
    }

    /// Lines of what one printed so far; nothing when there is none.
    pub(crate) fn lines(&self, at: Coord, read: &Read) -> Option<Performed> {
        let mut told = self.running.get(&at)?.running.lines(read);
        told.text.push_str("\nrunning");
        Some(told)
    }

    /// All that is kept of what one printed so far; nothing when there is none.
    pub(crate) fn printed(&self, at: Coord) -> Option<Vec<u8>> {
        let printed = match &self.running.get(&at)?.running {
            Running::Started(running) => running.printed(),
            Running::Sent(running) => running.printed(),
            Running::Feed(feed) => feed.whole(),
        };
        printed.ok()
    }

    /// What ending a command in the background would mean.
    pub(crate) fn would_end(&self, run: &RunRecord, path: &str) -> Result<Prepared, RunError> {
        if let Some(n) = rows::changes_number(path) {
            let count = run.engine().model_view().changes_row_count();
            return Ok(match (1..=count).contains(&n) {
                true => settled(Status::REFUSED, rows_stay(path)),
                false => settled(Status::NOT_FOUND, format!("{path} does not exist")),
            });
        }
        let Some(at) = rows::coordinate(path) else {
            return Ok(settled(Status::BAD_REQUEST, rows::not_an_address(path)));
        };
        if let Some(Started { command, .. }) = self.running.get(&at) {
            let indented: String = command.lines().map(|line| format!("  {line}\n")).collect();
            let label = format!("end {path}");
            let shown = format!("end in the background: {path}\ncommand:\n{indented}");
            return Ok(Prepared { label, shown, ..Prepared::default() });
        }
        Ok(match self.is_open(run, at, path)? {
            Ok(()) => Prepared::default(),
            Err((status, text)) => settled(status, text),
        })
    }

    /// Whether a stream goes on, and if not, why not.
    pub(crate) fn is_open(
        &self,
        run: &RunRecord,
        at: Coord,
        path: &str,
    ) -> Result<Result<(), Unsaid>, RunError> {
        if self.running.contains_key(&at) {
            return Ok(Ok(()));
        }
        let facts = run.journal.store().facts(run.journal.run_id(), 0)?;
        // It may have ended just now.
        let rows = Rows::fold(facts.iter().chain(run.journal.pending_facts()));
        let row = rows.get(at);
        Ok(Err(match row.and_then(|row| row.stream) {
            Some(stream) => (Status::GONE, format!("{path} is over: {}", ending(&stream))),
            None if row.is_some_and(|row| row.outcome.is_some()) => {
                (Status::REFUSED, rows_stay(path))
            }
            None => {
                let text = format!("{path} is no command in the background of this run");
                (Status::NOT_FOUND, text)
            }
        }))
    }

    /// The stream that an address names, as this run writes addresses; it need not go on.
    pub(crate) fn find(&self, own: &RunId, address: &str) -> Option<Coord> {
        rows::coordinate(&rows::of_command(own, address, "")).or_else(|| self.at_address(address))
    }

    /// Starts a command and does not wait for it.
    pub(crate) async fn start(
        &mut self,
        run: &RunRecord,
        world: &World,
        at: Coord,
        action: &Action,
    ) -> Performed {
        let sink = run.sink.clone();
        let on_output = Box::new(move |piece: &[u8]| {
            sink.event(&Event::Stream { at, text: String::from_utf8_lossy(piece).into_owned() });
        });
        match world.start(action, on_output).await {
            Err(refusal) => refusal.into(),
            Ok(running) => {
                let address = rows::command(run.journal.run_id(), at);
                self.insert(at, action.target(), address.clone(), Running::Started(running));
                if let (Action::Exec(exec), Some(one)) = (action, self.running.get_mut(&at)) {
                    one.wakes = exec.wakes;
                }
                let row = rows::address(at);
                let text = format!("running in the background; its output is {row}#output");
                Performed { stream: Some(address), ..Performed::told(Status::RUNNING, text) }
            }
        }
    }

    /// Ends the command of a row, and records how it ended; somebody outside may have wanted it.
    pub(crate) async fn end(
        &mut self,
        run: &mut RunRecord,
        path: &str,
        by: Option<Origin>,
    ) -> Result<Performed, RunError> {
        let at = rows::coordinate(path);
        let Some((at, started)) = at.and_then(|at| self.running.remove_entry(&at)) else {
            return Ok(Performed::told(Status::GONE, format!("{path} is over")));
        };
        let stream = match started.running.end().await {
            Ok(over) => {
                let is_ours = over.state == StreamState::Stopped;
                let state = if is_ours { StreamState::Removed } else { over.state };
                run.record_stream_end(at, Over { state, ..over }, by)?
            }
            Err(running) => run.discard_sent(at, running, StreamState::Removed).await?,
        };
        let status = if stream.state == StreamState::Removed { Status::OK } else { Status::GONE };
        Ok(Performed::told(status, ending(&stream)))
    }

    /// A loop ends: with it the commands that were sent to the background, and with the last one all but those
    /// that are to wake the run. What was not settled by then is not kept, and that is said.
    pub(crate) async fn stop(
        &mut self,
        run: &mut RunRecord,
        is_last: bool,
    ) -> Result<(), RunError> {
        for (at, started) in std::mem::take(&mut self.running) {
            let is_sent = matches!(started.running, Running::Sent(_));
            if !is_sent && (!is_last || started.wakes) {
                self.running.insert(at, started);
                continue;
            }
            match started.running.end().await {
                Ok(over) => drop(run.record_stream_end(at, over, None)?),
                Err(running) => drop(run.discard_sent(at, running, StreamState::Stopped).await?),
            }
        }
        for at in run.open_ops.sent.forget_all() {
            run.notice(format!("{at}: {DISCARDED}"));
        }
        Ok(())
    }
}

/// What the last line says of a command that is over.
pub(crate) fn ending(stream: &Stream) -> String {
    match (stream.state, stream.exit) {
        (StreamState::Exited, Some(exit)) => format!("exit={exit}"),
        (StreamState::Exited, None) => stream.why.clone(),
        (StreamState::Failed, _) => format!("failed: {}", stream.why),
        (StreamState::TimedOut, _) => "timed out, everything it started was ended".to_owned(),
        (StreamState::Removed, _) => said("removed, everything it started was ended", stream),
        (StreamState::Stopped, _) => said("ended when the work was over", stream),
        (StreamState::Lost, _) => {
            "ended when the program was interrupted; its output is not known".to_owned()
        }
    }
}

fn said(what: &str, stream: &Stream) -> String {
    match stream.why.as_str() {
        "" => what.to_owned(),
        why => format!("{what}; {why}"),
    }
}

impl Driver {
    /// Records the ends of commands that are over.
    pub(crate) async fn note_ended(&mut self) -> Result<(), RunError> {
        let over = |(at, started): (&Coord, &Started)| started.running.is_over().then_some(*at);
        for at in self.streams.running.iter().filter_map(over).collect::<Vec<_>>() {
            let Some(Started { running, wakes, .. }) = self.streams.running.remove(&at) else {
                continue;
            };
            match running.end().await {
                Ok(over) => {
                    self.run.record_stream_end(at, over, None)?;
                    self.streams.waking.extend(wakes.then_some(at));
                }
                Err(running) => drop(self.note_sent_ended(at, running).await?),
            }
        }
        Ok(())
    }
}

impl RunRecord {
    /// Records that commands of an earlier driver that died ended with it, and nobody saw how.
    pub(crate) fn record_lost_streams(&mut self) -> Result<(), RunError> {
        let lost: Vec<Coord> = self.engine().streams().collect();
        lost.into_iter()
            .try_for_each(|at| self.record(Recording::of(Body::Stream(Stream::lost(at)))))
    }

    /// Records how a stream ended.
    pub(crate) fn record_stream_end(
        &mut self,
        at: Coord,
        over: Over,
        by: Option<Origin>,
    ) -> Result<Stream, RunError> {
        let Over { state, exit, why, output, contents, spooled, layers, ms } = over;
        self.journal.keep_spooled(spooled);
        let stream = Stream { at, state, exit, output, layers, why, ms, by };
        self.record(Recording { contents, ..Recording::of(Body::Stream(stream.clone())) })?;
        Ok(stream)
    }
}

fn rows_stay(path: &str) -> String {
    format!("{path} is a row, and rows stay; only what runs in the background is ended so")
}

pub(crate) fn settled(status: Status, text: String) -> Prepared {
    Prepared { settled: Some(Performed::told(status, text)), ..Prepared::default() }
}
