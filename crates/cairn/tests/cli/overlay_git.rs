//! git over an overlay: what it did is told in a person's words and lands whole, and what says what git runs
//! next only by a person's word.

use crate::bench_world::Bench;
use crate::overlay::{bash, decide, statuses, told};
use serde_json::{Value, json};

/// Runs git outside, as the person does.
#[allow(clippy::disallowed_methods, reason = "the test is the person")]
pub fn git(bench: &Bench, folder: &str, args: &[&str]) -> String {
    let who = ["-c", "user.name=Sample", "-c", "user.email=sample@example.org"];
    let done = std::process::Command::new("git")
        .args(who)
        .args(args)
        .current_dir(bench.temp.path().join(folder))
        .env("HOME", bench.temp.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A repository in the project with one commit, and what is not committed yet; another beside it.
fn repositories(commands: &[&str]) -> Bench {
    let mut replies: Vec<Value> = commands.iter().map(|command| bash(command)).collect();
    replies.push(json!({"say": "done"}));
    let bench = Bench::confined(json!(replies));
    std::fs::create_dir(bench.temp.path().join("local")).unwrap();
    for folder in ["workspace", "local"] {
        git(&bench, folder, &["init", "-q", "-b", "main"]);
        git(&bench, folder, &["config", "user.name", "Sample"]);
        git(&bench, folder, &["config", "user.email", "sample@example.org"]);
        std::fs::write(bench.temp.path().join(folder).join("a.txt"), "one\n").unwrap();
        git(&bench, folder, &["add", "-A"]);
        git(&bench, folder, &["commit", "-q", "-m", "Start"]);
    }
    bench.temp.write("a.txt", "two\n");
    bench
}

/// What stands in the project, or in another folder: every path with the hash of what it holds.
fn everything(bench: &Bench) -> String {
    all_of(&bench.temp.workspace())
}

pub fn all_of(root: &std::path::Path) -> String {
    let mut all: Vec<String> = walk(root)
        .into_iter()
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap_or_default();
            format!("{} {}", path.display(), cairn_types::Hash::of(&bytes))
        })
        .collect();
    all.sort();
    all.join("\n")
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let beneath = |path: std::path::PathBuf| match path.is_symlink() || !path.is_dir() {
        true => vec![path],
        false => walk(&path),
    };
    entries.flat_map(beneath).collect()
}

const COMMIT: &str = "git commit -q -am 'Two'";
const INIT: &str = "git init -q sub && ls sub/.git/HEAD";
const REMOTE: &str = "git remote add up https://example.org/up.git && git remote";
const HOOK: &str = "printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";
const NOT_GIT: &str = "echo x > config; mkdir -p hooks && echo x > hooks/pre-commit";

// keeps: overlay-asked
#[test]
fn what_git_did_is_asked_about_and_lands_whole_after_a_yes() {
    let check = |command: &str, shown: &str, then: &dyn Fn(&Bench)| {
        let bench = repositories(&[command]);
        let before = everything(&bench);
        let mut talk = bench.talk(&["run", "--json", "work"]);
        let question = talk.until("proposal/opened");
        let said = question["shown"].as_str().unwrap();
        assert!(said.contains(shown), "{command}: {said}");
        assert_eq!(everything(&bench), before, "{command}");
        decide(&mut talk, &question, "allow");
        assert_eq!(talk.result()["status"], "done");
        assert_eq!(statuses(&bench), [200], "{command}");
        git(&bench, "workspace", &["fsck", "--strict"]);
        then(&bench);
        let undone = bench.cairn(&["undo"]);
        assert_eq!(undone.code, 0, "{command}: {undone:?}");
        // Objects of a repository that stays are left to git, since other refs may need them by now.
        let without_objects = |all: &str| -> Vec<String> {
            let is_object = |line: &&str| line.contains("workspace/.git/objects/");
            all.lines().filter(|line| !is_object(line)).map(str::to_owned).collect()
        };
        assert_eq!(without_objects(&everything(&bench)), without_objects(&before), "{command}");
        git(&bench, "workspace", &["fsck", "--strict"]);
    };
    check(COMMIT, "main", &|bench| {
        assert_eq!(git(bench, "workspace", &["log", "--format=%s"]), "Two\nStart\n");
        assert_eq!(git(bench, "workspace", &["status", "--short"]), "");
    });
    check(INIT, "sub/.git", &|bench| {
        git(bench, "workspace/sub", &["status"]);
    });
    check(REMOTE, ".git/config", &|bench| {
        assert_eq!(git(bench, "workspace", &["remote"]), "up\n");
    });
    check(HOOK, ".git/hooks/pre-commit", &|bench| {
        assert!(bench.file(".git/hooks/pre-commit").exists());
    });
}

// keeps: overlay-asked
#[test]
fn nothing_that_git_would_have_edited_is_waited_for() {
    let rebase = "git commit -qam Two; git rebase -i HEAD~1 2>&1; git log --format=%s";
    let bench = repositories(&["git commit -a 2>&1", rebase]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert!(done.err.contains("exit 1"), "{done:?}");
    assert!(told(&bench, 2).contains("Aborting commit"), "{}", told(&bench, 2));
    assert!(told(&bench, 3).contains("Two\nStart"), "{}", told(&bench, 3));
}

// keeps: undo-exact
#[test]
fn a_repository_that_is_undone_turn_by_turn_leaves_nothing_of_itself() {
    let commit = "echo x > sub/x; cd sub; git add x; git -c user.name=S -c user.email=s@example.org \
                  commit -qm One";
    let bench = repositories(&[INIT, commit]);
    let before = everything(&bench);
    let mut talk = bench.talk(&["run", "--json", "work"]);
    for _ in 0..2 {
        let question = talk.until("proposal/opened");
        decide(&mut talk, &question, "allow");
    }
    assert_eq!(talk.result()["status"], "done");
    let after = everything(&bench);
    for _ in 0..2 {
        assert_eq!(bench.cairn(&["undo"]).code, 0);
    }
    assert_eq!(everything(&bench), before);
    for _ in 0..2 {
        assert_eq!(bench.cairn(&["redo"]).code, 0);
    }
    assert_eq!(everything(&bench), after);
    git(&bench, "workspace/sub", &["fsck", "--strict"]);
}

// keeps: overlay-asked
#[test]
fn a_yes_that_was_said_beforehand_reaches_no_hooks_and_no_config() {
    let check = |command: &str, flags: &[&str], lands: bool| {
        let bench = repositories(&[command]);
        let before = everything(&bench);
        let done = bench.cairn(&[&["run"], flags, &["work"]].concat());
        assert_eq!(statuses(&bench), [if lands { 200 } else { 403 }], "{command}: {done:?}");
        assert_eq!(everything(&bench) != before, lands, "{command} {flags:?}");
        assert_eq!(done.code, if lands { 0 } else { 5 }, "{command} {flags:?}");
    };
    for flags in [&["--yolo"][..], &["--yolo", "--mode", "accept-edits"]] {
        check(COMMIT, flags, true);
        check("git switch -q -c other && git add -A", flags, true);
        check(NOT_GIT, flags, true);
        check(INIT, flags, false);
        check(REMOTE, flags, false);
        check(HOOK, flags, false);
        check("mkdir x && echo ../x > .git/commondir", flags, false);
        check("mkdir sub && echo 'gitdir: ../x' > sub/.git", flags, false);
    }
    // Without it nothing of git's lands, though edits are accepted.
    check(COMMIT, &["--mode", "accept-edits"], false);
}

// keeps: overlay-asked
#[test]
fn another_repository_of_this_machine_is_cloned_only_where_a_person_opened_its_folder() {
    let clone = "git clone -q ../local copy && cat copy/a.txt";
    let bench = repositories(&[clone]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert!(!bench.file("copy").exists(), "{done:?}");

    let bench = repositories(&[clone]);
    let local = bench.temp.path().join("local");
    let mut talk = bench.talk(&["run", "--json", "--add-dir", local.to_str().unwrap(), "work"]);
    let question = talk.until("proposal/opened");
    assert!(!bench.file("copy").exists());
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(statuses(&bench), [200]);
    assert_eq!(git(&bench, "workspace/copy", &["log", "--format=%s"]), "Start\n");
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert!(!bench.file("copy").exists());
}
