//! Streams: what is written to one, how it is cancelled, that its end is told, and that it may wake its run.

use crate::kit::{Told, block_on, rules, script, start, store};
use cairn_engine::Word;
use cairn_runtime::{Client, Command, Pause, Place, Start};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{
    Approval, Body, By, Caps, Fact, Policy, ProposalId, Rail, Status, Stream, StreamState, Verdict,
    Writer,
};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::sync::Arc;

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

fn beside(command: &str) -> Value {
    call("bash", json!({"command": command, "background": true}))
}

fn send(to: &str, status: u16, text: &str) -> Value {
    call("send", json!({"to": to, "status": status, "text": text}))
}

/// Waits in a command until what is looked for stands in a file.
fn until(what: &str, file: &str) -> Value {
    call("bash", json!({"command": format!("until grep -q {what} {file}; do sleep 0.01; done")}))
}

struct Bench {
    temp: TempHome,
    model: ModelServer,
    store: Store,
}

impl Bench {
    fn new(replies: &[Value]) -> Bench {
        let temp = TempHome::new();
        std::fs::write(temp.workspace().join(".ignore"), "*.log\n").unwrap();
        let store = store(&temp.home());
        Bench { temp, model: ModelServer::start(script(replies)), store }
    }

    fn start(&self) -> Start {
        let told = Arc::new(Told::default());
        start(&self.store, &self.temp.workspace(), &self.model.url(), told)
    }

    /// Drives a new run to its end; its facts.
    fn drive(&self, start: Start) -> Vec<Fact> {
        block_on(async {
            let place = Place::New { new_session: false, name: None };
            let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
            assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
            assert_eq!(driver.running(), 0);
            self.store.facts(driver.run_id(), 0).unwrap()
        })
    }

    fn told(&self, facts: &[Fact]) -> Vec<String> {
        let told = facts.iter().filter_map(|fact| match &fact.body {
            Body::Outcome(outcome) => {
                let text = self.store.content(&outcome.result.hash).unwrap();
                Some(format!("{} {}", outcome.status, String::from_utf8(text).unwrap()))
            }
            _ => None,
        });
        told.collect()
    }

    /// The words of the last message of each request.
    fn last_words(&self) -> Vec<String> {
        let last = |request: Vec<u8>| {
            let request: Value = serde_json::from_slice(&request).unwrap();
            let messages = request["messages"].as_array().unwrap();
            messages.last().unwrap()["content"].as_str().unwrap_or_default().to_owned()
        };
        self.model.requests().into_iter().map(last).collect()
    }
}

fn streams(facts: &[Fact]) -> Vec<Stream> {
    let stream = |fact: &Fact| match &fact.body {
        Body::Stream(stream) => Some(stream.clone()),
        _ => None,
    };
    facts.iter().filter_map(stream).collect()
}

// keeps: streams-are-written
#[test]
fn a_command_in_the_background_reads_what_is_sent_and_its_end_is_told() {
    let bench = Bench::new(&[
        beside("tee got.log; echo x > over.log"),
        send("exec:///1/1/1", 200, "first\n"),
        until("first", "got.log"),
        call("read", json!({"path": "exec:///1/1/1"})),
        send("log:///1/1/1", 200, ""),
        until("x", "over.log"),
        call("bash", json!({"command": "sleep 0.3"})),
        call("bash", json!({"command": "sleep 1"})),
        json!({"say": "done"}),
    ]);
    let facts = bench.drive(bench.start());
    let told = bench.told(&facts);
    assert_eq!(told[1], "200 written: 6 bytes");
    assert!(told[3].contains("1\tfirst") && told[3].ends_with("running"), "{told:?}");
    assert_eq!(told[4], "200 its input is at its end");
    assert_eq!(streams(&facts)[0].state, StreamState::Exited);
    assert_eq!(streams(&facts)[0].exit, Some(0));
    let over = "log:///1/1/1 is over: exit=0; its output is log:///1/1/1#output";
    let heard = bench.model.requests();
    let heard = String::from_utf8(heard.last().unwrap().clone()).unwrap();
    assert_eq!(heard.matches(over).count(), 1, "told once: {heard}");
}

// keeps: streams-are-cancelled
#[test]
fn a_stream_is_cancelled_by_499_and_says_then_that_it_is_over() {
    let bench = Bench::new(&[
        beside("sleep 60"),
        send("log:///1/1/1", 204, "what"),
        send("exec:///1/1/1", 499, ""),
        send("exec:///1/1/1", 499, ""),
        send("exec:///1/1/1", 200, "late"),
        send("exec:///9/9/9", 499, ""),
        json!({"say": "done"}),
    ]);
    let facts = bench.drive(bench.start());
    let told = bench.told(&facts);
    let statuses: Vec<&str> = told.iter().map(|told| &told[..3]).collect();
    assert_eq!(statuses, ["102", "501", "200", "410", "410", "404"], "{told:?}");
    assert_eq!(streams(&facts)[0].state, StreamState::Removed);
    assert!(bench.last_words().iter().all(|words| !words.contains("is over; go on")));
}

// keeps: streams-wake
#[test]
fn the_end_of_a_stream_opens_one_loop_where_that_was_wanted() {
    let wake = json!({"command": "sleep 0.2; echo woke", "background": true, "wake": true});
    let bench = Bench::new(&[
        call("bash", wake),
        json!({"say": "I am done for now"}),
        call("read", json!({"path": "log:///1/1/1#output"})),
        json!({"say": "it printed woke"}),
    ]);
    let facts = bench.drive(bench.start());
    let prompts: Vec<_> = facts
        .iter()
        .filter_map(|fact| match &fact.body {
            Body::Prompt(prompt) => Some((prompt.writer, prompt.of.map(|of| of.to_string()))),
            _ => None,
        })
        .collect();
    let woken = (Writer::System, Some("1/1/1".to_owned()));
    assert_eq!(prompts, [(Writer::Client, None), woken]);
    assert_eq!(streams(&facts).len(), 1);
    assert!(bench.told(&facts)[1].contains("1\twoke"), "{:?}", bench.told(&facts));
    assert_eq!(bench.last_words()[2], "log:///1/1/1 is over; go on with the work.");
    assert_eq!(bench.model.requests().len(), 4);
}

// keeps: streams-wake
#[test]
fn a_loop_that_a_stream_opens_has_what_is_left_to_the_one_that_started_it() {
    let wake = json!({"command": "true", "background": true, "wake": true});
    let look = || call("read", json!({"path": ".ignore"}));
    let bench = Bench::new(&[
        call("bash", wake),
        json!({"say": "waiting"}),
        look(),
        call("bash", json!({"command": "true"})),
        look(),
    ]);
    let start = Start { caps: Caps { turns: 4, ops: 32, cost: None }, ..bench.start() };
    let facts = bench.drive(start);
    let ends: Vec<_> = facts
        .iter()
        .filter_map(|fact| match &fact.body {
            Body::End(end) => Some((end.lap, end.status, end.rail)),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(1, Status::OK, None), (2, Status::LIMIT, Some(Rail::Turns))]);
    assert_eq!(bench.model.requests().len(), 4, "both loops had four turns together");
}

// keeps: streams-are-cancelled
#[test]
fn a_person_ends_a_stream_of_a_run_that_somebody_else_drives() {
    let bench = Bench::new(&[
        call("bash", json!({"command": "sleep 60", "background": true, "wake": true})),
        json!({"say": "waiting"}),
    ]);
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = bench.start().take(place, Some("work")).await.unwrap();
        let session = driver.session_id().clone();
        let (store, run) = (bench.store.clone(), driver.run_id().clone());
        let cancel = async {
            let open = loop {
                match store.subscriptions(&session).unwrap().pop() {
                    Some(open) => break open,
                    None => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
                }
            };
            assert_eq!(open.address, format!("exec:///{run}/1/1/1"));
            let root = bench.temp.workspace();
            let settings = Settings::new("/bin/sh".into(), Vec::new());
            let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
            let mut client =
                Client::here(store.clone(), world, &root, Policy::default()).await.unwrap();
            let args = json!({"to": open.address, "status": 499}).to_string();
            let by = || By::Person("ada".to_owned());
            let listed = json!({"under": "exec:///", "tags": ["active"]}).to_string();
            assert_eq!(client.op("find", &listed, by()).await.unwrap().status, Status::OK);
            let read = json!({"path": open.address}).to_string();
            assert_eq!(client.op("read", &read, by()).await.unwrap().status, Status::CONFLICT);
            assert_eq!(client.op("send", &args, by()).await.unwrap().status, Status::OK);
            let written = json!({"to": open.address, "text": "x"}).to_string();
            let written = client.op("send", &written, by()).await.unwrap();
            assert_eq!(written.status, Status::NOT_IMPLEMENTED);
            (client, args)
        };
        let (driven, (mut client, args)) = tokio::join!(driver.drive(None), cancel);
        driven.unwrap();
        let facts = bench.store.facts(&run, 0).unwrap();
        let [stream] = &streams(&facts)[..] else { panic!("{facts:?}") };
        assert_eq!(stream.state, StreamState::Removed);
        assert!(stream.by.is_some(), "who ended it is told");
        assert!(bench.store.subscriptions(&session).unwrap().is_empty());
        assert!(bench.store.letters(&run).unwrap().is_empty());
        let again = client.op("send", &args, By::Person("ada".to_owned())).await.unwrap();
        assert_eq!(again.status, Status::NOT_FOUND);
    });
}

/// Waits until a file is there.
async fn made(path: &std::path::Path) {
    while !path.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

// keeps: streams-are-written
#[test]
fn a_stream_that_ends_while_a_person_is_asked_is_over_and_nothing_is_written() {
    let bench = Bench::new(&[
        beside("until [ -e stop.log ]; do sleep 0.01; done; exec <&-; echo x > over.log"),
        send("exec:///1/1/1", 200, "x"),
        json!({"say": "done"}),
    ]);
    let told = Arc::new(Told::default());
    let start = start(&bench.store, &bench.temp.workspace(), &bench.model.url(), told.clone());
    let start = Start { approval: Approval::Ask, policy: rules(&["allow exec"]), ..start };
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, commands) = start.take(place, Some("work")).await.unwrap();
        let root = bench.temp.workspace();
        let answer = async {
            while !told.all().iter().any(|(_, kind)| kind == "proposal") {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            std::fs::write(root.join("stop.log"), "").unwrap();
            made(&root.join("over.log")).await;
            // Whoever waits for it hears of it.
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            let by = By::Person("ada".to_owned());
            let word = Word::new(ProposalId("p1.2.1".to_owned()), Verdict::Allow, by);
            commands.send(Command::Decide(word, None)).unwrap();
        };
        let (driven, ()) = tokio::join!(driver.drive(None), answer);
        assert_eq!(driven.unwrap(), Pause::Idle);
        let told = bench.told(&bench.store.facts(driver.run_id(), 0).unwrap());
        assert!(told[1].starts_with("410 "), "{told:?}");
    });
}

// keeps: streams-wake
#[test]
fn a_run_that_is_stopped_is_woken_by_nothing() {
    let bench = Bench::new(&[
        call("bash", json!({"command": "sleep 7200", "background": true, "wake": true})),
        call("bash", json!({"command": "echo x > begun.log; sleep 7200"})),
        json!({"say": "not asked for"}),
    ]);
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, commands) = bench.start().take(place, Some("work")).await.unwrap();
        let begun = bench.temp.workspace().join("begun.log");
        let stop = async {
            made(&begun).await;
            commands.send(Command::Abort("enough".to_owned())).unwrap();
        };
        let driving = async { tokio::join!(driver.drive(None), stop).0 };
        let driven = tokio::time::timeout(std::time::Duration::from_secs(60), driving).await;
        assert_eq!(driven.expect("it waits for what it was to be woken by").unwrap(), Pause::Idle);
        let facts = bench.store.facts(driver.run_id(), 0).unwrap();
        let [stream] = &streams(&facts)[..] else { panic!("{facts:?}") };
        assert_eq!(stream.state, StreamState::Stopped);
        assert_eq!(bench.model.requests().len(), 2);
    });
}

// keeps: streams-are-written
#[test]
fn words_for_a_person_are_no_stream() {
    let bench = Bench::new(&[call("send", json!({"text": "on it"})), json!({"say": "done"})]);
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = bench.start().take(place, Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
        let facts = bench.store.facts(driver.run_id(), 0).unwrap();
        assert_eq!(bench.told(&facts), ["102 on it"]);
        assert_eq!(driver.engine().streams().count(), 0, "nothing is lost with the process");
        let open = bench.store.subscriptions(driver.session_id()).unwrap();
        assert_eq!(open, []);
    });
}
