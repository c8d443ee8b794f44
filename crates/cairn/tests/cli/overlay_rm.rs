//! A command that removed everything in the project, allowed by mistake: undo brings all of it back, and what
//! is ignored costs the same however much it is.

use crate::bench_world::Bench;
use crate::overlay::{bash, decide, statuses};
use crate::overlay_git::git;
use crate::survive::strace;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

/// Everything, with what git keeps and without it. Only root needs no right to write in a directory.
const ALL: &str = "chmod u+w closed; rm -rf ./* ./.[!.]*";
const ALL_BUT_GIT: &str = "chmod u+w closed; rm -rf ./* ./.gitignore";

/// Two runs of the same differ by so many calls at most.
const SLACK: usize = 100;

/// A project with whatever there can be, and so many ignored files of so many bytes.
fn project(command: &str, ignored: usize, bytes: usize) -> Bench {
    let bench = Bench::confined(json!([bash(command), {"say": "done"}]));
    let root = bench.temp.workspace();
    bench.temp.write(".gitignore", "target/\n*.log\n");
    bench.temp.write("src/main.c", "int main(void) { return 0; }\n");
    bench.temp.write("src/deep/er/x.c", "int x;\n");
    bench.temp.write("run.sh", "#!/bin/sh\n");
    git(&bench, "workspace", &["init", "-q", "-b", "main"]);
    git(&bench, "workspace", &["add", "-A"]);
    git(&bench, "workspace", &["commit", "-q", "-m", "Start"]);
    bench.temp.write("untracked.txt", [0, 159, 146, 150, 255, b'\n']);
    bench.temp.write("notes.log", "ignored by its name\n");
    bench.temp.write("closed/inner.txt", "in a directory that nobody writes to\n");
    for n in 0..ignored {
        bench.temp.write(&format!("target/debug/{}/{n}.o", n % 40), vec![7; bytes]);
    }
    fs::create_dir_all(root.join("empty/inner")).unwrap();
    symlink("src/main.c", root.join("link")).unwrap();
    symlink("nowhere/at/all", root.join("dangling")).unwrap();
    symlink("src", root.join("link-to-folder")).unwrap();
    for (path, mode) in
        [("run.sh", 0o755), ("notes.log", 0o600), ("src/main.c", 0o444), ("closed", 0o555)]
    {
        fs::set_permissions(root.join(path), Permissions::from_mode(mode)).unwrap();
    }
    grow_old(&root);
    bench
}

/// Gives everything a time of its own that is long ago, what is inside first.
fn grow_old(root: &Path) {
    for (n, path) in picture(root).keys().rev().enumerate() {
        let time = Timespec { tv_sec: 1_000_000_000 + n as i64, tv_nsec: 123_456_789 };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(CWD, root.join(path), &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
}

/// Every path with its kind, mode, time, and content or target.
fn picture(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for path in fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
            if path == root.join(".cairn") {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            let what = if meta.is_dir() {
                todo.push(path.clone());
                String::new()
            } else if meta.is_symlink() {
                fs::read_link(&path).unwrap().display().to_string()
            } else {
                cairn_types::Hash::of(&fs::read(&path).unwrap()).to_string()
            };
            let (mode, time) = (meta.mode(), (meta.mtime(), meta.mtime_nsec()));
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, format!("{mode:o} {time:?} {what}"));
        }
    }
    found
}

/// What is in one and not the same in the other.
fn differences(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let mut all: Vec<String> = one
        .iter()
        .filter(|(path, what)| other.get(*path) != Some(what))
        .map(|(path, what)| format!("{path}: {what} / {:?}", other.get(path)))
        .collect();
    all.extend(other.keys().filter(|path| !one.contains_key(*path)).cloned());
    all
}

// keeps: undo-rm-rf
#[test]
fn everything_that_a_command_removed_comes_back() {
    let bench = project(ALL, 400, 300);
    let before = picture(&bench.temp.workspace());
    // Not even yes to everything means this much.
    let mut talk = bench.talk(&["run", "--json", "--yolo", "work"]);
    let question = talk.until("proposal/opened");
    assert_eq!(differences(&before, &picture(&bench.temp.workspace())), [""; 0]);
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(statuses(&bench), [200]);
    let left = picture(&bench.temp.workspace());
    assert!(left.is_empty(), "{:?}", left.keys());

    let undone = bench.cairn(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(differences(&before, &picture(&bench.temp.workspace())), [""; 0]);
    git(&bench, "workspace", &["fsck", "--strict"]);
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert!(picture(&bench.temp.workspace()).is_empty());
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(differences(&before, &picture(&bench.temp.workspace())), [""; 0]);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

/// How many system calls Cairn makes to have everything removed, and to bring it back: all, and renames.
fn calls(ignored: usize, bytes: usize) -> [(usize, usize); 2] {
    let bench = project(ALL_BUT_GIT, ignored, bytes);
    let before = picture(&bench.temp.workspace());
    let counted = |args: &[&str]| {
        assert!(strace(&bench, args, "trace=all").wait_with_output().unwrap().status.success());
        let log = fs::read_to_string(bench.temp.path().join("strace.log")).unwrap();
        // Waiting is no work, and how often that is differs.
        let waits = ["futex", "epoll_", "poll(", "resumed>", "sched_yield", "clock_"];
        let is_work = |line: &&str| !waits.iter().any(|wait| line.contains(wait));
        (log.lines().filter(is_work).count(), log.matches("renameat").count())
    };
    let run = counted(&["run", "--yolo", "--allow-large-deletions", "work"]);
    assert_eq!(
        picture(&bench.temp.workspace()).keys().filter(|p| !p.starts_with(".git")).count(),
        0
    );
    let undo = counted(&["undo"]);
    assert_eq!(differences(&before, &picture(&bench.temp.workspace())), [""; 0]);
    [run, undo]
}

// keeps: undo-rm-rf
#[test]
fn what_is_ignored_is_moved_by_as_many_renames_however_much_it_is_and_never_read() {
    let small = calls(40, 10);
    let check = |files: usize, bytes: usize, looks: usize| {
        let large = calls(files, bytes);
        for ((name, small), large) in ["removed", "undone"].iter().zip(small).zip(large) {
            println!(
                "{name}: {large:?} calls and renames for {files} ignored files of {bytes} bytes, {small:?} for 40 of 10"
            );
            assert_eq!(small.1, large.1, "{name}: renames");
        }
        assert!(large[0].0 <= small[0].0 + 2 * looks + SLACK, "removed: {small:?} {large:?}");
        assert!(large[1].0 <= small[1].0 + SLACK, "undone: {small:?} {large:?}");
    };
    check(40, 1 << 20, 0);
    // Whether somebody changed one of them meanwhile is asked of each, once.
    check(4_000, 10, 4_000);
}
