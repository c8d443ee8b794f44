//! A connection that brings text as it comes: server-sent events or a WebSocket. Owns it from the moment it is opened
//! until it is over, and keeps of what comes as much as of a command's output. Who may open one, and what is told of
//! it, is decided elsewhere.

mod events;
mod sse;
mod ws;

use crate::reach::{Address, Asked, Kind, Leads, MOST, Web, refusal};
use crate::schemes::told;
use cairn_sandbox::Keep;
use cairn_text::scrub::Scrubber;
use cairn_types::{Read, Status, StreamState, Uri};
use cairn_world::{Growing, OnOutput, Over, Performed, Refusal};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a server may take to agree, and to take what is written.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a feed came to its end, and what there is to say of that.
type Ending = (StreamState, String);

/// A feed. Dropping it closes the connection, as soon as the runtime it was opened in comes to it.
#[derive(Debug)]
pub(crate) struct Feed {
    address: Address,
    kept: Arc<Mutex<Growing>>,
    cancel: CancellationToken,
    /// Cancelled once it is over.
    over: CancellationToken,
    /// Reads what comes; says how that ended, and how long it took in milliseconds.
    task: JoinHandle<(Ending, u64)>,
    /// What is written to, of one that takes anything.
    writer: Option<ws::Writer>,
    /// How long the server may take to take what is written.
    patience: Duration,
}

/// A connection that both sides agreed on.
enum Opened {
    Events(Box<reqwest::Response>),
    Socket(Box<ws::Reader>, ws::Writer),
}

fn lock(kept: &Mutex<Growing>) -> MutexGuard<'_, Growing> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Feed {
    /// Connects and returns once the server agreed, or why not. What comes is added to `growing`, and told.
    pub(crate) async fn open(
        uri: &Uri,
        (web, leads): (&Web, &Leads),
        growing: Growing,
        tell: OnOutput,
        cancel: &CancellationToken,
    ) -> Result<Feed, Refusal> {
        let address = Address::admitted(uri, web)?;
        let patience = PATIENCE.min(web.within);
        let opening = async {
            match address.kind() {
                Kind::Events => sse::open(&address, web, leads).await.map(Opened::Events),
                Kind::Socket => {
                    let (reader, writer) = ws::open(&address, web).await?;
                    Ok(Opened::Socket(Box::new(reader), writer))
                }
                Kind::Page => {
                    let text = format!("{address} is a page, and no feed");
                    Err(refusal(Status::NOT_IMPLEMENTED, text))
                }
            }
        };
        let opened = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                return Err(refusal(Status::CANCELLED, "cancelled".to_owned()));
            }
            opened = timeout(patience, opening) => opened,
        };
        let opened = opened.unwrap_or_else(|_| {
            let text = format!("{address} was not opened within {} seconds", patience.as_secs());
            Err(refusal(Status::TIMED_OUT, text))
        })?;
        Ok(Feed::start((address, patience), opened, growing, tell))
    }

    /// Begins to read what comes.
    fn start(
        (address, patience): (Address, Duration),
        opened: Opened,
        growing: Growing,
        tell: OnOutput,
    ) -> Feed {
        let (cancel, over) = (CancellationToken::new(), CancellationToken::new());
        let kept = Arc::new(Mutex::new(growing));
        let writer = match &opened {
            Opened::Events(_) => None,
            Opened::Socket(_, writer) => Some(Arc::clone(writer)),
        };
        let (growing, cancelled) = (Arc::clone(&kept), cancel.clone());
        let tells = over.clone().drop_guard();
        let task = tokio::spawn(async move {
            let begun = Instant::now();
            let ending = read(opened, (&growing, tell), &cancelled).await;
            drop(tells);
            (ending, u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX))
        });
        Feed { address, kept, cancel, over, task, writer, patience }
    }

    /// Whether it is over by itself.
    pub(crate) fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Waits until it is.
    pub(crate) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Lines of what came so far, under this name.
    pub(crate) fn lines(&self, name: &str, read: &Read) -> Performed {
        lock(&self.kept).lines(name, read)
    }

    /// All that is kept of what came so far.
    pub(crate) fn whole(&self) -> io::Result<Vec<u8>> {
        lock(&self.kept).whole()
    }

    /// Writes one message, where there is somebody to read it. It was then handed to the connection; whether the
    /// server took it only the server can say.
    pub(crate) async fn write(&self, text: &str) -> Result<(), Refusal> {
        let address = &self.address;
        let Some(writer) = &self.writer else {
            let text = format!("{address} only sends; nothing is written to it");
            return Err(refusal(Status::NOT_IMPLEMENTED, text));
        };
        if text.len() > MOST {
            let text = format!("a message to {address} may have {} MiB, and no more", MOST >> 20);
            return Err(refusal(Status::TOO_LARGE, text));
        }
        if self.is_over() {
            return Err(refusal(Status::GONE, format!("{address} is over")));
        }
        let gone = || {
            let text =
                format!("{address} was closed meanwhile; whether it took all of it is not known");
            refusal(Status::GONE, text)
        };
        tokio::select! {
            biased;
            () = self.over.cancelled() => Err(gone()),
            written = timeout(self.patience, ws::write(writer, text)) => match written {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(gone()),
                Err(_) => {
                    let seconds = self.patience.as_secs();
                    let text = format!("{address} did not take all of it within {seconds} seconds, and still may");
                    Err(refusal(Status::TIMED_OUT, text))
                }
            },
        }
    }

    /// Closes it, unless it is over, and says how it ended.
    pub(crate) async fn end(mut self) -> Over {
        self.cancel.cancel();
        let (ending, ms) = (&mut self.task).await.unwrap_or_else(|why| {
            let why = format!("watching it failed: {why}");
            ((StreamState::Failed, why), 0)
        });
        let kept = std::mem::replace(
            &mut *lock(&self.kept),
            Growing::new(Keep::default(), &Scrubber::default()),
        );
        kept.over(ending, ms).await
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads a feed to its end, or until it is cancelled.
async fn read(
    opened: Opened,
    (kept, mut tell): (&Mutex<Growing>, OnOutput),
    cancel: &CancellationToken,
) -> Ending {
    let mut hand_on = |text: &[u8]| {
        let seen = lock(kept).push(text);
        tell(&seen);
    };
    let stopped = || (StreamState::Stopped, String::new());
    match opened {
        Opened::Events(response) => tokio::select! {
            biased;
            () = cancel.cancelled() => stopped(),
            ending = sse::run(response, &mut hand_on) => ending,
        },
        Opened::Socket(mut reader, writer) => {
            let ending = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                ending = ws::run(&mut reader, &writer, &mut hand_on) => Some(ending),
            };
            if ending.is_none() {
                ws::part(&mut reader, &writer).await;
            }
            ending.unwrap_or_else(stopped)
        }
    }
}

/// Why an answer opens no feed: it leads elsewhere, or says no; or it says yes to what was not asked.
async fn refused(asked: Asked, otherwise: &str) -> Refusal {
    let said = asked
        .heads
        .last()
        .map(|head| format!("{}: the server answers {}", head.address, head.status));
    let is_yes = asked.heads.last().is_some_and(|head| head.status.is_success());
    let no =
        || refusal(Status::UNPROCESSABLE, format!("{}, {otherwise}", said.unwrap_or_default()));
    if is_yes {
        return no();
    }
    match asked.read().await {
        Err(why) => why,
        Ok(answer) => told::body(answer).err().unwrap_or_else(no),
    }
}

#[cfg(test)]
mod tests;
