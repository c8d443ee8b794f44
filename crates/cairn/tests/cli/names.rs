//! What may be a name, and what is meant where nothing is named.

use crate::bench_world::{Bench, Done, done};
use serde_json::{Value, json};

fn bench() -> Bench {
    Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": "a", "content": "one\n"}}]},
        {"say": "done"}, {"say": "again"}, {"say": "and again"},
    ]))
}

fn refused(done: &Done, told: &str) {
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains(told), "{}", done.err);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
}

fn runs(bench: &Bench) -> Vec<Value> {
    let list = bench.cairn(&["sessions", "--json"]).out;
    let session: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    session["runs"].as_array().unwrap().clone()
}

// keeps: names
#[test]
fn a_name_is_one_visible_line_that_nothing_else_has_and_a_refused_one_changes_nothing() {
    let bench = bench();
    assert_eq!(bench.cairn(&["run", "--yolo", "--name", " first ", "work"]).code, 0);
    let before = (runs(&bench), bench.requests().len());
    let first = before.0[0]["run"].as_str().unwrap();
    assert_eq!(before.0[0]["name"], "first");
    assert_eq!(bench.cairn(&["sessions", "rename", "first", "the parser"]).code, 0);
    assert_eq!(bench.cairn(&["sessions", "rename", "first", "the parser"]).code, 0, "its own");
    let long = "x".repeat(201);
    let taken = format!("the name \"first\" is taken by run {first}; choose another");
    for (name, told) in [
        ("", "a name has at least one letter"),
        (" \t", "a name has at least one letter"),
        ("a\nb", "\"a\\nb\" is no name: it must be one line"),
        ("a\tb", "it must be one line"),
        ("a\u{1b}[31mb", "\"a\\u{1b}[31mb\" is no name"),
        ("a\u{202e}b", "without characters that cannot be seen"),
        ("@client", "those that begin with @ are Cairn's own"),
        (&long, "a name has at most 200 bytes, and this one has 201"),
        ("first", &taken),
        (first, "is taken by run"),
        ("the parser", "the name \"the parser\" is taken by session"),
    ] {
        refused(&bench.cairn(&["run", "--yolo", "--name", name, "work"]), told);
        refused(&bench.cairn(&["fork", "--name", name]), told);
        refused(&bench.cairn(&["rewind", "1/1", "--name", name]), told);
        let own = name == "the parser" || name.trim().is_empty();
        if !own {
            refused(&bench.cairn(&["sessions", "rename", first, name]), told);
        }
    }
    assert_eq!((runs(&bench), bench.requests().len()), before);
    assert_eq!(bench.temp.read("a"), "one\n");
    assert_eq!(bench.cairn(&["fork", "--name", "the parser 2"]).code, 0);
}

// keeps: found-from-within
#[test]
fn from_any_folder_of_the_project_its_newest_run_is_meant_and_the_project_is_said() {
    let bench = bench();
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    std::fs::create_dir_all(bench.file("src/deep")).unwrap();
    let root = bench.temp.workspace().canonicalize().unwrap();
    let said = format!("the project {} is meant", root.display());
    let from = |folder: &str, args: &[&str]| {
        done(bench.command(args).current_dir(bench.file(folder)).output().unwrap())
    };
    for args in [
        &["log"][..],
        &["log", "--json"],
        &["show", "1/1/1"],
        &["diff"],
        &["verify"],
        &["undo", "--dry-run"],
    ] {
        let (there, within) = (from(".", args), from("src/deep", args));
        assert_eq!((within.code, &within.out), (0, &there.out), "{args:?}: {}", within.err);
        assert!(within.err.starts_with(&said), "{args:?}: {}", within.err);
        assert!(there.err.is_empty(), "{}", there.err);
    }
    // What goes on there goes on in the project, under the project's own rules.
    bench.temp.write("cairn.toml", "max_turns = \n");
    refused_within(&from("src", &["run", "-c", "more"]), "cairn.toml:1: not TOML");
    bench.temp.write("cairn.toml", "");
    assert_eq!(from("src", &["run", "-c", "more"]).code, 0);
    assert_eq!(runs(&bench).len(), 1);
    // A repository within is another project.
    std::fs::create_dir(bench.file("src/.git")).unwrap();
    let other = from("src/deep", &["log"]);
    refused(&other, "there is no run in ");
    assert!(other.err.contains("src/deep or above it; start one"), "{}", other.err);
}

fn refused_within(done: &Done, told: &str) {
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains(told), "{}", done.err);
}
