//! What the proxy bears: floods, slowness, crowds, and its own end.

use super::{NEVER, Origin, ask, head, open, proxy, status, whole};
use cairn_sandbox::network::Options;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

fn unchanged(_: &mut Options) {}

/// A listener that plays a host by its address, and how it is asked for.
async fn host() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap().to_string();
    (listener, to)
}

async fn tunnel(at: SocketAddr, to: &str) -> TcpStream {
    let (stream, answer) = open(at, &format!("CONNECT {to} HTTP/1.1\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    stream
}

#[tokio::test]
async fn a_head_without_an_end_is_cut_off() {
    let (_proxy, at) = proxy(&[], &[], unchanged);
    let (mut stream, flood) = (TcpStream::connect(at).await.unwrap(), vec![b'a'; 64 * 1024]);
    let mut read = Vec::new();
    let (mut from, mut to) = stream.split();
    let write = async { while to.write_all(&flood).await.is_ok() {} };
    let read = async { from.read_to_end(&mut read).await.map(|_| read) };
    let (_, read) = timeout(NEVER, async { tokio::join!(write, read) }).await.unwrap();
    // Whoever floods on after the answer is reset, and may lose it.
    let read = String::from_utf8(read.unwrap_or_default()).unwrap();
    assert!(read.is_empty() || read.starts_with("HTTP/1.1 431 "), "{read}");

    let field = format!("A: {}\r\n", "a".repeat(32 * 1024));
    assert_eq!(status(at, &format!("CONNECT a.test:443 HTTP/1.1\r\n{field}\r\n")).await, 431);
    let field = format!("A: {}\r\n", "a".repeat(31 * 1024));
    assert_eq!(status(at, &format!("CONNECT a.test:443 HTTP/1.1\r\n{field}\r\n")).await, 403);
}

#[tokio::test]
async fn a_client_that_is_still_speaking_when_it_is_answered_is_heard_out() {
    let (_proxy, at) = proxy(&[], &[], unchanged);
    let begun = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let (mut client, answer) = open(at, begun).await;
    assert!(answer.starts_with("HTTP/1.1 405 "));
    for _ in 0..20 {
        client.write_all(&[b'a'; 1024]).await.unwrap();
        tokio::task::yield_now().await;
    }
    whole(&mut client).await;
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let soon = |options: &mut Options| options.header = Duration::from_millis(100);
    let (_proxy, at) = proxy(&[], &[], soon);
    for begun in ["", "CONNECT a.test", "CONNECT a.test:443 HTTP/1.1\r\nA: b\r\n"] {
        assert!(ask(at, begun).await.starts_with("HTTP/1.1 408 "), "{begun:?}");
    }
}

#[tokio::test]
async fn a_head_that_drips_is_not_waited_for() {
    let soon = |options: &mut Options| options.header = Duration::from_millis(100);
    let (_proxy, at) = proxy(&[], &[], soon);
    let mut stream = TcpStream::connect(at).await.unwrap();
    let (mut from, mut to) = stream.split();
    let drip = async {
        while to.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let mut answer = [0; 12];
    let served = async {
        tokio::select! { () = drip => {}, read = from.read_exact(&mut answer) => { read.unwrap(); } }
    };
    timeout(NEVER, served).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
}

/// An address whose line is full: whoever connects gets no answer. The line is kept full by what is held.
async fn full() -> (SocketAddr, rustix::fd::OwnedFd, Vec<TcpStream>) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&socket, 0).unwrap();
    let at = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
    let mut held = Vec::new();
    while let Ok(stream) = timeout(Duration::from_millis(300), TcpStream::connect(at)).await {
        held.push(stream.unwrap());
        assert!(held.len() < 64, "the line does not become full");
    }
    (at, socket, held)
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_not_waited_for() {
    let (to, _socket, _held) = full().await;
    let soon = |options: &mut Options| options.connect = Duration::from_millis(100);
    let (proxy, at) = proxy(&[&to.to_string()], &[], soon);
    assert_eq!(status(at, &format!("CONNECT {to} HTTP/1.1\r\n\r\n")).await, 504);
    assert_eq!(proxy.reached(), vec![]);
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_for_their_turn() {
    let origin = Origin::start().await;
    let to = origin.at.to_string();
    let (_proxy, at) = proxy(&[&to], &[], |options| options.connections = 3);
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(tunnel(at, &to).await);
    }
    let mut fourth = TcpStream::connect(at).await.unwrap();
    fourth.write_all(format!("CONNECT {to} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    for _ in 0..20 {
        assert_eq!(origin.visits().await, 3);
    }
    let mut nothing = [0];
    assert!(fourth.try_read(&mut nothing).is_err());
    held.pop();
    assert!(head(&mut fourth).await.starts_with("HTTP/1.1 200 "));
    assert_eq!(origin.visits().await, 4);
}

#[tokio::test]
async fn a_crowd_is_served_to_the_last() {
    let origin = Origin::start().await;
    let to = origin.at.to_string();
    let (proxy, at) = proxy(&[&to], &[], |options| options.connections = 16);
    let mut crowd = JoinSet::new();
    for n in 0..300 {
        let asked = if n % 2 == 0 { to.clone() } else { "refused.test:80".to_owned() };
        let get = format!("GET http://{asked}/ HTTP/1.1\r\nHost: {asked}\r\n\r\n");
        crowd.spawn(async move { (n % 2 == 0, status(at, &get).await) });
    }
    let served = timeout(NEVER, crowd.join_all()).await.unwrap();
    assert!(served.iter().all(|(let_in, status)| *status == if *let_in { 200 } else { 403 }));
    assert_eq!(proxy.reached()[0].connections, 150);
    assert_eq!(proxy.refused().len(), 1);
    assert_eq!(origin.visits().await, 150);
}

#[tokio::test]
async fn a_host_that_does_not_read_stops_its_client() {
    let (listener, to) = host().await;
    let (proxy, at) = proxy(&[&to], &[], unchanged);
    let mut client = tunnel(at, &to).await;
    let (_held, _) = listener.accept().await.unwrap();
    let (piece, bound) = (vec![0; 64 * 1024], 64 << 20);
    let mut taken = 0;
    let pause = Duration::from_millis(500);
    while let Ok(wrote) = timeout(pause, client.write(&piece)).await {
        taken += wrote.unwrap();
        assert!(taken < bound, "{taken} bytes were taken for a host that reads none");
    }
    assert!(proxy.reached()[0].sent <= taken as u64);
}

#[tokio::test]
async fn the_end_closes_every_connection_and_keeps_the_account() {
    for dropped in [false, true] {
        let (listener, to) = host().await;
        let (mut proxy, at) = proxy(&[&to], &[], unchanged);
        ask(at, "CONNECT refused.test:443 HTTP/1.1\r\n\r\n").await;
        let mut client = tunnel(at, &to).await;
        let (mut host, _) = listener.accept().await.unwrap();
        let mut silent = TcpStream::connect(at).await.unwrap();
        if dropped {
            drop(proxy);
        } else {
            timeout(NEVER, proxy.end()).await.unwrap();
            assert_eq!((proxy.refused().len(), proxy.reached().len()), (1, 1));
            assert!(TcpStream::connect(at).await.is_err());
        }
        for stream in [&mut client, &mut host, &mut silent] {
            let rest = timeout(NEVER, stream.read(&mut [0])).await.unwrap();
            assert!(matches!(rest, Ok(0) | Err(_)), "{rest:?}");
        }
    }
}

#[test]
fn without_a_runtime_nothing_is_started() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let reach = cairn_sandbox::network::Reach::default();
    assert!(cairn_sandbox::network::Proxy::start(listener, reach, Options::default()).is_err());
}
