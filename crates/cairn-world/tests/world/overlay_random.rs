//! Random commands in an overlay, and random changes outside at the same time: what is committed is what
//! the command made, and nothing that was done outside is ever lost.

use crate::overlay::{Form, Place, When, picture};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

const FILL: &str = "mkdir -p a/c b/c; for f in a/x a/c/x a/c/日y b/x b/c/x b/c/日y x; do echo $f > $f; done; \
                    ln -s x a/l; chmod 755 b/x";

/// Where things are done.
const PATHS: [&str; 9] = ["a", "a/c", "a/x", "a/é", "a/c/x", "a/c/日y", "a/n😀", "a/n😀/x", "a/l"];

/// One thing that is done: which, where and where to.
type Doing = (usize, usize, usize);

/// It as a shell command. `word` is what it writes, and `side` the directory it is done in.
fn shell((which, path, other): Doing, word: &str, side: &str) -> String {
    let at = |path: usize| PATHS[path % PATHS.len()].replacen('a', side, 1);
    let (path, other) = (at(path), at(other));
    match which % 9 {
        0 | 1 => format!("echo {word} >> {path}"),
        2 => format!("echo {word} > {path}.t && mv -fT {path}.t {path}"),
        3 => format!("rm -rf {path}"),
        4 => format!("mv -T {path} {other}"),
        5 => format!("mkdir -p {path}; echo {word} > {path}/n"),
        6 => format!("chmod 7$((${{#{}}} % 8))0 {path}", "PWD"),
        7 => format!("rm -f {path}; ln -s {word} {path}"),
        _ => format!("cp -rT {path} {other}"),
    }
}

fn script(doings: &[Doing], word: &str, side: &str) -> String {
    let one = |(n, doing): (usize, &Doing)| shell(*doing, &format!("{word}{n}"), side);
    let all: Vec<String> = doings.iter().enumerate().map(one).collect();
    format!("({}) 2>/dev/null; true", all.join("; "))
}

/// What both do.
#[derive(Debug, Clone)]
struct Case {
    command: Vec<Doing>,
    outside: Vec<Doing>,
    when: When,
    /// They work in different directories.
    apart: bool,
    form: Form,
}

fn cases() -> impl Strategy<Value = Case> {
    let doings = |most| prop::collection::vec((0..9usize, 0..9usize, 0..9usize), 1..most);
    let when = prop_oneof![Just(When::Before), Just(When::During), Just(When::After)];
    let form = prop::sample::select(Form::all());
    let parts = (doings(7), doings(4), when, prop::bool::weighted(0.3), form);
    parts.prop_map(|(command, outside, when, apart, form)| Case {
        command,
        outside,
        when,
        apart,
        form,
    })
}

type Picture = BTreeMap<String, String>;

/// What became of one.
enum Became {
    Committed,
    Refused,
}

fn check(case: &Case) -> Result<Became, TestCaseError> {
    let mut place = Place::new(case.form, FILL);
    let copy = place.holder.path().join("copy");
    place.copy = Some(copy.clone());
    let (original, first) = (picture(&place.lower()), identities(&place.lower()));
    let side = if case.apart { "b" } else { "a" };
    let (command, outside) = (script(&case.command, "c", "a"), script(&case.outside, "o", side));
    let scratch = place.run(&command, &outside, case.when);
    let before = picture(&place.lower());
    let made = picture(&copy);
    let second = identities(&place.lower());
    let is_touched = |path: &String| {
        original.get(path) != before.get(path) || first.get(path) != second.get(path)
    };
    let paths = original.keys().chain(before.keys());
    let touched: BTreeSet<String> = paths.filter(|path| is_touched(path)).cloned().collect();
    let (became, why) = match place.read(&scratch).and_then(|found| place.commit(&found)) {
        Ok(_) => (Became::Committed, String::new()),
        Err(refusal) => (Became::Refused, refusal.text),
    };
    let now = picture(&place.lower());
    let told = format!("{command}\n{outside}\n{why}");
    match became {
        Became::Refused => {
            prop_assert_eq!(&now, &before, "a refused one changed something: {}", told);
            prop_assert!(!case.apart, "refused without need: {}", told);
            prop_assert!(why.contains("changed outside"), "{}", told);
        }
        Became::Committed => committed(&touched, [&before, &made, &now], &told)?,
    }
    Ok(became)
}

/// Every path with what makes it the same thing, although it may look the same as another: something
/// that was removed and made again is none that a command could have seen.
fn identities(root: &Path) -> BTreeMap<String, (u64, Option<SystemTime>)> {
    let identity = |path: &String| {
        let meta = root.join(path).symlink_metadata().unwrap();
        (meta.ino(), meta.created().ok())
    };
    picture(root).into_keys().map(|path| (path.clone(), identity(&path))).collect()
}

/// What was done outside is still there, and everything else is as the command made it.
fn committed(
    touched: &BTreeSet<String>,
    [before, made, now]: [&Picture; 3],
    told: &str,
) -> TestCaseResult {
    for path in before.keys().chain(made.keys()).chain(now.keys()).chain(touched) {
        match touched.contains(path) {
            true => prop_assert_eq!(now.get(path), before.get(path), "lost: {}: {}", path, told),
            false => prop_assert_eq!(now.get(path), made.get(path), "not made: {}: {}", path, told),
        }
    }
    Ok(())
}

// keeps: overlay-conflicts
#[test]
fn of_any_two_who_change_things_neither_loses_anything() {
    let cases =
        std::env::var("CAIRN_OVERLAY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let (all, refused) = (Cell::new(0), Cell::new(0));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let run = TestRunner::new(config).run(&self::cases(), |case| {
        all.set(all.get() + 1);
        if matches!(check(&case)?, Became::Refused) {
            refused.set(refused.get() + 1);
        }
        Ok(())
    });
    run.unwrap();
    println!("{} overlay sequences, {} with conflicts, 0 lost", all.get(), refused.get());
}
