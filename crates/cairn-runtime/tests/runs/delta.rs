//! Two runs and a person over one project: each hears of what the others changed once, by whom, in order, and
//! nobody's edit is lost.

use crate::kit::{Told, block_on, rules, script, start, store};
use cairn_engine::{Recorded, Row, Rows};
use cairn_provider::{Message, Part};
use cairn_runtime::{Client, Command, Driver, Pause, Place, Start, request_at};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, By, Delta, Outcome, Policy};
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
        let before = driver.engine().totals().turns();
        for _ in 0..200 {
            let pause = driver.drive(Some(1)).await.unwrap();
            let is_settled =
                driver.engine().is_between_turns() && driver.engine().totals().turns() > before;
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

    /// What each op came to: its place, its status and what it told, in one line.
    fn outcomes(&self, (driver, _): &Run) -> Vec<String> {
        let facts = self.store.facts(driver.run_id(), 0).unwrap();
        let rows = Rows::fold(&facts);
        let line = |(row, done): &(&Row<'_>, Recorded<'_, Outcome>)| {
            let text = String::from_utf8(self.store.content(&done.result.hash).unwrap()).unwrap();
            format!("{} {} {}", row.at, done.status, text.replace('\n', " | "))
        };
        rows.sorted_by(|row| row.outcome).iter().map(line).collect()
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
fn what_two_sources_changed_in_turns_is_told_as_it_is_in_the_end() {
    let look = || call("read", json!({"path": "f"}));
    let edit = |old: &str, new: &str| call("edit", json!({"path": "f", "old": old, "new": new}));
    let bench = Bench::new(&[
        vec![look(), look(), look()],
        vec![look(), edit("own", "theirs"), edit("theirs", "mine"), look()],
    ]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        let lines = bench.temp.read("f");
        bench.temp.write("f", format!("{lines}own\n"));
        let mut two = bench.run(1).await;
        bench.turn(&mut two).await;
        bench.turn(&mut two).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        bench.temp.write("f", format!("{lines}last\n"));
        bench.turn(&mut one).await;
        let told = bench.told(&one);
        assert!(told.contains("f: edited on disk\n"), "{told}");
        assert!(told.contains("last"), "{told}");
        assert!(!told.contains("theirs"), "its line is gone: {told}");
        // Back as it was: there is nothing to tell, whoever changed it on the way.
        bench.turn(&mut two).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        bench.temp.write("f", format!("{lines}last\n"));
        bench.turn(&mut one).await;
        assert_eq!(bench.deltas(&one).len(), 1, "{}", bench.told(&one));
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
        let head = "Changed by others since you last looked (log:///changes/1):";
        assert_eq!(told, format!("{head}\nf: edited on disk\n1\tchanged"));
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
        while one.0.engine().totals().turns() < 3 {
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

/// What a request says to the model in words, in order.
fn words(request: &[u8]) -> Vec<String> {
    let request: Value = serde_json::from_slice(request).unwrap();
    let messages = request["messages"].as_array().unwrap();
    let user = messages.iter().filter(|message| message["role"] == "user");
    user.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

// keeps: delta, rows-are-entries
#[test]
fn what_others_changed_is_a_row_beside_the_ops_and_has_no_receipt() {
    let read = || call("read", json!({"path": "other"}));
    let row = "log:///changes/1";
    let looks = [
        call("list", json!({"path": "log:///"})),
        call("read", json!({"path": row})),
        call("read", json!({"path": row, "first": 3, "limit": 1})),
        call("find", json!({"under": "log:///changes", "text": "FOUR"})),
        call("copy", json!({"from": row, "to": "known:///news"})),
        call("write", json!({"path": row, "content": "x"})),
        call("remove", json!({"path": row})),
        call("remove", json!({"path": "log:///changes/2"})),
        call("read", json!({"path": "log:///changes/2"})),
        call("read", json!({"path": format!("{row}#output")})),
    ];
    let done = [json!({"say": "done"})];
    let bench = Bench::new(&[[&[read(), read()], &looks[..], &done[..]].concat()]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        bench.temp.write("f", bench.temp.read("f").replace("four", "FOUR"));
        one.0.drive(None).await.unwrap();
        assert_eq!(bench.deltas(&one).len(), 1);
        let all = bench.outcomes(&one);
        let told = "1\tChanged by others since you last looked (log:///changes/1): | \
                    2\tf: edited on disk | 3\t2\ttwo | 4\t3\tthree | 5\t4\tFOUR | 6\t5\tfive | 7\t6\tsix";
        let stays = "is a row, and rows stay; only what runs in the background is ended so";
        let expected = [
            format!("1/4/1 200 {told}"),
            "1/5/1 200 3\t2\ttwo | lines 3-3 of 7; next: first=4".to_owned(),
            format!("1/6/1 200 {row} | 5:\t4\tFOUR"),
            format!("1/7/1 201 copied {row} to known:///news"),
            "1/8/1 403 refused: log: entries are not written here".to_owned(),
            format!("1/9/1 403 {row} {stays}"),
            "1/10/1 404 log:///changes/2 does not exist".to_owned(),
            "1/11/1 404 log:///changes/2 does not exist".to_owned(),
            format!("1/12/1 404 {row}#output does not exist"),
        ];
        assert_eq!(all[3..], expected, "ops are numbered as if nothing had been told");
        assert!(all[2].starts_with("1/3/1 200 ") && all[2].contains(row), "{}", all[2]);
        let receipts = bench.store.receipts(one.0.run_id()).unwrap();
        assert_eq!(receipts.len(), all.len(), "only outcomes have receipts");
    });
}

// keeps: fold, request-rebuilt
#[test]
fn what_others_changed_is_folded_by_its_own_address_alone_and_opened_again() {
    let read = || call("read", json!({"path": "other"}));
    let row = "log:///changes/1";
    let bench = Bench::new(&[vec![
        read(),
        read(),
        // All ops; what others changed is none.
        call("fold", json!({"path": "log:///**"})),
        call("fold", json!({"path": "log:///"})),
        call("fold", json!({"path": row})),
        call("fold", json!({"path": "log:///changes/*"})),
        call("read", json!({"path": row, "limit": 2})),
        call("open", json!({"path": "log:///changes"})),
        call("fold", json!({"path": "log:///changes/2"})),
        json!({"say": "done"}),
    ]]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        bench.temp.write("f", "changed\n");
        one.0.drive(None).await.unwrap();
        let requests = bench.models[0].requests();
        let shown: Vec<String> =
            requests.iter().map(|sent| words(sent).last().unwrap().clone()).collect();
        let told = bench.told(&one);
        let folded = format!("folded; it is {row}");
        for (turn, expected) in
            [&told, &told, &told, &folded, &folded, &folded, &told].iter().enumerate()
        {
            assert_eq!(shown[turn + 2], **expected, "turn {}", turn + 3);
        }
        let expected = [
            "200 folded 1 row",
            "304 log:///changes/* is folded already",
            "200 1\tChanged by others since you last looked (log:///changes/1): | \
             2\tf: edited on disk | lines 1-2 of 3; next: first=3",
            "200 opened 1 row",
            "404 there is no row log:///changes/2",
        ];
        let came = bench.outcomes(&one);
        let came: Vec<&str> = came[4..].iter().map(|one| one.split_once(' ').unwrap().1).collect();
        assert_eq!(came, expected);
        let facts = bench.store.facts(one.0.run_id(), 0).unwrap();
        for (turn, sent) in (1..).zip(&requests) {
            let again = request_at(&facts, (1, turn), &bench.store).unwrap().unwrap();
            let said = again.request.messages.iter().filter_map(|message| match &**message {
                Message::User { parts } => Some(parts),
                _ => None,
            });
            let said: Vec<String> = said
                .map(|parts| match &parts[..] {
                    [Part::Text(text)] => text.to_string(),
                    parts => panic!("{parts:?}"),
                })
                .collect();
            assert_eq!(said, words(sent), "turn {turn} is rebuilt as it was sent");
        }
    });
}

// keeps: policy-unread, rows-are-entries
#[test]
fn what_others_changed_is_not_read_or_opened_once_a_rule_keeps_a_path_of_it_from_being_read() {
    let read = || call("read", json!({"path": "other"}));
    let row = "log:///changes/1";
    let fold = || call("fold", json!({"path": row}));
    let first = [read(), read(), fold(), json!({"say": "done"})];
    let then = [call("read", json!({"path": row})), call("open", json!({"path": row}))];
    let bench = Bench::new(&[[&first[..], &then[..], &[json!({"say": "done"})]].concat()]);
    block_on(async {
        let mut one = bench.run(0).await;
        bench.turn(&mut one).await;
        bench.turn(&mut one).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        bench.temp.write("f", "changed\n");
        one.0.drive(None).await.unwrap();
        let (run, session) = (one.0.run_id().clone(), one.0.session_id().clone());
        drop(one);
        let told = Arc::new(Told::default());
        let start = start(&bench.store, &bench.temp.workspace(), &bench.models[0].url(), told);
        let start = Start { policy: rules(&["deny read f"]), ..start };
        let mut again = start.take(Place::Existing { run, session }, Some("go on")).await.unwrap();
        again.0.drive(None).await.unwrap();
        let came = bench.outcomes(&again);
        let kept = format!("403 {row} shows what is kept from being read by the policy");
        assert_eq!(came[3..], [format!("2/1/1 {kept}"), format!("2/2/1 {kept}")]);
    });
}
