//! Whatever a server does, time and memory are bounded, and it can be cancelled.

use super::kit::{
    EVENTS, ended, growing, head, leads, open, open_at, quietly, said, serve, until_gone, web,
};
use crate::background::feed::Feed;
use crate::reach::{MOST, Web};
use cairn_sandbox::{Keep, OnDisk};
use cairn_testkit::{Says, Site};
use cairn_text::scrub::Scrubber;
use cairn_types::StreamState::{Exited, Failed};
use cairn_types::{Hash, Uri};
use cairn_world::Growing;
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

// keeps: feeds-bounded
#[tokio::test]
async fn an_event_or_message_that_is_too_large_ends_its_feed() {
    let events = serve(|mut stream| async move {
        head(&mut stream).await;
        stream.write_all(EVENTS.as_bytes()).await.unwrap();
        stream.write_all(b"data: a\n\n").await.unwrap();
        while stream.write_all(&[b'x'; 1 << 16]).await.is_ok() {}
    })
    .await;
    let why = "413: an event is larger than 10 MiB".to_owned();
    assert_eq!(ended(open_at("sse", events).await).await, (Failed, why, "a\n".to_owned()));
    // One frame that only claims it; and frames that come to it.
    let claims = [&b"\x81\x01a\x81\x7f"[..], &(MOST as u64 + 1).to_be_bytes()].concat();
    let frame =
        [&b"\x01\x7f"[..], &(MOST as u64 / 2).to_be_bytes(), &vec![b'x'; MOST / 2]].concat();
    let rest = [&b"\0"[..], &frame[1..]].concat();
    let comes = [&b"\x81\x01a"[..], &frame, &rest, &rest].concat();
    for bytes in [claims, comes] {
        let at = serve(move |stream| {
            let bytes = bytes.clone();
            async move {
                let mut stream = accept_async(stream).await.unwrap().into_inner();
                // The other side may be gone before all of it was taken.
                let _ = stream.write_all(&bytes).await;
                until_gone(&mut stream).await;
            }
        })
        .await;
        let why = "413: a message is larger than 10 MiB".to_owned();
        assert_eq!(ended(open_at("ws", at).await).await, (Failed, why, "a\n".to_owned()));
    }
    // The largest is no trouble in either direction, even if the other side does not listen while it speaks.
    let at = serve(|stream| async move {
        let mut socket = accept_async(stream).await.unwrap();
        socket.send(Message::text("x".repeat(MOST))).await.unwrap();
        let heard = socket.next().await.unwrap().unwrap();
        socket.send(Message::text(heard.len().to_string())).await.unwrap();
        socket.close(None).await.unwrap();
        while let Some(Ok(_)) = socket.next().await {}
    })
    .await;
    let feed = open_at("ws", at).await;
    feed.write(&"y".repeat(MOST)).await.unwrap();
    assert_eq!(feed.write(&"y".repeat(MOST + 1)).await.unwrap_err().status.0, 413);
    let (state, _, kept) = ended(feed).await;
    assert!(state == Exited && kept.ends_with(&format!("x\n{MOST}\n")), "{state:?}");
}

// keeps: feeds-bounded
#[tokio::test]
async fn of_much_that_comes_both_ends_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let at = serve(|mut stream| async move {
        head(&mut stream).await;
        stream.write_all(EVENTS.as_bytes()).await.unwrap();
        let events: String = (0..100_000).map(|n| format!("data: {n}\n\n")).collect();
        stream.write_all(events.as_bytes()).await.unwrap();
    })
    .await;
    let all: String = (0..100_000).map(|n| format!("{n}\n")).collect();
    let on_disk = OnDisk { directory: directory.path().into(), head: 2000, tail: 3000 };
    for (on_disk, most) in [(None, 2200), (Some(on_disk), 5200)] {
        let uri: Uri = format!("sse://{at}/").parse().unwrap();
        let keep = Growing::new(Keep { in_memory: 1000, on_disk }, &Scrubber::default());
        let web = web(&[&at.to_string()]);
        let feed =
            Feed::open(&uri, (&web, &leads(&[])), keep, quietly(), &CancellationToken::new()).await;
        let feed = feed.unwrap();
        feed.over().await;
        let read = cairn_types::Read { first: 1, limit: 10_000, ..Default::default() };
        let shown = feed.lines("feed", &read).text;
        for part in ["0\n", "99999", "bytes not kept"] {
            assert!(shown.contains(part), "{shown}");
        }
        assert!(shown.len() < 4 * most, "{}", shown.len());
        let over = feed.end().await;
        let output = over.output.unwrap();
        assert_eq!((output.bytes, output.hash), (all.len() as u64, Hash::of(all.as_bytes())));
        assert!(output.kept.bytes < most as u64, "{}", output.kept.bytes);
        assert_eq!(over.spooled.is_some(), most > 5000);
    }
}

// keeps: feeds-bounded
#[tokio::test]
async fn a_server_has_only_so_long_to_agree() {
    let site = Site::start(|path| match path {
        "/headers" => Says::Endless(b"HTTP/1.1 200 OK\r\nA: x".to_vec()),
        "/begins" => Says::Stalls(b"HTTP/1.1 200 OK\r\nContent-Type: text/ev".to_vec()),
        "/no" => Says::Stalls(b"HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nno".to_vec()),
        _ => Says::Stalls(Vec::new()),
    });
    let own = site.at().to_string();
    let web = Web { within: Duration::from_millis(300), ..web(&[&own]) };
    for scheme in ["sse", "ws"] {
        for path in ["/silent", "/begins", "/no"] {
            let (status, text) = said(open(&format!("{scheme}://{own}{path}"), &web).await);
            assert_eq!(status, 408, "{path}: {text}");
        }
        let web = Web { within: Duration::from_secs(20), ..web.clone() };
        let (status, text) = said(open(&format!("{scheme}://{own}/headers"), &web).await);
        assert!(status == 500 && text.len() < 1000, "{status} {text}");
    }
}

// keeps: feeds-bounded
#[tokio::test]
async fn what_a_server_does_not_take_is_not_waited_for_without_end() {
    let at = serve(|stream| async move {
        let socket = accept_async(stream).await.unwrap();
        std::future::pending::<()>().await;
        drop(socket);
    })
    .await;
    let web = Web { within: Duration::from_millis(300), ..web(&[&at.to_string()]) };
    let feed = open(&format!("ws://{at}/"), &web).await.unwrap();
    // So much no connection holds by itself.
    for _ in 0..2 {
        assert_eq!(feed.write(&"x".repeat(MOST)).await.unwrap_err().status.0, 408);
    }
    assert!(!feed.is_over());
    assert_eq!(feed.end().await.state, cairn_types::StreamState::Stopped);
}

// keeps: feeds-bounded
#[tokio::test]
async fn a_server_that_pings_and_does_not_listen_fills_no_memory() {
    const PINGS: usize = 300_000;
    let (told, mut tells) = tokio::sync::mpsc::unbounded_channel();
    let at = serve(move |stream| {
        let told = told.clone();
        async move {
            let mut stream = accept_async(stream).await.unwrap().into_inner();
            let ping = [&[0x89, 125][..], &[b'p'; 125]].concat();
            for _ in 0..PINGS / 1000 {
                stream.write_all(&ping.repeat(1000)).await.unwrap();
            }
            stream.write_all(b"\x81\x01a\x88\0").await.unwrap();
            let mut answers = Vec::new();
            let _ = stream.read_to_end(&mut answers).await;
            told.send(answers.len()).unwrap();
        }
    })
    .await;
    let (state, _, kept) = ended(open_at("ws", at).await).await;
    assert_eq!((state, &*kept), (Exited, "a\n"));
    // What was answered is what waited to be sent, and what the connection itself holds.
    let answered = tells.recv().await.unwrap();
    assert!(answered > 131 && answered < PINGS * 131 * 3 / 4, "{answered}");
}

// keeps: feeds-bounded
#[tokio::test]
async fn opening_that_is_cancelled_ends_and_what_was_cancelled_before_asks_nobody() {
    for scheme in ["sse", "ws"] {
        let site = Site::start(|_| Says::Stalls(Vec::new()));
        let own = site.at().to_string();
        let uri: Uri = format!("{scheme}://{own}/").parse().unwrap();
        let web = Web { within: Duration::from_secs(3600), ..web(&[&own]) };
        let cancel = CancellationToken::new();
        let (leads, asked) = (leads(&[]), async {
            while site.asked().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            cancel.cancel();
        });
        let (opened, ()) =
            tokio::join!(Feed::open(&uri, (&web, &leads), growing(), quietly(), &cancel), asked);
        assert_eq!(said(opened), (499, "cancelled".to_owned()));
        let opened = Feed::open(&uri, (&web, &leads), growing(), quietly(), &cancel).await;
        assert_eq!(said(opened).0, 499);
        assert!(site.asked().is_empty());
    }
}
