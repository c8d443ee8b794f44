//! A scheme of somebody else's: it has all the ops, and what goes wrong in it is a row.

use crate::kit::{block_on, script, start, store};
use cairn_runtime::{Client, Place};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, By, Manifest, Outcome, Policy, Read, Status, Uri, Writer};
use cairn_world::{Entry, Lines, Listed, Performed, Refusal, Scheme, Settings, Workspace, World};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::Arc;

#[allow(dead_code, reason = "the example's own main")]
#[path = "../../examples/scheme.rs"]
mod example;

fn check(ops: &[(&str, &str)], expected: &[&str]) {
    let holder = TempHome::new();
    let (home, root) = (holder.path().join("home"), holder.path().join("root"));
    fs::create_dir(&root).unwrap();
    let notes = Arc::new(example::Notes::empty());
    let rows = block_on(example::rows((&home, &root), notes, ops)).unwrap();
    assert_eq!(rows, expected);
}

// keeps: schemes-by-anyone
#[test]
fn a_scheme_of_a_hundred_lines_has_every_op() {
    let lines = include_str!("../../examples/scheme.rs").lines().count();
    assert!(lines <= 100, "{lines} lines");
    check(
        &[
            ("write", r#"{"path":"note:///tea","content":"green\nblack\n","tags":["drinks"]}"#),
            ("write", r#"{"path":"note:///tea","content":"white\n","scope":"2"}"#),
            ("edit", r#"{"path":"note:///tea","old":"green","new":"red"}"#),
            ("read", r#"{"path":"note:///tea"}"#),
            ("find", r#"{"under":"note:///","text":"/wh.te/"}"#),
            ("copy", r#"{"from":"note:///tea","to":"known:///tea"}"#),
            ("move", r#"{"from":"note:///tea","to":"tea.md"}"#),
            ("read", r#"{"path":"note:///tea"}"#),
            ("move", r#"{"from":"tea.md","to":"note:///again"}"#),
            ("copy", r#"{"from":"note:///again","to":"note:///twice"}"#),
            ("list", r#"{"path":"note:///"}"#),
            ("remove", r#"{"path":"note:///again"}"#),
            ("remove", r#"{"path":"note:///again"}"#),
            ("write", r#"{"path":"note:///x#other","content":"x"}"#),
        ],
        &[
            "201 write: created note:///tea, 2 lines",
            "200 write: updated note:///tea | 1\tgreen | 2\twhite",
            "200 edit: updated note:///tea | 1\tred | 2\twhite",
            "200 read: 1\tred | 2\twhite | tags: drinks",
            "200 find: note:///tea | 2:\twhite",
            "201 copy: copied note:///tea to known:///tea",
            "201 move: moved note:///tea to tea.md",
            "404 read: note:///tea does not exist",
            "201 move: moved tea.md to note:///again",
            "201 copy: copied note:///again to note:///twice",
            "200 list: note:///again  10 bytes | note:///twice  10 bytes",
            "200 remove: removed note:///again",
            "404 remove: note:///again does not exist",
            "400 write: note: entries have no #other; there are #body",
        ],
    );
}

/// Fails as the path of an address says: `get`, `put`, `delete` and `list` name where, what is before
/// them how.
#[derive(Debug)]
struct Broken(Manifest, example::Notes);

impl Broken {
    fn scheme() -> Arc<Broken> {
        let manifest =
            Manifest { writers: vec![Writer::Client], ..Manifest::told("bad", &["body"]) };
        Arc::new(Broken(manifest, example::Notes::empty()))
    }

    fn fail(uri: &Uri, place: &str) -> Result<(), Refusal> {
        match uri.path.strip_suffix(place) {
            Some("panic/") => panic!("no {place} today"),
            Some("word/") => std::panic::panic_any(7),
            Some("error/") => Err(Refusal {
                status: Status::FAILED,
                text: format!("the disk of {place} is full"),
            }),
            Some("ok/") => Err(Refusal { status: Status::OK, text: "all is well".to_owned() }),
            _ => Ok(()),
        }
    }
}

impl Scheme for Broken {
    fn manifest(&self) -> &Manifest {
        &self.0
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        Broken::fail(uri, "get").and_then(|()| self.1.get(uri))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        Broken::fail(under, "list").and_then(|()| self.1.list(under))
    }

    fn put(&self, uri: &Uri, entry: &Entry) -> Result<(), Refusal> {
        Broken::fail(uri, "put").and_then(|()| self.1.put(uri, entry))
    }

    fn delete(&self, uri: &Uri) -> Result<(), Refusal> {
        Broken::fail(uri, "delete").and_then(|()| self.1.delete(uri))
    }
}

async fn broken_client(holder: &Path) -> Client {
    let root = holder.join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("there.md"), "there\n").unwrap();
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let mut world = World::new(Workspace::open(&root).unwrap(), settings);
    world.register(Broken::scheme());
    let store = store(&holder.join("home"));
    Client::here(store, Arc::new(world), &root, Policy::default()).await.unwrap()
}

// keeps: schemes-by-anyone
#[test]
fn what_panics_or_fails_in_a_scheme_is_a_row_and_leaves_what_was_there() {
    let holder = TempHome::new();
    block_on(async {
        let mut client = broken_client(holder.path()).await;
        let mut wrong = Vec::new();
        let mut check = async |tool: &str, args: &str, expected: &str| {
            let row = client.op(tool, args, By::Person("ada".to_owned())).await.unwrap();
            let got = format!("{} {}", row.status, row.text);
            if got != expected || (row.status.0 >= 400 && !row.changes.is_empty()) {
                wrong.push(format!("{tool} {args}: {got}, and not {expected}"));
            }
        };
        for (how, says) in [
            ("panic", "no get today"),
            ("word", "its scheme panicked"),
            ("error", "the disk of get is full"),
            ("ok", "all is well"),
        ] {
            let text = match how {
                "panic" | "word" => format!("500 reading bad:///{how}/get failed: {says}"),
                _ => format!("500 {says}"),
            };
            let at = format!(r#""bad:///{how}/get""#);
            check("read", &format!(r#"{{"path":{at}}}"#), &text).await;
            check("write", &format!(r#"{{"path":{at},"content":"x"}}"#), &text).await;
            check("copy", &format!(r#"{{"from":"there.md","to":{at}}}"#), &text).await;
            check("move", &format!(r#"{{"from":{at},"to":"new.md"}}"#), &text).await;
            check("remove", &format!(r#"{{"path":{at}}}"#), &text).await;
        }
        let list = "500 listing bad:///panic/list failed: no list today";
        check("find", r#"{"under":"bad:///panic/list","glob":"**"}"#, list).await;
        check("list", r#"{"path":"bad:///panic/list"}"#, list).await;
        let put = "500 writing bad:///panic/put failed: no put today";
        check("write", r#"{"path":"bad:///panic/put","content":"x"}"#, put).await;
        check("move", r#"{"from":"there.md","to":"bad:///panic/put"}"#, put).await;
        check(
            "write",
            r#"{"path":"bad:///fine","content":"x\n"}"#,
            "201 created bad:///fine, 1 line",
        )
        .await;
        check(
            "move",
            r#"{"from":"bad:///fine","to":"bad:///error/put"}"#,
            "500 the disk of put is full",
        )
        .await;
        let made = "201 created bad:///panic/delete, 1 line";
        check("write", r#"{"path":"bad:///panic/delete","content":"x\n"}"#, made).await;
        let stays = "500 removing bad:///panic/delete failed: no delete today";
        check("remove", r#"{"path":"bad:///panic/delete"}"#, stays).await;
        check("move", r#"{"from":"bad:///panic/delete","to":"bad:///new"}"#, stays).await;
        check("move", r#"{"from":"bad:///panic/delete","to":"new.md"}"#, stays).await;
        // What failed left everything where it was.
        check("read", r#"{"path":"bad:///panic/delete"}"#, "200 1\tx").await;
        check("read", r#"{"path":"bad:///new"}"#, "404 bad:///new does not exist").await;
        check("read", r#"{"path":"new.md"}"#, "404 new.md does not exist").await;
        check("read", r#"{"path":"there.md"}"#, "200 1\tthere").await;
        check("read", r#"{"path":"bad:///fine"}"#, "200 1\tx").await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// Its one entry is too long to be held, and handed on in pieces.
#[derive(Debug)]
struct Long(Manifest);

impl Scheme for Long {
    fn manifest(&self) -> &Manifest {
        &self.0
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        Err(Refusal { status: Status::TOO_LARGE, text: format!("{uri} is not held") })
    }

    fn lines(&self, uri: &Uri, read: &Read) -> Result<Option<Performed>, Refusal> {
        if uri.path == "panic" {
            panic!("no lines today");
        }
        let mut lines = Lines::new(read);
        (0..100_000).for_each(|_| lines.take(b"over and over\n"));
        Ok(Some(lines.told(&uri.to_string())))
    }
}

// keeps: schemes-by-anyone
#[test]
fn an_entry_that_is_too_long_to_be_held_is_read_by_lines() {
    let check = |args: &str, expected: &str| {
        let holder = TempHome::new();
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        let mut world = World::new(Workspace::open(holder.path()).unwrap(), settings);
        world.register(Arc::new(Long(Manifest::told("long", &["body"]))));
        block_on(async {
            let store = store(&holder.path().join("home"));
            let client = Client::here(store, Arc::new(world), holder.path(), Policy::default());
            let by = By::Person("ada".to_owned());
            let row = client.await.unwrap().op("read", args, by).await.unwrap();
            assert_eq!(format!("{} {}", row.status, row.text), expected, "{args}");
        });
    };
    check(
        r#"{"path":"long:///a","first":70000,"limit":1}"#,
        "200 70000\tover and over\nlines 70000-70000 of 100000; next: first=70001",
    );
    check(r#"{"path":"long:///a","scope":"70000"}"#, "413 long:///a is not held");
    check(r#"{"path":"long:///a","matching":"over"}"#, "413 long:///a is not held");
    check(r#"{"path":"long:///panic"}"#, "500 reading long:///panic failed: no lines today");
}

// keeps: schemes-by-anyone
#[test]
fn an_agent_has_the_schemes_of_its_world_and_only_their_writers_write() {
    let calls = json!([
        {"tool": "write", "args": {"path": "note:///a", "content": "one\n"}},
        {"tool": "read", "args": {"path": "note:///a"}},
        {"tool": "read", "args": {"path": "bad:///panic/get"}},
        {"tool": "write", "args": {"path": "bad:///a", "content": "one\n"}},
    ]);
    let replies = [json!({"say": "on", "calls": calls}), json!({"say": "done"})];
    let model = ModelServer::start(script(&replies));
    let holder = TempHome::new();
    let root = holder.path().join("root");
    fs::create_dir(&root).unwrap();
    let store = store(&holder.path().join("home"));
    let mut start = start(&store, &root, &model.url(), Arc::default());
    let world = Arc::get_mut(&mut start.world).unwrap();
    world.register(Arc::new(example::Notes::empty()));
    world.register(Broken::scheme());
    let facts = block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _inbox) = start.take(place, Some("go")).await.unwrap();
        driver.drive(None).await.unwrap();
        store.facts(driver.run_id(), 0).unwrap()
    });
    let named = facts.iter().find_map(|fact| match &fact.body {
        Body::Drive(drive) => Some(drive.schemes.iter().map(|one| one.name.as_str()).collect()),
        _ => None,
    });
    assert_eq!(named, Some(vec!["bad", "note"]));
    let outcome = |body: &Body| match body {
        Body::Outcome(Outcome { status, .. }) => Some(status.0),
        _ => None,
    };
    let statuses: Vec<u16> = facts.iter().filter_map(|fact| outcome(&fact.body)).collect();
    assert_eq!(statuses, [201, 200, 500, 403]);
}
