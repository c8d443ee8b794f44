//! `cairn undo`, `redo`, `rewind`, `diff` and `fork` with a task, as a person uses them.

use crate::bench_world::Bench;
use serde_json::{Value, json};

pub fn write(path: &str, content: &str) -> Value {
    json!({"calls": [
        {"tool": "read", "args": {"path": path}},
        {"tool": "write", "args": {"path": path, "content": content}},
    ]})
}

/// A run whose turns made `new/b`, changed `a` twice, and ran a command.
pub fn worked() -> Bench {
    let bench = Bench::new(json!([
        write("a", "two\n"),
        write("new/b", "b\n"),
        {"calls": [{"tool": "bash", "args": {"command": "echo made > c"}}]},
        write("a", "three\n"),
        {"say": "done"},
        {"say": "after going back"},
        {"say": "another way"},
    ]));
    bench.temp.write("a", "one\n");
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    bench
}

/// Another run in the same place, with a model of its own; gives its id.
pub fn run_of(bench: &Bench, replies: Value, args: &[&str]) -> String {
    let other = Bench::new(replies);
    let args = [&["run", "--yolo", "--json"], args].concat();
    let output = bench.command(&args).env("OPENAI_BASE_URL", other.model.url()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    let first: Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    first["run"].as_str().unwrap().to_owned()
}

/// Two runs: the first wrote `a`, the second `b`.
pub fn two_runs() -> (Bench, String, String) {
    let bench = Bench::new(json!([]));
    let first = run_of(&bench, json!([write("a", "a\n"), {"say": "done"}]), &["one"]);
    let second = run_of(&bench, json!([write("b", "b\n"), {"say": "done"}]), &["two"]);
    (bench, first, second)
}

pub fn row(out: &str) -> String {
    out.split("row ").nth(1).map(|row| row.trim().to_owned()).unwrap_or_default()
}

// keeps: undo-exact
#[test]
fn undo_walks_back_turn_by_turn_and_redo_forth() {
    let bench = worked();
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 0, "{}", undo.err);
    assert!(undo.out.starts_with("  restored a\n1 path undone; row log://"), "{}", undo.out);
    assert_eq!(bench.temp.read("a"), "two\n");
    let shown = bench.cairn(&["show", &row(&undo.out)]);
    assert!(shown.out.contains("undo") && shown.out.contains("a"), "{}", shown.out);

    let stopped = bench.cairn(&["undo"]);
    assert_eq!(stopped.code, 1, "{}", stopped.err);
    assert_eq!(
        stopped.out,
        "  1/3/1 ran on the files themselves; what it changed is not covered: echo made > c\n\
         nothing was undone: `cairn undo 1/2` takes back what was done before\n"
    );
    let second = bench.cairn(&["undo", "1/2"]);
    assert!(
        second.out.contains("  removed new\n  removed new/b\n2 paths undone"),
        "{}",
        second.out
    );
    assert!(!bench.file("new").exists());
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(bench.temp.read("a"), "one\n");
    let last = bench.cairn(&["undo"]);
    assert_eq!((last.code, last.out.as_str()), (2, ""));
    assert!(last.err.contains("changed no file that is not undone already"), "{}", last.err);

    for expected in ["two\n", "two\n", "three\n"] {
        assert_eq!(bench.cairn(&["redo"]).code, 0);
        assert_eq!(bench.temp.read("a"), expected);
    }
    assert_eq!(bench.temp.read("new/b"), "b\n");
    assert_eq!(bench.cairn(&["redo"]).code, 2);
    assert_eq!(bench.cairn(&["verify"]).code, 0, "undos have receipts too");
    let go_on = bench.cairn(&["run", "--yolo", "-c", "go on"]);
    assert_eq!((go_on.code, go_on.out.as_str()), (0, "after going back\n"), "{}", go_on.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains("Changed by others"), "all of it was done again: {told}");
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(bench.cairn(&["run", "--yolo", "-c", "go on"]).code, 0);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(told.contains("a: edited by the person\\n1\\ttwo"), "{told}");
}

// keeps: undo-respects
#[test]
fn what_somebody_else_changed_is_named_and_never_overwritten() {
    let bench = worked();
    bench.temp.write("a", "mine\n");
    let undo = bench.cairn(&["undo", "1", "--json"]);
    assert_eq!(undo.code, 1);
    let told: Value = serde_json::from_str(&undo.out).unwrap();
    assert_eq!(told["done"], false);
    assert_eq!(told["conflicts"][0]["path"], "a");
    assert_eq!(told["conflicts"][0]["why"], "a was changed since 1/4/2, not by an op");
    assert_eq!(told["not_covered"][0]["command"], "echo made > c");
    assert_eq!((bench.temp.read("a"), bench.temp.read("new/b")), ("mine\n".into(), "b\n".into()));

    let forced = bench.cairn(&["undo", "1", "--force"]);
    assert_eq!(forced.code, 1, "force does not reach what no run wrote");
    assert!(forced.out.contains("left alone: a was changed since 1/4/2"), "{}", forced.out);
    assert!(forced.out.contains("  1/3/1 ran on the files themselves; what"), "{}", forced.out);
    let partial = bench.cairn(&["undo", "1", "--partial"]);
    assert_eq!(partial.code, 0, "{}", partial.err);
    assert_eq!(bench.temp.read("a"), "mine\n");
    assert!(!bench.file("new").exists() && bench.file("c").exists());
}

// keeps: undo-respects
#[test]
fn what_another_run_wrote_later_is_respected_unless_forced() {
    let bench = Bench::new(json!([write("a", "two\n"), {"say": "done"}]));
    bench.temp.write("a", "one\n");
    let first = bench.events(&["run", "--yolo", "--json", "work"]);
    let first = first[0]["run"].as_str().unwrap();
    let other = Bench::new(json!([write("a", "three\n"), {"say": "done"}]));
    let url = other.model.url();
    let output =
        bench.command(&["run", "--yolo", "again"]).env("OPENAI_BASE_URL", url).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(bench.temp.read("a"), "three\n");
    let undo = bench.cairn(&["undo", "--run", first]);
    assert_eq!(undo.code, 1, "{}", undo.out);
    assert!(
        undo.out.contains("changed later by log://") && undo.out.contains("--force"),
        "{}",
        undo.out
    );
    assert_eq!(bench.temp.read("a"), "three\n");
    assert_eq!(bench.cairn(&["undo", "--run", first, "--force"]).code, 0);
    assert_eq!(bench.temp.read("a"), "one\n");
    assert_eq!(bench.cairn(&["redo", "--run", first]).code, 0);
    assert_eq!(bench.temp.read("a"), "three\n");
}

// keeps: undo-respects
#[test]
fn what_was_left_alone_can_be_undone_later() {
    let bench = worked();
    bench.temp.write("a", "mine\n");
    assert_eq!(bench.cairn(&["undo", "1", "--partial"]).code, 0);
    bench.temp.write("a", "three\n");
    let undo = bench.cairn(&["undo", "1"]);
    assert!(undo.out.contains("  restored a\n"), "{}{}", undo.out, undo.err);
    assert_eq!(bench.temp.read("a"), "one\n");
    assert_eq!(bench.cairn(&["undo", "1/1"]).code, 2, "now all of it is undone");
    for expected in ["three\n", "three\n"] {
        assert_eq!(bench.cairn(&["redo"]).code, 0);
        assert_eq!(bench.temp.read("a"), expected);
    }
    assert_eq!(bench.temp.read("new/b"), "b\n");
}

// keeps: undo-respects
#[test]
fn what_a_person_put_back_is_not_said_to_be_an_earlier_row_of_the_run() {
    let bench = Bench::new(json!([
        write("a", "v1\n"), write("a", "v2\n"), write("a", "v3\n"), {"say": "done"},
    ]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    bench.temp.write("a", "v1\n");
    let undo = bench.cairn(&["undo", "1/3", "--force"]);
    assert_eq!(undo.code, 1, "{}", undo.out);
    assert!(undo.out.contains("a was changed since 1/3/2, not by an op\n"), "{}", undo.out);
    assert_eq!(bench.temp.read("a"), "v1\n");
}

// keeps: undo-respects
#[test]
fn what_another_run_changed_in_between_is_named_and_passed_by_force() {
    let bench = Bench::new(json!([]));
    let mut replies = vec![write("a", "v1\n"), json!({"say": "done"})];
    let first = run_of(&bench, json!(replies), &["one"]);
    let second = run_of(&bench, json!([write("a", "v2\n"), {"say": "done"}]), &["two"]);
    replies.extend([write("a", "v3\n"), json!({"say": "done"})]);
    run_of(&bench, json!(replies), &["--resume", &first, "three"]);
    assert_eq!(bench.temp.read("a"), "v3\n");
    let all = format!("log://{first}");
    let undo = bench.cairn(&["undo", &all]);
    assert_eq!(undo.code, 1, "{}", undo.out);
    let said = format!("a was changed between 1/1/2 and 2/1/2 by log://{second}/1/1/2; --force");
    assert!(undo.out.contains(&said), "{}", undo.out);
    assert_eq!(bench.cairn(&["undo", &all, "--force"]).code, 0);
    assert!(!bench.file("a").exists());
}

#[test]
fn undo_passes_over_a_turn_of_which_nothing_is_left() {
    let bench = Bench::new(json!([write("a", "a\n"), write("b", "b\n"), {"say": "done"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    std::fs::remove_file(bench.file("b")).unwrap();
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 0, "{}", undo.err);
    assert!(undo.out.starts_with("  passed over: 1/2"), "{}", undo.out);
    assert!(!bench.file("a").exists());
    let told: Value = serde_json::from_str(&bench.cairn(&["undo", "--json"]).out).unwrap();
    assert_eq!((&told["done"], &told["changes"]), (&json!(false), &json!([])));
    assert_eq!(told["why"], "nothing to do: no path differs from what it was");
}

#[test]
fn what_lay_in_a_directory_that_is_gone_keeps_nothing_else_from_coming_back() {
    let remove = |path: &str| json!({"tool": "remove", "args": {"path": path}});
    let bench = Bench::new(json!([{"calls": [remove("d/f"), remove("g")]}, {"say": "done"}]));
    bench.temp.write("d/f", "f\n");
    bench.temp.write("g", "g\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    std::fs::remove_dir(bench.file("d")).unwrap();
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 1, "{}", undo.err);
    assert!(undo.out.contains("d/f cannot be brought back: d is gone\n"), "{}", undo.out);
    assert_eq!(bench.cairn(&["undo", "--partial"]).code, 0);
    assert_eq!(bench.temp.read("g"), "g\n");
    std::fs::create_dir(bench.file("d")).unwrap();
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(bench.temp.read("d/f"), "f\n");
}

#[test]
fn redo_takes_back_the_undo_of_the_run_that_is_named() {
    let (bench, first, second) = two_runs();
    assert_eq!(bench.cairn(&["undo", "--run", &first]).code, 0);
    assert_eq!(bench.cairn(&["undo", "--run", &second]).code, 0);
    let redo = bench.cairn(&["redo", "--run", &first]);
    assert_eq!(redo.code, 0, "{}{}", redo.out, redo.err);
    assert_eq!(bench.temp.read("a"), "a\n");
    assert!(!bench.file("b").exists());
    assert_eq!(bench.cairn(&["redo", "--run", &first]).code, 2);
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.temp.read("b"), "b\n");
}

#[test]
fn what_a_redo_left_alone_can_be_done_again_later() {
    let bench = worked();
    assert_eq!(bench.cairn(&["undo", "1"]).code, 0);
    bench.temp.write("a", "mine\n");
    assert_eq!(bench.cairn(&["redo"]).code, 1);
    assert_eq!(bench.cairn(&["redo", "--partial"]).code, 0);
    assert_eq!((bench.temp.read("a"), bench.temp.read("new/b")), ("mine\n".into(), "b\n".into()));
    bench.temp.write("a", "one\n");
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.temp.read("a"), "three\n");
    assert_eq!(bench.cairn(&["redo"]).code, 2);
}

#[test]
fn an_address_names_the_run_and_may_not_contradict_the_flag() {
    let (bench, first, second) = two_runs();
    let turn = format!("log://{first}/1/1");
    for args in [
        &["undo", &turn, "--run", &second][..],
        &["rewind", &turn, "--run", &second],
        &["fork", "--at", &turn, "--run", &second],
        &["diff", &turn, "--run", &second],
    ] {
        let done = bench.cairn(args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.out);
        assert!(done.err.contains("name one of them"), "{args:?}: {}", done.err);
    }
    for args in [
        &["fork", "--json", "--at", &turn][..],
        &["fork", "--json", "--at", &turn, "--run", &first],
        &["rewind", "--json", &turn],
    ] {
        let done = bench.cairn(args);
        let told: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(told["parent"], first.as_str(), "{args:?}");
    }
    assert_eq!((bench.temp.read("a"), bench.temp.read("b")), ("a\n".into(), "b\n".into()));
}

#[test]
fn the_record_of_undos_is_no_run_to_work_in() {
    let bench = worked();
    let undo = bench.cairn(&["undo"]);
    let client = row(&undo.out).trim_start_matches("log://").split('/').next().unwrap().to_owned();
    for run in ["@client", &client] {
        for args in [
            &["run", "--yolo", "--resume", run, "go on"][..],
            &["fork", "--run", run],
            &["undo", "1", "--run", run],
            &["redo", "--run", run],
            &["rewind", "1/1", "--run", run],
        ] {
            let done = bench.cairn(args);
            assert_eq!(done.code, 2, "{args:?}: {}{}", done.out, done.err);
            assert!(done.err.contains("own record"), "{args:?}: {}", done.err);
        }
    }
    assert!(bench.cairn(&["log", &client]).out.contains("undo"), "it can be read");
}

#[test]
fn a_run_that_is_being_driven_is_not_undone() {
    let bench = Bench::new(json!([
        write("a", "a\n"),
        {"say": "done"},
        {"calls": [{"tool": "bash", "args": {"command": "true"}}]},
        {"say": "done"},
    ]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let mut talk = bench.talk(&["run", "--json", "-c", "more"]);
    talk.until("proposal/opened");
    for args in [&["undo", "1"][..], &["undo", "1", "--force"], &["rewind", "1/1"]] {
        let done = bench.cairn(args);
        assert_eq!(done.code, 1, "{args:?}: {}", done.out);
        assert!(done.err.contains("is being driven by pid"), "{args:?}: {}", done.err);
    }
    assert_eq!(bench.temp.read("a"), "a\n");
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    assert_eq!(bench.cairn(&["undo", "1"]).code, 0);
}

// keeps: rewind
#[test]
fn rewind_takes_files_and_conversation_back_together() {
    let bench = worked();
    let dry = bench.cairn(&["rewind", "1/1", "--dry-run"]);
    assert_eq!(
        dry.out,
        "  would restore a\n  would remove new\n  would remove new/b\n  \
         1/3/1 ran on the files themselves; what it changed is not covered: echo made > c\n\
         3 paths would be undone\n"
    );
    assert_eq!(bench.temp.read("a"), "three\n");
    let wrong = bench.cairn(&["rewind", "7/1"]);
    assert_eq!(wrong.code, 2);
    assert_eq!(bench.temp.read("a"), "three\n", "nothing is undone for a turn that is not there");
    let back = bench.cairn(&["rewind", "1/1"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(bench.temp.read("a"), "two\n");
    assert!(!bench.file("new").exists());
    let before = bench.requests().len();
    let on = bench.cairn(&["run", "--yolo", "-c", "again"]);
    assert_eq!(on.code, 0, "{}", on.err);
    let messages = bench.requests()[before]["messages"].as_array().unwrap().clone();
    let said: Vec<&str> = messages.iter().filter_map(|m| m["role"].as_str()).collect();
    // What the command left is still there, and the fork has not seen it.
    assert_eq!(said, ["system", "user", "assistant", "tool", "tool", "user", "user"]);
    let told = messages[5]["content"].to_string();
    assert!(told.contains("c: created by run") && !told.contains("a: "), "{told}");
}

#[test]
fn a_fork_with_a_task_goes_another_way_at_once() {
    let bench = worked();
    let fork = bench.cairn(&["fork", "--yolo", "--name", "other", "try this instead"]);
    assert_eq!((fork.code, fork.out.as_str()), (0, "after going back\n"), "{}", fork.err);
    let log = bench.cairn(&["log", "other"]);
    assert!(log.out.contains("try this instead"), "{}", log.out);
    assert_eq!(bench.cairn(&["fork", "--name", "@client"]).code, 2);
}

#[allow(clippy::disallowed_methods, reason = "git judges the patch")]
#[test]
fn diff_shows_what_a_run_changed_as_one_patch_that_git_takes() {
    let bench = worked();
    let stat = bench.cairn(&["diff", "--stat"]);
    assert_eq!(stat.out, "a  +1 -1\nnew/b  +1 -0\n");
    let one = bench.cairn(&["diff", "1/1"]).out;
    assert_eq!(one, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n");
    let all = bench.cairn(&["diff"]).out;
    assert_eq!(
        all,
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+three\n--- /dev/null\n+++ b/new/b\n@@ -0,0 +1 @@\n+b\n"
    );
    assert_eq!(bench.cairn(&["undo", "1/2"]).code, 0);
    assert_eq!(bench.cairn(&["undo", "1"]).code, 0);
    let patch = bench.temp.path().join("patch");
    std::fs::write(&patch, &all).unwrap();
    let git = std::process::Command::new("git")
        .args(["apply", "--unsafe-paths", "-p1"])
        .arg(&patch)
        .current_dir(bench.temp.workspace())
        .output()
        .unwrap();
    assert!(git.status.success(), "{git:?}");
    assert_eq!(bench.temp.read("a"), "three\n");
    assert_eq!(bench.temp.read("new/b"), "b\n");
}

#[test]
fn diff_shows_no_line_of_somebody_else_as_the_runs() {
    let bench = Bench::new(json!([]));
    let mut replies = vec![write("a", "one\n"), json!({"say": "done"})];
    let run = run_of(&bench, json!(replies), &["work"]);
    bench.temp.write("a", "mine\n");
    replies.extend([write("a", "mine\ntwo\n"), json!({"say": "done"})]);
    run_of(&bench, json!(replies), &["--resume", &run, "more"]);
    assert_eq!(
        bench.cairn(&["diff"]).out,
        "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+one\n\
         --- a/a\n+++ b/a\n@@ -1 +1,2 @@\n mine\n+two\n"
    );
    assert_eq!(bench.cairn(&["diff", "--stat"]).out, "a  +2 -0\n");
}

#[test]
fn diff_counts_lines_that_look_like_a_head() {
    let bench = Bench::new(json!([write("a", "++ b\n"), {"say": "done"}]));
    bench.temp.write("a", "-- a\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    assert_eq!(bench.cairn(&["diff", "--stat"]).out, "a  +1 -1\n");
}

// keeps: undo-respects
#[test]
fn what_was_moved_and_cannot_go_back_stays_where_it_is() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "move", "args": {"from": "a.txt", "to": "b.txt"}}]},
        {"say": "done"},
    ]));
    bench.temp.write("a.txt", "the only copy\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    bench.temp.write("a.txt", "mine\n");
    let partial = bench.cairn(&["undo", "--partial"]);
    assert!(
        partial.out.contains("b.txt was moved from a.txt, which is left alone"),
        "{}",
        partial.out
    );
    assert_eq!(bench.temp.read("b.txt"), "the only copy\n");
    assert_eq!(bench.temp.read("a.txt"), "mine\n");
    std::fs::remove_file(bench.file("a.txt")).unwrap();
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(bench.temp.read("a.txt"), "the only copy\n");
    assert!(!bench.file("b.txt").exists());
}
