//! One request and its response: sends, reads within the limits, hands the pieces on. Tries once;
//! trying again is `Http`'s.

use super::Wire;
use super::client::Client;
use super::record::{Recorder, Tape};
use super::retry::{Clock, later};
use super::sse::Sse;
use crate::read::{Assembly, OnDelta, Problem, is_keepalive, is_last};
use crate::{Fault, Limits};
use bytes::Bytes;
use reqwest::Response;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How much of a refusal is read.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// How long a whole answer waits for its usage.
const GRACE: Duration = Duration::from_secs(5);
/// How long a finished answer waits for the response's own end, which keeps the connection usable.
const LAST_BYTES: Duration = Duration::from_millis(100);

/// Everything one attempt needs.
pub(crate) struct Exchange<'a> {
    pub(crate) client: &'a Client,
    pub(crate) wire: Wire,
    /// Whether the model wants its reasoning back.
    pub(crate) echo: bool,
    pub(crate) origin: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) recorder: Option<&'a Recorder>,
    /// Whether the server has ever answered.
    pub(crate) answered: &'a AtomicBool,
}

/// An answer that came whole.
pub(crate) struct Received {
    pub(crate) reply: Box<dyn Assembly>,
    /// Bytes of it that are not UTF-8 were replaced.
    pub(crate) is_replaced: bool,
}

/// What the body turned out to be, told by its first byte: headers are not to be relied on.
enum Shape {
    Unknown,
    Stream(Sse),
    Whole(Vec<u8>),
    /// The stream said that it is over: what follows is no part of the answer.
    Over,
}

/// Puts an answer together from events.
struct Reader<'a> {
    reply: &'a mut dyn Assembly,
    on_delta: OnDelta<'a>,
    is_replaced: bool,
}

impl Reader<'_> {
    /// Takes an event. Bytes that are not UTF-8 become U+FFFD.
    fn take(&mut self, event: &[u8]) -> Result<(), Problem> {
        let text = String::from_utf8_lossy(event);
        self.is_replaced |= matches!(text, Cow::Owned(_));
        self.reply.take(text.as_bytes(), self.on_delta)
    }
}

/// What a piece of the body brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Brought {
    /// Nothing of the answer: comments, or blanks before it.
    Nothing,
    /// An event that only says that the server still works.
    Keepalive,
    /// A part of the answer.
    Data,
}

/// Until when the next piece is waited for, and what is said when it does not come.
struct Patience {
    until: Instant,
    words: &'static str,
    limit: Duration,
}

impl Patience {
    /// For an answer that has not begun.
    fn first(clock: &Clock, limits: &Limits) -> Patience {
        let until = clock.first_byte(limits);
        let first = Patience { until, words: "did not answer", limit: limits.first_byte };
        first.within_deadline(clock, limits)
    }

    /// For what follows.
    fn next(idle: Duration, clock: &Clock, limits: &Limits) -> Patience {
        let until = later(Instant::now(), idle);
        let next = Patience { until, words: "sent nothing more", limit: idle };
        next.within_deadline(clock, limits)
    }

    /// This, or the ask's own deadline where that comes first.
    fn within_deadline(self, clock: &Clock, limits: &Limits) -> Patience {
        let until = clock.deadline(limits);
        match until < self.until {
            true => Patience { until, words: "did not finish", limit: limits.deadline },
            false => self,
        }
    }
}

impl Exchange<'_> {
    /// Asks once. The reply that comes back is whole.
    pub(crate) async fn run(
        &self,
        body: Bytes,
        clock: &mut Clock,
        on_delta: OnDelta<'_>,
    ) -> Result<Received, Fault> {
        let mut tape = self.recorder.map(|recorder| recorder.begin(&body)).transpose()?;
        clock.send();
        let first = Patience::first(clock, self.limits);
        let response = timeout_at(first.until, self.send(body))
            .await
            .map_err(|_| self.client.peer.timeout(first.words, first.limit))??;
        if !response.status().is_success() {
            return Err(self.refusal(response, tape.as_mut()).await);
        }
        let mut reply = self.wire.assembly(self.origin, self.echo);
        let mut reader = Reader { reply: reply.as_mut(), on_delta, is_replaced: false };
        self.read(response, tape.as_mut(), clock, &mut reader).await?;
        let is_replaced = reader.is_replaced;
        Ok(Received { reply, is_replaced })
    }

    async fn send(&self, body: Bytes) -> Result<Response, Fault> {
        let sent = self.client.request(body).send().await;
        let before = self.answered.load(Ordering::Relaxed);
        if sent.is_ok() {
            self.answered.store(true, Ordering::Relaxed);
        }
        sent.map_err(|error| self.client.peer.unsent(error, before))
    }

    async fn refusal(&self, mut response: Response, mut tape: Option<&mut Tape>) -> Fault {
        let mut body = Vec::new();
        let until = later(Instant::now(), self.limits.idle.min(GRACE));
        while let Ok(Ok(Some(piece))) = timeout_at(until, response.chunk()).await {
            if let Some(tape) = &mut tape {
                tape.push(&piece);
            }
            let room = MAX_ERROR_BYTES - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if body.len() == MAX_ERROR_BYTES {
                break;
            }
        }
        self.client.peer.refused(response.status(), response.headers(), &body)
    }

    async fn read(
        &self,
        mut response: Response,
        mut tape: Option<&mut Tape>,
        clock: &mut Clock,
        reader: &mut Reader<'_>,
    ) -> Result<(), Fault> {
        let mut patience = Patience::first(clock, self.limits);
        let (mut shape, mut total) = (Shape::Unknown, 0);
        loop {
            let piece = match timeout_at(patience.until, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => return self.end(shape, reader, None),
                Ok(Err(error)) => return self.end(shape, reader, Some(error)),
                Err(_) if reader.reply.is_whole() => return Ok(()),
                Err(_) => return Err(self.client.peer.timeout(patience.words, patience.limit)),
            };
            total += piece.len();
            if total > self.limits.max_reply_bytes {
                return Err(self.client.peer.too_large(self.limits.max_reply_bytes));
            }
            if let Some(tape) = &mut tape {
                tape.push(&piece);
            }
            let brought;
            (shape, brought) = self.feed(shape, &piece, reader)?;
            if brought == Brought::Nothing {
                continue;
            }
            if brought == Brought::Data {
                clock.renew();
            }
            patience = Patience::next(self.idle(reader.reply), clock, self.limits);
        }
    }

    fn idle(&self, reply: &dyn Assembly) -> Duration {
        match (reply.is_whole(), reply.is_done()) {
            (true, true) => LAST_BYTES.min(self.limits.idle),
            (true, false) => GRACE.min(self.limits.idle),
            (false, _) => self.limits.idle,
        }
    }

    fn feed(
        &self,
        shape: Shape,
        piece: &[u8],
        reader: &mut Reader<'_>,
    ) -> Result<(Shape, Brought), Fault> {
        let shape = match shape {
            Shape::Unknown => match first_mark(piece) {
                None => return Ok((Shape::Unknown, Brought::Nothing)),
                Some(b'{' | b'[') => Shape::Whole(Vec::new()),
                Some(b'<') => return Err(self.client.peer.garbage("an HTML page")),
                Some(_) => Shape::Stream(Sse::default()),
            },
            known => known,
        };
        match shape {
            Shape::Whole(mut body) => {
                body.extend_from_slice(piece);
                Ok((Shape::Whole(body), Brought::Data))
            }
            Shape::Stream(mut sse) => {
                let mut brought = Brought::Nothing;
                for event in sse.push(piece) {
                    if is_last(&event) {
                        reader.take(&event).map_err(|problem| self.problem(&problem))?;
                        return Ok((Shape::Over, Brought::Data));
                    }
                    let is_alive = is_keepalive(&event);
                    brought =
                        brought.max(if is_alive { Brought::Keepalive } else { Brought::Data });
                    reader.take(&event).map_err(|problem| self.problem(&problem))?;
                }
                if let Some(line) = sse.foreign() {
                    return Err(self.client.peer.garbage(&quoted(line)));
                }
                // An event may be longer than a piece.
                if sse.is_within_data() {
                    brought = Brought::Data;
                }
                Ok((Shape::Stream(sse), brought))
            }
            known @ (Shape::Unknown | Shape::Over) => Ok((known, Brought::Nothing)),
        }
    }

    /// The body ended, cleanly or not. What is left over may be an event that only lacks its last
    /// empty line, or half of one, which then is no JSON.
    fn end(
        &self,
        shape: Shape,
        reader: &mut Reader<'_>,
        error: Option<reqwest::Error>,
    ) -> Result<(), Fault> {
        let rest = match shape {
            Shape::Unknown | Shape::Over => None,
            Shape::Stream(mut sse) => {
                let rest = sse.end();
                if let (Some(line), None) = (sse.foreign(), &error) {
                    return Err(self.client.peer.garbage(&quoted(line)));
                }
                rest
            }
            Shape::Whole(body) => Some(body),
        };
        if let Some(rest) = rest {
            match reader.take(&rest) {
                Err(Problem::NotAChunk(e)) if !e.is_eof() && error.is_none() => {
                    return Err(self.problem(&Problem::NotAChunk(e)));
                }
                Err(Problem::Error(error)) => return Err(self.client.peer.complained(&error)),
                _ => {}
            }
        }
        if reader.reply.is_whole() { Ok(()) } else { Err(self.client.peer.cut(error)) }
    }

    fn problem(&self, problem: &Problem) -> Fault {
        match problem {
            Problem::Error(error) => self.client.peer.complained(error),
            Problem::NotAChunk(error) => {
                self.client.peer.garbage(&format!("a broken chunk ({error})"))
            }
        }
    }
}

/// The first byte that says something about the body.
fn first_mark(piece: &[u8]) -> Option<u8> {
    let piece = piece.strip_prefix("\u{feff}".as_bytes()).unwrap_or(piece);
    piece.trim_ascii_start().first().copied()
}

fn quoted(line: &str) -> String {
    format!("{line:?} where an event was expected")
}
