//! Membership at the command line: what git ignores is not read, shown, sent or kept; what a run made is its
//! own, also for the process that goes on with it.

use crate::bench_world::Bench;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Stands in files that are no members.
const CANARY: &str = "canary-0f6b2d";

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

fn statuses(bench: &Bench) -> Vec<u64> {
    let rows = bench.cairn(&["log", "--json"]).out;
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap()["status"].as_u64().unwrap();
    rows.lines().map(row).collect()
}

/// Whether a file beneath a directory holds these bytes.
fn is_anywhere(directory: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => is_anywhere(&path, bytes),
            false => fs::read(&path).is_ok_and(|all| all.windows(bytes.len()).any(|w| w == bytes)),
        }
    })
}

// keeps: members
#[test]
fn an_ignored_file_is_not_read_by_any_tool_for_files_and_its_bytes_are_nowhere() {
    let script = json!([
        call("read", json!({"path": ".env"})),
        call("find", json!({"text": "canary-"})),
        call("find", json!({"text": "canary-", "under": "."})),
        call("list", json!({"path": ".", "depth": 3})),
        call("write", json!({"path": ".env", "content": "mine"})),
        call("edit", json!({"path": ".env", "old": "canary", "new": "x"})),
        call("edit", json!({"patch": "*** Begin Patch\n*** Delete File: .env\n*** End Patch"})),
        call("copy", json!({"from": ".env", "to": "open"})),
        call("move", json!({"from": ".env", "to": "open"})),
        call("copy", json!({"from": "conf", "to": "open"})),
        call("remove", json!({"path": ".env"})),
        call("read", json!({"path": "link"})),
        call("read", json!({"path": "private/k"})),
        call("read", json!({"path": "open/.env"})),
        {"say": "done"}
    ]);
    let bench = Bench::new(script);
    bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
    bench.temp.write(".gitignore", ".env\n");
    for path in [".env", "conf/.env", "private/k"] {
        bench.temp.write(path, CANARY);
    }
    bench.temp.write("conf/plain", "fine\n");
    bench.temp.write("cairn.toml", "[membership]\nignore = [\"private/**\"]\n");
    std::os::unix::fs::symlink(".env", bench.file("link")).unwrap();
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let expected = [403, 204, 204, 200, 403, 403, 403, 403, 403, 201, 403, 403, 403, 404];
    assert_eq!(statuses(&bench), expected, "{}", done.err);
    let said = bench.cairn(&["show", "log:///1/1/1"]).out;
    assert!(said.contains(".env is not a member of the project: .gitignore names it"), "{said}");
    let sent: String = bench.requests().iter().map(Value::to_string).collect();
    assert!(!sent.contains(CANARY), "{sent}");
    assert!(!format!("{}{}", done.out, done.err).contains(CANARY));
    assert!(!is_anywhere(&bench.temp.home(), CANARY.as_bytes()), "nothing of it is kept");
    for path in [".env", "conf/.env", "private/k"] {
        assert_eq!(bench.temp.read(path), CANARY, "{path}");
    }
}

// keeps: members-made
#[test]
fn what_a_run_made_where_rules_name_it_is_a_member_for_whoever_goes_on_with_it() {
    let script = json!([
        call("write", json!({"path": "mine.log", "content": "a\n"})),
        call("read", json!({"path": "mine.log", "hashes": true})),
        {"say": "one"},
        call("read", json!({"path": "mine.log"})),
        call("read", json!({"path": "their.log"})),
        {"say": "two"},
    ]);
    let bench = Bench::new(script);
    bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
    bench.temp.write(".gitignore", "*.log\n");
    bench.temp.write("their.log", CANARY);
    let run = |args: &[&str]| bench.cairn(&[&["run", "--yolo"], args].concat());
    assert_eq!(run(&["work"]).code, 0);
    assert_eq!(run(&["-c", "more"]).code, 0);
    assert_eq!(statuses(&bench), [201, 200, 200, 403]);
    // Another run begins the script again, and did not make what is there.
    assert_eq!(run(&["work"]).code, 0);
    assert_eq!(statuses(&bench), [403, 403]);
}
