//! What comes, and how it ends.

use super::kit::{
    EVENTS, ended, head, leads, open, open_at, quietly, serve, shows, told, until_gone, web,
};
use crate::background::feed::Feed;
use cairn_sandbox::Keep;
use cairn_text::scrub::{Known, Scrubber};
use cairn_types::Secret;
use cairn_types::StreamState::{Exited, Failed, Stopped};
use cairn_world::Growing;
use futures_util::{SinkExt, StreamExt};
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_util::sync::CancellationToken;

// keeps: feeds-told
#[tokio::test]
async fn events_are_there_as_soon_as_they_came_and_stay_when_the_server_has_closed() {
    let (heads, mut asked) = mpsc::unbounded_channel();
    let go_on = Arc::new(Notify::new());
    let next = Arc::clone(&go_on);
    let at = serve(move |mut stream| {
        let (heads, next) = (heads.clone(), Arc::clone(&next));
        async move {
            heads.send(head(&mut stream).await).unwrap();
            stream.write_all(EVENTS.as_bytes()).await.unwrap();
            let events = "data: gr\u{fc}n\r\n\r\n: nothing\n\nevent: tick\rdata: 2\r\r";
            for byte in events.as_bytes() {
                stream.write_all(&[*byte]).await.unwrap();
                stream.flush().await.unwrap();
            }
            next.notified().await;
            stream.write_all(b"data: last\n\ndata: not ended").await.unwrap();
        }
    })
    .await;
    let feed = open(&format!("sse://{at}/a?b=c"), &web(&[&at.to_string()])).await.unwrap();
    shows(&feed, "2").await;
    assert!(!feed.is_over());
    go_on.notify_one();
    let closed = "closed by the server".to_owned();
    assert_eq!(ended(feed).await, (Exited, closed, "gr\u{fc}n\nevent: tick\n2\nlast\n".to_owned()));
    let head = asked.recv().await.unwrap().to_ascii_lowercase();
    assert!(head.starts_with("get /a?b=c http/1.1\r\n"), "{head}");
    assert!(head.contains("accept: text/event-stream\r\n"), "{head}");
    for none in ["cookie", "authorization", "referer", "last-event-id", "origin"] {
        assert!(!head.contains(none), "{head}");
    }
    // It was not asked for again.
    assert!(asked.try_recv().is_err());
}

// keeps: feeds-told
#[tokio::test]
async fn messages_are_lines_and_what_is_written_is_one_message() {
    let (heard, mut hears) = mpsc::unbounded_channel();
    let at = serve(move |stream| {
        let heard = heard.clone();
        async move {
            let mut socket = accept_async(stream).await.unwrap();
            for message in [
                Message::text("one"),
                Message::Ping("p".into()),
                Message::binary(vec![0; 300]),
                Message::text("two\nlines"),
            ] {
                socket.send(message).await.unwrap();
            }
            while let Some(Ok(message)) = socket.next().await {
                let is_last = message == Message::text("end");
                heard.send(message).unwrap();
                if is_last {
                    let (code, reason) = (1001.into(), "gone home".into());
                    socket.close(Some(CloseFrame { code, reason })).await.unwrap();
                }
            }
        }
    })
    .await;
    let feed = open_at("ws", at).await;
    shows(&feed, "lines").await;
    feed.write("first\nmessage").await.unwrap();
    feed.write("").await.unwrap();
    feed.write("end").await.unwrap();
    let (state, why, kept) = ended(feed).await;
    assert_eq!((state, why.as_str()), (Exited, "closed by the server, 1001: gone home"));
    assert_eq!(kept, "one\n(binary, 300 bytes)\ntwo\nlines\n");
    let mut messages = Vec::new();
    while let Ok(message) = hears.try_recv() {
        messages.push(message);
    }
    let texts = messages.iter().filter(|message| message.is_text()).collect::<Vec<_>>();
    assert_eq!(texts, ["first\nmessage", "", "end"].map(Message::text).iter().collect::<Vec<_>>());
    // The ping was answered, and so was the close.
    assert!(messages.contains(&Message::Pong("p".into())), "{messages:?}");
    assert!(messages.iter().any(Message::is_close), "{messages:?}");
}

// keeps: feeds-told
#[tokio::test]
async fn a_server_that_goes_away_in_the_middle_is_told_from_one_that_closes() {
    let check = async |scheme: &str, at, why: &str, kept: &str| {
        let told = ended(open_at(scheme, at).await).await;
        assert_eq!(told, (Failed, why.to_owned(), kept.to_owned()));
    };
    let broke = "the connection broke: ";
    let at = serve(|mut stream| async move {
        head(&mut stream).await;
        let chunked = EVENTS.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n");
        stream.write_all(chunked.as_bytes()).await.unwrap();
        stream.write_all(b"9\r\ndata: a\n\n\r\n9\r\ndat").await.unwrap();
    })
    .await;
    let (state, why, kept) = ended(open_at("sse", at).await).await;
    assert!(why.starts_with(broke), "{why}");
    assert_eq!((state, &*kept), (Failed, "a\n"));
    // A text of five bytes, of which two come; the same after nothing at all.
    for (frame, kept) in [(&b"\x81\x01a\x81\x05bc"[..], "a\n"), (b"", "")] {
        let at = bytes(frame).await;
        let why = format!("{broke}the server went away without a word");
        check("ws", at, &why, kept).await;
    }
    let no = "what the server sent is no message: WebSocket protocol error: ";
    for (frame, why) in [
        (&b"\x81\x02\xff\xff"[..], "a text of the server is not UTF-8".to_owned()),
        (b"\x83\x00", format!("{no}Encountered invalid opcode: 3")),
        (b"\x81\x81\0\0\0\0a", format!("{no}Received a masked frame from server")),
        (b"\xc1\x01a", format!("{no}Reserved bits are non-zero")),
    ] {
        check("ws", bytes(frame).await, &why, "").await;
    }
}

/// A server that agrees, sends these bytes, and goes away.
async fn bytes(bytes: &'static [u8]) -> std::net::SocketAddr {
    serve(move |stream| async move {
        let mut stream: TcpStream = accept_async(stream).await.unwrap().into_inner();
        stream.write_all(bytes).await.unwrap();
    })
    .await
}

// keeps: feeds-told
#[tokio::test]
async fn what_is_ended_or_dropped_is_closed_and_takes_nothing_more() {
    let (gone, mut went) = mpsc::unbounded_channel();
    let tell = gone.clone();
    let events = serve(move |mut stream| {
        let gone = tell.clone();
        async move {
            head(&mut stream).await;
            stream.write_all(EVENTS.as_bytes()).await.unwrap();
            stream.write_all(b"data: a\n\n").await.unwrap();
            until_gone(&mut stream).await;
            gone.send("events").unwrap();
        }
    })
    .await;
    let socket = serve(move |stream| {
        let gone = gone.clone();
        async move {
            let mut socket = accept_async(stream).await.unwrap();
            socket.send(Message::text("a")).await.unwrap();
            let last = socket.next().await;
            let is_close = matches!(last, Some(Ok(Message::Close(_))));
            gone.send(if is_close { "closed" } else { "cut" }).unwrap();
            while let Some(Ok(_)) = socket.next().await {}
        }
    })
    .await;
    for (scheme, at, ended, dropped) in
        [("sse", events, "events", "events"), ("ws", socket, "closed", "cut")]
    {
        let feed = open_at(scheme, at).await;
        shows(&feed, "a").await;
        assert_eq!(told(feed.end().await), (Stopped, String::new(), "a\n".to_owned()));
        assert_eq!(went.recv().await, Some(ended));
        drop(open_at(scheme, at).await);
        assert_eq!(went.recv().await, Some(dropped));
    }
    let only_sends = open_at("sse", events).await.write("x").await.unwrap_err();
    assert_eq!(only_sends.status.0, 501);
    assert_eq!(only_sends.text, format!("sse://{events}/ only sends; nothing is written to it"));
}

// keeps: feeds-told
#[tokio::test]
async fn nothing_is_written_to_what_is_over() {
    let at = serve(|stream| async move {
        let mut socket = accept_async(stream).await.unwrap();
        socket.close(None).await.unwrap();
        while let Some(Ok(_)) = socket.next().await {}
    })
    .await;
    let feed = open_at("ws", at).await;
    feed.over().await;
    let refusal = feed.write("x").await.unwrap_err();
    assert_eq!(refusal.status.0, 410);
    assert_eq!(refusal.text, format!("ws://{at}/ is over"));
    assert_eq!(told(feed.end().await), (Exited, "closed by the server".to_owned(), String::new()));
}

// keeps: feeds-told
#[tokio::test]
async fn a_secret_that_a_server_says_is_not_kept() {
    let at = serve(|mut stream| async move {
        head(&mut stream).await;
        stream.write_all(EVENTS.as_bytes()).await.unwrap();
        for piece in ["data: it is a-very-", "secret-value, really\n\n"] {
            stream.write_all(piece.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
        }
    })
    .await;
    let known = Known::new("KEY", &Secret::new("a-very-secret-value"));
    let scrubber = Scrubber::new([0; 32], [known]);
    let growing = Growing::new(Keep { in_memory: 1000, on_disk: None }, &scrubber);
    let uri = format!("sse://{at}/").parse().unwrap();
    let (web, cancel) = (web(&[&at.to_string()]), CancellationToken::new());
    let feed = Feed::open(&uri, (&web, &leads(&[])), growing, quietly(), &cancel).await.unwrap();
    let (_, _, kept) = ended(feed).await;
    assert!(kept.starts_with("it is [secret KEY ") && kept.ends_with("], really\n"), "{kept}");
}
