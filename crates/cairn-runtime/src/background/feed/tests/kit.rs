//! Servers that a test leads by hand, and a feed as a test sees it.

use super::super::Feed;
use crate::reach::{Leads, Web};
use cairn_engine::policy::Rulebook;
use cairn_sandbox::Keep;
use cairn_text::scrub::Scrubber;
use cairn_types::{Mode, Policy, PolicyRule, Read, RuleFrom, RuleWord, StreamState, Uri, Writer};
use cairn_world::{Growing, OnOutput, Over, Refusal};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// How an answer begins that brings events until it is closed.
pub(super) const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// What is kept where a test is not about that.
pub(super) fn growing() -> Growing {
    Growing::new(Keep { in_memory: 128 << 10, on_disk: None }, &Scrubber::default())
}

/// A server that does this with each connection.
pub(super) async fn serve<F>(act: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(act(stream));
        }
    });
    at
}

/// Reads a request's head.
pub(super) async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// Reads until the other side is gone.
pub(super) async fn until_gone(stream: &mut TcpStream) {
    let mut piece = [0; 4096];
    while stream.read(&mut piece).await.is_ok_and(|n| n > 0) {}
}

/// A web in which these hosts may be read.
pub(super) fn web(private: &[&str]) -> Web {
    let private = private.iter().map(|host| host.parse().unwrap()).collect();
    Web { private, within: Duration::from_secs(20), ..Web::default() }
}

/// What redirects are judged by: rules that allow.
pub(super) fn leads(allow: &[&str]) -> Leads {
    let rule = |rule: &&str| PolicyRule {
        word: RuleWord::Allow,
        rule: (*rule).to_owned(),
        place: String::new(),
        from: RuleFrom::User,
        until: None,
    };
    let rules = Policy { rules: allow.iter().map(rule).collect(), ..Policy::default() };
    let rules = Rulebook::read(rules).unwrap();
    Leads { rules, mode: Mode::Act, writer: Writer::Model, is_hooked: false }
}

/// Opens a feed.
pub(super) async fn open(address: &str, web: &Web) -> Result<Feed, Refusal> {
    let uri: Uri = address.parse().unwrap();
    Feed::open(&uri, (web, &leads(&[])), growing(), quietly(), &CancellationToken::new()).await
}

/// Opens a feed of a server that may be read.
pub(super) async fn open_at(scheme: &str, at: SocketAddr) -> Feed {
    open(&format!("{scheme}://{at}/"), &web(&[&at.to_string()])).await.unwrap()
}

/// What opening one comes to: 102, or a status and why it was not opened.
pub(super) fn said(opened: Result<Feed, Refusal>) -> (u16, String) {
    opened.map_or_else(|why| (why.status.0, why.text), |_| (102, String::new()))
}

/// Waits until a feed shows this, told as lines.
pub(super) async fn shows(feed: &Feed, expected: &str) {
    let read = Read { first: 1, limit: 1000, ..Read::default() };
    loop {
        let told = feed.lines("feed", &read).text;
        if told.contains(expected) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// How a feed ended, once it is over by itself, and all that is kept of it.
pub(super) async fn ended(feed: Feed) -> (StreamState, String, String) {
    feed.over().await;
    assert!(feed.is_over());
    told(feed.end().await)
}

/// The same of one that is over.
pub(super) fn told(over: Over) -> (StreamState, String, String) {
    let kept = String::from_utf8(over.contents.concat()).unwrap();
    assert_eq!(over.exit, None);
    (over.state, over.why, kept)
}

/// Nobody is told what comes.
pub(super) fn quietly() -> OnOutput {
    Box::new(|_| {})
}
