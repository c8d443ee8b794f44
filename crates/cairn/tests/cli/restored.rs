//! A database that is an older copy, lost rows, or is gone: what is missing is named, and nothing is written
//! over what says so.

use crate::bench_world::Bench;
use crate::undo::{run_of, write};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

#[allow(clippy::disallowed_methods, reason = "the database is changed behind the store's back")]
fn sql(bench: &Bench, sql: &str) {
    let database = rusqlite::Connection::open(bench.temp.home().join("cairn.db")).unwrap();
    database.execute_batch(sql).unwrap();
}

/// A copy of the database as it is now.
fn copy(bench: &Bench, name: &str) -> PathBuf {
    let copy = bench.temp.path().join(name);
    sql(bench, &format!("VACUUM INTO '{}'", copy.display()));
    copy
}

fn remove_database(bench: &Bench) {
    for name in ["cairn.db", "cairn.db-wal", "cairn.db-shm"] {
        let _ = fs::remove_file(bench.temp.home().join(name));
    }
}

fn restore(bench: &Bench, copy: &PathBuf) {
    remove_database(bench);
    fs::copy(copy, bench.temp.home().join("cairn.db")).unwrap();
}

/// One run that wrote `a` and then `b`; the database is of before `b`, the newer one lies beside it.
fn older_copy() -> (Bench, String, PathBuf) {
    let bench = Bench::new(json!([]));
    let run = run_of(&bench, json!([write("a", "a\n"), {"say": "done"}]), &["one"]);
    let older = copy(&bench, "older.db");
    let more = json!([{"say": "unused"}, {"say": "unused"}, write("b", "b\n"), {"say": "done"}]);
    assert_eq!(run_of(&bench, more, &["-c", "more"]), run);
    let newer = copy(&bench, "newer.db");
    restore(&bench, &older);
    (bench, run, newer)
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

// keeps: older-copy
#[test]
fn a_run_that_is_ahead_of_the_database_is_not_driven_and_stays_refuted() {
    let (bench, run, newer) = older_copy();
    let head = bench.temp.home().join("heads").join(&run);
    let noted = fs::read(&head).unwrap();
    for args in [
        &["run", "--yolo", "-c", "again"][..],
        &["undo"],
        &["undo", "--run", &run],
        &["rewind", "1/1"],
    ] {
        let refused = bench.cairn(args);
        assert_eq!(refused.code, 1, "{args:?}: {refused:?}");
        assert!(refused.err.contains(&format!("cairn fork {run}")), "{}", refused.err);
        assert!(refused.err.contains("put the newer database back"), "{}", refused.err);
        let verify = bench.cairn(&["verify"]);
        assert_eq!(verify.code, 1, "{verify:?}");
        assert!(verify.out.contains(&format!("REFUTED: run {run} once had")), "{}", verify.out);
        assert_eq!(fs::read(&head).unwrap(), noted);
    }
    assert_eq!(bench.temp.read("a"), "a\n");
    restore(&bench, &newer);
    assert_eq!(bench.cairn(&["verify"]).code, 0, "the newer database is in order again");
    assert_eq!(bench.cairn(&["undo"]).code, 0);
}

// keeps: older-copy
#[test]
fn a_fork_of_what_is_left_goes_on_and_records_what_was_lost() {
    let (bench, run, _) = older_copy();
    let fork = json_of(&bench.cairn(&["fork", &run, "--json"]).out);
    let new = fork["run"].as_str().unwrap();
    let log = bench.cairn(&["log", new, "--facts", "--json"]).out;
    let facts = log.lines().map(json_of).filter(|fact| fact["run"] == json!(new));
    let first = facts.into_iter().next().unwrap();
    assert_eq!((&first["kind"], &first["body"]["lost"]["run"]), (&json!("drive"), &json!(run)));
    assert!(first["body"]["lost"]["last"].as_u64() > fork["shares"].as_u64(), "{first}");
    let go_on = json!([{"say": "unused"}, {"say": "unused"}, write("c", "c\n"), {"say": "done"}]);
    assert_eq!(run_of(&bench, go_on, &["-c", "go on"]), new);
    let verify = bench.cairn(&["verify"]);
    assert_eq!(verify.code, 1, "{verify:?}");
    assert!(verify.out.contains(&format!("REFUTED: run {run} once had")), "{}", verify.out);
    assert!(verify.out.contains(&format!("IN ORDER: run {new}")), "{}", verify.out);
    assert_eq!(bench.cairn(&["verify", &run]).code, 1);
    let judged = bench.cairn(&["verify", new]);
    assert_eq!(judged.code, 0, "{judged:?}");
    let told = json_of(&bench.cairn(&["verify", "--json"]).out);
    let word = |run: &str| {
        let of = told["runs"].as_array().unwrap().iter().find(|one| one["run"] == json!(run));
        of.unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!((word(&run), word(new)), ("REFUTED".to_owned(), "IN ORDER".to_owned()));
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert!(!bench.file("c").exists());
}

// keeps: older-copy
#[test]
fn the_record_of_undos_goes_on_in_a_fork_when_its_end_was_lost() {
    let bench = Bench::new(json!([]));
    let made = json!([write("a", "a\n"), write("b", "b\n"), {"say": "done"}]);
    let run = run_of(&bench, made, &["one"]);
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    let older = copy(&bench, "older.db");
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    restore(&bench, &older);
    let _ = fs::remove_file(bench.file("b"));
    let redo = bench.cairn(&["redo"]);
    assert_eq!(redo.code, 0, "{redo:?}");
    assert_eq!(bench.temp.read("b"), "b\n");
    assert_eq!(bench.cairn(&["verify", &run]).code, 0);
    assert_eq!(bench.cairn(&["verify"]).code, 1, "what was lost of the undos stays refuted");
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 0, "no further fork is needed: {undo:?}");
}

// keeps: runs-named-when-lost
#[test]
fn runs_that_were_recorded_and_are_gone_are_named() {
    for all in [true, false] {
        let bench = Bench::new(json!([{"say": "done"}]));
        let run = run_of(&bench, json!([write("a", "a\n"), {"say": "done"}]), &["one"]);
        let session = json_of(bench.cairn(&["log", "--json"]).out.lines().next().unwrap());
        let session = session["session"].as_str().map(str::to_owned);
        match all {
            true => remove_database(&bench),
            false => sql(
                &bench,
                "DELETE FROM sessions; DELETE FROM runs; DELETE FROM facts; DELETE FROM receipts;
                 DELETE FROM checkpoints;",
            ),
        }
        for what in [None, Some(&run), session.as_ref()] {
            let verify = bench
                .cairn(&[&["verify"][..], &what.map_or(vec![], |w| vec![w.as_str()])].concat());
            assert_eq!(verify.code, 1, "{what:?}: {verify:?}");
            assert!(verify.out.contains("REFUTED") && verify.out.contains(&run), "{}", verify.out);
        }
        let doctor = bench.cairn(&["doctor"]);
        assert!(doctor.out.contains(&format!("run {run} is gone")), "{}", doctor.out);
        let again = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(again.code, 0, "{again:?}");
        assert!(again.err.contains("recorded here and the database has none"), "{}", again.err);
        let more = bench.cairn(&["run", "--yolo", "work"]);
        assert!(!more.err.contains("the database has none"), "it is said once: {}", more.err);
        assert_eq!(bench.cairn(&["verify"]).code, 1, "what was lost stays named");
    }
}

// keeps: runs-named-when-lost
#[test]
fn a_run_that_is_gone_while_its_session_remains_is_refuted_by_its_name() {
    let bench = Bench::new(json!([{"say": "done"}]));
    let lost = run_of(&bench, json!([write("a", "a\n"), {"say": "done"}]), &["one"]);
    let kept = run_of(&bench, json!([write("b", "b\n"), {"say": "done"}]), &["two"]);
    let of = format!("WHERE run = '{lost}'");
    sql(
        &bench,
        &format!(
            "DELETE FROM facts {of}; DELETE FROM receipts {of}; DELETE FROM runs WHERE id = '{lost}';"
        ),
    );
    for name in [&lost[..], &lost[..lost.len() - 2]] {
        let verify = bench.cairn(&["verify", name]);
        assert_eq!(verify.code, 1, "{verify:?}");
        assert!(verify.out.contains("REFUTED") && verify.out.contains(&lost), "{}", verify.out);
    }
    assert!(!bench.cairn(&["verify", &kept]).out.contains("there is no run"));
    assert_eq!(bench.cairn(&["verify", "zzz"]).code, 2);
}

// keeps: runs-named-when-lost
#[test]
fn a_session_that_a_person_deleted_is_not_missed() {
    let bench = Bench::new(json!([{"say": "done"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let log = bench.cairn(&["sessions", "--json"]).out;
    let session = json_of(log.lines().next().unwrap());
    let session = session["session"].as_str().or(session["id"].as_str()).unwrap().to_owned();
    let head = bench.temp.home().join("heads");
    let kept: Vec<_> = fs::read_dir(&head).unwrap().flatten().map(|f| f.path()).collect();
    let kept: Vec<_> = kept.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
    assert_eq!(bench.cairn(&["sessions", "delete", &session, "--yes"]).code, 0);
    // A crash right after the rows were deleted leaves the heads.
    kept.iter().for_each(|(bytes, path)| fs::write(path, bytes).unwrap());
    assert!(!bench.cairn(&["doctor"]).out.contains("is gone"));
    let again = bench.cairn(&["run", "--yolo", "work"]);
    assert!(!again.err.contains("the database has none"), "{}", again.err);
}
