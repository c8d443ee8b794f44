//! Two runs and a person over one project: each hears of what the others changed once, by whom, in order, and
//! nobody's edit is lost.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Client, Command, Driver, Pause, Place};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, By, Delta, Policy};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

struct Bench {
    temp: TempHome,
    store: Store,
    models: Vec<ModelServer>,
}

type Run = (Driver, UnboundedSender<Command>);

impl Bench {
    /// A project with `f` and `other`, and a model for each run.
    fn new(scripts: &[Vec<Value>]) -> Bench {
        let temp = TempHome::new();
        temp.write("f", "one\ntwo\nthree\nfour\nfive\nsix\n");
        temp.write("other", "other\n");
        let store = store(&temp.home());
        let models = scripts.iter().map(|replies| ModelServer::start(script(replies)));
        Bench { temp, store, models: models.collect() }
    }

    async fn run(&self, model: usize) -> Run {
        let told = Arc::new(Told::default());
        let start = start(&self.store, &self.temp.workspace(), &self.models[model].url(), told);
        let place = Place::New { new_session: false, name: None };
        start.take(place, Some("work")).await.unwrap()
    }

    /// Drives until a turn of the run is settled.
    async fn turn(&self, (driver, _): &mut Run) {
        let before = driver.engine().turns();
        for _ in 0..200 {
            let pause = driver.drive(Some(1)).await.unwrap();
            let is_settled = driver.engine().is_between_turns() && driver.engine().turns() > before;
            if is_settled || pause == Pause::Idle {
                return;
            }
        }
        panic!("the turn did not settle");
    }

    async fn client(&self) -> Client {
        let root = self.temp.workspace();
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
        let root = std::path::PathBuf::from(&root);
        Client::here(self.store.clone(), world, &root, Policy::default()).await.unwrap()
    }

    fn deltas(&self, (driver, _): &Run) -> Vec<Delta> {
        let facts = self.store.facts(driver.run_id(), 0).unwrap();
        let delta = |fact: cairn_types::Fact| match fact.body {
            Body::Delta(delta) => Some(delta),
            _ => None,
        };
        facts.into_iter().filter_map(delta).collect()
    }

    fn told(&self, run: &Run) -> String {
        let text = |delta: &Delta| {
            String::from_utf8(self.store.content(&delta.text.hash).unwrap()).unwrap()
        };
        self.deltas(run).iter().map(text).collect::<Vec<_>>().join("\n---\n")
    }
}

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

// keeps: delta
#[test]
fn each_hears_once_of_what_the_others_changed_by_whom_and_in_order() {
    let read = || call("read", json!({"path": "other"}));
    let look = || call("read", json!({"path": "f"}));
    let shout = |word: &str| {
        let edit = json!({"path": "f", "old": word, "new": word.to_uppercase()});
        call("edit", edit)
    };
    let bench = Bench::new(&[
        vec![look(), read(), read(), shout("six"), shout("six"), read()],
        vec![look(), shout("two"), read(), read(), read(), read()],
    ]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        let mut two = bench.run(1).await;
        bench.turn(&mut two).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        // The second run edits, then a person on disk, then a person's op.
        bench.turn(&mut two).await;
        assert!(bench.temp.read("f").contains("TWO"));
        tokio::time::sleep(Duration::from_millis(60)).await;
        bench.temp.write("f", bench.temp.read("f").replace("four", "FOUR"));
        let mut client = bench.client().await;
        let by = || By::Person("ada".to_owned());
        let args = json!({"path": "known:///k", "content": "fact\n"}).to_string();
        client.op("write", &args, by()).await.unwrap();
        drop(client);
        bench.turn(&mut one).await;
        bench.turn(&mut two).await;
        let run_two = two.0.run_id().to_string();
        let sources = |run: &Run| -> Vec<(String, String)> {
            let all = bench.deltas(run).into_iter().flat_map(|delta| delta.noticed);
            all.map(|one| (one.path, one.source)).collect()
        };
        let named = |path: &str, source: &str| (path.to_owned(), source.to_owned());
        assert_eq!(
            sources(&one),
            [named("f", &run_two), named("known:///k", "client"), named("f", "file")]
        );
        assert_eq!(sources(&two), [named("known:///k", "client"), named("f", "file")]);
        let told = bench.told(&one);
        assert!(told.contains(&format!("f: edited by run {run_two}\n1\tone\n2\tTWO\n")), "{told}");
        assert!(told.contains("f: edited on disk\n2\tTWO\n3\tthree\n4\tFOUR\n5\tfive"), "{told}");
        assert!(told.contains("known:///k: created by the person\n1\tfact"), "{told}");
        // Nothing is told twice.
        bench.turn(&mut one).await;
        bench.turn(&mut two).await;
        assert_eq!((bench.deltas(&one).len(), bench.deltas(&two).len()), (1, 1));
        // An edit of what has changed since it was read is refused with the file as it is, and then goes through.
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        assert_eq!(bench.temp.read("f"), "one\nTWO\nthree\nFOUR\nfive\nSIX\n");
        assert_eq!(bench.deltas(&one).len(), 1, "own writes are never echoed");
        bench.turn(&mut two).await;
        let last = bench.deltas(&two).pop().unwrap().noticed;
        assert_eq!((last.len(), last[0].source.as_str()), (1, one.0.run_id().as_str()));
    });
}

// keeps: delta
#[test]
fn several_edits_of_one_source_are_told_as_one_and_what_is_back_as_it_was_is_not() {
    let read = call("read", json!({"path": "other"}));
    let bench = Bench::new(&[vec![read; 6]]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        let mut client = bench.client().await;
        let by = || By::Person("ada".to_owned());
        for content in ["a\n", "b\n", "c\n"] {
            let args = json!({"path": "known:///k", "content": content}).to_string();
            client.op("write", &args, by()).await.unwrap();
        }
        let args = json!({"path": "known:///gone", "content": "x"}).to_string();
        client.op("write", &args, by()).await.unwrap();
        client.op("remove", &json!({"path": "known:///gone"}).to_string(), by()).await.unwrap();
        drop(client);
        bench.turn(&mut one).await;
        let deltas = bench.deltas(&one);
        assert_eq!(deltas.len(), 1);
        let noticed = &deltas[0].noticed;
        assert_eq!(noticed.len(), 1, "{noticed:?}");
        assert_eq!((noticed[0].path.as_str(), noticed[0].edits), ("known:///k", 3));
    });
}

// keeps: delta
#[test]
fn what_lay_there_when_a_run_began_is_no_news_to_it_and_is_to_one_that_goes_on() {
    let read = call("read", json!({"path": "other"}));
    let mut replies = vec![read; 5];
    replies.push(json!({"say": "done"}));
    let bench = Bench::new(&[replies]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        let run = one.0.run_id().clone();
        let session = one.0.session_id().clone();
        drop(one);
        tokio::time::sleep(Duration::from_millis(60)).await;
        bench.temp.write("f", "changed\n");
        let mut two = bench.run(0).await;
        bench.turn(&mut two).await;
        bench.turn(&mut two).await;
        assert_eq!(bench.deltas(&two), Vec::new());
        drop(two);
        let told = Arc::new(Told::default());
        let start = start(&bench.store, &bench.temp.workspace(), &bench.models[0].url(), told);
        let place = Place::Existing { run, session };
        let mut again = start.take(place, None::<&str>).await.unwrap();
        bench.turn(&mut again).await;
        let told = bench.told(&again);
        assert_eq!(told, "Changed by others since you last looked:\nf: edited on disk\n1\tchanged");
    });
}

// keeps: delta
#[test]
fn what_lay_there_when_a_run_began_is_no_news_after_it_was_killed_either() {
    let read = call("read", json!({"path": "other"}));
    let write = call("write", json!({"path": "made", "content": "made\n"}));
    let bench = Bench::new(&[
        vec![write.clone(), read.clone(), read.clone()],
        vec![read.clone(), write, read.clone(), read],
    ]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        drop(one);
        tokio::time::sleep(Duration::from_millis(60)).await;
        std::fs::remove_file(std::path::Path::new(&bench.temp.workspace()).join("made")).unwrap();
        bench.temp.write("f", "changed\n");
        let mut two = bench.run(1).await;
        for _ in 0..3 {
            bench.turn(&mut two).await;
        }
        let (run, session) = (two.0.run_id().clone(), two.0.session_id().clone());
        assert_eq!(bench.temp.read("made"), "made\n");
        drop(two);
        let told = Arc::new(Told::default());
        let start = start(&bench.store, &bench.temp.workspace(), &bench.models[1].url(), told);
        let mut again = start.take(Place::Existing { run, session }, None::<&str>).await.unwrap();
        bench.turn(&mut again).await;
        assert_eq!(bench.told(&again), "");
    });
}

// keeps: delta
#[test]
fn what_a_run_made_again_after_others_had_removed_it_is_not_told_as_gone() {
    let read = call("read", json!({"path": "other"}));
    let write = call("write", json!({"path": "f", "content": "mine\n"}));
    let bench = Bench::new(&[vec![read.clone(), read.clone(), write, read]]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        // The model is asked, and meanwhile a person removes the file; then its op comes.
        while one.0.engine().turns() < 3 {
            one.0.drive(Some(1)).await.unwrap();
        }
        let mut client = bench.client().await;
        let by = By::Person("ada".to_owned());
        client.op("remove", &json!({"path": "f"}).to_string(), by).await.unwrap();
        drop(client);
        bench.turn(&mut one).await;
        assert_eq!(bench.temp.read("f"), "mine\n");
        assert_eq!(bench.told(&one), "");
    });
}
