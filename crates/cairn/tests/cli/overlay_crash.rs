//! What a command changed, cut off by a crash while it lands: afterwards it is there whole or not at all, and
//! nothing of anybody else's is lost.

use crate::bench_world::{Bench, size};
use crate::overlay::{facts, project};
use crate::survive::{changing_calls, strace};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Changes and makes so many files, and removes some and replaces an ignored directory.
fn command(n: usize) -> String {
    format!(
        "for n in $(seq {n}); do echo new $n >> kept/$n; echo made $n > made-$n; done; rm gone/*; \
         rm -r target; mkdir -p target/in; for n in $(seq {FEW}); do echo $n > target/in/$n; done"
    )
}

/// How many files go: so few that nobody is asked.
const FEW: usize = 40;
const WORK: [&str; 4] = ["run", "--yolo", "--json", "work"];
const GO_ON: [&str; 4] = ["run", "--yolo", "--json", "-c"];
/// What somebody else writes between the crash and the restart, and where.
const THEIRS: &str = "theirs\n";
const THEIR_PATH: &str = "kept/40";

/// A project in which that changes `2n` files that are not ignored, and removes few.
fn project_of(n: usize) -> Bench {
    let bench = project(&[&command(n)]);
    for n in 1..=n {
        bench.temp.write(&format!("kept/{n}"), format!("old {n}\n"));
    }
    for n in 1..=FEW {
        bench.temp.write(&format!("gone/{n}"), format!("going {n}\n"));
        bench.temp.write(&format!("target/{n}"), "built before\n");
    }
    bench.temp.write(".gitignore", "target/\n");
    bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
    for folder in [".git/objects", ".git/refs"] {
        fs::create_dir_all(bench.file(folder)).unwrap();
    }
    bench
}

/// How many places are as before and how many as after; any other is a failure.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    old: usize,
    new: usize,
}

fn standing(bench: &Bench, n: usize, theirs: bool) -> Standing {
    let mut found = Standing { old: 0, new: 0 };
    let mut count = |path: String, old: Option<String>, new: Option<String>| {
        if theirs && path == THEIR_PATH {
            return;
        }
        let is = fs::read_to_string(bench.file(&path)).ok();
        match (is == old, is == new) {
            (true, _) => found.old += 1,
            (_, true) => found.new += 1,
            _ => panic!("{path} is neither old nor new: {is:?}"),
        }
    };
    for n in 1..=n {
        let old = format!("old {n}\n");
        count(format!("kept/{n}"), Some(old.clone()), Some(format!("{old}new {n}\n")));
        count(format!("made-{n}"), None, Some(format!("made {n}\n")));
    }
    for n in 1..=FEW {
        count(format!("gone/{n}"), Some(format!("going {n}\n")), None);
        count(format!("target/{n}"), Some("built before\n".to_owned()), None);
        count(format!("target/in/{n}"), None, Some(format!("{n}\n")));
    }
    found
}

fn all_new(n: usize) -> Standing {
    Standing { old: 0, new: 2 * n + 3 * FEW }
}

/// The names in the project's own folder and in `kept` that nobody expects there.
fn strangers(bench: &Bench) -> Vec<String> {
    let names = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(bench.file(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    let known = |name: &String| {
        let own = [".cairn", ".git", ".gitignore", "a.txt", "kept", "gone", "target"];
        own.contains(&name.as_str()) || name.starts_with("made-")
    };
    let top = names(".").into_iter().filter(|name| !known(name));
    let kept = names("kept").into_iter().filter(|name| name.parse::<usize>().is_err());
    top.chain(kept).collect()
}

/// Whether commands ran over an overlay when the run was first driven.
fn is_overlaid(bench: &Bench) -> bool {
    facts(bench, "drive")[0]["policy"]["overlay"] == true
}

/// Goes on after the crash and checks what became of it; how the op was settled.
fn check_after(bench: &Bench, n: usize, theirs: bool) -> String {
    let began = bench.cairn(&["log"]).code == 0;
    let last = bench.cairn(if began { &GO_ON } else { &WORK });
    assert!(last.code == 0 || last.err.contains("nothing left to do"), "{last:?}");
    let outcomes = facts(bench, "outcome");
    let outcome = &outcomes[0];
    let status = outcome["status"].as_u64().unwrap();
    assert_eq!(outcomes.len(), 1, "{outcomes:#?}");
    let stands = standing(bench, n, theirs);
    let changed = outcome["changes"].as_array().map_or(0, Vec::len);
    match (status, theirs) {
        (200, false) => {
            assert_eq!((&stands, changed > 2 * n + FEW), (&all_new(n), true), "{outcome}")
        }
        (200, true) => assert_eq!(stands.old, 0, "{outcome}"),
        (500, true) => assert_eq!(stands.new > 0, changed > 0, "{outcome}"),
        // Not the program was cut off, but a process that was to become the command.
        (501, false) => assert_eq!((stands.new, changed), (0, 0), "{outcome}"),
        // What found out what this machine can do was cut off, too, so it ran on the files themselves.
        (500, false) if !is_overlaid(bench) => {}
        // One that did not begin is simply run, and one that began is finished.
        _ => panic!("{stands:?} {outcome}"),
    }
    if theirs {
        assert!(bench.temp.read(THEIR_PATH).starts_with(THEIRS), "{}", outcome);
    }
    assert_eq!(strangers(bench), Vec::<String>::new());
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    if changed > 0 {
        // What they wrote after it had landed is left alone, by name.
        let undone = bench.cairn(if theirs { &["undo", "--partial"] } else { &["undo"] });
        assert!(undone.code == 0 || theirs && undone.out.contains(THEIR_PATH), "{undone:?}");
        assert_eq!(standing(bench, n, theirs).new, 0, "{undone:?} {outcome}");
        assert!(!theirs || bench.temp.read(THEIR_PATH).starts_with(THEIRS));
    }
    format!("{status} {}", outcome["settled"].as_str().unwrap())
}

/// Cuts a commit of `2n` files and a few off at so many of its calls of these names, and looks each time what became of it.
fn cut_off(n: usize, wanted: usize, is_meant: impl Fn(&str) -> bool) {
    let mut calls = changing_calls(&|| project_of(n), &WORK);
    calls.retain(|(name, _)| is_meant(name));
    assert!(calls.len() >= 2 * n, "only {} changing calls", calls.len());
    let wanted = wanted.min(calls.len());
    let (mut points, mut halves) = (0, 0);
    let mut ends = BTreeSet::new();
    for point in 0..wanted {
        let (name, when) = &calls[point * calls.len() / wanted];
        let bench = project_of(n);
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        let mut child = strace(&bench, &WORK, &rule);
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        let cut_off = !child.wait().unwrap().success();
        let left = standing(&bench, n, false);
        halves += usize::from(left.old > 0 && left.new > 0);
        points += usize::from(cut_off);
        let theirs = cut_off && point % 2 == 1;
        if theirs {
            bench.temp.write(THEIR_PATH, THEIRS);
        }
        let end = check_after(&bench, n, theirs);
        ends.insert(format!("{end}{}", if theirs { " with another's edit" } else { "" }));
        assert!(!Path::new(&bench.temp.home()).join("overlays").read_dir().unwrap().any(|_| true));
    }
    println!("{points} commit crash points of {}, {halves} of them halfway: {ends:?}", calls.len());
    assert!(points * 10 >= wanted * 8, "only {points} of {wanted} calls were cut");
    assert!(halves > 0, "no crash came between two files");
}

// keeps: overlay-crash
#[test]
fn what_a_command_changed_lands_whole_or_not_at_all_wherever_it_is_cut_off() {
    cut_off(80, usize::try_from(size("CAIRN_COMMIT_POINTS", 12)).unwrap(), |_| true);
}

// keeps: overlay-crash
#[test]
fn a_thousand_files_land_whole_or_not_at_all_wherever_they_are_cut_off() {
    let points = usize::try_from(size("CAIRN_LARGE_COMMIT_POINTS", 6)).unwrap();
    // Where files come into their places and go from them, and the syncs around that.
    cut_off(480, points, |name| ["renameat", "renameat2", "syncfs", "unlinkat"].contains(&name));
}
