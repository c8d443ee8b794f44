//! Tool calls on whatever a path may be, by a client and by an agent: each ends with a row, and nothing panics.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Client, Event, Place, Sink};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome, cases};
use cairn_types::{Body, By, Fact, Outcome, Policy, Settled};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Letters, signs and words of which paths are made: every script first, then what means something in paths,
/// addresses, globs, terminals and JSON.
const PIECES: [&str; 96] = [
    "é",
    "日",
    "😀",
    "aé",
    "éa",
    "aéb",
    "a日",
    "日a",
    "a日b",
    "a😀",
    "😀a",
    "a😀b",
    "Übersicht.md",
    "Привет",
    "Ελλάδα",
    "שלום",
    "مرحبا",
    "ไทย",
    "한국",
    "हिन्दी",
    "தமிழ்",
    "ქართული",
    "Հայ",
    "አማ",
    "ខ្មែរ",
    "ᐃᓄ",
    "ᏣᎳ",
    "မြန်",
    "བོད",
    "বাংলা",
    "𐎀",
    "𒀀",
    "𝔘",
    "e\u{301}",
    "\u{301}",
    "\u{feff}",
    "\u{202e}",
    "\u{200d}",
    "\u{fffd}",
    "\u{a0}",
    "\u{3000}",
    "ß",
    "İ",
    "ı",
    "ǅ",
    "ﬁ",
    "",
    "",
    ".",
    "..",
    "...",
    "/",
    "//",
    "\\",
    "~",
    "*",
    "**",
    "?",
    "[",
    "]",
    "{",
    "}",
    "{a,é}",
    "!",
    "#",
    "#é",
    "%",
    "%C3%A9",
    ":",
    "::",
    "@",
    "$",
    "&",
    "'",
    "\"",
    "`",
    "<",
    "|",
    "-",
    "--",
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    "\u{1b}[2J",
    "\u{7f}",
    "a",
    "b.md",
    "d",
    "known:///",
    "unknown:///",
    "memory:///",
    "log:///1/1/1",
    "file:///",
    "known:/",
];
/// Prefixes that some of the paths get.
const STARTS: [&str; 16] = [
    "",
    "/",
    "./",
    "../",
    "d/",
    "/tmp/",
    "~/",
    "known:///",
    "unknown:///é",
    "log:///",
    "é://",
    "run:///",
    "https:",
    "exec:///",
    "file://",
    "C:\\",
];
/// Lone surrogates and other escapes, as they stand in JSON.
const ESCAPES: [&str; 6] =
    ["\\ud800", "\\udc00", "\\ud83d\\u0041", "\\u0000", "\\ud83d\\ude00", "\\u00e9"];
/// Names of files on disk that are no UTF-8, or nearly none.
const NAMES: [&[u8]; 6] =
    [b"\xff", b"\xc3", b"a\xe9.md", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"d\xff/\xfe\xfe.md"];

/// Chance by a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (limit.max(1) as u64)).unwrap()
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn path(&mut self) -> String {
        let piece = self.one_of(&PIECES);
        match self.below(40) {
            0 => format!("{piece}/").repeat(300),
            1 => "../".repeat(300) + piece,
            2 => piece.repeat(300),
            3..=9 => self.one_of(&STARTS).to_owned() + piece,
            _ => {
                let count = 1 + self.below(4);
                let joint = ["", "/"][self.below(2)];
                (0..count).map(|_| self.one_of(&PIECES)).collect::<Vec<_>>().join(joint)
            }
        }
    }

    fn text(&mut self) -> String {
        (0..self.below(4)).map(|_| self.one_of(&PIECES)).collect()
    }

    /// A tool and its arguments as a model writes them.
    fn call(&mut self) -> (&'static str, String) {
        let path = self.path();
        let (tool, args) = match self.below(26) {
            0..=3 => ("read", json!({"path": path})),
            4 => ("read", json!({"path": path, "scope": self.text()})),
            5 => ("read", json!({"path": path, "matching": self.text()})),
            6..=8 => ("write", json!({"path": path, "content": self.text()})),
            9 => ("write", json!({"path": path, "content": self.text(), "scope": self.text()})),
            10 => ("write", json!({"path": path, "content": self.text(), "tags": [self.text()]})),
            11 => ("edit", json!({"path": path, "old": self.text(), "new": self.text()})),
            12 => ("edit", json!({"path": path, "patch": self.patch()})),
            13 => ("edit", json!({"patch": self.patch()})),
            14 => ("multi_edit", json!({"path": path, "edits": [{"old": "a", "new": "é"}]})),
            15 => ("find", json!({"glob": path})),
            16 => ("find", json!({"under": path, "text": self.text()})),
            17 => ("find", json!({"under": path, "glob": self.path()})),
            18 => ("list", json!({"path": path, "depth": self.below(4)})),
            19 => ("move", json!({"from": path, "to": self.path()})),
            20 => ("copy", json!({"from": path, "to": self.path()})),
            21 => ("remove", json!({"path": path})),
            22 => (["open", "fold"][self.below(2)], json!({"path": path})),
            23 => ("send", json!({"to": path, "text": self.text()})),
            24 => ("todo", json!({"items": [{"text": path, "state": "done"}]})),
            _ if self.below(8) == 0 => ("bash", json!({"command": "true", "cwd": path})),
            _ => ("read", json!({"path": path, "hashes": true, "first": self.below(3)})),
        };
        (tool, self.escaped(args.to_string()))
    }

    /// A patch that names the path, which need not be one.
    fn patch(&mut self) -> String {
        let path = self.path();
        match self.below(3) {
            0 => format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+é\n"),
            1 => format!("*** Begin Patch\n*** Add File: {path}\n+日\n*** End Patch"),
            _ => format!("{path}\n<<<<<<< SEARCH\na\n=======\n😀\n>>>>>>> REPLACE\n"),
        }
    }

    /// Now and then with an escape that the writer of JSON would not make, somewhere in a text.
    fn escaped(&mut self, args: String) -> String {
        let quotes: Vec<usize> = args.match_indices("\":\"").map(|(at, _)| at + 3).collect();
        match (self.below(12), quotes.is_empty()) {
            (0, false) => {
                let at = quotes[self.below(quotes.len())];
                let escape = self.one_of(&ESCAPES);
                format!("{}{escape}{}", &args[..at], &args[at..])
            }
            _ => args,
        }
    }
}

/// A project with files whose names are no UTF-8.
fn place() -> (TempHome, Store) {
    let temp = TempHome::new();
    for name in NAMES {
        let path = temp.workspace().join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "a\n").unwrap();
    }
    temp.write("a", "a\né\n日\n😀\n");
    temp.write("é", "a\n");
    temp.write("d/日", b"\xff\0");
    let store = store(&temp.home());
    (temp, store)
}

fn world(temp: &TempHome) -> World {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    World::new(Workspace::open(&temp.workspace()).unwrap(), settings)
}

async fn client(temp: &TempHome, store: &Store) -> Client {
    let (root, world) = (temp.workspace(), Arc::new(world(temp)));
    Client::here(store.clone(), world, &root, Policy::default()).await.unwrap()
}

/// A panic inside an op is a row that says so.
fn is_panic(text: &str) -> bool {
    text.contains("failed inside Cairn") || text.contains("it did not end:")
}

fn outcomes(facts: &[Fact]) -> Vec<&Outcome> {
    let bodies = facts.iter().map(|fact| &fact.body);
    bodies.filter_map(|body| if let Body::Outcome(one) = body { Some(one) } else { None }).collect()
}

/// Calls by a client in a project of its own; then another client takes what it left.
fn by_a_client(dice: &mut Dice, count: usize) {
    let (temp, store) = place();
    block_on(async {
        let mut client = client(&temp, &store).await;
        for _ in 0..count {
            let (tool, args) = dice.call();
            let answer = client.op(tool, &args, By::Person("ada".to_owned())).await;
            let answer = answer.unwrap_or_else(|e| panic!("{tool} {args}: {e}"));
            assert!(!is_panic(&answer.text), "{tool} {args}: {}", answer.text);
            assert!(answer.status.0 >= 100, "{tool} {args}: {}", answer.status);
        }
        drop(client);
        self::client(&temp, &store).await;
    });
}

/// Calls by agents, one per turn, in one session; files are saved from outside between the runs.
fn by_agents(dice: &mut Dice, count: usize) {
    const A_RUN: usize = 40;
    let (temp, store) = place();
    for (n, size) in (0..count).step_by(A_RUN).map(|from| A_RUN.min(count - from)).enumerate() {
        temp.write("Übersicht.md", format!("{n}\n"));
        temp.write(&format!("{n}/日😀.md"), "a\n");
        let turn = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
        let mut replies = Vec::new();
        for _ in 0..size {
            let (tool, args) = dice.call();
            replies.push(turn(tool, Value::String(args)));
            // A turn without failures, or the loop would be ended for getting nowhere.
            replies.push(turn("list", json!({"path": "."})));
        }
        replies.push(json!({"say": "done"}));
        let facts = run(&temp, &store, &replies);
        let asked = facts.iter().filter(|fact| matches!(fact.body, Body::Intent(_))).count();
        let outcomes = outcomes(&facts);
        assert_eq!((asked, outcomes.len()), (2 * size, 2 * size));
        for outcome in outcomes {
            let text = String::from_utf8(store.content(&outcome.result.hash).unwrap()).unwrap();
            assert!(!is_panic(&text), "{}: {text}", outcome.at);
        }
    }
}

/// The facts of a run of a model that replies so.
fn run(temp: &TempHome, store: &Store, replies: &[Value]) -> Vec<Fact> {
    let model = ModelServer::start(script(replies));
    let start = start(store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    let place = Place::New { new_session: false, name: None };
    block_on(async {
        let (mut driver, _inbox) = start.take(place, Some("go")).await.unwrap();
        driver.drive(None).await.unwrap();
        store.facts(driver.run_id(), 0).unwrap()
    })
}

// keeps: any-path
#[test]
fn every_call_on_any_path_ends_with_a_row_and_nothing_panics() {
    let count = usize::try_from(cases("CAIRN_PATHS", 2000)).unwrap();
    let seed = u64::from(cases("CAIRN_SEED", 1));
    let (mut dice, by_agent) = (Dice(seed), count / 10);
    // What a client does takes longer the more it has done.
    const A_CLIENT: usize = 60;
    let by_client = count - by_agent;
    (0..by_client)
        .step_by(A_CLIENT)
        .for_each(|from| by_a_client(&mut dice, A_CLIENT.min(by_client - from)));
    by_agents(&mut dice, by_agent);
    println!("{count} calls on any path, {count} rows, 0 panics");
}

/// Panics when a command prints.
struct Broken;

impl Sink for Broken {
    fn event(&self, event: &Event) {
        assert!(!matches!(event, Event::Output { .. }), "no output today");
    }
}

// keeps: any-path
#[test]
fn a_panic_in_an_op_that_began_is_settled_as_after_a_crash_and_the_run_goes_on() {
    let (temp, store) = place();
    let bash = |command: &str| json!({"calls": [{"tool": "bash", "args": {"command": command}}]});
    let replies =
        [bash("echo printed >began; cat began"), bash("rm began"), json!({"say": "done"})];
    let model = ModelServer::start(script(&replies));
    let mut start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    start.sink = Arc::new(Broken);
    let place = Place::New { new_session: false, name: None };
    let facts = block_on(async {
        let (mut driver, _inbox) = start.take(place, Some("go")).await.unwrap();
        driver.drive(None).await.unwrap();
        store.facts(driver.run_id(), 0).unwrap()
    });
    let outcomes = outcomes(&facts);
    let settled: Vec<_> = outcomes.iter().map(|one| (one.status.0, one.settled)).collect();
    assert_eq!(settled, [(500, Settled::Indeterminate), (200, Settled::Performed)]);
    assert!(matches!(facts.last().unwrap().body, Body::End(_)), "{facts:?}");
}
