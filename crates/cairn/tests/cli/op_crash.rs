//! Copies, moves and edits that are cut off at a system call: afterwards each address is as before or as meant, a
//! moved thing stands in exactly one place, and the row says which.

use crate::bench_world::{Bench, size};
use crate::survive::{changing_calls, strace};
use cairn_runtime::client_run;
use cairn_store::{Access, Options, Store};
use cairn_types::{Body, RunId};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read;

const TEXT: &str = "one\ntwo\nthree\n";
const EDITED: &str = "eins\nzwei\nthree\n";

/// What is done, and what stands where before and after.
struct Case {
    args: &'static [&'static str],
    before: &'static [(&'static str, &'static str)],
    after: &'static [(&'static str, &'static str)],
}

const CASES: [Case; 4] = [
    Case {
        args: &["op", "copy", "known:///a", "new/f.md"],
        before: &[("known:///a", TEXT)],
        after: &[("known:///a", TEXT), ("new/f.md", TEXT)],
    },
    Case {
        args: &["op", "move", "known:///a", "f.md"],
        before: &[("known:///a", TEXT)],
        after: &[("f.md", TEXT)],
    },
    Case {
        args: &["op", "copy", "f.md", "known:///a"],
        before: &[("f.md", TEXT)],
        after: &[("f.md", TEXT), ("known:///a", TEXT)],
    },
    Case {
        args: &["op", "move", "f.md", "known:///a"],
        before: &[("f.md", TEXT)],
        after: &[("known:///a", TEXT)],
    },
];
const ADDRESSES: [&str; 3] = ["known:///a", "f.md", "new/f.md"];

/// A project in which this stands, and a model that says this.
fn bench(script: Value, there: &[(&str, &str)]) -> Bench {
    let bench = Bench::new(script);
    // So that there is a client run, whatever is done in it.
    assert_eq!(bench.cairn(&["op", "edit", "known:///other", "--body", "x"]).code, 0);
    for (address, text) in there {
        let made = bench.cairn(&["op", "edit", address, "--body", text]);
        assert_eq!(made.code, 0, "{made:?}");
    }
    bench
}

fn store(bench: &Bench) -> Store {
    Store::open(&Options::new(bench.temp.home(), Access::ReadOnly)).unwrap()
}

/// What stands where. Nothing is settled by looking.
fn standing(bench: &Bench) -> Vec<(&'static str, String)> {
    let store = store(bench);
    let session = store.sessions().unwrap().remove(0).id;
    let row = store.entry(&session, "known:///a").unwrap();
    let bytes = row.and_then(|row| row.state.hash).map(|hash| store.content(&hash).unwrap());
    let entry = bytes.map(|bytes| String::from_utf8(bytes).unwrap());
    let text = |address: &'static str| match address {
        "known:///a" => entry.clone(),
        path => std::fs::read_to_string(bench.file(path)).ok(),
    };
    ADDRESSES.iter().filter_map(|address| Some((*address, text(address)?))).collect()
}

fn is(found: &[(&'static str, String)], expected: &[(&str, &str)]) -> bool {
    found.len() == expected.len()
        && expected.iter().all(|(at, text)| found.iter().any(|(a, t)| a == at && t == text))
}

/// Every address has one of its two texts, or nothing where that is one of them.
fn are_whole(found: &[(&'static str, String)], case: &Case) -> bool {
    found
        .iter()
        .all(|(at, text)| case.before.iter().chain(case.after).any(|(a, t)| a == at && t == text))
}

/// The statuses of the client's rows of this tool.
fn statuses(bench: &Bench, tool: &str) -> Vec<u16> {
    let store = store(bench);
    let session = store.sessions().unwrap().remove(0).id;
    let run: RunId = client_run(&store, &session).unwrap().unwrap();
    let facts = store.facts(&run, 0).unwrap();
    let asked: Vec<_> = facts
        .iter()
        .filter_map(|fact| match &fact.body {
            Body::Intent(intent) if intent.tool == tool => Some(intent.at),
            _ => None,
        })
        .collect();
    let status = |body: &Body| match body {
        Body::Outcome(outcome) if asked.contains(&outcome.at) => Some(outcome.status.0),
        _ => None,
    };
    let statuses: Vec<u16> = facts.iter().filter_map(|fact| status(&fact.body)).collect();
    assert_eq!(statuses.len(), asked.len(), "every op has an outcome");
    statuses
}

/// Cuts one off at a call; whether it was, and whether it was done in the end.
fn cut(case: &Case, (name, when): &(String, u64)) -> (bool, bool) {
    let bench = bench(json!([{"say": "done"}]), case.before);
    let rule = format!("inject={name}:signal=SIGKILL:when={when}");
    let mut child = strace(&bench, case.args, &rule);
    let mut told = String::new();
    child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    let cut_off = !child.wait().unwrap().success();
    let named = format!("{:?} {name} {when}", case.args);
    let left = standing(&bench);
    assert!(are_whole(&left, case), "{named}: {left:?}");
    // The next client settles it.
    let next = bench.cairn(&["op", "read", "known:///other"]);
    assert_eq!(next.code, 0, "{named}: {next:?}");
    let (found, statuses) = (standing(&bench), statuses(&bench, case.args[1]));
    let is_done = match statuses.as_slice() {
        [] => false,
        [status] => *status < 300,
        several => panic!("{named}: {several:?}"),
    };
    let expected = if is_done { case.after } else { case.before };
    assert!(is(&found, expected), "{named}: {statuses:?}, and there is {found:?}");
    assert!(is_done || told.is_empty(), "{named}: it was told {told}");
    assert_eq!(bench.cairn(&["verify"]).code, 0, "{named}");
    (cut_off, is_done)
}

// keeps: ops-crash
#[test]
fn a_copy_or_move_between_entries_and_files_that_is_cut_off_is_done_or_not() {
    let (mut points, mut tried, mut all) = (0, 0, 0);
    let mut ends = BTreeSet::new();
    for case in &CASES {
        let fresh = || bench(json!([{"say": "done"}]), case.before);
        let calls = changing_calls(&fresh, case.args);
        let wanted = usize::try_from(size("CAIRN_OP_POINTS", 6)).unwrap().min(calls.len());
        for point in 0..wanted {
            let (cut_off, is_done) = cut(case, &calls[point * calls.len() / wanted]);
            points += usize::from(cut_off);
            ends.insert(is_done);
        }
        (tried, all) = (tried + wanted, all + calls.len());
    }
    println!("{points} op crash points of {all}");
    assert!(points * 10 >= tried * 8, "only {points} of {tried} calls were cut");
    assert_eq!(ends.len(), 2, "some are done in the end, and some are not");
}

// keeps: ops-crash
#[test]
fn what_another_run_wrote_to_an_entry_after_a_crash_stays_and_the_row_tells_it() {
    let theirs = "theirs\n";
    let write = json!({"tool": "write", "args": {"path": "known:///a", "content": theirs}});
    let script = json!([{"calls": [write]}, {"say": "done"}]);
    let mut open = 0;
    for case in &CASES {
        let fresh = || bench(script.clone(), case.before);
        let calls = changing_calls(&fresh, case.args);
        let wanted = usize::try_from(size("CAIRN_OP_POINTS", 6)).unwrap().min(calls.len());
        for point in 0..wanted {
            let (name, when) = &calls[point * calls.len() / wanted];
            let bench = fresh();
            let rule = format!("inject={name}:signal=SIGKILL:when={when}");
            let mut child = strace(&bench, case.args, &rule);
            child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
            child.wait().unwrap();
            let ran = bench.cairn(&WORK);
            assert_eq!(ran.code, 0, "{ran:?}");
            let named = format!("{:?} {name} {when}", case.args);
            let next = bench.cairn(&["op", "read", "known:///other"]);
            assert_eq!(next.code, 0, "{named}: {next:?}");
            let found = standing(&bench);
            assert!(found.contains(&("known:///a", theirs.to_owned())), "{named}: {found:?}");
            let statuses = statuses(&bench, case.args[1]);
            let is_done = statuses.first().is_some_and(|status| *status < 300);
            // But for that entry, everything is as before or as meant, and the row says which.
            let others =
                |all: &[(&str, &str)]| all.iter().filter(|(at, _)| !at.contains(':')).count();
            let expected = others(if is_done { case.after } else { case.before });
            assert_eq!(found.len() - 1, expected, "{named}: {statuses:?} {found:?}");
            open += usize::from(statuses == [409]);
            assert_eq!(bench.cairn(&["verify"]).code, 0, "{named}");
        }
    }
    assert!(open > 0, "no op was left open and met another's entry");
}

const WORK: [&str; 4] = ["run", "--yolo", "--json", "work"];

/// A run that makes two exchanges in a file and in an entry, each as one op.
fn multi_edit() -> Bench {
    let edits = json!([{"old": "one", "new": "eins"}, {"old": "two", "new": "zwei"}]);
    let call = |path: &str| json!({"tool": "multi_edit", "args": {"path": path, "edits": edits}});
    let script = json!([
        {"calls": [{"tool": "read", "args": {"path": "f.md"}}]},
        {"calls": [call("f.md"), call("known:///a")]},
        {"say": "done"},
    ]);
    bench(script, &[("f.md", TEXT), ("known:///a", TEXT)])
}

// keeps: ops-crash
#[test]
fn a_multi_edit_that_is_cut_off_is_made_whole_or_not_at_all_and_once() {
    let calls = changing_calls(&multi_edit, &WORK);
    let wanted = usize::try_from(size("CAIRN_OP_POINTS", 8)).unwrap().min(calls.len());
    let (mut points, mut halves) = (0, 0);
    for point in 0..wanted {
        let (name, when) = &calls[point * calls.len() / wanted];
        let bench = multi_edit();
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        let mut child = strace(&bench, &WORK, &rule);
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        points += usize::from(!child.wait().unwrap().success());
        let left = standing(&bench);
        assert_eq!(left.len(), 2, "{name} {when}: {left:?}");
        let is_whole = |text: &str| [TEXT, EDITED].contains(&text);
        assert!(left.iter().all(|(_, text)| is_whole(text)), "{name} {when}: {left:?}");
        halves += usize::from(left[0].1 != left[1].1);
        let began = bench.cairn(&["log"]).code == 0;
        let goes_on = ["run", "--yolo", "--json", "-c"];
        let last = bench.cairn(if began { &goes_on } else { &WORK });
        assert!(last.code == 0 || last.err.contains("nothing left to do"), "{last:?}");
        let found = standing(&bench);
        let expected = [("known:///a", EDITED), ("f.md", EDITED)];
        assert!(is(&found, &expected), "{name} {when}: {found:?}");
        let rows = bench.cairn(&["log", "--json"]).out;
        let statuses: Vec<Value> = rows
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone())
            .collect();
        assert_eq!(statuses, [200, 200, 200], "{name} {when}");
        assert_eq!(bench.cairn(&["verify"]).code, 0, "{name} {when}");
    }
    println!("{points} edit crash points of {}, {halves} between the two", calls.len());
    assert!(points * 10 >= wanted * 8, "only {points} of {wanted} calls were cut");
}

/// A run that moves an entry to a file.
fn moving() -> Bench {
    let call = json!({"tool": "move", "args": {"from": "known:///a", "to": "f.md"}});
    bench(json!([{"calls": [call]}, {"say": "done"}]), &[("known:///a", TEXT)])
}

// keeps: ops-crash
#[test]
fn a_run_goes_on_where_a_person_wrote_to_an_entry_that_it_was_moving() {
    let theirs = "theirs\n";
    let calls = changing_calls(&moving, &WORK);
    let wanted = usize::try_from(size("CAIRN_OP_POINTS", 10)).unwrap().min(calls.len());
    let mut ends = BTreeSet::new();
    for point in 0..wanted {
        let (name, when) = &calls[point * calls.len() / wanted];
        let bench = moving();
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        let mut child = strace(&bench, &WORK, &rule);
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
        let wrote = bench.cairn(&["op", "edit", "known:///a", "--body", theirs]);
        assert_eq!(wrote.code, 0, "{wrote:?}");
        let began = bench.cairn(&["log"]).code == 0;
        let goes_on = ["run", "--yolo", "--json", "-c"];
        let last = bench.cairn(if began { &goes_on } else { &WORK });
        assert!(last.code == 0 || last.err.contains("nothing left to do"), "{last:?}");
        let row = bench.cairn(&["log", "--json"]).out;
        let row: Value = serde_json::from_str(row.lines().next().unwrap()).unwrap();
        let found = standing(&bench);
        // Where the move had not begun, it is what was written since that is moved.
        let kept = found.iter().filter(|(_, text)| text == theirs).count();
        assert_eq!(kept, 1, "{name} {when}: {row} {found:?}");
        assert_eq!(bench.cairn(&["verify"]).code, 0, "{name} {when}");
        ends.insert(row["status"].as_u64());
    }
    println!("rows were {ends:?}");
}
