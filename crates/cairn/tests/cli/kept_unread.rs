//! What rules keep from being read, as commands find it: the files are there and cannot be read, are not read as
//! removed, and a command is not asked about for it.

use crate::bench_world::Bench;
use serde_json::{Value, json};
use std::fs;

/// Stands in files that must not be read.
const CANARY: &str = "canary-90b2ef";

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

fn rows(bench: &Bench) -> Vec<u64> {
    let rows = bench.cairn(&["log", "--json"]).out;
    let status = |line: &str| serde_json::from_str::<Value>(line).unwrap()["status"].as_u64();
    rows.lines().map(|line| status(line).unwrap()).collect()
}

// keeps: policy-unread
#[test]
fn a_file_that_must_not_be_read_is_there_for_commands_and_cannot_be_read() {
    let bench = Bench::confined(json!([
        bash("python3 look.py"),
        bash("sh clean.sh; true"),
        bash("cat .env"),
        bash("touch plain2"),
        {"say": "done"}
    ]));
    let look = "import os
for folder, _, names in os.walk('.'):
    for name in sorted(names):
        path = os.path.join(folder, name)
        try:
            print(path, os.path.isfile(path), open(path).read())
        except OSError as e:
            print(path, os.path.isfile(path), e.__class__.__name__)
";
    bench.temp.write("look.py", look);
    bench.temp.write(
        "clean.sh",
        "rm -rf conf\necho new > made\nchmod 644 conf/k.pem\nmv conf gone\nrm .env\n",
    );
    bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
    bench.temp.write(".gitignore", ".env\n");
    for path in [".env", "conf/k.pem", "conf/other"] {
        bench.temp.write(path, if path == "conf/other" { "seen\n" } else { CANARY });
    }
    std::os::unix::fs::symlink(".env", bench.file("link")).unwrap();
    let rules = ["--deny", "read .env", "--deny", "read *.pem", "--deny", "read ~/.ssh/**"];
    let done = bench.cairn(&[&["run", "--mode", "accept-edits"][..], &rules, &["work"]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains(CANARY), "{told}");
    for says in [
        "./.env True PermissionError",
        "./conf/k.pem True PermissionError",
        "./link True PermissionError",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    assert!(told.contains("./conf/other True seen"), "{told}");
    let rows = rows(&bench);
    assert_eq!(rows[..2], [200, 200], "nobody is asked: {told}");
    assert_eq!(rows[2], 403, "words that name the path are refused: {told}");
    assert_eq!(rows[3], 200, "{told}");
    assert_eq!(bench.temp.read(".env"), CANARY);
    assert_eq!(bench.temp.read("conf/k.pem"), CANARY, "{told}");
    assert_eq!(fs::read_link(bench.file("link")).unwrap().to_str(), Some(".env"));
}

// keeps: policy-unread
#[test]
fn where_too_many_files_must_not_be_read_a_command_is_asked_about() {
    let bench = Bench::confined(json!([bash("echo a"), {"say": "done"}]));
    for n in 0..501 {
        bench.temp.write(&format!("many/{n}"), "x");
    }
    let run = |rule: &str| {
        let done = bench.cairn(&["run", "--deny", rule, "work"]);
        (rows(&bench)[0], done.err)
    };
    let (status, said) = run("read many/**");
    assert_eq!(status, 403, "{said}");
    fs::remove_file(bench.file("many/0")).unwrap();
    let (status, said) = run("read many/**");
    assert_eq!(status, 200, "{said}");
    // What holds for one tool alone says nothing that a command could be kept to.
    let (status, said) = run("read[tool=read] many/**");
    assert_eq!(status, 403, "{said}");
}

// keeps: policy-unread
#[test]
fn a_rule_on_a_linked_folder_holds_for_what_the_link_leads_to() {
    let bench = Bench::confined(json!([
        bash("cat real/k.pem"),
        bash("cat real/sub/k.pem; cat other/k.pem"),
        {"say": "done"}
    ]));
    bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
    for path in ["real/k.pem", "real/sub/k.pem"] {
        bench.temp.write(path, CANARY);
    }
    bench.temp.write("other/k.pem", "seen\n");
    std::os::unix::fs::symlink("real", bench.file("conf")).unwrap();
    let done = bench.cairn(&["run", "--mode", "accept-edits", "--deny", "read conf/**", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains(CANARY), "{told}");
    assert!(told.contains("seen"), "the control: {told}");
    assert!(told.contains("Permission denied"), "{told}");
}

// keeps: policy-unread
#[test]
fn a_rule_with_wildcards_before_a_linked_folder_holds_for_what_the_link_leads_to() {
    for (rule, is_whole) in [
        ("read **/private/*.pem", false),
        ("read */private/k.pem", false),
        ("read **/private/**", true),
        ("read s*/loop/sub/private/k.pem", false),
        ("read s*/chain/k.pem", false),
    ] {
        let bench = Bench::confined(json!([bash("sh r.sh"), {"say": "done"}]));
        bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
        bench.temp.write("r.sh", "cat sub/private/k.pem real/k.pem; cat real/other free/k.pem\n");
        bench.temp.write("real/k.pem", CANARY);
        bench.temp.write("real/other", "beside\n");
        bench.temp.write("free/k.pem", "seen\n");
        bench.temp.write("sub/plain", "x\n");
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, bench.file(at)).unwrap();
        link("../real", "sub/private");
        // Links that go round.
        link("..", "sub/loop");
        link("../sub", "real/back");
        link("private", "sub/chain");
        let done = bench.cairn(&["run", "--yolo", "--deny", rule, "work"]);
        assert_eq!(done.code, 0, "{}", done.err);
        let told = bench.requests().pop().unwrap()["messages"].to_string();
        assert!(!told.contains(CANARY), "{rule}: {told}");
        assert!(told.contains("seen"), "the control of {rule}: {told}");
        assert_eq!(told.contains("beside"), !is_whole, "{rule}: {told}");
        assert!(told.contains("Permission denied"), "{rule}: {told}");
    }
}
