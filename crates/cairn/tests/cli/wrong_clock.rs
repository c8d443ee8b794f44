//! What is newest is what was recorded last, whatever the clock said when it was.

use crate::bench_world::Bench;
use crate::undo::{run_of, two_runs, worked, write};
use serde_json::{Value, json};

/// The clock was a hundred years ahead while this run was made and worked.
#[allow(clippy::disallowed_methods, reason = "the clock of another time is put into the rows")]
fn made_in_the_future(bench: &Bench, run: &str) {
    let database = rusqlite::Connection::open(bench.temp.home().join("cairn.db")).unwrap();
    let ahead = 100 * 365 * 86_400_000_i64;
    for sql in [
        "UPDATE runs SET created_at = created_at + ?1, last_at = last_at + ?1 WHERE id = ?2",
        "UPDATE facts SET at = at + ?1 WHERE run = ?2",
    ] {
        assert!(database.execute(sql, rusqlite::params![ahead, run]).unwrap() > 0);
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

// keeps: undo-newest
#[test]
fn undo_takes_the_turn_recorded_last_whatever_the_clock_said() {
    let (bench, first, second) = two_runs();
    made_in_the_future(&bench, &first);
    let undo = json_of(&bench.cairn(&["undo", "--json"]).out);
    assert_eq!((&undo["of"], &undo["done"]), (&json!(second), &json!(true)), "{undo}");
    let undo = json_of(&bench.cairn(&["undo", "--json"]).out);
    assert_eq!((&undo["of"], &undo["done"]), (&json!(first), &json!(true)), "{undo}");
}

// keeps: undo-newest
#[test]
fn undo_takes_the_newest_turn_also_of_a_run_that_began_earlier() {
    let (bench, first, second) = two_runs();
    let more = json!([{"say": "unused"}, {"say": "unused"}, write("c", "c\n"), {"say": "done"}]);
    let resumed = run_of(&bench, more, &["--resume", &first, "go on"]);
    assert_eq!(resumed, first);
    for of in [&first, &second, &first] {
        let undo = json_of(&bench.cairn(&["undo", "--json"]).out);
        assert_eq!((&undo["of"], &undo["done"]), (&json!(of), &json!(true)), "{undo}");
    }
}

// keeps: found-from-within
#[test]
fn the_newest_run_is_the_one_made_last_whatever_the_clock_said() {
    let (bench, first, second) = two_runs();
    made_in_the_future(&bench, &first);
    let log = bench.cairn(&["log", "--facts", "--json"]).out;
    assert_eq!(json_of(log.lines().next().unwrap())["run"], json!(second));
    let script = json!([{"say": "unused"}, {"say": "unused"}, {"say": "on"}]);
    assert_eq!(run_of(&bench, script, &["-c", "go on"]), second);
    let found = bench.cairn(&["sessions", "search", "one", "--json"]).out;
    assert!(!found.is_empty());
    let fork = json_of(&bench.cairn(&["fork", "--json"]).out);
    assert_eq!(fork["parent"], json!(second));
}

// keeps: rewind
#[test]
fn a_rewind_to_a_turn_that_was_undone_since_is_refused_and_says_why() {
    let bench = worked();
    assert_eq!(bench.cairn(&["undo", "1", "--force"]).code, 0);
    assert_eq!(bench.temp.read("a"), "one\n");
    let rewind = bench.cairn(&["rewind", "1/2"]);
    assert_eq!(rewind.code, 2, "{rewind:?}");
    assert!(rewind.err.contains("the files of 1/2 are not here"), "{}", rewind.err);
    assert!(rewind.err.contains("cairn redo --run "), "{}", rewind.err);
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.cairn(&["rewind", "1/2"]).code, 0);
    assert_eq!((bench.temp.read("a"), bench.temp.read("new/b")), ("two\n".into(), "b\n".into()));
}

// keeps: rewind
#[test]
fn an_undo_that_the_run_heard_of_belongs_to_the_files_of_later_turns() {
    let bench = worked();
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    let go_on = bench.cairn(&["run", "--yolo", "-c", "go on"]);
    assert_eq!((go_on.code, go_on.out.as_str()), (0, "after going back\n"), "{}", go_on.err);
    let rewind = bench.cairn(&["rewind", "2/1"]);
    assert_eq!(rewind.code, 0, "{rewind:?}");
    assert_eq!(bench.temp.read("a"), "two\n");
}
