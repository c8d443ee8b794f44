//! Entries at the command line: an agent and a person write and read the same ones, and what was done to
//! them is shown, verified and undone like files.

use crate::bench_world::Bench;
use serde_json::{Value, json};

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

fn rows(bench: &Bench) -> Vec<(String, u64)> {
    let rows = bench.cairn(&["log", "--json"]).out;
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["tool"].as_str().unwrap().to_owned(), row["status"].as_u64().unwrap())
    };
    rows.lines().map(row).collect()
}

// keeps: entries-like-files
#[test]
fn an_agent_writes_entries_unasked_and_a_person_reads_and_undoes_them() {
    let script = json!([
        call("write", json!({"path": "known:///france", "content": "Paris\n", "tags": ["eu"]})),
        call("edit", json!({"path": "known:///france", "old": "Paris", "new": "Lyon"})),
        call("copy", json!({"from": "known:///france", "to": "unknown:///lyon"})),
        call("write", json!({"path": "skill:///cook", "content": "no"})),
        call("write", json!({"path": "log:///1/1/1", "content": "no"})),
        call("read", json!({"path": "known:///france", "matching": "Ly*"})),
        call("find", json!({"under": "known:///", "tags": ["eu"]})),
        {"say": "done"}
    ]);
    let bench = Bench::new(script);
    let ran = bench.cairn(&["run", "work"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let statuses: Vec<u64> = rows(&bench).into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [201, 200, 201, 403, 403, 200, 200], "{ran:?}");
    let read = bench.cairn(&["op", "read", "known:///france"]);
    assert_eq!(read.out, "1\tLyon\ntags: eu\n");
    let diff = bench.cairn(&["diff"]).out;
    assert!(diff.contains("known:///france") && diff.contains("+Lyon"), "{diff}");
    let undone = bench.cairn(&["undo", "1/2"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(bench.cairn(&["op", "read", "known:///france"]).out, "1\tParis\ntags: eu\n");
    let redone = bench.cairn(&["redo"]);
    assert_eq!(redone.code, 0, "{redone:?}");
    assert_eq!(bench.cairn(&["op", "read", "known:///france"]).out, "1\tLyon\ntags: eu\n");
    let taken = bench.cairn(&["undo", "1"]);
    assert_eq!(taken.code, 0, "{taken:?}");
    assert_eq!(bench.cairn(&["op", "read", "known:///france"]).code, 1);
    let listed = bench.cairn(&["world", "--json", "known:///"]).out;
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap(), json!([]));
    let verified = bench.cairn(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

// keeps: entries-like-files
#[test]
fn a_persons_ops_are_rows_with_receipts_and_keep_to_the_policy() {
    let bench = Bench::new(json!([{"say": "done"}]));
    bench
        .temp
        .write("cairn.toml", "[policy]\ndeny = [\"edit[scheme=memory] **\", \"read *.key\"]\n");
    bench.temp.write("a.key", "canary");
    bench.temp.write("users.csv", "name,age\nada,36\nalan,41\n");
    let made = bench.cairn(&["op", "edit", "known:///a.json", "--body", "[1, 2]", "--json"]);
    let made: Value = serde_json::from_str(&made.out).unwrap();
    assert_eq!(made["status"], 201);
    assert!(made["receipt"].as_str().unwrap().starts_with("rcpt_"), "{made}");
    assert_eq!(made["changes"][0]["path"], "known:///a.json");
    let put = bench.cairn(&["op", "edit", "known:///a.json", "--scope", "-1", "--body", "3"]);
    assert_eq!(put.code, 0, "{put:?}");
    assert_eq!(bench.cairn(&["op", "read", "known:///a.json"]).out, "[1, 2, 3]\n");
    let found = bench.cairn(&["op", "read", "users.csv", "--match", "$[?@.age > 40].name"]);
    assert_eq!(found.out, "3:\t\"alan\"\n");
    let kept = bench.cairn(&["op", "edit", "memory:///x", "--body", "x"]);
    assert_eq!((kept.code, kept.err.contains("403")), (1, true), "{kept:?}");
    let unread = bench.cairn(&["op", "read", "a.key"]);
    assert_eq!(unread.code, 1);
    assert!(!unread.out.contains("canary") && !unread.err.contains("canary"), "{unread:?}");
    let moved = bench.cairn(&["op", "move", "known:///a.json", "out/a.json"]);
    assert_eq!(moved.code, 0, "{moved:?}");
    assert_eq!(bench.temp.read("out/a.json"), "[1, 2, 3]");
    let bad = bench.cairn(&["op", "read", "known:///nope"]);
    assert_eq!((bad.code, bad.err.as_str()), (1, "cairn: 404 known:///nope does not exist\n"));
    assert_eq!(bench.cairn(&["world", "nowhere"]).code, 2);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: entries-like-files
#[test]
fn a_persons_command_is_confined_and_receipted_like_an_agents() {
    let bench = Bench::confined(json!([{"say": "done"}]));
    let ran = bench.cairn(&["op", "exec", "echo one > made.txt; echo told"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "told\nexit=0\nkept: new made.txt\n"), "{ran:?}");
    let failed = bench.cairn(&["op", "exec", "--json", "exit 3"]);
    assert_eq!(failed.code, 3, "{failed:?}");
    let failed: Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!((failed["status"].as_u64(), failed["exit"].as_i64()), (Some(200), Some(3)));
    assert!(failed["receipt"].as_str().is_some(), "{failed}");
    let looked = bench.cairn(&["op", "exec", "--discard", "echo two > made.txt; cat made.txt"]);
    assert_eq!((looked.code, looked.out.as_str()), (0, "two\nexit=0\n"), "{looked:?}");
    let read = bench.cairn(&["op", "read", "made.txt"]);
    assert_eq!(read.out, "1\tone\n", "nothing of the second was kept");
    let listed = bench.cairn(&["op", "find", "--under", "exec:///", "--tag", "closed"]);
    assert_eq!(listed.out.lines().count(), 3, "{listed:?}");
    let folded = bench.cairn(&["op", "fold", "log:///1"]);
    assert_eq!((folded.code, folded.out.as_str()), (0, "folded 1 row\n"), "{folded:?}");
    let said = bench.cairn(&["op", "send", "--to", "run:///nobody", "hello"]);
    assert_eq!((said.code, said.err.as_str()), (1, "cairn: 404 there is no run nobody\n"));
    let verified = bench.cairn(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

// keeps: last-word
#[test]
fn what_an_agent_says_to_a_person_is_shown_and_its_last_word_is_the_answer() {
    let said = |text: &str, status: u16| json!({"calls": [{"tool": "send", "args": {"text": text, "status": status}}]});
    let replies =
        || json!([said("half way there", 102), said("it is 42", 200), {"say": "too late"}]);
    let bench = Bench::new(replies());
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!((done.code, done.out.as_str()), (0, "it is 42\n"), "{done:?}");
    assert!(done.err.contains("half way there"), "{done:?}");
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains("half way there") && log.contains("it is 42"), "{log}");

    let bench = Bench::new(replies());
    let events = bench.events(&["run", "--json", "--yolo", "work"]);
    let result = events.last().unwrap();
    assert_eq!(
        (result["type"].as_str(), result["answer"].as_str()),
        (Some("result"), Some("it is 42"))
    );
}

// keeps: entries-like-files
#[test]
fn a_script_without_input_empties_nothing_and_a_glob_means_what_it_names() {
    let bench = Bench::new(json!([{"say": "done"}]));
    let cairn = |args: &[&str]| bench.cairn(args);
    assert_eq!(cairn(&["op", "edit", "known:///keep", "--body", "precious\n"]).code, 0);
    assert_eq!(cairn(&["op", "edit", "known:///other", "--body", "x"]).code, 0);
    let emptied = cairn(&["op", "edit", "known:///keep", "--tag", "b"]);
    assert_eq!(emptied.code, 2, "{emptied:?}");
    assert!(emptied.err.contains("what is piped in is empty"), "{emptied:?}");
    assert_eq!(cairn(&["op", "read", "known:///keep"]).out, "1\tprecious\n");
    let found = cairn(&["op", "find", "--under", "known:///k*"]);
    assert_eq!(found.out, "known:///keep\n");
    let said = cairn(&["op", "send", "--to", "run:///nobody"]);
    assert_eq!(
        (said.code, said.err.contains("400 there is nothing to say")),
        (1, true),
        "{said:?}"
    );
}
