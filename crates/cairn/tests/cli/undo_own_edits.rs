//! What a person did since stays whole when a command is undone: edits of files that are moved and not written, and
//! commits, tags and branches that need what the agent committed.

use crate::bench_world::Bench;
use crate::overlay::bash;
use crate::overlay_git::git;
use serde_json::{Value, json};
use std::io::Write;

/// So large that a file is moved and not written.
const LARGE: usize = 9 << 20;

fn project(commands: &[&str]) -> Bench {
    let mut replies: Vec<Value> = commands.iter().map(|command| bash(command)).collect();
    replies.push(json!({"say": "done"}));
    let bench = Bench::confined(json!(replies));
    git(&bench, "workspace", &["init", "-q", "-b", "main"]);
    git(&bench, "workspace", &["config", "user.name", "Sample"]);
    git(&bench, "workspace", &["config", "user.email", "sample@example.org"]);
    bench.temp.write(".gitignore", ".env\n*.sqlite\n*.log\n");
    bench.temp.write("a.txt", "one\n");
    bench.temp.write("large.txt", "line\n".repeat(LARGE / 5));
    bench.temp.write(".env", "A=1\n");
    git(&bench, "workspace", &["add", "-A"]);
    git(&bench, "workspace", &["commit", "-q", "-m", "Start"]);
    bench
}

fn append(bench: &Bench, path: &str, text: &str) {
    let mut file = std::fs::File::options().append(true).open(bench.file(path)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

// keeps: undo-respects
#[test]
fn a_file_that_is_moved_and_not_written_keeps_what_a_person_wrote_to_it_since() {
    let command = "echo B=2 >> .env; echo row > dev.sqlite; echo more >> large.txt; echo x > x.log";
    for path in [".env", "dev.sqlite", "large.txt"] {
        let bench = project(&[command]);
        assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
        append(&bench, path, "mine\n");
        // A log that is written to all the time stands in no way.
        append(&bench, "x.log", "more\n");
        let undo = bench.cairn(&["undo"]);
        assert_ne!(undo.code, 0, "{path}: {undo:?}");
        let told = format!("{}{}", undo.out, undo.err);
        assert!(told.contains(&format!("{path} was changed since 1/1/1, not by an op")), "{told}");
        assert!(bench.temp.read(path).ends_with("mine\n"), "{path}");
        let partial = bench.cairn(&["undo", "--partial"]);
        assert!(bench.temp.read(path).ends_with("mine\n"), "{path}: {partial:?}");
        assert!(!bench.file("x.log").exists(), "{path}: the rest went back");
    }
}

// keeps: undo-respects
#[test]
fn a_redo_keeps_what_a_person_wrote_after_the_undo() {
    let bench = project(&["echo B=2 >> .env"]);
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(bench.temp.read(".env"), "A=1\n");
    append(&bench, ".env", "MINE=1\n");
    let redo = bench.cairn(&["redo"]);
    assert_ne!(redo.code, 0, "{redo:?}");
    assert_eq!(bench.temp.read(".env"), "A=1\nMINE=1\n");
}

// keeps: undo-respects
#[test]
fn what_a_person_tagged_branched_or_built_on_is_whole_after_an_undo() {
    for own in [&["tag", "v1.0"][..], &["branch", "keep"], &["worktree", "add", "-q", "../wt"]] {
        let bench = project(&["echo two > a.txt; git commit -qam agent"]);
        let start = git(&bench, "workspace", &["rev-parse", "main"]);
        assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
        let committed = git(&bench, "workspace", &["rev-parse", "main"]);
        assert_ne!(start, committed);
        git(&bench, "workspace", own);
        let undo = bench.cairn(&["undo"]);
        assert_eq!(undo.code, 0, "{own:?}: {undo:?}");
        assert_eq!(git(&bench, "workspace", &["rev-parse", "main"]), start);
        assert_eq!(bench.temp.read("a.txt"), "one\n");
        git(&bench, "workspace", &["fsck", "--full", "--strict"]);
        assert!(git(&bench, "workspace", &["log", "--all", "--oneline"]).contains("agent"));
        let redo = bench.cairn(&["redo"]);
        assert_eq!(redo.code, 0, "{own:?}: {redo:?}");
        assert_eq!(git(&bench, "workspace", &["rev-parse", "main"]), committed);
        git(&bench, "workspace", &["fsck", "--full", "--strict"]);
        assert_eq!(bench.cairn(&["undo"]).code, 0, "{own:?}");
        assert_eq!(git(&bench, "workspace", &["rev-parse", "main"]), start);
    }
}
