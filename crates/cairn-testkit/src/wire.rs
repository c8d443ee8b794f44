//! As much of HTTP/1.1 as a scripted model needs: one connection's requests, and responses as
//! bytes. Knows nothing of scripts.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a waiting connection looks whether the server still runs.
const TICK: Duration = Duration::from_millis(50);

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The request line and the headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// A client's connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    stop: Arc<AtomicBool>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, stop: Arc<AtomicBool>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        Ok(Self { stream, buffer: Vec::new(), stop })
    }

    /// The next request, or `None` when the client has gone or the server stops.
    pub(crate) fn next(&mut self) -> io::Result<Option<Request>> {
        let head_end = loop {
            if let Some(end) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                break end;
            }
            if !self.fill()? {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..head_end]).into_owned();
        let length = content_length(&head);
        let total = head_end + 4 + length;
        while self.buffer.len() < total {
            if !self.fill()? {
                return Ok(None);
            }
        }
        let rest = self.buffer.split_off(total);
        let body = std::mem::replace(&mut self.buffer, rest).split_off(head_end + 4);
        let mut first = head.split_whitespace().map(str::to_owned);
        let method = first.next().unwrap_or_default();
        let path = first.next().unwrap_or_default();
        Ok(Some(Request { method, path, head, body }))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Waits, but no longer than the server runs.
    pub(crate) fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            std::thread::sleep(left.min(TICK));
        }
    }

    /// Makes closing the connection reset it.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))?;
        Ok(())
    }

    /// Reads more; `false` when nothing more will come.
    fn fill(&mut self) -> io::Result<bool> {
        let mut piece = [0; 64 << 10];
        while !self.stop.load(Ordering::SeqCst) {
            match self.stream.read(&mut piece) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.buffer.extend_from_slice(&piece[..n]);
                    return Ok(!self.stop.load(Ordering::SeqCst));
                }
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(false)
    }
}

fn content_length(head: &str) -> usize {
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    };
    head.lines().find_map(field).unwrap_or(0)
}

/// A response in the pieces it is sent in.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) pieces: Vec<Vec<u8>>,
}

impl Response {
    /// A response of known length.
    pub(crate) fn plain(code: u16, body: &str, retry_after: Option<&str>) -> Self {
        let kind = match body.trim_start().as_bytes().first() {
            Some(b'{' | b'[') => "application/json",
            Some(b'<') => "text/html",
            _ => "text/plain",
        };
        let wait = retry_after.map(|v| format!("Retry-After: {v}\r\n")).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {code} Status\r\nContent-Type: {kind}\r\n{wait}Content-Length: {}\r\n\r\n",
            body.len()
        );
        Self { pieces: vec![[head.as_bytes(), body.as_bytes()].concat()] }
    }

    /// A stream of events, chunked, one chunk for each.
    pub(crate) fn events(events: &[u8]) -> Self {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut pieces = vec![head.as_bytes().to_vec()];
        let mut rest = events;
        while !rest.is_empty() {
            let end = rest.windows(2).position(|w| w == b"\n\n").map_or(rest.len(), |p| p + 2);
            let (event, left) = rest.split_at(end);
            pieces.push([format!("{end:x}\r\n").as_bytes(), event, b"\r\n"].concat());
            rest = left;
        }
        pieces.push(b"0\r\n\r\n".to_vec());
        Self { pieces }
    }

    /// The whole response.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.pieces.concat()
    }
}
