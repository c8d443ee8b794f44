//! Carries one plain request to its host and the answer back. The answer's head is rewritten for one
//! answer per connection; its body passes as it is.

use super::account::Flow;
use super::answer::Answer;
use super::head::{self, Head, write_field};
use super::host::HostPort;
use super::request::Fetch;
use super::tunnel::pump;
use std::sync::atomic::Ordering::Relaxed;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How many provisional answers are skipped.
const PROVISIONAL: usize = 8;

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Bytes(u64),
    UntilClosed,
}

/// An answer's head as the client gets it, and how its body ends.
struct Passed {
    head: Vec<u8>,
    body: Body,
}

/// Fetches. An error is an answer in place of the host's; once the host's has begun there is none.
pub(super) async fn fetch(
    client: &mut TcpStream,
    mut origin: TcpStream,
    (to, fetch): (&HostPort, &Fetch),
    flow: &Flow,
) -> Result<(), Answer> {
    let broken = |why: &str| Answer::unreachable(to, why);
    origin.write_all(&fetch.head).await.map_err(|_| broken("it took no request"))?;
    flow.sent.fetch_add(fetch.head.len() as u64, Relaxed);
    let mut read = Vec::new();
    let passed = answer(&mut origin, &mut read, fetch.bodiless, flow).await.map_err(broken)?;
    let early = match passed.body {
        Body::Bytes(n) => &read[..read.len().min(usize::try_from(n).unwrap_or(usize::MAX))],
        Body::UntilClosed => &read[..],
    };
    if client.write_all(&passed.head).await.is_err() || client.write_all(early).await.is_err() {
        return Ok(());
    }
    let rest = match passed.body {
        Body::Bytes(n) => n - early.len() as u64,
        Body::UntilClosed => u64::MAX,
    };
    // A body that is cut is seen by the client, which was told its length or gets no last chunk.
    pump(&mut origin.take(rest), client, &flow.received).await.ok();
    Ok(())
}

/// Reads up to the head of the final answer. What is left in `read` is the beginning of its body.
async fn answer(
    origin: &mut TcpStream,
    read: &mut Vec<u8>,
    bodiless: bool,
    flow: &Flow,
) -> Result<Passed, &'static str> {
    for _ in 0..PROVISIONAL {
        let had = read.len();
        let end = head::read(origin, read).await;
        flow.received.fetch_add((read.len() - had) as u64, Relaxed);
        let end = end.map_err(|_| "its answer has no head")?;
        let passed = pass(&read[..end], bodiless)?;
        read.drain(..end);
        if let Some(passed) = passed {
            return Ok(passed);
        }
    }
    Err("its answer does not come to an end")
}

/// Rewrites the head of an answer; a provisional one is nothing.
fn pass(bytes: &[u8], bodiless: bool) -> Result<Option<Passed>, &'static str> {
    let head = Head::parse(bytes).map_err(|_| "the head of its answer is malformed")?;
    let status = status(head.first).ok_or("its answer is not one of HTTP/1.1")?;
    match status {
        101 => return Err("it changed to a protocol nobody asked for"),
        100..=199 => return Ok(None),
        _ => {}
    }
    let mut out = [head.first.as_bytes(), b"\r\n"].concat();
    let coded: Vec<&[u8]> = head.all("transfer-encoding").collect();
    let body = match length(&head)? {
        _ if bodiless || matches!(status, 204 | 304) => Body::Bytes(0),
        Some(bytes) if coded.is_empty() => Body::Bytes(bytes),
        _ => Body::UntilClosed,
    };
    // Of two lengths only one can be meant, and by the standard it is the coding's.
    head.pass_on(if coded.is_empty() { &[] } else { &["content-length"] }, &mut out);
    for coding in coded {
        write_field("Transfer-Encoding", coding, &mut out);
    }
    out.extend_from_slice(b"Connection: close\r\n\r\n");
    Ok(Some(Passed { head: out, body }))
}

fn status(first: &str) -> Option<u16> {
    let rest = first.strip_prefix("HTTP/1.1 ").or_else(|| first.strip_prefix("HTTP/1.0 "))?;
    let code = rest.split(' ').next().filter(|code| code.len() == 3)?;
    code.parse().ok().filter(|status| (100..1000).contains(status))
}

fn length(head: &Head<'_>) -> Result<Option<u64>, &'static str> {
    let mut lengths = head.all("content-length");
    let Some(first) = lengths.next() else { return Ok(None) };
    let digits = first.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(first).ok().filter(|_| digits);
    match text.and_then(|text| text.parse().ok()) {
        Some(length) if lengths.all(|other| other == first) => Ok(Some(length)),
        _ => Err("the length of its answer is malformed"),
    }
}
