//! One request and its response: sends, reads within the limits, hands the pieces on. Tries once;
//! trying again is `Chat`'s.

use super::peer::Peer;
use super::reply::{Problem, Reply};
use super::sse::Sse;
use crate::record::{Recorder, Tape};
use crate::{Delta, Fault, Limits};
use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Response};
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
    pub(crate) peer: &'a Peer,
    pub(crate) auth: Option<&'a HeaderValue>,
    pub(crate) limits: &'a Limits,
    pub(crate) recorder: Option<&'a Recorder>,
}

/// What the body turned out to be, told by its first byte: headers are not to be relied on.
enum Shape {
    Unknown,
    Stream(Sse),
    Whole(Vec<u8>),
}

impl Exchange<'_> {
    /// Asks once. The reply that comes back is whole.
    pub(crate) async fn run(
        &self,
        body: Bytes,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, Fault> {
        let mut tape = self.recorder.map(|recorder| recorder.begin(&body)).transpose()?;
        let first_byte = within(self.limits.first_byte);
        let response = timeout_at(first_byte, self.send(body))
            .await
            .map_err(|_| self.peer.timeout("did not answer", self.limits.first_byte))??;
        if !response.status().is_success() {
            return Err(self.refusal(response, tape.as_mut()).await);
        }
        self.read(response, tape.as_mut(), first_byte, on_delta).await
    }

    async fn send(&self, body: Bytes) -> Result<Response, Fault> {
        let mut request = self
            .client
            .post(self.peer.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .body(body);
        if let Some(auth) = self.auth {
            request = request.header(AUTHORIZATION, auth.clone());
        }
        request.send().await.map_err(|error| self.peer.unsent(error))
    }

    async fn refusal(&self, mut response: Response, mut tape: Option<&mut Tape>) -> Fault {
        let mut body = Vec::new();
        let until = within(self.limits.idle.min(GRACE));
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
        self.peer.refused(response.status(), response.headers(), &body)
    }

    async fn read(
        &self,
        mut response: Response,
        mut tape: Option<&mut Tape>,
        first_byte: Instant,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, Fault> {
        let (mut reply, mut shape) = (Reply::default(), Shape::Unknown);
        let (mut until, mut total) = (first_byte, 0);
        loop {
            let piece = match timeout_at(until, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => return self.end(reply, shape, on_delta, None),
                Ok(Err(error)) => return self.end(reply, shape, on_delta, Some(error)),
                Err(_) if reply.is_whole() => return Ok(reply),
                Err(_) if total == 0 => {
                    return Err(self.peer.timeout("did not answer", self.limits.first_byte));
                }
                Err(_) => return Err(self.peer.timeout("sent nothing more", self.limits.idle)),
            };
            total += piece.len();
            if total > self.limits.max_reply_bytes {
                return Err(self.peer.too_large(self.limits.max_reply_bytes));
            }
            if let Some(tape) = &mut tape {
                tape.push(&piece);
            }
            shape = self.feed(shape, &piece, &mut reply, on_delta)?;
            until = within(self.patience(&reply));
        }
    }

    fn patience(&self, reply: &Reply) -> Duration {
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
        reply: &mut Reply,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Shape, Fault> {
        let shape = match shape {
            Shape::Unknown => match first_mark(piece) {
                None => return Ok(Shape::Unknown),
                Some(b'{' | b'[') => Shape::Whole(Vec::new()),
                Some(b'<') => return Err(self.peer.garbage("an HTML page")),
                Some(_) => Shape::Stream(Sse::default()),
            },
            known => known,
        };
        match shape {
            Shape::Whole(mut body) => {
                body.extend_from_slice(piece);
                Ok(Shape::Whole(body))
            }
            Shape::Stream(mut sse) => {
                for event in sse.push(piece) {
                    reply.take(&event, on_delta).map_err(|problem| self.problem(&problem))?;
                }
                match sse.foreign() {
                    Some(line) => Err(self.peer.garbage(&quoted(line))),
                    None => Ok(Shape::Stream(sse)),
                }
            }
            Shape::Unknown => Ok(Shape::Unknown),
        }
    }

    /// The body ended, cleanly or not. What is left over may be an event that only lacks its last
    /// empty line, or half of one, which then is no JSON.
    fn end(
        &self,
        mut reply: Reply,
        shape: Shape,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        error: Option<reqwest::Error>,
    ) -> Result<Reply, Fault> {
        let rest = match shape {
            Shape::Unknown => None,
            Shape::Stream(mut sse) => {
                let rest = sse.end();
                if let (Some(line), None) = (sse.foreign(), &error) {
                    return Err(self.peer.garbage(&quoted(line)));
                }
                rest
            }
            Shape::Whole(body) => Some(body),
        };
        if let Some(rest) = rest {
            match reply.take(&rest, on_delta) {
                Err(Problem::NotAChunk(e)) if !e.is_eof() && error.is_none() => {
                    return Err(self.problem(&Problem::NotAChunk(e)));
                }
                Err(Problem::Error(error)) => return Err(self.peer.complained(&error)),
                _ => {}
            }
        }
        if reply.is_whole() { Ok(reply) } else { Err(self.peer.cut(error)) }
    }

    fn problem(&self, problem: &Problem) -> Fault {
        match problem {
            Problem::Error(error) => self.peer.complained(error),
            Problem::NotAChunk(error) => self.peer.garbage(&format!("a broken chunk ({error})")),
        }
    }
}

/// The moment when a limit is reached. A limit of years is none, and must not overflow the clock.
pub(crate) fn within(limit: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + limit.min(YEAR)
}

/// The first byte that says something about the body.
fn first_mark(piece: &[u8]) -> Option<u8> {
    let piece = piece.strip_prefix("\u{feff}".as_bytes()).unwrap_or(piece);
    piece.trim_ascii_start().first().copied()
}

fn quoted(line: &str) -> String {
    format!("{line:?} where an event was expected")
}
