//! Undo later on: after `cairn gc`, over several runs, after a rewind, and what `log` and `diff` say of
//! what is undone.

use crate::bench_world::Bench;
use crate::terminal::Terminal;
use crate::undo::{run_of, two_runs, worked, write};
use serde_json::{Value, json};

/// Frees what it can; by then all that happened is older than a moment.
fn gc(bench: &Bench) {
    std::thread::sleep(std::time::Duration::from_millis(5));
    let freed = bench.cairn(&["gc", "--keep-days", "0", "--yes", "--json"]);
    assert_eq!(freed.code, 0, "{}", freed.err);
    let freed: Value = serde_json::from_str(&freed.out).unwrap();
    assert!(freed["contents"].as_u64().unwrap() > 0, "{freed}");
}

// keeps: undo-after-gc
#[test]
fn what_is_undone_after_gc_can_be_done_again() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": "new", "content": "new\n"}}]},
        {"calls": [{"tool": "move", "args": {"from": "a", "to": "b"}}]},
        {"say": "done"},
    ]));
    bench.temp.write("a", "moved\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    gc(&bench);
    let undo = bench.cairn(&["undo", "1"]);
    assert_eq!(undo.code, 0, "what is moved has its bytes with it: {}{}", undo.out, undo.err);
    assert_eq!(bench.temp.read("a"), "moved\n");
    assert!(!bench.file("b").exists() && !bench.file("new").exists());
    gc(&bench);
    let redo = bench.cairn(&["redo"]);
    assert_eq!(redo.code, 0, "{}{}", redo.out, redo.err);
    assert_eq!((bench.temp.read("b"), bench.temp.read("new")), ("moved\n".into(), "new\n".into()));
    assert!(!bench.file("a").exists());
}

// keeps: undo-after-gc
#[test]
fn gc_forgets_no_undo_and_frees_nothing_that_a_redo_needs() {
    let bench = worked();
    for args in [&["undo"][..], &["undo", "1/2"], &["undo"]] {
        assert_eq!(bench.cairn(args).code, 0);
    }
    let undone = bench.cairn(&["log"]).out.matches("  undone\n").count();
    gc(&bench);
    let again = bench.cairn(&["undo"]);
    assert!(again.err.contains("changed no file that is not undone already"), "{again:?}");
    assert_eq!((undone, bench.cairn(&["log"]).out.matches("  undone\n").count()), (3, 3));
    for expected in ["two\n", "two\n", "three\n"] {
        assert_eq!(bench.cairn(&["redo"]).code, 0);
        assert_eq!(bench.temp.read("a"), expected);
    }
    assert_eq!(bench.temp.read("new/b"), "b\n");
    assert_eq!(bench.cairn(&["undo"]).code, 0, "what the redo wrote over was kept, too");
    assert_eq!(bench.temp.read("a"), "two\n");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: undo-after-gc
#[test]
fn a_content_that_was_freed_is_a_conflict_by_path_and_the_rest_goes_back() {
    let bench = worked();
    gc(&bench);
    let why = "a cannot go back: its former content was freed by `cairn gc`";
    let undo = bench.cairn(&["undo", "1", "--force"]);
    assert_eq!(undo.code, 1, "{}", undo.err);
    assert!(undo.out.contains(&format!("  left alone: {why}\n")), "{}", undo.out);
    assert!(undo.out.contains("nothing was undone: 1 path is left alone"), "{}", undo.out);
    assert_eq!((bench.temp.read("a"), bench.temp.read("new/b")), ("three\n".into(), "b\n".into()));
    let partial = bench.cairn(&["undo", "1", "--partial", "--json"]);
    assert_eq!(partial.code, 0, "{}", partial.err);
    let told: Value = serde_json::from_str(&partial.out).unwrap();
    assert_eq!(told["conflicts"], json!([{"path": "a", "why": why, "force": false}]));
    assert_eq!(bench.temp.read("a"), "three\n");
    assert!(!bench.file("new").exists());
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.temp.read("new/b"), "b\n");
}

#[test]
fn gc_says_what_it_would_free_and_asks_a_person() {
    let bench = worked();
    for (key, code, said) in [("n\n", 3, "nothing is freed"), ("y\n", 0, "freed ")] {
        let mut terminal = Terminal::open(&bench, bench.command(&["gc", "--keep-days", "0"]));
        let asked = terminal.until("y yes, n no: ");
        assert!(asked.contains("contents, ") && asked.contains(" of 2 runs "), "{asked}");
        terminal.keys(key);
        terminal.until(said);
        assert_eq!(terminal.code(), Some(code));
        let shown = bench.cairn(&["diff", "1/1"]);
        assert_eq!(
            shown.out.contains("its bytes were freed by `cairn gc`"),
            code == 0,
            "{}",
            shown.out
        );
    }
}

// keeps: undo-newest
#[test]
fn undo_goes_on_to_older_runs_and_says_which_run_it_was() {
    let (bench, first, second) = two_runs();
    run_of(&bench, json!([{"say": "nothing to change"}]), &["a question"]);
    let dry = bench.cairn(&["undo", "--dry-run"]);
    let said = format!("  would remove b\n1 path of run {second} would be undone\n");
    assert_eq!(dry.out, said);
    let undo = bench.cairn(&["undo"]);
    let said = format!("  removed b\n1 path of run {second} undone; row log://");
    assert!(undo.out.starts_with(&said), "{}{}", undo.out, undo.err);
    let undo: Value = serde_json::from_str(&bench.cairn(&["undo", "--json"]).out).unwrap();
    assert_eq!((&undo["of"], &undo["done"]), (&json!(first), &json!(true)));
    assert!(!bench.file("a").exists() && !bench.file("b").exists());
    let over = bench.cairn(&["undo"]);
    assert_eq!(over.code, 2, "{}", over.out);
    assert!(over.err.contains("changed no file that is not undone already"), "{}", over.err);
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.temp.read("a"), "a\n");
}

// keeps: undo-newest
#[test]
fn what_was_undone_in_a_fork_is_undone_in_the_run_it_shares_it_with() {
    let bench = worked();
    let parent: Value = serde_json::from_str(&bench.cairn(&["fork", "--json"]).out).unwrap();
    let parent = parent["parent"].as_str().unwrap();
    for args in [&["undo"][..], &["undo", "1/2"], &["undo"]] {
        assert_eq!(bench.cairn(args).code, 0);
    }
    assert_eq!(bench.temp.read("a"), "one\n");
    assert_eq!(bench.cairn(&["undo"]).code, 2);
    assert_eq!(bench.cairn(&["undo", "--run", parent]).code, 2);
    assert_eq!(bench.cairn(&["log", parent]).out.matches("  undone\n").count(), 3);
}

// keeps: undo-shown
#[test]
fn log_marks_what_is_undone_and_diff_shows_what_is_in_force() {
    let bench = worked();
    let rows = |which: &str| -> Vec<Value> {
        let log = bench.cairn(&["log", "--json"]).out;
        let rows = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.filter(|row| row["undone"] == true).map(|row| row[which].clone()).collect()
    };
    assert_eq!(rows("undone_paths"), Vec::<Value>::new());
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(rows("undone_paths"), [json!(["a"])]);
    let log = bench.cairn(&["log"]).out;
    let marked: Vec<&str> = log.lines().filter(|line| line.ends_with("undone")).collect();
    assert_eq!(marked.len(), 1, "{log}");
    assert!(marked[0].contains("  1/4/2  write a  → 200  undone"), "{log}");
    assert_eq!(
        bench.cairn(&["diff", "1/4"]).out,
        "what ops there changed in files is undone; --all shows it\n"
    );
    let patch = |from: &str, to: &str| format!("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-{from}\n+{to}\n");
    assert_eq!(bench.cairn(&["diff", "1/4", "--all"]).out, patch("two", "three"));
    assert!(bench.cairn(&["diff"]).out.starts_with(&patch("one", "two")));
    assert!(bench.cairn(&["diff", "--all"]).out.starts_with(&patch("one", "three")));
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(rows("undone_paths"), Vec::<Value>::new());
    assert!(bench.cairn(&["diff"]).out.starts_with(&patch("one", "three")));
}

// keeps: undo-shown
#[test]
fn a_row_of_which_a_part_is_undone_is_marked_at_the_path() {
    let remove = |path: &str| json!({"tool": "remove", "args": {"path": path}});
    let bench = Bench::new(json!([{"calls": [remove("d")]}, {"say": "done"}]));
    bench.temp.write("d/f", "f\n");
    bench.temp.write("d/g", "g\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    std::fs::create_dir(bench.file("d")).unwrap();
    bench.temp.write("d/g", "mine\n");
    assert_eq!(bench.cairn(&["undo", "--partial"]).code, 0);
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains("  deleted d/f  undone\n") && log.contains("  deleted d/g\n"), "{log}");
    assert!(!log.contains("→ 200  undone"), "{log}");
    let row: Value = serde_json::from_str(&bench.cairn(&["log", "--json"]).out).unwrap();
    assert_eq!(row["undone"], false);
    assert!(row["undone_paths"].as_array().unwrap().contains(&json!("d/f")), "{row}");
    assert!(bench.cairn(&["diff"]).out.contains("d/g"));
    assert!(!bench.cairn(&["diff"]).out.contains("d/f"));
}

// keeps: rewind
#[test]
fn redo_after_a_rewind_takes_files_and_conversation_forward_again() {
    let bench = worked();
    let rewind: Value =
        serde_json::from_str(&bench.cairn(&["rewind", "1/1", "--json"]).out).unwrap();
    assert_eq!((&rewind["done"], bench.temp.read("a").as_str()), (&json!(true), "two\n"));
    let redo: Value = serde_json::from_str(&bench.cairn(&["redo", "--json"]).out).unwrap();
    assert_eq!(redo["done"], true, "{redo}");
    assert_eq!(redo["parent"], rewind["parent"], "the conversation is the old run's: {redo}");
    assert_eq!((bench.temp.read("a"), bench.temp.read("new/b")), ("three\n".into(), "b\n".into()));
    assert_eq!(bench.cairn(&["run", "--yolo", "-c", "go on"]).code, 0);
    let told = bench.requests().pop().unwrap()["messages"].clone();
    let told = told.as_array().unwrap();
    let is_tool = |message: &&Value| message["role"] == "tool";
    assert_eq!(told.iter().filter(is_tool).count(), 7, "all of the old run's results");
    assert_eq!(
        told.last().unwrap()["content"].as_str().map(|c| c.starts_with("go on")),
        Some(true)
    );
    assert_eq!(bench.cairn(&["redo"]).code, 2);
    let back = bench.cairn(&["undo", "--run", rewind["parent"].as_str().unwrap()]);
    assert_eq!(back.code, 0, "{}", back.err);
    let redo = bench.cairn(&["redo"]);
    assert!(redo.out.ends_with("/1/1\n"), "a plain undo makes no run: {}", redo.out);
}

// keeps: undo-respects
#[test]
fn what_is_left_of_a_loop_is_undone_after_a_row_in_it_was_undone_by_force() {
    let bench = Bench::new(json!([
        write("a", "v1\n"), write("a", "v2\n"), write("a", "v3\n"), write("b", "b\n"), {"say": "done"},
    ]));
    bench.temp.write("a", "v0\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    assert_eq!(bench.cairn(&["undo", "1/2/2", "--force"]).code, 0);
    assert_eq!(bench.temp.read("a"), "v1\n");
    let log = bench.cairn(&["log"]).out;
    assert_eq!(log.matches("  undone\n").count(), 2, "what came later went with it: {log}");
    let undo = bench.cairn(&["undo", "1"]);
    assert_eq!(undo.code, 0, "{}{}", undo.out, undo.err);
    assert_eq!(bench.temp.read("a"), "v0\n");
    assert!(!bench.file("b").exists());
    for expected in ["v1\n", "v3\n"] {
        assert_eq!(bench.cairn(&["redo"]).code, 0);
        assert_eq!(bench.temp.read("a"), expected);
    }
    assert_eq!(bench.temp.read("b"), "b\n");
    assert!(!bench.cairn(&["log"]).out.contains("undone"));
}

#[test]
fn a_fork_with_a_task_takes_what_a_run_takes_and_nothing_without_one() {
    let bench = worked();
    let schema = bench.temp.path().join("schema.json");
    std::fs::write(&schema, json!({"type": "integer"}).to_string()).unwrap();
    let schema = schema.to_str().unwrap();
    let flags =
        ["--yolo", "--effort", "low", "--max-turns", "3", "--output-schema", schema, "--json"];
    let fork = bench.cairn(&[&["fork", "--name", "other", "count"], &flags[..]].concat());
    assert_eq!(fork.code, 1, "the answer is no number: {}", fork.err);
    let mut driven = fork.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let driven = driven.rfind(|event| event["type"] == "run/driven").unwrap();
    assert_eq!(driven["max_turns"], 3, "{driven}");
    let facts = bench.cairn(&["log", "other", "--facts", "--json"]).out;
    assert!(facts.contains("\"effort\":\"low\""), "{facts}");
    let capped = bench.cairn(&["fork", "--max-cost", "1", "count"]);
    assert!(capped.err.contains("no price of openai/test is known"), "{}", capped.err);
    for flag in [&["--yolo"][..], &["--max-turns", "3"], &["--effort", "low"], &["--trust"]] {
        let alone = bench.cairn(&[&["fork"], flag].concat());
        assert_eq!(alone.code, 2, "{flag:?}: {}", alone.out);
        assert!(alone.err.contains("TASK"), "{flag:?}: {}", alone.err);
    }
}

#[test]
fn one_turn_is_not_one_turns() {
    let bench = Bench::new(json!([{"say": "over"}]));
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert!(done.err.contains("done: 1 turn, "), "{}", done.err);
}

#[test]
fn what_an_undo_says_in_its_result_holds_no_secret() {
    let name = "canary-of-a-name-77";
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": name, "content": "x\n"}}]},
        {"say": "done"}
    ]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    // Only now is it known to be a secret.
    let undo = bench.command(&["undo", "--json"]).env("LATER_TOKEN", name).output().unwrap();
    let undo = crate::bench_world::done(undo);
    assert_eq!(undo.code, 0, "{}", undo.err);
    assert!(!bench.file(name).exists());
    let undo: Value = serde_json::from_str(&undo.out).unwrap();
    let shown = bench.cairn(&["show", &format!("{}#result", undo["row"].as_str().unwrap())]).out;
    assert!(shown.contains("[secret LATER_TOKEN ") && !shown.contains(name), "{shown}");
}
