//! A web server on loopback that answers each path as a test says, and remembers who asked for what.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// What a server says.
#[derive(Debug, Clone)]
pub enum Says {
    /// These bytes, and no more.
    Bytes(Vec<u8>),
    /// These bytes, and then the last of them for ever.
    Endless(Vec<u8>),
    /// These bytes, and then nothing, without an end.
    Stalls(Vec<u8>),
}

impl Says {
    /// A whole answer: status with its words, type, body.
    #[must_use]
    pub fn whole(status: &str, mime: &str, body: &[u8]) -> Says {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {length}\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n"
        );
        Says::Bytes([head.as_bytes(), body].concat())
    }

    /// A page.
    #[must_use]
    pub fn page(html: &str) -> Says {
        Says::whole("200 OK", "text/html; charset=utf-8", html.as_bytes())
    }

    /// A redirect.
    #[must_use]
    pub fn leads(status: &str, to: &str) -> Says {
        let head = format!(
            "HTTP/1.1 {status}\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        Says::Bytes(head.into_bytes())
    }
}

/// A server. It serves as long as the process lives.
#[derive(Debug, Clone)]
pub struct Site {
    at: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Starts one on 127.0.0.1 that says this of each path.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "a test without its server fails")]
    pub fn start(says: impl Fn(&str) -> Says + Send + Sync + 'static) -> Site {
        Site::over(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(), says)
    }

    /// The same over a socket that listens already.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "a test without its server fails")]
    pub fn over(
        listener: TcpListener,
        says: impl Fn(&str) -> Says + Send + Sync + 'static,
    ) -> Site {
        let (at, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let (says, noted) = (Arc::new(says), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (says, noted) = (Arc::clone(&says), Arc::clone(&noted));
                std::thread::spawn(move || serve(stream, &noted, says.as_ref()));
            }
        });
        Site { at, asked }
    }

    /// Where it is.
    #[must_use]
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// The address of a path on it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    /// The heads of the requests since this was last asked. A connection without one is an empty text.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<String>>, says: &dyn Fn(&str) -> Says) {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(n) if n > 0 => head.extend_from_slice(&piece[..n]),
            _ => break,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or("/");
    match says(path) {
        Says::Bytes(bytes) => {
            let _ = stream.write_all(&bytes);
        }
        Says::Endless(bytes) => {
            let more = vec![bytes.last().copied().unwrap_or(b'x'); 1 << 16];
            let mut sent = stream.write_all(&bytes);
            while sent.is_ok() {
                sent = stream.write_all(&more);
            }
        }
        Says::Stalls(bytes) => {
            let _ = stream.write_all(&bytes);
            // Until the other side has gone.
            while stream.read(&mut piece).is_ok_and(|n| n > 0) {}
        }
    }
}
