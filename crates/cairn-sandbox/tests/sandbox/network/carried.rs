//! What passes through the proxy arrives as it was sent, and is counted.

use super::{head, open, proxy, whole};
use cairn_sandbox::network::Proxy;
use expect_test::{Expect, expect};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A listener that plays the host `example.org`, and a proxy that may reach it.
async fn scene() -> (TcpListener, Proxy, SocketAddr, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = format!("example.org:{}", listener.local_addr().unwrap().port());
    let (proxy, at) = proxy(&[&to], &["example.org"], |_| {});
    (listener, proxy, at, to)
}

/// A client and a host with a tunnel between them.
async fn tunnel() -> (TcpStream, TcpStream, Proxy) {
    let (listener, proxy, at, to) = scene().await;
    let (client, answer) = open(at, &format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n")).await;
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\n");
    let (host, _) = listener.accept().await.unwrap();
    (client, host, proxy)
}

/// Bytes that no shift or swap of pieces leaves equal.
fn noise(seed: u32, length: usize) -> Vec<u8> {
    let next = |n: &u32| Some(n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed), next).take(length).map(|n| n.to_be_bytes()[0]).collect()
}

#[tokio::test]
async fn a_tunnel_carries_both_ways_at_once_and_counts() {
    let (mut client, mut host, proxy) = tunnel().await;
    let (up, down) = (noise(1, 3 << 20), noise(2, 5 << 20));
    let (mut from_client, mut to_client) = client.split();
    let (mut from_host, mut to_host) = host.split();
    let (mut at_host, mut at_client) = (vec![0; up.len()], vec![0; down.len()]);
    tokio::try_join!(
        to_client.write_all(&up),
        to_host.write_all(&down),
        async { from_host.read_exact(&mut at_host).await.map(drop) },
        async { from_client.read_exact(&mut at_client).await.map(drop) },
    )
    .unwrap();
    assert!(at_host == up && at_client == down);
    let reached = proxy.reached();
    assert_eq!(reached.len(), 1);
    assert_eq!((reached[0].sent, reached[0].received), (3 << 20, 5 << 20));
    assert_eq!((reached[0].connections, reached[0].to.host.name()), (1, Some("example.org")));
}

#[tokio::test]
async fn a_side_that_has_said_everything_still_hears_the_other() {
    let (mut client, mut host, _proxy) = tunnel().await;
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(whole(&mut host).await, "question");
    host.write_all(b"answer").await.unwrap();
    drop(host);
    assert_eq!(whole(&mut client).await, "answer");

    let (mut client, mut host, _proxy) = tunnel().await;
    host.write_all(b"banner").await.unwrap();
    host.shutdown().await.unwrap();
    assert_eq!(whole(&mut client).await, "banner");
    client.write_all(b"later").await.unwrap();
    drop(client);
    assert_eq!(whole(&mut host).await, "later");
}

#[tokio::test]
async fn what_a_client_sends_before_its_tunnel_stands_is_not_lost() {
    let (listener, proxy, at, to) = scene().await;
    let (client, _) = open(at, &format!("CONNECT {to} HTTP/1.1\r\n\r\nearly")).await;
    drop(client);
    let (mut host, _) = listener.accept().await.unwrap();
    assert_eq!(whole(&mut host).await, "early");
    assert_eq!(proxy.reached()[0].sent, 5);
}

/// Fetches once: what the host gets, and what the client gets for `answer`, with CR left out.
async fn check(request: &str, answer: &str, expected: Expect) {
    let (listener, proxy, at, to) = scene().await;
    let mut client = TcpStream::connect(at).await.unwrap();
    client.write_all(request.replace("HOST", &to).as_bytes()).await.unwrap();
    let (mut host, _) = listener.accept().await.unwrap();
    let got = head(&mut host).await;
    host.write_all(answer.as_bytes()).await.unwrap();
    // The host keeps its connection open where the answer says how long it is.
    let held = answer.to_ascii_lowercase().contains("content-length").then_some(host);
    let back = whole(&mut client).await;
    drop(held);
    let shown = format!("{got}----\n{back}").replace('\r', "").replace(&to, "HOST");
    expected.assert_eq(&shown);
    let reached = &proxy.reached()[0];
    assert_eq!((reached.sent, reached.received), (got.len() as u64, answer.len() as u64));
}

#[tokio::test]
async fn a_plain_request_is_passed_on_without_what_is_the_proxys() {
    check(
        "GET HTTP://HOST/a?b=http://c/ HTTP/1.1\r\nHost: HOST\r\nAccept: */*\r\n\
         Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nConnection: X-Mine, close\r\n\
         x-mine: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nCookie: kept\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\n\
         X-Hop: 1\r\nSet-Cookie: kept\r\n\r\nhello",
        expect![[r#"
            GET /a?b=http://c/ HTTP/1.1
            Host: HOST
            Accept: */*
            Cookie: kept
            Connection: close

            ----
            HTTP/1.1 200 OK
            Content-Length: 5
            Set-Cookie: kept
            Connection: close

            hello"#]],
    )
    .await;
}

#[tokio::test]
async fn a_target_without_a_path_gets_one() {
    check(
        "HEAD http://HOST?q HTTP/1.0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n",
        expect![[r#"
            HEAD /?q HTTP/1.0
            Host: HOST
            Connection: close

            ----
            HTTP/1.0 200 OK
            Content-Length: 1000
            Connection: close

        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_in_chunks_passes_as_it_is_after_provisional_ones() {
    check(
        "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
         5\r\nhello\r\n0\r\n\r\n",
        expect![[r#"
            GET / HTTP/1.1
            Host: HOST
            Connection: close

            ----
            HTTP/1.1 200 OK
            Transfer-Encoding: chunked
            Connection: close

            5
            hello
            0

        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_said_to_be_none() {
    for answer in [
        "",
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 200 OK\nA: b\n\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
    ] {
        let (listener, _proxy, at, to) = scene().await;
        let mut client = TcpStream::connect(at).await.unwrap();
        let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let (mut host, _) = listener.accept().await.unwrap();
        head(&mut host).await;
        host.write_all(answer.as_bytes()).await.unwrap();
        drop(host);
        let back = whole(&mut client).await;
        assert!(back.starts_with("HTTP/1.1 502 "), "{answer:?}: {back:?}");
    }
}

#[tokio::test]
async fn a_second_request_on_a_connection_reaches_nobody() {
    let (listener, _proxy, at, to) = scene().await;
    let mut client = TcpStream::connect(at).await.unwrap();
    let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let second = "GET http://evil/ HTTP/1.1\r\nHost: evil\r\n\r\n";
    client.write_all(format!("{request}{second}").as_bytes()).await.unwrap();
    let (mut host, _) = listener.accept().await.unwrap();
    head(&mut host).await;
    host.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    assert!(whole(&mut client).await.starts_with("HTTP/1.1 204"));
    assert_eq!(whole(&mut host).await, "");
}
