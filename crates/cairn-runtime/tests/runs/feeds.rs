//! Feeds in a run: a read opens one, what came is read, written to and cancelled by ops, and its end is told.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::schemes::Web;
use cairn_runtime::{Client, Pause, Place};
use cairn_testkit::{ModelServer, Says, Site, TempHome};
use cairn_types::{Body, By, Effect, Fact, Policy, Status, Stream, StreamState};
use cairn_world::{Settings, Workspace, World};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

fn until(file: &str) -> Value {
    call("bash", json!({"command": format!("until [ -e {file} ]; do sleep 0.01; done")}))
}

/// Drives a run whose model says these things; its facts, and what it was told of each op.
async fn drive(
    temp: &TempHome,
    private: &[SocketAddr],
    replies: &[Value],
) -> (Vec<Fact>, Vec<String>) {
    let store = store(&temp.home());
    let model = ModelServer::start(script(&[replies, &[json!({"say": "done"})]].concat()));
    let mut start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    let private = private.iter().map(|at| at.to_string().parse().unwrap()).collect();
    start.settings.web = Web { private, ..Web::default() };
    let place = Place::New { new_session: false, name: None };
    let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
    assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
    let facts = store.facts(driver.run_id(), 0).unwrap();
    let told = facts.iter().filter_map(|fact| match &fact.body {
        Body::Outcome(outcome) => {
            let text = store.content(&outcome.result.hash).unwrap();
            Some(format!("{} {}", outcome.status, String::from_utf8(text).unwrap()))
        }
        _ => None,
    });
    assert!(store.subscriptions(driver.session_id()).unwrap().is_empty());
    let told = told.collect();
    (facts, told)
}

fn streams(facts: &[Fact]) -> Vec<Stream> {
    let stream = |fact: &Fact| match &fact.body {
        Body::Stream(stream) => Some(stream.clone()),
        _ => None,
    };
    facts.iter().filter_map(stream).collect()
}

fn workspace() -> TempHome {
    let temp = TempHome::new();
    std::fs::write(temp.workspace().join(".ignore"), "*.log\n").unwrap();
    temp
}

/// A server that says back what it hears, and makes a file when it did.
async fn echo(made: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            let Message::Text(text) = message else { break };
            socket.send(Message::text(format!("you said {text}"))).await.unwrap();
            std::fs::write(&made, "").unwrap();
        }
    });
    at
}

// keeps: feeds-are-streams
#[test]
fn a_socket_is_opened_by_a_read_written_to_and_cancelled_by_its_address() {
    let temp = workspace();
    block_on(async {
        let at = echo(temp.workspace().join("echoed.log")).await;
        let feed = format!("ws://{at}/chat");
        let replies = [
            call("read", json!({"path": feed})),
            call("send", json!({"to": feed, "text": "hello"})),
            until("echoed.log"),
            call("read", json!({"path": feed})),
            call("read", json!({"path": "log:///1/1/1#output", "matching": "hello"})),
            call("read", json!({"path": feed, "matching": "hello"})),
            call("read", json!({"path": feed, "scope": "99"})),
            call("send", json!({"to": feed, "status": 499})),
            call("send", json!({"to": "log:///1/1/1", "text": "late"})),
            call("read", json!({"path": "log:///1/1/1#output"})),
        ];
        let (facts, told) = drive(&temp, &[at], &replies).await;
        assert_eq!(told[0], "102 open; what comes is log:///1/1/1#output");
        assert_eq!(told[1], "200 written: 5 bytes");
        assert_eq!(told[3], "200 1\tyou said hello\nrunning");
        assert_eq!(told[4], "200 1:\tyou said hello");
        assert!(told[5].ends_with("1:\tyou said hello") || told[5].starts_with("304 "), "{told:?}");
        assert!(told[6].starts_with("416 "), "{told:?}");
        assert!(told[7].starts_with("200 "), "{told:?}");
        assert!(told[8].starts_with("410 "), "{told:?}");
        assert!(told[9].contains("1\tyou said hello"), "{told:?}");
        let [stream] = &streams(&facts)[..] else { panic!("{facts:?}") };
        assert_eq!(stream.state, StreamState::Removed);
        let opened = facts.iter().find_map(|fact| match &fact.body {
            Body::Outcome(outcome) => outcome.stream.clone(),
            _ => None,
        });
        assert_eq!(opened, Some(feed));
        let effect = facts.iter().find_map(|fact| match &fact.body {
            Body::Intent(intent) => Some(intent.effect),
            _ => None,
        });
        assert_eq!(effect, Some(Effect::Network), "somebody is asked about it");
    });
}

// keeps: feeds-are-streams
#[test]
fn events_that_a_server_ends_are_told_as_over_and_stay_in_the_row() {
    let temp = workspace();
    let events = b"data: one\n\nevent: tick\ndata: two\n\n";
    let site = Site::start(|_| Says::whole("200 OK", "text/event-stream", events));
    block_on(async {
        let feed = format!("sse://{}/", site.at());
        let replies = [
            call("read", json!({"path": feed})),
            call("bash", json!({"command": "sleep 0.2"})),
            call("read", json!({"path": "log:///1/1/1#output"})),
            call("copy", json!({"from": "log:///1/1/1#output", "to": "known:///events.txt"})),
            call("send", json!({"to": feed, "text": "x"})),
        ];
        let (facts, told) = drive(&temp, &[site.at()], &replies).await;
        assert!(told[0].starts_with("102 "), "{told:?}");
        let [stream] = &streams(&facts)[..] else { panic!("{facts:?}") };
        assert_eq!((stream.state, stream.exit), (StreamState::Exited, None));
        assert!(told[2].contains("1\tone\n2\tevent: tick\n3\ttwo"), "{told:?}");
        assert!(told[3].starts_with("201 "), "{told:?}");
        assert!(
            told[4].starts_with("404 "),
            "it is over, and nothing else has its address: {told:?}"
        );
    });
}

fn world(root: &Path) -> Arc<World> {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    Arc::new(World::new(Workspace::open(root).unwrap(), settings))
}

// keeps: feeds-are-streams
#[test]
fn every_op_on_a_feed_from_outside_comes_to_what_the_table_says() {
    let temp = TempHome::new();
    let site = Site::start(|_| Says::page("canary"));
    block_on(async {
        let root = temp.workspace();
        let store = store(&temp.home());
        let client = Client::here(store, world(&root), &root, Policy::default()).await.unwrap();
        let private = vec![site.at().to_string().parse().unwrap()];
        let mut client = client.reaching(&Web { private, ..Web::default() });
        for scheme in ["sse", "sses", "ws", "wss"] {
            let feed = format!("{scheme}://{}/", site.at());
            let inside = format!("{scheme}://127.0.0.1:1/");
            let table = [
                ("read", json!({"path": feed}), 501),
                ("read", json!({"path": inside}), 403),
                ("read", json!({"path": format!("{feed}#other")}), 400),
                ("write", json!({"path": feed, "content": "x"}), 403),
                ("find", json!({"under": feed, "glob": "**"}), 501),
                ("copy", json!({"from": feed, "to": "known:///x"}), 501),
                // Its rows are shown, and can be put away.
                ("open", json!({"path": feed}), 304),
                ("fold", json!({"path": feed}), 200),
                ("send", json!({"to": feed, "status": 499}), 404),
                ("send", json!({"to": feed, "text": "x"}), 501),
                ("send", json!({"to": feed, "status": 204}), 501),
            ];
            for (tool, args, status) in table {
                let by = By::Person("ada".to_owned());
                let answer = client.op(tool, &args.to_string(), by).await.unwrap();
                assert_eq!(answer.status, Status(status), "{tool} {args}: {}", answer.text);
            }
        }
        assert!(site.asked().is_empty());
    });
}

// keeps: feeds-asked
#[test]
fn a_socket_is_written_to_by_its_own_address_alone() {
    let temp = workspace();
    block_on(async {
        let echoed = temp.workspace().join("echoed.log");
        let at = echo(echoed.clone()).await;
        let feed = format!("ws://{at}/chat");
        let replies = [
            call("read", json!({"path": feed})),
            call("send", json!({"to": "log:///1/1/1", "text": "round the rules"})),
            call("send", json!({"to": "exec:///1/1/1", "text": "round the rules"})),
            call("send", json!({"to": "log:///1/1/1", "status": 499})),
        ];
        let (_, told) = drive(&temp, &[at], &replies).await;
        let own = format!("is the row of {feed}; write to that address");
        assert_eq!(told[1], format!("501 log:///1/1/1 {own}"));
        assert_eq!(told[2], format!("501 exec:///1/1/1 {own}"));
        assert!(told[3].starts_with("200 "), "{told:?}");
        assert!(!echoed.exists());
    });
}
