//! Contents that cannot be read: each message says whether one is damaged, missing or was freed.

use crate::bench_world::{Bench, Dice};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A run that removed the large file `a`, and the file in which the home keeps what it held.
fn removed_a_large_file() -> (Bench, PathBuf) {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "remove", "args": {"path": "a"}}]},
        {"say": "done"},
    ]));
    let mut dice = Dice::new(5);
    let noise: String = (0..40_000).map(|_| format!("{:016x}", dice.below(u64::MAX))).collect();
    bench.temp.write("a", &noise);
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let hash = cairn_types::Hash::of(noise.as_bytes()).to_string();
    let kept = bench.temp.home().join("contents").join(&hash[..2]).join(&hash[2..]);
    assert!(kept.exists(), "a large content has a file of its own");
    (bench, kept)
}

/// Whether each of these commands says this and ends with this code.
fn check(bench: &Bench, said: &str, commands: &[(&[&str], u8)]) {
    for (args, code) in commands {
        let done = bench.cairn(args);
        assert_eq!(done.code, i32::from(*code), "{args:?}: {done:?}");
        let told = format!("{}{}", done.out, done.err);
        assert!(told.contains(said), "{args:?} does not say {said:?}: {told}");
    }
}

// keeps: contents-checked
#[test]
fn a_damaged_content_is_called_damaged_and_is_found_before_it_is_needed() {
    let (bench, kept) = removed_a_large_file();
    check(&bench, "all as they were kept", &[(&["doctor", "--deep"], 0)]);
    check(&bench, "contents are as they were kept", &[(&["verify", "--contents"], 0)]);
    let mut bytes = fs::read(&kept).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&kept, bytes).unwrap();
    assert_eq!(bench.cairn(&["verify"]).code, 0, "the receipts are in order");
    check(&bench, "is damaged in ", &[(&["doctor", "--deep"], 1), (&["verify", "--contents"], 1)]);
    check(&bench, "its bytes are damaged", &[(&["diff"], 0)]);
    check(&bench, "is damaged", &[(&["undo"], 1)]);
    assert!(!bench.file("a").exists());
}

// keeps: contents-checked
#[test]
fn a_missing_content_is_not_called_freed() {
    let (bench, kept) = removed_a_large_file();
    fs::remove_file(&kept).unwrap();
    let commands: [(&[&str], u8); 4] = [
        (&["doctor", "--deep"], 1),
        (&["verify", "--contents"], 1),
        (&["diff"], 0),
        (&["undo"], 1),
    ];
    check(&bench, "missing and was", &commands[..2]);
    check(&bench, "its bytes are missing and were not freed", &commands[2..3]);
    check(&bench, "its former content is missing and was not freed", &commands[3..]);
    let told = bench.cairn(&["verify", "--contents", "--json"]).out;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["verdict"], "REFUTED");
}

// keeps: contents-checked
#[test]
#[allow(clippy::disallowed_methods, reason = "the test damages the database from outside")]
fn a_lost_image_of_a_file_is_found_before_an_undo_needs_it() {
    for (lost, undone) in [("before\n", 1), ("after\n", 0)] {
        let bench = Bench::new(json!([
            {"calls": [{"tool": "read", "args": {"path": "a"}}]},
            {"calls": [{"tool": "write", "args": {"path": "a", "content": "after\n"}}]},
            {"say": "done"},
        ]));
        bench.temp.write("a", "before\n");
        assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
        let whole: [(&[&str], u8); 2] =
            [(&["doctor", "--deep"], 0), (&["verify", "--contents"], 0)];
        check(&bench, "as they were kept", &whole);
        let hash = cairn_types::Hash::of(lost.as_bytes()).to_string();
        let home = rusqlite::Connection::open(bench.temp.home().join("cairn.db")).unwrap();
        let sql = format!("DELETE FROM contents WHERE hash = x'{hash}'");
        assert_eq!(home.execute(&sql, []).unwrap(), 1, "{lost:?} was kept");
        check(
            &bench,
            "missing and was",
            &[(&["doctor", "--deep"], 1), (&["verify", "--contents"], 1)],
        );
        assert_eq!(bench.cairn(&["undo"]).code, undone, "{lost:?}");
    }
}

// keeps: contents-checked
#[test]
fn a_freed_content_is_called_freed_and_is_no_loss() {
    let (bench, kept) = removed_a_large_file();
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(bench.cairn(&["gc", "--keep-days", "0", "--yes"]).code, 0);
    assert!(!kept.exists());
    check(&bench, "freed by `cairn gc`", &[(&["doctor", "--deep"], 0), (&["diff"], 0)]);
    check(&bench, "its former content was freed by `cairn gc`", &[(&["undo"], 1)]);
    check(&bench, "were freed", &[(&["verify", "--contents"], 0)]);
}

// keeps: contents-checked
#[test]
fn what_was_freed_where_a_session_came_from_is_no_loss_where_it_came_to() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "read", "args": {"path": "a"}}]},
        {"calls": [{"tool": "write", "args": {"path": "a", "content": "after\n"}}]},
        {"say": "done"},
    ]));
    bench.temp.write("a", "before\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(bench.cairn(&["gc", "--keep-days", "0", "--yes"]).code, 0);
    let file = bench.temp.path().join("work.cairn").display().to_string();
    assert_eq!(bench.cairn(&["sessions", "export", "-o", &file]).code, 0);
    let there = Bench::new(json!([]));
    let imported = there.cairn(&["sessions", "import", &file, "--root", "."]);
    assert_eq!(imported.code, 0, "{imported:?}");
    check(&there, "freed by `cairn gc`", &[(&["doctor", "--deep"], 0)]);
}
