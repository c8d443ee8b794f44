//! The filtering proxy, on real sockets of the loopback: whom it lets, what it carries, what it bears.
//! Names are answered from a table, so that nothing outside is asked.

mod carried;
mod forms;
mod limits;
mod refusals;

use cairn_sandbox::network::{HostPattern, Options, Proxy, Reach};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// A time that is never waited for unless something is broken.
const NEVER: Duration = Duration::from_secs(30);

/// A server that answers every request alike and counts who comes.
struct Origin {
    at: SocketAddr,
    came: Arc<AtomicUsize>,
    sent: AtomicUsize,
}

impl Origin {
    async fn start() -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (at, came) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let count = came.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                count.fetch_add(1, Relaxed);
                tokio::spawn(async move {
                    head(&mut stream).await;
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
                        .await
                        .ok();
                });
            }
        });
        Origin { at, came, sent: AtomicUsize::new(0) }
    }

    fn port(&self) -> u16 {
        self.at.port()
    }

    /// How many have come by themselves. Whoever was connected before this was called is counted: one more visitor
    /// is sent, visitors are taken in their order, and that one has been served.
    async fn visits(&self) -> usize {
        let mut last = TcpStream::connect(self.at).await.unwrap();
        last.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        whole(&mut last).await;
        self.came.load(Relaxed) - self.sent.fetch_add(1, Relaxed) - 1
    }
}

/// A proxy that may reach `allow`, with names that all lead to this machine.
fn proxy(allow: &[&str], names: &[&str], change: impl FnOnce(&mut Options)) -> (Proxy, SocketAddr) {
    let reach = Reach { allow: patterns(allow), private: true, ..Reach::default() };
    let here = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
    let names = names.iter().map(|name| (name.parse().unwrap(), here.clone())).collect();
    let mut options = Options { names, ..Options::default() };
    change(&mut options);
    start(reach, options)
}

fn start(reach: Reach, options: Options) -> (Proxy, SocketAddr) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    (Proxy::start(listener, reach, options).unwrap(), at)
}

fn patterns(texts: &[&str]) -> Vec<HostPattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Sends a request and gives the open connection and the head of the answer.
async fn open(at: SocketAddr, request: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = head(&mut stream).await;
    (stream, head)
}

/// Sends a request and gives everything that is answered.
async fn ask(at: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    whole(&mut stream).await
}

/// The status of the answer to a request.
async fn status(at: SocketAddr, request: &str) -> u16 {
    let (_stream, head) = open(at, request).await;
    head.get(9..12).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{head:?}"))
}

/// Reads up to an empty line, or the end.
async fn head(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        match timeout(NEVER, stream.read_u8()).await.unwrap() {
            Ok(byte) => read.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(read).unwrap()
}

/// Reads to the end.
async fn whole(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    timeout(NEVER, stream.read_to_end(&mut read)).await.unwrap().unwrap();
    String::from_utf8(read).unwrap()
}
