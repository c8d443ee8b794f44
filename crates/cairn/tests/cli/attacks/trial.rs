//! One trial: a fresh machine with its ground, a model that says what the tables say, a listener, and
//! what was changed, heard and told when it is over.

use super::table::{Case, Ground, Place, Sign};
use crate::bench_world::Bench;
use cairn_provider::scripted::Script;
use cairn_testkit::{ModelServer, TempHome};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What stands at a path: nothing, a directory, a link's target or a file's bytes.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    Nothing,
    Folder,
    Link(PathBuf),
    File(Vec<u8>),
}

/// Everything beneath a folder.
type Tree = BTreeMap<PathBuf, Standing>;

/// Programs on the PATH that send their words and what they are fed: the same on every machine.
const SENDERS: [&str; 4] = ["curl", "wget", "nc", "scp"];

/// Files that are there before every trial.
const FILES: [(&str, &str); 12] = [
    ("workspace/cairn.toml", "# the project's\n# end\n"),
    ("workspace/AGENTS.md", "Be brief.\n"),
    ("workspace/README.md", "# A project\n\nIt greets.\n"),
    ("workspace/Cargo.toml", "[package]\nname = \"greet\"\n"),
    ("workspace/src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n"),
    ("workspace/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
    ("workspace/.husky/pre-commit", "cargo test\n"),
    ("workspace/.github/workflows/ci.yml", "on: push\n"),
    ("workspace/.git/HEAD", "ref: refs/heads/main\n"),
    ("workspace/.git/config", "[core]\n\trepositoryformatversion = 0\n"),
    (".config/cairn/cairn.toml", "# the person's own\n"),
    (".bashrc", "# the person's own\n"),
];

/// Directories that are there before every trial.
const FOLDERS: [&str; 6] = [
    "outside",
    "bin",
    ".ssh",
    "workspace/.git/objects",
    "workspace/.git/refs/heads",
    "workspace/.git/hooks",
];

/// A machine on which attacks are tried.
pub struct Trial {
    bench: Bench,
    pub place: Place,
    pub cases: Vec<Case>,
    listener: Listener,
    before: Tree,
    /// What the program told, event by event.
    pub events: Vec<Value>,
}

impl Trial {
    /// Prepares the ground for the cases of these tables and has the model go through all of them.
    pub fn new(tables: &[(char, &str)], only: impl Fn(&Case) -> bool, flags: &[&str]) -> Trial {
        Trial::at("open", tables, only, flags)
    }

    /// The same, with commands confined like this.
    pub fn at(
        level: &'static str,
        tables: &[(char, &str)],
        only: impl Fn(&Case) -> bool,
        flags: &[&str],
    ) -> Trial {
        let temp = TempHome::new();
        let listener = Listener::start();
        let place = Place { home: temp.path().to_owned(), port: listener.port };
        let all = tables.iter().flat_map(|(letter, table)| place.read(*letter, table));
        let mut cases: Vec<Case> = all.filter(only).collect();
        // A turn in which nothing fails, so that many attacks that could not act are no rail's business.
        let plan = |id: &str| json!({"items": [{"text": id, "state": "active"}]});
        for case in &mut cases {
            let calls = json!([{"tool": "todo", "args": plan(&case.id)}]);
            case.replies.insert(0, json!({"calls": calls}));
        }
        lay_ground(&place, &cases);
        let mut replies: Vec<&Value> = cases.iter().flat_map(|case| &case.replies).collect();
        let over = json!({"say": "Everything was done as told."});
        replies.push(&over);
        let script = json!({"cairn_script": 1, "name": "obedient", "replies": replies});
        let model = ModelServer::start(Script::parse(&script.to_string()).unwrap());
        let before = tree(&place.home);
        let bench = Bench { temp, model, level };
        let mut trial = Trial { bench, place, cases, listener, before, events: Vec::new() };
        trial.run(flags);
        trial
    }

    fn run(&mut self, flags: &[&str]) {
        let args = [&["run", "--json", "--max-turns", "2000"], flags, &["go on"]].concat();
        let bin = self.place.home.join("bin");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let output = self.bench.command(&args).env("PATH", path).output().unwrap();
        let done = crate::bench_world::done(output);
        self.events = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = self.events.last().unwrap_or_else(|| panic!("nothing was told: {}", done.err));
        assert_eq!(last["answer"], "Everything was done as told.", "{last} {}", done.err);
    }

    /// The cases whose effect is seen.
    pub fn taken(&self) -> Vec<&Case> {
        let hits = self.listener.hits();
        let requests = self.bench.model.requests();
        // Every request has what the one before it had.
        let sent = requests.last().map(|body| String::from_utf8_lossy(body).into_owned());
        let sent = sent.unwrap_or_default();
        let mut turn = 0;
        let mut taken = Vec::new();
        for case in &self.cases {
            turn += case.replies.len();
            let is = match &case.sign {
                Sign::Changed(path) => {
                    let before = self.before.get(path).unwrap_or(&Standing::Nothing);
                    *before != standing(path)
                }
                Sign::Holds(path, text) => {
                    std::fs::read_to_string(path).is_ok_and(|held| held.contains(text))
                }
                Sign::Hit => hits.iter().any(|heard| heard.contains(&case.id)),
                Sign::Told(secret) => sent.contains(secret),
                Sign::Passed(text) => self.passed(turn, text),
            };
            if is {
                taken.push(case);
            }
        }
        taken
    }

    /// Whether the last call of a turn did what it should.
    fn passed(&self, turn: usize, text: &str) -> bool {
        let last = self.settled().filter(|event| is_of(event, turn)).last();
        last.is_some_and(|event| {
            (event["status"] == 200 || event["status"] == 201)
                && event["text"].as_str().is_some_and(|told| told.contains(text))
        })
    }

    fn settled(&self) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(|event| event["type"] == "op/settled")
    }

    /// What the program told of a case, for whoever has to find out why it went wrong.
    pub fn story(&self, id: &str) -> String {
        let mut turn = 0;
        let mut story = String::new();
        for case in &self.cases {
            for reply in &case.replies {
                turn += 1;
                if case.id == id {
                    let told = self.settled().filter(|event| is_of(event, turn));
                    let told: Vec<String> = told
                        .map(|event| format!("{} {}", event["status"], event["text"]))
                        .collect();
                    story.push_str(&format!("  {} {reply}\n    {told:?}\n", case.id));
                }
            }
        }
        story
    }

    /// The turns of these cases in which something was begun that may change something.
    pub fn begun(&self, of: impl Fn(&Case) -> bool) -> Vec<&str> {
        let mut turn = 0;
        let mut begun = Vec::new();
        for case in &self.cases {
            for _ in &case.replies {
                turn += 1;
                let began = |event: &&Value| event["type"] == "op/began" && is_of(event, turn);
                if of(case) && self.events.iter().any(|event| began(&event)) {
                    begun.push(case.id.as_str());
                }
            }
        }
        begun
    }

    /// Paths beneath this one that are not as they were before the trial.
    pub fn changed(&self, beneath: &Path) -> Vec<PathBuf> {
        let now = tree(&self.place.home);
        let paths = self.before.keys().chain(now.keys()).filter(|path| path.starts_with(beneath));
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| self.before.get(*path) != now.get(*path)).cloned().collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// How many connections anything made to the listener.
    pub fn connections(&self) -> usize {
        self.listener.hits().len()
    }

    /// Whether a text was sent to the model.
    pub fn was_sent(&self, text: &str) -> bool {
        let requests = self.bench.model.requests();
        requests.iter().any(|body| String::from_utf8_lossy(body).contains(text))
    }
}

fn is_of(event: &Value, turn: usize) -> bool {
    let at = event["op_at"].as_str().unwrap_or_default();
    at.split('/').nth(1) == Some(turn.to_string().as_str())
}

fn lay_ground(place: &Place, cases: &[Case]) {
    let program = |path: &Path, text: &str| {
        put(path, text);
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    };
    for folder in FOLDERS {
        std::fs::create_dir_all(place.home.join(folder)).unwrap();
    }
    for (path, text) in FILES {
        put(&place.home.join(path), text);
    }
    let port = place.port;
    for name in SENDERS {
        let text = format!(
            "#!/bin/bash\n{{ echo \"$*\"; timeout 0.1 cat; }} >/dev/tcp/127.0.0.1/{port}\n"
        );
        program(&place.home.join("bin").join(name), &text);
    }
    program(&place.home.join("bin/cargo"), "#!/bin/sh\necho \"cargo was run: $*\"\n");
    for ground in cases.iter().flat_map(|case| &case.ground) {
        match ground {
            Ground::File(path, text) => put(path, text),
            Ground::Program(path, text) => program(path, text),
            Ground::Folder(path) => std::fs::create_dir_all(path).unwrap(),
            Ground::Link(path, target) => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, path).unwrap();
            }
        }
    }
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn standing(path: &Path) -> Standing {
    let Ok(metadata) = path.symlink_metadata() else { return Standing::Nothing };
    match metadata.file_type() {
        kind if kind.is_dir() => Standing::Folder,
        kind if kind.is_symlink() => Standing::Link(path.read_link().unwrap()),
        kind if kind.is_file() => Standing::File(std::fs::read(path).unwrap()),
        _ => Standing::File(Vec::new()),
    }
}

/// Everything beneath a folder but the program's own home, which every run changes.
fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path == folder.join("home") {
                continue;
            }
            let standing = standing(&path);
            if standing == Standing::Folder {
                folders.push(path.clone());
            }
            found.insert(path, standing);
        }
    }
    found
}

/// Hears whatever is sent to a port of this machine.
struct Listener {
    port: u16,
    heard: Arc<Mutex<Heard>>,
}

#[derive(Default)]
struct Heard {
    open: Vec<JoinHandle<String>>,
    whole: Vec<String>,
}

impl Listener {
    fn start() -> Listener {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::<Mutex<Heard>>::default();
        let all = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                all.lock().unwrap().open.push(std::thread::spawn(move || hear(stream)));
            }
        });
        Listener { port, heard }
    }

    /// What was sent so far, connection by connection. They are taken in order: once one of our own
    /// has been answered, every earlier one is known.
    fn hits(&self) -> Vec<String> {
        let end = "nothing comes after this";
        let mut own = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        own.write_all(format!("{end}\r\n\r\n").as_bytes()).unwrap();
        let _ = own.read_to_end(&mut Vec::new());
        let mut heard = self.heard.lock().unwrap();
        for one in std::mem::take(&mut heard.open) {
            heard.whole.push(one.join().unwrap());
        }
        heard.whole.iter().filter(|one| !one.contains(end)).cloned().collect()
    }
}

/// Hears one connection to its end, its blank line, or until it has been silent for long.
fn hear(mut stream: TcpStream) -> String {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let mut heard = String::new();
    let mut buffer = [0; 4096];
    while let Ok(n) = stream.read(&mut buffer) {
        heard.push_str(&String::from_utf8_lossy(&buffer[..n]));
        if n == 0 || heard.contains("\r\n\r\n") {
            break;
        }
    }
    let _ = stream.write_all(b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    heard
}
