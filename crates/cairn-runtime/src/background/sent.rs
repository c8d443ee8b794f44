//! A command that runs over an overlay, sent to the background by a person: its op settles at once, and
//! what it changed is prepared again for the op that its end becomes. When it is asked about is the
//! engine's to say.

use crate::background::{Running, Streams};
use crate::run_record::{RunRecord, rows};
use crate::{Driver, RunError};
use cairn_types::{Coord, SandboxLayer, Status, Stream, StreamState};
use cairn_world::{Ended, Over, Performed, Prepared, Rehearsing};
use futures_util::future::select_all;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

const NONE: &str = "no command is being waited for, so there is none to send to the background";
/// What is said of a command that was ended in the background.
pub(crate) const DISCARDED: &str = "nothing of what it changed is kept";

/// Whoever wants to know whether a command was sent to the background.
pub type Sending = oneshot::Sender<bool>;

/// The command that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreground {
    /// It runs over an overlay.
    Overlay(Coord),
    /// It ran over an overlay, and what it changed is found out.
    Ended(Coord),
    /// It works on the files themselves.
    Direct(Coord),
    /// Nothing of what it changes is kept, and what it prints is its call's result.
    Look(Coord),
}

/// The command that is waited for, if any.
#[derive(Debug, Default)]
pub(crate) struct WaitedCommand {
    foreground: Option<Foreground>,
    /// A person wants it in the background.
    is_sent: bool,
}

impl WaitedCommand {
    /// From now on this is waited for.
    pub(crate) fn wait_for(&mut self, foreground: Option<Foreground>) {
        *self = WaitedCommand { foreground, is_sent: false };
    }

    /// The op whose command runs or ran over an overlay, if that is waited for.
    pub(crate) fn over_overlay(&self) -> Option<Coord> {
        match self.foreground {
            Some(Foreground::Overlay(at) | Foreground::Ended(at)) => Some(at),
            Some(Foreground::Direct(_) | Foreground::Look(_)) | None => None,
        }
    }

    /// Ends the wait for an op's command over an overlay; says whether a person wants it in the background.
    fn is_sent_at_end(&mut self, at: Coord) -> bool {
        self.foreground = Some(Foreground::Ended(at));
        std::mem::take(&mut self.is_sent)
    }

    /// A person wants the command that is waited for in the background. It goes there as soon as the
    /// work that waits for it hears of it.
    pub(crate) fn send_to_background(
        &mut self,
        run: &RunRecord,
        streams: &Streams,
        heard: Option<Sending>,
    ) {
        let refused = match self.foreground {
            None | Some(Foreground::Ended(_)) => Some(NONE.to_owned()),
            Some(Foreground::Direct(at)) => Some(format!(
                "{at} works on the files themselves and not over an overlay, so it cannot be sent to the \
                 background"
            )),
            Some(Foreground::Look(at)) => Some(format!(
                "{at} keeps nothing of what it changes, so it is waited for and cannot be sent to the background"
            )),
            Some(Foreground::Overlay(at)) => not_sent(run, streams, at),
        };
        self.is_sent = refused.is_none();
        match heard {
            // Whoever asked may be gone.
            Some(heard) => drop(heard.send(refused.is_none())),
            None => refused.into_iter().for_each(|why| run.notice(why)),
        }
    }
}

impl Streams {
    /// Keeps a command over an overlay that runs in the background from now on. Returns the result that the model reads.
    pub(crate) fn take_sent(
        &mut self,
        run: &RunRecord,
        at: Coord,
        target: String,
        mut rehearsing: Box<Rehearsing>,
    ) -> Performed {
        rehearsing.leave();
        let address = rows::command(run.journal.run_id(), at);
        self.insert(at, target, address, Running::Sent(rehearsing));
        let row = rows::address(at);
        let text = format!(
            "a person sent it to the background, where it goes on; its output is {row}#output, and \
             removing {row} ends it. What it changed is shown to the person when it is over, and you are \
             told then"
        );
        let layers = vec![SandboxLayer::Overlay];
        let stream = Some(rows::command(run.journal.run_id(), at));
        Performed { layers, stream, ..Performed::told(Status::RUNNING, text) }
    }
}

impl RunRecord {
    /// Records how a command ended that had been sent to the background, and keeps what it would change for the op that
    /// this becomes.
    fn keep_sent(&mut self, at: Coord, mut ended: Ended) -> Result<Stream, RunError> {
        let over = ended.over();
        let mut prepared = ended.prepared;
        // It is not run again.
        prepared.wanted.clear();
        self.scrub_shown(&mut prepared);
        let stream = self.record_stream_end(at, over, None)?;
        self.open_ops.sent.keep(at, prepared);
        Ok(stream)
    }

    /// Ends a command that was sent to the background. What it changed is forgotten, unless it came to its
    /// end by itself before it could be removed.
    pub(crate) async fn discard_sent(
        &mut self,
        at: Coord,
        rehearsing: Box<Rehearsing>,
        state: StreamState,
    ) -> Result<Stream, RunError> {
        let mut ended = rehearsing.end(&rows::address(at)).await;
        let is_ours = ended.state == StreamState::Stopped;
        if state == StreamState::Removed && !is_ours {
            return self.keep_sent(at, ended);
        }
        let over = ended.over();
        let state = if is_ours { state } else { over.state };
        let why = match over.why.as_str() {
            "" => DISCARDED.to_owned(),
            why => format!("{why}; {DISCARDED}"),
        };
        self.record_stream_end(at, Over { state, why, ..over }, None)
    }
}

/// Why a command over an overlay cannot go to the background, if it cannot.
fn not_sent(run: &RunRecord, streams: &Streams, at: Coord) -> Option<String> {
    if let Some(full) = streams.full() {
        return Some(format!("{at} stays where it is: {full}"));
    }
    let unfit =
        || format!("{at} cannot go on in the background: the command itself is not allowed");
    let op = run.engine().op_in_run(at).ok();
    op.and_then(|op| op.allow_in_background()).is_none().then(unfit)
}

impl Driver {
    /// Waits for a command over an overlay, taking commands meanwhile; an abort reaches it. Gives it back
    /// when a person sent it to the background.
    pub(crate) async fn wait_for(
        &mut self,
        at: Coord,
        rehearsing: Box<Rehearsing>,
    ) -> Result<Result<Prepared, Box<Rehearsing>>, RunError> {
        if self.run.is_aborted() {
            rehearsing.cancel();
        }
        while !self.waited_command.is_sent {
            tokio::select! {
                () = rehearsing.over() => break,
                Some(command) = self.inbox.recv() => self.take(command).await?,
            }
            if self.run.is_aborted() {
                rehearsing.cancel();
            }
        }
        if self.waited_command.is_sent_at_end(at) {
            return Ok(Err(rehearsing));
        }
        let row = rows::address(at);
        let mut ending = Box::pin(rehearsing.end(&row));
        let ended = self.meanwhile(&mut ending, &CancellationToken::new()).await?;
        Ok(Ok(ended.prepared))
    }

    /// Waits until what such a command changed is found out, and records how it ended.
    pub(crate) async fn note_sent_ended(
        &mut self,
        at: Coord,
        rehearsing: Box<Rehearsing>,
    ) -> Result<Stream, RunError> {
        let row = rows::address(at);
        let mut ending = Box::pin(rehearsing.end(&row));
        let ended = self.meanwhile(&mut ending, &CancellationToken::new()).await?;
        self.run.keep_sent(at, ended)
    }

    /// The loop would end, and does not before commands that were sent to the background do.
    pub(crate) async fn linger(&mut self) -> Result<(), RunError> {
        self.run.flush().await?;
        for at in self.streams.newly_lingering().unwrap_or_default() {
            let said = format!(
                "waiting for {at}, which runs in the background; stopping the work ends it, and what \
                 it changed is not kept"
            );
            self.run.notice(said);
        }
        let over: Vec<_> = self.streams.sent().map(|(_, sent)| Box::pin(sent.over())).collect();
        if over.is_empty() {
            return Ok(());
        }
        let command = tokio::select! {
            _ = select_all(over) => return Ok(()),
            command = self.inbox.recv(), if !self.inbox.is_closed() => command,
        };
        match command {
            Some(command) => self.take(command).await,
            None => Ok(()),
        }
    }
}
