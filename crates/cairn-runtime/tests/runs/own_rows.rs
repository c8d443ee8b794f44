//! A run's own rows as entries, driven by a scripted model: listed, searched, read in parts and copied; written,
//! moved and removed by nobody; nobody else's.

use crate::kit::{Told, block_on, rules, script, start, store};
use cairn_runtime::{Driver, Pause, Place, Start, make_fork};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, RunId};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;

fn call(tool: &str, args: &str) -> Value {
    let args: Value = serde_json::from_str(args).unwrap();
    json!({"calls": [{"tool": tool, "args": args}]})
}

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

/// A workspace and its home, where runs follow each other.
struct Bench {
    temp: TempHome,
    store: Store,
}

impl Bench {
    fn new() -> Bench {
        let temp = TempHome::new();
        let store = store(&temp.home());
        fs::write(temp.workspace().join("three.txt"), "alpha\nbeta\nalpha two\n").unwrap();
        Bench { temp, store }
    }

    async fn driver(&self, model: &ModelServer, place: Place, ruled: &[&str]) -> Driver {
        let told = Arc::new(Told::default());
        let start = start(&self.store, &self.temp.workspace(), &model.url(), told);
        let start = Start { policy: rules(ruled), ..start };
        start.take(place, Some("work")).await.unwrap().0
    }

    /// A run of a model that says these things and then that it is done: what it is, and what became of each op.
    fn drive(&self, replies: &[Value], place: Place) -> (RunId, Vec<String>) {
        self.drive_by(&[], replies, place)
    }

    /// The same under rules.
    fn drive_by(&self, ruled: &[&str], replies: &[Value], place: Place) -> (RunId, Vec<String>) {
        let replies = [replies, &[json!({"say": "done"})]].concat();
        let model = ModelServer::start(script(&replies));
        let run = block_on(async {
            let mut driver = self.driver(&model, place, ruled).await;
            assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
            driver.run_id().clone()
        });
        let told = self.told(&run);
        (run, told)
    }

    fn told(&self, run: &RunId) -> Vec<String> {
        let facts = self.store.facts(run, 0).unwrap();
        let outcomes = facts.iter().filter_map(|fact| match &fact.body {
            Body::Outcome(outcome) => {
                let text = self.store.content(&outcome.result.hash).unwrap();
                let text = String::from_utf8(text).unwrap().replace('\n', " | ");
                Some(format!("{} {text}", outcome.status))
            }
            _ => None,
        });
        outcomes.collect()
    }
}

fn afresh() -> Place {
    Place::New { new_session: false, name: None }
}

/// Checks what ops come to after a command that printed three lines (`1/1/1`) and a read (`1/2/1`).
fn check(ops: &[(&str, &str, &str)]) {
    let bench = Bench::new();
    let first = [bash("cat three.txt"), call("read", r#"{"path":"three.txt","first":2}"#)];
    let rest = ops.iter().map(|(tool, args, _)| call(tool, args));
    let replies: Vec<Value> = first.into_iter().chain(rest).collect();
    let (_, told) = bench.drive(&replies, afresh());
    let wrong: Vec<String> = ops
        .iter()
        .zip(&told[2..])
        .filter(|((_, _, expected), told)| told != expected)
        .map(|((tool, args, _), told)| format!("{tool} {args}\n  {told}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(told.len(), ops.len() + 2);
}

// keeps: rows-are-entries
#[test]
fn rows_are_listed_searched_and_read_in_parts() {
    let out = "log:///1/1/1#output";
    check(&[
        ("list", r#"{"path":"log:///1/2"}"#, "200 log:///1/2/1  33 bytes"),
        (
            "list",
            r#"{"path":"log:///"}"#,
            "200 log:///1/1/1  27 bytes | log:///1/2/1  33 bytes | log:///1/3/1  22 bytes",
        ),
        ("read", r#"{"path":"log:///1/1"}"#, "200 log:///1/1/1  27 bytes"),
        ("read", r#"{"path":"log:///1/1/1"}"#, "200 1\talpha | 2\tbeta | 3\talpha two | 4\texit=0"),
        ("read", r#"{"path":"log://1/1/1#result","first":4}"#, "200 4\texit=0 | lines 4-4 of 4"),
        (
            "read",
            r#"{"path":"log:///1/1/1#output","first":2,"limit":1}"#,
            "200 2\tbeta | lines 2-2 of 3; next: first=3",
        ),
        (
            "read",
            r#"{"path":"log:///1/1/1#output","scope":"2-3"}"#,
            "200 2\tbeta | 3\talpha two | lines 2-3 of 3",
        ),
        (
            "read",
            r#"{"path":"log:///1/1/1#output","scope":"9"}"#,
            &format!("416 {out}: 9 is out of range: the text has 3 lines"),
        ),
        (
            "read",
            r#"{"path":"log:///1/1/1#output","matching":"/^a/"}"#,
            "200 1:\talpha | 3:\talpha two",
        ),
        ("read", r#"{"path":"log:///1/1/1#output","matching":"gamma"}"#, "204 nothing matches"),
        ("read", r#"{"path":"log:///1/2/1#input","matching":"$.path"}"#, "200 1:\t\"three.txt\""),
        ("read", r#"{"path":"log:///1/2/1#input"}"#, r#"200 {"path":"three.txt","first":2}"#),
        ("find", r#"{"under":"log:///1/1","text":"beta"}"#, "200 log:///1/1/1 | 2:\tbeta"),
        (
            "find",
            r#"{"under":"log:///1/*/1#output","text":"/two$/"}"#,
            "200 log:///1/1/1#output | 3:\talpha two",
        ),
        ("find", r#"{"under":"log:///1/1","glob":"**"}"#, "200 log:///1/1/1"),
        ("find", r#"{"under":"log:///2","text":"beta"}"#, "204 nothing found"),
        ("read", r#"{"path":"log:///1/2/1#output"}"#, "404 log:///1/2/1#output does not exist"),
        ("read", r#"{"path":"log:///1/1/9"}"#, "404 log:///1/1/9 does not exist"),
        ("read", r#"{"path":"log:///one"}"#, "404 log:///one does not exist"),
        (
            "read",
            r#"{"path":"log:///1/1/1#nope"}"#,
            "400 log: entries have no #nope; there are #result, #output, #input",
        ),
    ]);
}

// keeps: rows-are-entries
#[test]
fn rows_are_copied_to_files_and_entries_and_changed_by_nobody() {
    check(&[
        (
            "copy",
            r#"{"from":"log:///1/1/1#output","to":"notes.md"}"#,
            "201 copied log:///1/1/1#output to notes.md",
        ),
        ("read", r#"{"path":"notes.md","first":3}"#, "200 3\talpha two | lines 3-3 of 3"),
        (
            "copy",
            r#"{"from":"log:///1/1/1","to":"known:///row","tags":["kept"]}"#,
            "201 copied log:///1/1/1 to known:///row",
        ),
        (
            "read",
            r#"{"path":"known:///row","first":4}"#,
            "200 4\texit=0 | lines 4-4 of 4 | tags: kept",
        ),
        (
            "copy",
            r#"{"from":"log:///1/2/1#input","to":"known:///in.json"}"#,
            "201 copied log:///1/2/1#input to known:///in.json",
        ),
        (
            "copy",
            r#"{"from":"log:///1/2/1#input","to":"known:///in"}"#,
            "415 known:///in would be text/markdown, and what is carried is application/json",
        ),
        ("copy", r#"{"from":"log:///1/2/9","to":"x.md"}"#, "404 log:///1/2/9 does not exist"),
        (
            "write",
            r#"{"path":"log:///1/1/1","content":"x"}"#,
            "403 refused: log: entries are not written here",
        ),
        (
            "edit",
            r#"{"path":"log:///1/1/1","old":"beta","new":"x"}"#,
            "403 refused: log: entries are not written here",
        ),
        (
            "copy",
            r#"{"from":"three.txt","to":"log:///1/1/9"}"#,
            "403 refused: log: entries are not written here",
        ),
        (
            "move",
            r#"{"from":"log:///1/1/1","to":"known:///away"}"#,
            "403 refused: log: entries are not written here",
        ),
        (
            "remove",
            r#"{"path":"log:///1/1/1"}"#,
            "403 log:///1/1/1 is a row, and rows stay; only what runs in the background is ended so",
        ),
        ("read", r#"{"path":"log:///1/1/1","first":4}"#, "200 4\texit=0 | lines 4-4 of 4"),
    ]);
}

// keeps: rows-are-entries
#[test]
fn a_scope_picks_some_of_what_matches_in_rows_entries_and_files_alike() {
    let write = json!({"path": "known:///three", "content": "alpha\nbeta\nalpha two\n"});
    let check = |matching: &str, scope: &str, expected: &str| {
        for path in ["three.txt", "log:///1/1/1#output", "known:///three"] {
            let args = json!({"path": path, "matching": matching, "scope": scope});
            let replies = [
                bash("cat three.txt"),
                call("write", &write.to_string()),
                call("read", &args.to_string()),
            ];
            let (_, told) = Bench::new().drive(&replies, afresh());
            assert_eq!(told[2].replace(path, "PATH"), expected, "{path} {matching} {scope}");
        }
    };
    check("/alpha/", "1", "200 1:\talpha | lines 1-1 of 2; next: first=2");
    check("/alpha/", "2", "200 3:\talpha two | lines 2-2 of 2");
    check("a", "2-3", "200 2:\tbeta | 3:\talpha two | lines 2-3 of 3");
    check("a", "2,-1", "200 2:\tbeta | 3:\talpha two | lines 2-3 of 3");
    check("/alpha/", "3", "416 PATH: 3 is out of range: the text has 2 lines");
    check("gamma", "1", "204 nothing matches");
}

// keeps: rows-are-entries
#[test]
fn what_an_op_of_the_same_turn_just_printed_can_be_copied() {
    let bench = Bench::new();
    let copy = json!({"from": "log:///1/1/1#output", "to": "known:///all"});
    let both = json!({"calls": [
        {"tool": "bash", "args": {"command": "cat three.txt"}},
        {"tool": "copy", "args": copy},
        {"tool": "read", "args": {"path": "log:///1/1/2"}},
    ]});
    let (_, told) = bench.drive(&[both], afresh());
    let copied = "copied log:///1/1/1#output to known:///all";
    assert_eq!(told[1..], [format!("201 {copied}"), format!("200 1\t{copied}")]);
}

// keeps: rows-are-entries
#[test]
fn the_output_of_a_command_that_runs_is_read_in_parts_and_copied_too() {
    let bench = Bench::new();
    let beside = json!({"command": "cat three.txt; touch up; sleep 7100", "background": true});
    let (_, told) = bench.drive(
        &[
            call("bash", &beside.to_string()),
            bash("until [ -e up ]; do sleep 0.01; done"),
            call("read", r#"{"path":"log:///1/1/1#output","first":3}"#),
            call("read", r#"{"path":"log:///1/1/1#output","matching":"/alpha/","scope":"2"}"#),
            call("read", r#"{"path":"log:///1/1/1#output","scope":"2"}"#),
            call("copy", r#"{"from":"log:///1/1/1#output","to":"known:///so-far"}"#),
            call("remove", r#"{"path":"log:///1/1/1"}"#),
            call("read", r#"{"path":"log:///1/1/1#output","first":3}"#),
            call("read", r#"{"path":"log:///1/1/1#output","matching":"beta"}"#),
        ],
        afresh(),
    );
    let removed = "removed, everything it started was ended";
    let expected = [
        "200 3\talpha two | lines 3-3 of 3 | running",
        "200 3:\talpha two | lines 2-2 of 2",
        "200 2\tbeta | lines 2-2 of 3; next: first=3",
        "201 copied log:///1/1/1#output to known:///so-far",
        &format!("200 {removed}"),
        &format!("200 3\talpha two | lines 3-3 of 3 | {removed}"),
        "200 2:\tbeta",
    ];
    assert_eq!(told[2..], expected);
}

/// A run that shares all of another's history.
fn forked(store: &Store, parent: &RunId) -> RunId {
    let row = store.run(parent).unwrap().unwrap();
    let id: RunId = "r1k8f3q0c7w2n5b".parse().unwrap();
    block_on(make_fork(store, &row, row.last_n, (id.clone(), None))).unwrap();
    id
}

// keeps: rows-are-entries
#[test]
fn a_run_has_its_own_rows_and_those_it_was_forked_from_and_no_others() {
    let bench = Bench::new();
    let (parent, _) = bench.drive(&[bash("echo mine")], afresh());
    let own = [
        call("read", &json!({"path": format!("log:///{parent}/1/1/1")}).to_string()),
        call("read", &json!({"path": format!("log://{parent}/1/1/1#output")}).to_string()),
        call("read", r#"{"path":"log:///1/1/1"}"#),
        call("find", r#"{"under":"log:///","text":"mine"}"#),
        call(
            "copy",
            &json!({"from": format!("log://{parent}/1/1/1"), "to": "known:///x"}).to_string(),
        ),
    ];
    let (_, told) = bench.drive(&own, afresh());
    let gone = format!("404 log:///{parent}/1/1/1 does not exist");
    assert_eq!(told[0], gone);
    assert_eq!(told[1], format!("404 log:///{parent}/1/1/1#output does not exist"));
    assert_eq!(told[2], format!("200 1\t{gone}").replace("404 ", ""), "its own first row");
    assert_eq!(told[3], "204 nothing found");
    assert_eq!(told[4], gone);
    let fork = forked(&bench.store, &parent);
    let session = bench.store.run(&parent).unwrap().unwrap().session;
    let own = [
        bash("echo mine"),
        json!({"say": "done"}),
        call("read", r#"{"path":"log:///1/1/1#output"}"#),
        call("find", r#"{"under":"log:///1","text":"mine"}"#),
    ];
    let (_, told) = bench.drive(&own, Place::Existing { run: fork, session });
    assert_eq!(told[1..], ["200 1\tmine", "200 log:///1/1/1 | 1:\tmine"]);
}

// keeps: rows-are-entries
#[test]
fn a_row_that_must_not_be_read_is_seen_neither_by_opening_it_nor_by_a_row_that_showed_its_command()
{
    let bench = Bench::new();
    let before = [
        bash("cat three.txt"),
        call("read", r#"{"path":"exec:///1/1/1"}"#),
        call("fold", r#"{"path":"log:///1"}"#),
    ];
    let (run, told) = bench.drive(&before, afresh());
    assert_eq!(told[1..], ["200 1\talpha | 2\tbeta | 3\talpha two", "200 folded 2 rows"]);
    let session = bench.store.run(&run).unwrap().unwrap().session;
    let now = [
        call("read", r#"{"path":"log:///1/1/1"}"#),
        call("read", r#"{"path":"log:///1/2/1"}"#),
        call("open", r#"{"path":"log:///1/1/1"}"#),
        call("open", r#"{"path":"log:///1/2"}"#),
        call("open", r#"{"path":"log:///**"}"#),
        call("read", r#"{"path":"log:///1/3/1"}"#),
    ];
    let replies = [&before[..], &[json!({"say": "done"})], &now].concat();
    let place = Place::Existing { run, session };
    let (_, told) = bench.drive_by(&["deny read three.txt"], &replies, place);
    let kept =
        |row: &str| format!("403 log:///{row} shows what is kept from being read by the policy");
    let refused = ["1/1/1", "1/2/1", "1/1/1", "1/2/1", "1/1/1"].map(kept);
    assert_eq!(told[3..8], refused);
    assert_eq!(told[8], "200 1\tfolded 2 rows");
}
