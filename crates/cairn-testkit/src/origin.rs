//! A plain server that answers every request alike, on a loopback address that is not the usual one: what a
//! command asks for when a test looks at what it can reach.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\norigin";

/// A server that says `origin` and counts who comes. It serves as long as the process lives.
#[derive(Debug, Clone)]
pub struct Origin {
    at: SocketAddr,
    came: Arc<AtomicUsize>,
}

impl Origin {
    /// Starts one.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "a test without its server fails")]
    pub fn start() -> Origin {
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let (at, came) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&came);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(ANSWER);
            }
        });
        Origin { at, came }
    }

    /// Where it is.
    #[must_use]
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// How many have come since this was last asked.
    #[must_use]
    pub fn came(&self) -> usize {
        self.came.swap(0, Ordering::SeqCst)
    }
}
