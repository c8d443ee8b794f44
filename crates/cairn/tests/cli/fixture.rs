//! A home that an earlier version wrote is opened, verified, continued and undone. The fixture is bound to
//! the path it was made at, so each test unpacks it there while it holds a lock.

use crate::bench_world::{Bench, Done, done};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the fixture was made, and lies while a test uses it.
const PLACE: &str = "/tmp/cairn-fixture";

/// The unpacked fixture, this test's alone until it is dropped.
struct Fixture {
    _lock: File,
}

impl Fixture {
    #[allow(clippy::disallowed_methods, reason = "the fixture is a tar")]
    fn unpack() -> Fixture {
        let lock = File::create("/tmp/cairn-fixture.lock").unwrap();
        lock.lock().unwrap();
        let _ = std::fs::remove_dir_all(PLACE);
        let tar = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixture/0.1.0.tar.gz");
        let unpacked = Command::new("tar").arg("-xzpf").arg(tar).args(["-C", "/tmp"]).status();
        assert!(unpacked.unwrap().success());
        Fixture { _lock: lock }
    }

    #[allow(clippy::disallowed_methods, reason = "tests start the program")]
    fn cairn_in(&self, project: &str, home: &str, args: &[&str]) -> Done {
        let output = Command::new(env!("CARGO_BIN_EXE_cairn"))
            .args(args)
            .current_dir(self.path(project))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("person"))
            .env("USER", "tester")
            .env("CAIRN_HOME", self.path(home))
            .stdin(Stdio::null())
            .output();
        done(output.unwrap())
    }

    fn cairn(&self, project: &str, args: &[&str]) -> Done {
        self.cairn_in(project, "home", args)
    }

    /// What the command printed; it must end with exit code 0.
    fn told(&self, project: &str, args: &[&str]) -> String {
        let done = self.cairn(project, args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        done.out
    }

    fn path(&self, inner: &str) -> PathBuf {
        Path::new(PLACE).join(inner)
    }

    fn read(&self, inner: &str) -> String {
        std::fs::read_to_string(self.path(inner)).unwrap()
    }

    /// The run of this project whose first task is this.
    fn run_of(&self, project: &str, task: &str) -> String {
        let sessions = self.told(project, &["sessions", "--all", "--json"]);
        let sessions = sessions.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let root = self.path(project);
        let here = sessions.filter(|session| session["root"] == root.to_str().unwrap());
        let runs: Vec<Value> =
            here.flat_map(|session| session["runs"].as_array().unwrap().clone()).collect();
        let oldest = runs.iter().rfind(|run| run["task"] == task);
        oldest.unwrap()["run"].as_str().unwrap().to_owned()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(PLACE);
    }
}

// keeps: earlier-homes
#[test]
fn every_fact_and_request_of_an_earlier_home_is_told_as_the_version_that_wrote_it_told_it() {
    let fixture = Fixture::unpack();
    let mut runs = 0;
    for entry in std::fs::read_dir(fixture.path("expected/facts")).unwrap() {
        let path = entry.unwrap().path();
        let run = path.file_stem().unwrap().to_str().unwrap();
        let told = fixture.told("first", &["log", run, "--facts", "--json"]);
        assert_eq!(told, std::fs::read_to_string(&path).unwrap(), "{run}");
        runs += 1;
    }
    assert_eq!(runs, 15);
    let requests: BTreeMap<String, String> =
        serde_json::from_str(&fixture.read("expected/requests.json")).unwrap();
    assert!(requests.len() > 40, "{}", requests.len());
    for (address, expected) in requests {
        let request = fixture.told("first", &["show", &address]);
        assert_eq!(sha256(request.as_bytes()), expected, "{address}");
    }
}

/// As coreutils tells it, which shares no code with us.
#[allow(clippy::disallowed_methods, reason = "a second opinion")]
fn sha256(bytes: &[u8]) -> String {
    use std::io::Write as _;
    let (input, output) = (Stdio::piped(), Stdio::piped());
    let mut child = Command::new("sha256sum").stdin(input).stdout(output).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let printed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    printed.split(' ').next().unwrap().to_owned()
}

// keeps: earlier-homes, delta
#[test]
fn what_others_changed_has_its_address_in_an_earlier_home_too() {
    let fixture = Fixture::unpack();
    let mut found = 0;
    for entry in std::fs::read_dir(fixture.path("expected/facts")).unwrap() {
        let path = entry.unwrap().path();
        let run = path.file_stem().unwrap().to_str().unwrap();
        let facts = std::fs::read_to_string(&path).unwrap();
        let facts = facts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let deltas = facts.filter(|fact| fact["kind"] == "delta");
        for (n, delta) in (1..).zip(deltas) {
            let address = format!("log://{run}/changes/{n}");
            let told = fixture.told("first", &["show", "--json", &address]);
            let row: Value = serde_json::from_str(&told).unwrap();
            assert_eq!((&row["address"], &row["facts"]), (&json!(address), &json!([delta])));
            assert_eq!(row["noticed"], delta["body"]["noticed"]);
            assert!(row["result"].as_str().unwrap().starts_with("Changed by others"), "{row}");
            found += 1;
        }
    }
    assert_eq!(found, 1);
}

// keeps: earlier-homes
#[test]
fn the_receipts_the_bundle_and_the_exports_of_an_earlier_home_verify() {
    let fixture = Fixture::unpack();
    for project in ["first", "second", "elsewhere/project"] {
        let told = fixture.told(project, &["verify"]);
        assert!(told.starts_with("UNANCHORED"), "{project}: {told}");
    }
    let anchor = fixture.read("expected/anchor");
    let bundle = fixture.path("first.cairn");
    let verify = ["verify", bundle.to_str().unwrap(), "--anchor", anchor.trim()];
    assert!(fixture.told("first", &verify).starts_with("VERIFIED"));
    for (export, project) in [("second.cairn", "second"), ("elsewhere.cairn", "elsewhere/project")]
    {
        let export = fixture.path(export);
        let import = ["sessions", "import", export.to_str().unwrap()];
        for args in [&import[..], &["verify"]] {
            let done = fixture.cairn_in(project, "another-home", args);
            assert_eq!(done.code, 0, "{args:?}: {done:?}");
        }
    }
}

// keeps: earlier-homes
#[test]
fn the_runs_of_an_earlier_home_are_continued_whatever_state_they_were_left_in() {
    let fixture = Fixture::unpack();
    let go_on = |project: &str, run: &str| {
        let args = ["run", "--yolo", "--json", "--resume", run, "Go on."];
        let done = fixture.cairn(project, &args);
        let last: Value = serde_json::from_str(done.out.lines().next_back().unwrap()).unwrap();
        assert_eq!(last["type"], "result", "{run}: {done:?}");
        (done.code, done.out)
    };
    // It is told the letter that waited for it.
    let (code, told) = go_on("first", "listener");
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("Words that nobody has heard yet."), "{told}");
    let first = fixture.run_of("first", "Fix total and test it.");
    assert_eq!(go_on("first", &first).0, 0);
    for surface in ["Write tags.txt.", "Write heredoc.txt."] {
        let run = fixture.run_of("first", surface);
        let (_, told) = go_on("first", &run);
        assert!(told.contains("turn/replied"), "{told}");
    }
    // What was cut off over its overlay runs again.
    let (code, told) = go_on("second", "cut-overlay");
    assert_eq!(code, 0, "{told}");
    assert_eq!(fixture.read("second/over.txt"), "over\n");
    // What nobody saw the end of is not repeated.
    let (_, told) = go_on("second", "cut");
    assert!(told.contains("indeterminate"), "{told}");
    assert_eq!(fixture.read("second/begun.txt"), "begun\n");
    for project in ["first", "second"] {
        assert_eq!(fixture.cairn(project, &["verify"]).code, 0, "{project}");
    }
}

// keeps: earlier-homes
#[test]
fn what_the_runs_of_an_earlier_home_changed_is_undone_and_redone() {
    let fixture = Fixture::unpack();
    let first = fixture.run_of("first", "Fix total and test it.");
    let at = |turn: &str| format!("log://{first}/{turn}");
    // Its newest turn is undone already.
    assert!(fixture.path("first/result.txt").exists());
    fixture.told("first", &["redo"]);
    assert!(!fixture.path("first/result.txt").exists());
    fixture.told("first", &["undo", &at("2/2")]);
    assert!(fixture.path("first/result.txt").exists());
    let price = fixture.read("first/src/shop.py");
    assert!(price.contains("PRICE = 4") && price.contains("count * PRICE"), "{price}");
    let price_run = fixture.run_of("first", "Change the price.");
    fixture.told("first", &["undo", &format!("log://{price_run}/1")]);
    assert!(fixture.read("first/src/shop.py").contains("PRICE = 3"));
    // The rewind of the other session's run is taken forward again.
    assert!(fixture.path("second/notes/a.txt").exists());
    let redone = fixture.cairn("second", &["redo"]);
    assert_eq!(redone.code, 0, "{redone:?}");
    assert!(!fixture.path("second/notes").exists());
    assert!(fixture.path("second/new/link").is_symlink());
}

/// The names of the fields in these JSON lines, each after the type of its line and what it lies in. Between the lines
/// of an export stand contents.
fn names_of_lines(lines: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in lines.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let kind = ["type", "kind"].iter().filter_map(|name| value[*name].as_str());
        let kind: Vec<&str> = kind.collect();
        add_names(&kind.join(":"), &value, &mut names);
    }
    names
}

fn add_names(path: &str, value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                let path = format!("{path}.{}", if is_name { name } else { "*" });
                add_names(&path, value, names);
                names.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_names(path, item, names)),
        _ => {}
    }
}

// keeps: earlier-homes
#[test]
fn an_export_is_written_with_the_names_that_earlier_versions_gave_it() {
    let fixture = Fixture::unpack();
    for (old, project) in [("second.cairn", "second"), ("elsewhere.cairn", "elsewhere/project")] {
        let new = format!("new-{old}");
        let to = fixture.path(&new);
        fixture.told(project, &["sessions", "export", "-o", to.to_str().unwrap()]);
        let (old, new) = (names_of_lines(&fixture.read(old)), names_of_lines(&fixture.read(&new)));
        assert!(old.len() > 100, "{old:?}");
        let gone: Vec<_> = old.difference(&new).collect();
        assert!(gone.is_empty(), "{project}: {gone:?}");
    }
}

// keeps: run-json
#[test]
#[allow(clippy::disallowed_methods, reason = "new names are taken when the environment says so")]
fn the_events_of_runs_are_told_to_programs_with_the_names_that_earlier_versions_gave_them() {
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let bash = |command: &str| call("bash", json!({"command": command}));
    let many = "mkdir many; for n in $(seq 2500); do echo $n > many/$n; done";
    let bench = Bench::confined(json!([
        bash("echo one > one; echo said"),
        call("write", json!({"path": "two", "content": "two\n"})),
        call("read", json!({"path": "two"})),
        call("todo", json!({"items": [{"text": "to do", "state": "doing"}]})),
        call("bash", json!({"command": "echo later", "background": true})),
        bash("sleep 0.5; exit 3"),
        bash(many),
        call("read", json!({"path": "missing"})),
        {"say": "done"},
        call("write", json!({"path": "three", "content": "three\n"})),
        {"say": "asked"},
    ]));
    let run = |args: &[&str]| bench.cairn(&[&["run", "--json"], args].concat()).out;
    let mut told = run(&["--yolo", "work"]);
    bench.temp.write("two", "changed by somebody\n");
    told += &run(&["-c", "go on"]);
    let names = names_of_lines(&told);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/event_names.txt");
    if std::env::var_os("CAIRN_ACCEPT_NAMES").is_some() {
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        std::fs::write(&golden, lines).unwrap();
    }
    let golden = std::fs::read_to_string(&golden).unwrap();
    let golden: BTreeSet<String> = golden.lines().map(str::to_owned).collect();
    let gone: Vec<_> = golden.difference(&names).collect();
    assert!(gone.is_empty(), "{gone:?} in {told}");
    let new: Vec<_> = names.difference(&golden).collect();
    assert!(new.is_empty(), "add them with CAIRN_ACCEPT_NAMES=1: {new:?}");
}
