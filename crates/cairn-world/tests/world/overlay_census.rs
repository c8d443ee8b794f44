//! What is noted of a workspace before a command runs costs a look at each directory, and reading what
//! a command changed costs nothing for what it did not change.

use crate::overlay::{Form, Place, When};
use cairn_world::overlay::Scratch;
use std::fs;
use std::process::Command;

/// Brings the census up to date and says how many directories were read for it.
fn read_again(place: &mut Place) -> usize {
    let workspace = place.workspace();
    let scratch = Scratch::new(&place.holder.path().join("scratch"), &workspace).unwrap();
    place.census.take(&workspace, scratch.mark()).unwrap();
    place.rest();
    place.census.directories_read()
}

#[test]
fn only_directories_that_changed_are_read_again() {
    let fill =
        "mkdir -p .git a/b c out/x; touch .git/HEAD; printf 'out/\\n' > .gitignore; echo 1 > a/b/1";
    let mut place = Place::new(Form::Namespace, fill);
    assert_eq!(read_again(&mut place), 5);
    assert_eq!(read_again(&mut place), 0);
    let mut after = |outside: &str| {
        place.outside(outside);
        place.rest();
        read_again(&mut place)
    };
    assert_eq!(after("echo more >> a/b/1; echo > out/x/y"), 0);
    assert_eq!(after("echo > a/b/2"), 1);
    assert_eq!(after("mkdir c/n"), 2);
    // Other rules, in the same file: a directory that is no more ignored is read.
    assert_eq!(after("printf 'c/\\n' > .gitignore"), 2);
    assert_eq!(after("rm -r a"), 1);
}

#[test]
fn rules_that_were_changed_before_a_command_count_for_it() {
    let mut place = Place::new(
        Form::Namespace,
        "mkdir .git out; touch .git/HEAD; printf 'out/\\n' > .gitignore",
    );
    assert!(place.found("echo 1 > out/1").only_ignored());
    place.outside("printf 'o2/\\n' > .gitignore");
    place.rest();
    assert!(!place.found("echo 1 > out/1").only_ignored());
    assert!(place.found("mkdir o2; echo 1 > o2/1").only_ignored());
}

/// How many files there shall be, where another test counts the system calls.
const FILES: &str = "CAIRN_TEST_FILES";

#[test]
fn of_many_files_only_those_that_changed_are_found() {
    let files = std::env::var(FILES).map_or(10, |files| files.parse().unwrap());
    let mut place = Place::new(Form::Namespace, "mkdir -p d/in; echo 1 > d/in/1; echo 2 > d/2");
    for n in 0..files {
        fs::write(place.lower().join(format!("d/in/f{n}")), "").unwrap();
    }
    place.rest();
    let scratch = place.run("echo 2 >> d/in/1; rm d/in/f0; echo n > d/in/n", "", When::After);
    let _ = fs::metadata("/begin-of-read");
    let found = place.read(&scratch).unwrap();
    let _ = fs::metadata("/end-of-read");
    assert_eq!(found.changes.len(), 3);
}

/// How many system calls a read takes over a directory with so many files.
fn calls(files: usize) -> usize {
    let holder = tempfile::tempdir().unwrap();
    let log = holder.path().join("log");
    let test = ["--exact", "overlay_census::of_many_files_only_those_that_changed_are_found"];
    let done = Command::new("strace")
        .args(["-f", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(test)
        .env(FILES, files.to_string())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let text = fs::read_to_string(&log).unwrap();
    let after = text.split_once("/begin-of-read").unwrap().1;
    let lines = after.split_once("/end-of-read").unwrap().0.lines().count();
    assert!(lines > 20, "strace saw nothing: {lines}");
    lines
}

#[test]
fn reading_costs_what_changed_and_not_what_there_is() {
    if Command::new("strace").arg("--version").output().is_err() {
        println!("strace is not here, so nothing is counted");
        return;
    }
    let (few, many) = (calls(100), calls(10_000));
    println!("{few} system calls over 100 files, {many} over 10,000");
    assert!(many.abs_diff(few) * 10 < few, "{few} over 100 files, {many} over 10,000");
}
