//! git over an overlay where the repository's own directory lies outside the project: of a linked worktree
//! its commits land like any, of a folder in a repository it is only looked at.

use crate::bench_world::{Bench, Talk};
use crate::overlay::{bash, decide, facts, statuses, told};
use crate::overlay_git::{all_of, git};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A repository `local` with one commit, besides the project.
fn repository(replies: &[Value]) -> Bench {
    let replies: Vec<Value> = replies.iter().cloned().chain([json!({"say": "done"})]).collect();
    let bench = Bench::confined(json!(replies));
    std::fs::create_dir_all(local(&bench).join("sub")).unwrap();
    git(&bench, "local", &["init", "-q", "-b", "main"]);
    git(&bench, "local", &["config", "user.name", "Sample"]);
    git(&bench, "local", &["config", "user.email", "sample@example.org"]);
    for (name, text) in
        [("a.txt", "one\n"), ("sub/b.txt", "one\n"), (".gitignore", "logs\nindex\n")]
    {
        std::fs::write(local(&bench).join(name), text).unwrap();
    }
    git(&bench, "local", &["add", "-A"]);
    git(&bench, "local", &["commit", "-q", "-m", "Start"]);
    bench
}

fn local(bench: &Bench) -> PathBuf {
    bench.temp.path().join("local")
}

/// The project is a linked worktree of it, and something in it is not committed.
fn worktree(replies: &[Value]) -> Bench {
    let bench = repository(replies);
    git(&bench, "local", &["worktree", "add", "-q", "../workspace", "-b", "work"]);
    bench.temp.write("a.txt", "two\n");
    bench
}

fn everything(bench: &Bench) -> (String, String) {
    (all_of(&bench.temp.workspace()), all_of(&local(bench)))
}

const LOOK: &str =
    "git status --short && git log --format=%s && git diff --stat && git branch --show-current";
const COMMIT: &str = "git commit -q -am Two && git log --format=%s";

// keeps: overlay-worktree
#[test]
fn a_worktree_is_looked_at_unasked_and_its_commit_lands_whole_after_a_yes() {
    let bench = worktree(&[bash(LOOK), bash(COMMIT)]);
    let before = everything(&bench);
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    let looked = told(&bench, 2);
    assert!(looked.contains(" M a.txt\nStart\n a.txt | 2 +-\n"), "{looked}");
    assert!(looked.contains("work\nexit=0"), "{looked}");
    assert!(!looked.contains("kept"), "{looked}");
    let shown = question["shown"].as_str().unwrap();
    assert!(shown.contains("1 commit on work: Two"), "{shown}");
    assert_eq!(everything(&bench), before);
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(statuses(&bench), [200, 200]);
    assert!(
        told(&bench, 3).contains("Two\nStart\nexit=0\nkept: git's own files"),
        "{}",
        told(&bench, 3)
    );
    git(&bench, "local", &["fsck", "--strict"]);
    assert_eq!(git(&bench, "workspace", &["status", "--short"]), "");
    assert_eq!(git(&bench, "local", &["log", "--format=%s", "work"]), "Two\nStart\n");
    assert_eq!(git(&bench, "local", &["log", "--format=%s", "main"]), "Start\n");
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    let without_objects = |(project, local): &(String, String)| {
        let is_object = |line: &&str| line.contains("/.git/objects/");
        let local: Vec<&str> = local.lines().filter(|line| !is_object(line)).collect();
        (project.clone(), local.join("\n"))
    };
    assert_eq!(without_objects(&everything(&bench)), without_objects(&before));
    git(&bench, "local", &["fsck", "--strict"]);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: overlay-worktree
#[test]
fn what_says_what_git_runs_is_a_persons_to_change_also_where_it_lies_outside() {
    let hook = "printf '#!/bin/sh\n' > $(git rev-parse --git-common-dir)/hooks/pre-commit";
    let check = |command: &str, lands: bool| {
        let bench = worktree(&[bash(command)]);
        let before = everything(&bench);
        let done = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(statuses(&bench), [if lands { 200 } else { 403 }], "{command}: {done:?}");
        assert_eq!(everything(&bench) != before, lands, "{command}");
    };
    check(COMMIT, true);
    check("git switch -q -c other", true);
    check(hook, false);
    check("git remote add up https://example.org/up.git", false);
    check("git config user.name Other", false);
}

// keeps: overlay-worktree
#[test]
fn no_other_op_comes_to_a_repository_outside() {
    let mut bench = worktree(&[]);
    let own = local(&bench).join(".git");
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let replies = json!([
        call("read", json!({"path": own.join("config")})),
        call("list", json!({"path": own})),
        call("find", json!({"text": "Sample", "under": own})),
        call("write", json!({"path": own.join("x"), "content": "x"})),
        {"say": "done"}
    ]);
    bench.model = Bench::confined(replies).model;
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(statuses(&bench), [403; 4], "{done:?}");
}

// keeps: overlay-worktree
#[test]
fn of_a_repository_above_the_project_git_is_looked_at_and_not_changed() {
    let look = "git status --short . && git log --format=%s; cat ../untracked";
    let commit = "git add . 2>&1; git commit -q -m Two; echo two > c.txt";
    let bench = repository(&[bash(look), bash(commit), bash("git log --format=%s")]);
    std::fs::write(local(&bench).join("untracked"), "unseen\n").unwrap();
    std::fs::write(local(&bench).join("sub/b.txt"), "two\n").unwrap();
    let before = all_of(&local(&bench).join(".git"));
    let mut command = bench.command(&["run", "--json", "work"]);
    let mut talk = Talk::with(command.current_dir(local(&bench).join("sub")));
    let question = talk.until("proposal/opened");
    assert!(told(&bench, 2).starts_with(" M b.txt\nStart\n"), "{}", told(&bench, 2));
    assert!(!told(&bench, 2).contains("unseen"), "{}", told(&bench, 2));
    assert!(question["shown"].as_str().unwrap().contains("c.txt"), "{question}");
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    let said = told(&bench, 3);
    assert!(said.contains("index.lock': Read-only file system"), "{said}");
    assert!(said.ends_with("exit=0\nkept: new c.txt"), "{said}");
    assert!(told(&bench, 4).starts_with("Start\nexit=0"), "{}", told(&bench, 4));
    assert_eq!(all_of(&local(&bench).join(".git")), before);
}

// keeps: overlay-worktree
#[test]
fn a_file_that_only_says_it_is_a_worktree_shows_nothing() {
    let bench = repository(&[bash("ls $HOME/local/.git 2>&1; ls $HOME/local")]);
    bench.temp.write(".git", format!("gitdir: {}\n", local(&bench).join(".git").display()));
    bench.cairn(&["run", "--yolo", "work"]);
    assert!(!told(&bench, 2).contains("objects"), "{}", told(&bench, 2));
    assert_eq!(facts(&bench, "outcome")[0]["status"], 200);
}
