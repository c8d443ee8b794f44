//! What runs say to each other: heard once, in order, attributed, whether the other run works, waits or is asleep.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Client, Driver, Place, RunError};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, By, Fact, Policy, RunId, Status, Writer};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::sync::Arc;

fn send(to: &RunId, text: &str) -> Value {
    let args = json!({"to": format!("run:///{to}"), "text": text});
    json!({"calls": [{"tool": "send", "args": args}]})
}

struct Bench {
    temp: TempHome,
    store: Store,
}

impl Bench {
    fn new() -> Bench {
        let temp = TempHome::new();
        let store = store(&temp.home());
        Bench { temp, store }
    }

    async fn take(&self, model: &ModelServer, place: Place, task: Option<&str>) -> Driver {
        let told = Arc::new(Told::default());
        let start = start(&self.store, &self.temp.workspace(), &model.url(), told);
        start.take(place, task).await.unwrap().0
    }

    /// A run that was asked one thing and has answered it.
    async fn asleep(&self) -> (RunId, cairn_types::SessionId) {
        let model = ModelServer::start(script(&[json!({"say": "yes"})]));
        let mut driver = self.take(&model, new(), Some("are you there?")).await;
        driver.drive(None).await.unwrap();
        (driver.run_id().clone(), driver.session_id().clone())
    }

    async fn client(&self) -> Client {
        let root = self.temp.workspace();
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
        Client::here(self.store.clone(), world, &root, Policy::default()).await.unwrap()
    }
}

fn new() -> Place {
    Place::New { new_session: false, name: None }
}

/// What a run was told from elsewhere: by whom, from where.
fn heard(facts: &[Fact]) -> Vec<(&'static str, Writer, RunId)> {
    let heard = |fact: &Fact| match &fact.body {
        Body::Prompt(prompt) => Some(("prompt", prompt.writer, prompt.from.clone()?.run)),
        Body::Steer(steer) => Some(("words", steer.writer, steer.from.clone()?.run)),
        _ => None,
    };
    facts.iter().filter_map(heard).collect()
}

fn statuses(facts: &[Fact]) -> Vec<u16> {
    let status = |fact: &Fact| match &fact.body {
        Body::Outcome(outcome) => Some(outcome.status.0),
        _ => None,
    };
    facts.iter().filter_map(status).collect()
}

// keeps: two-doors
#[test]
fn what_one_run_says_to_another_is_heard_once_and_attributed() {
    let bench = Bench::new();
    block_on(async {
        let (listener, session) = bench.asleep().await;
        let nobody = RunId::new(1, 1);
        let replies = [
            send(&listener, "the build is green"),
            send(&nobody, "hello"),
            json!({"calls": [{"tool": "send", "args": {"to": format!("run:///{listener}"), "status": 499}}]}),
            send(&listener, "and the tests, too"),
            json!({"say": "told"}),
        ];
        let model = ModelServer::start(script(&replies));
        let mut speaker = bench.take(&model, new(), Some("tell it")).await;
        speaker.drive(None).await.unwrap();
        let said = bench.store.facts(speaker.run_id(), 0).unwrap();
        assert_eq!(statuses(&said), [200, 404, 501, 200]);
        let letters = bench.store.letters(&listener).unwrap();
        assert_eq!(letters.len(), 2, "they wait while nobody drives it");

        let model = ModelServer::start(script(&[
            json!({"say": "yes"}),
            json!({"say": "good to know"}),
            json!({"say": "both"}),
        ]));
        let place = Place::Existing { run: listener.clone(), session: session.clone() };
        let mut driver = bench.take(&model, place, None).await;
        driver.drive(None).await.unwrap();
        let facts = bench.store.facts(&listener, 0).unwrap();
        let from = speaker.run_id().clone();
        assert_eq!(
            heard(&facts),
            [("prompt", Writer::Model, from.clone()), ("words", Writer::Model, from.clone())]
        );
        assert!(bench.store.letters(&listener).unwrap().is_empty());
        let asked = String::from_utf8(model.requests().last().unwrap().clone()).unwrap();
        let green = format!("run:///{from} says:\\nthe build is green");
        assert_eq!(asked.matches(&green).count(), 1, "{asked}");
        assert_eq!(asked.matches("and the tests, too").count(), 1, "{asked}");
        drop(driver);

        // Whoever drives it next hears nothing twice.
        let place = Place::Existing { run: listener.clone(), session };
        let told = Arc::new(Told::default());
        let start = start(&bench.store, &bench.temp.workspace(), &model.url(), told);
        let again = start.take(place, None::<&str>).await;
        assert!(matches!(again, Err(RunError::NothingToDo { .. })));
    });
}

// keeps: two-doors
#[test]
fn a_person_says_something_to_a_run_that_works_and_nothing_is_skipped_for_it() {
    let bench = Bench::new();
    block_on(async {
        let calls = json!({"calls": [
            {"tool": "bash", "args": {"command": "touch begun; until [ -e go ]; do sleep 0.01; done"}},
            {"tool": "write", "args": {"path": "after.md", "content": "done\n"}},
        ]});
        let model = ModelServer::start(script(&[calls, json!({"say": "heard"})]));
        let mut driver = bench.take(&model, new(), Some("work")).await;
        let run = driver.run_id().clone();
        let root = bench.temp.workspace();
        let speak = async {
            while !root.join("begun").exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            let mut client = bench.client().await;
            let args = json!({"to": format!("run:///{run}"), "text": "mind the gap"}).to_string();
            let by = By::Person("ada".to_owned());
            let answer = client.op("send", &args, by).await.unwrap();
            std::fs::write(root.join("go"), "").unwrap();
            answer
        };
        let (driven, answer) = tokio::join!(driver.drive(None), speak);
        driven.unwrap();
        assert_eq!(answer.status, Status::OK, "{answer:?}");
        let facts = bench.store.facts(&run, 0).unwrap();
        assert_eq!(heard(&facts), [("words", Writer::Client, answer.run)]);
        assert!(root.join("after.md").exists(), "no op was skipped for it");
        let asked = String::from_utf8(model.requests().last().unwrap().clone()).unwrap();
        assert_eq!(asked.matches("mind the gap").count(), 1, "{asked}");
    });
}

// keeps: two-doors
#[test]
fn a_run_that_is_busy_says_so_and_nobody_speaks_to_runs_of_the_house() {
    let bench = Bench::new();
    block_on(async {
        let (listener, _) = bench.asleep().await;
        let mut client = bench.client().await;
        let mut say = async |to: &str| {
            let args = json!({"to": format!("run:///{to}"), "text": "hello"}).to_string();
            client.op("send", &args, By::Person("ada".to_owned())).await.unwrap().status.0
        };
        for _ in 0..64 {
            assert_eq!(say(listener.as_str()).await, 200);
        }
        assert_eq!(say(listener.as_str()).await, 429);
        assert_eq!(say("@client").await, 404);
        assert_eq!(say("@system").await, 404);
        assert_eq!(say("nobody").await, 404);
    });
}

// keeps: two-doors
#[test]
fn a_secret_in_a_letter_is_heard_as_a_marker_and_stops_nobody() {
    let bench = Bench::new();
    block_on(async {
        let (listener, session) = bench.asleep().await;
        let model = ModelServer::start(script(&[
            send(&listener, "mine is postgres://ada:h2nter-two@db/x"),
            json!({"say": "told"}),
        ]));
        let mut speaker = bench.take(&model, new(), Some("tell it")).await;
        speaker.drive(None).await.unwrap();
        let mut client = bench.client().await;
        let args =
            json!({"to": format!("run:///{listener}"), "text": "and http://eve:s3cret-2@db/x"});
        let by = By::Person("ada".to_owned());
        client.op("send", &args.to_string(), by).await.unwrap();

        let replies = ["yes", "so it is", "and that"].map(|said| json!({"say": said}));
        let model = ModelServer::start(script(&replies));
        let place = Place::Existing { run: listener.clone(), session };
        bench.take(&model, place, None).await.drive(None).await.unwrap();
        assert_eq!(heard(&bench.store.facts(&listener, 0).unwrap()).len(), 2);
        let asked = String::from_utf8(model.requests().last().unwrap().clone()).unwrap();
        assert!(asked.contains("mine is postgres://"), "{asked}");
        assert!(asked.contains("and http://"), "{asked}");
        assert!(!asked.contains("h2nter-two") && !asked.contains("s3cret-2"), "{asked}");
    });
}

// keeps: two-doors
#[test]
fn what_one_run_says_to_another_is_read_by_no_third() {
    let bench = Bench::new();
    block_on(async {
        let (listener, session) = bench.asleep().await;
        let model = ModelServer::start(script(&[
            send(&listener, "between you and me"),
            json!({"say": "told"}),
        ]));
        bench.take(&model, new(), Some("tell it")).await.drive(None).await.unwrap();
        let model = ModelServer::start(script(&[json!({"say": "yes"}), json!({"say": "so"})]));
        let place = Place::Existing { run: listener.clone(), session };
        bench.take(&model, place, None).await.drive(None).await.unwrap();

        let look = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
        let model = ModelServer::start(script(&[
            look("read", json!({"path": format!("prompt:///{listener}/1")})),
            look("read", json!({"path": format!("prompt:///{listener}/2")})),
            look("find", json!({"under": "prompt:///", "text": "you and me"})),
            json!({"say": "nothing"}),
        ]));
        let mut third = bench.take(&model, new(), Some("listen")).await;
        third.drive(None).await.unwrap();
        assert_eq!(statuses(&bench.store.facts(third.run_id(), 0).unwrap()), [200, 404, 204]);
    });
}
