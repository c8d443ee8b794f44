//! Undo after a crash: what was cut off in the middle of an op is recorded before anything is undone.

use crate::bench_world::Bench;
use crate::survive::strace;
use serde_json::json;
use std::path::Path;

/// How many files the interrupted removal was about.
const FILES: usize = 4;

/// A run that wrote `a` and was killed while it removed the folder `d`: some of its files are gone.
fn killed_while_removing() -> Bench {
    for nth in 1..40 {
        let bench = Bench::new(json!([
            {"calls": [{"tool": "write", "args": {"path": "a", "content": "made\n"}}]},
            {"calls": [{"tool": "remove", "args": {"path": "d"}}]},
            {"say": "done"},
        ]));
        for file in 0..FILES {
            bench.temp.write(&format!("d/{file}"), format!("text {file}\n"));
        }
        let rule = format!("inject=renameat2:signal=SIGKILL:when={nth}");
        let killed = strace(&bench, &["run", "--yolo", "work"], &rule).wait_with_output().unwrap();
        let left = names(&bench.file("d"));
        if !killed.status.success() && !left.is_empty() && left.len() < FILES {
            return bench;
        }
    }
    panic!("no kill came in the middle of the removal")
}

/// The names of the person's files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.len() == 1).collect()
}

// keeps: undo-interrupted
#[test]
fn undo_after_a_crash_takes_back_the_half_done_op_and_not_an_older_turn() {
    let bench = killed_while_removing();
    let dry = bench.cairn(&["undo", "--dry-run"]);
    assert_eq!(dry.code, 2, "{dry:?}");
    assert!(dry.err.contains("was interrupted in 1/2/1 (remove d)"), "{}", dry.err);
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 0, "{undo:?}");
    assert!(undo.err.contains("was interrupted in 1/2/1 (remove d)"), "{}", undo.err);
    assert_eq!(names(&bench.file("d")).len(), FILES, "{}", undo.out);
    for file in 0..FILES {
        assert_eq!(bench.temp.read(&format!("d/{file}")), format!("text {file}\n"));
    }
    assert_eq!(bench.temp.read("a"), "made\n", "the older turn stays");
    let log = bench.cairn(&["log"]);
    assert!(log.out.contains("remove d  → 500"), "{}", log.out);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    let go_on = bench.cairn(&["run", "--yolo", "-c"]);
    assert_eq!((go_on.code, go_on.out.as_str()), (0, "done\n"), "{}", go_on.err);
    assert_eq!(names(&bench.file("d")).len(), FILES, "it was not repeated");
}

// keeps: undo-interrupted
#[test]
fn a_run_that_is_named_is_settled_before_its_turns_are_undone_or_rewound() {
    let bench = killed_while_removing();
    let rewound = bench.cairn(&["rewind", "1/1"]);
    assert_eq!(rewound.code, 0, "{rewound:?}");
    assert_eq!(names(&bench.file("d")).len(), FILES, "{}", rewound.out);
    assert_eq!(bench.temp.read("a"), "made\n");
}
