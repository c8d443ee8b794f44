//! Commands that ran on the files themselves, in the background or at level open: `diff` and `undo` name
//! them, and an undo goes past one only to what is named.

use crate::bench_world::Bench;
use crate::overlay::bash;
use crate::undo::{run_of, write};
use serde_json::{Value, json};

fn beside(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command, "background": true}}]})
}

// keeps: undo-direct
#[test]
fn undo_stops_at_a_command_of_a_later_run_that_worked_on_the_files_themselves() {
    let bench = Bench::confined(json!([]));
    let first = run_of(&bench, json!([bash("echo 1 > first.txt"), {"say": "done"}]), &["one"]);
    let second = run_of(&bench, json!([beside("echo 2 > a.txt"), {"say": "done"}]), &["two"]);
    let diff = bench.cairn(&["diff"]);
    assert_eq!(diff.out, "no op whose changes are recorded changed a file there\n");
    let named = "1/1/1 ran on the files themselves; what it changed is not covered: echo 2 > a.txt";
    assert_eq!(diff.err, format!("{named}\n"));
    for args in [&["undo"][..], &["undo", "--dry-run"], &["undo", "--partial", "--force"]] {
        let undo = bench.cairn(args);
        assert_eq!(undo.code, 1, "{args:?}: {undo:?}");
        assert!(undo.out.contains(&format!("  log://{second}/{named}\n")), "{undo:?}");
        let on = format!("nothing was undone: `cairn undo log://{first}/1/1` takes back what was");
        assert!(undo.out.contains(&on), "{undo:?}");
        assert_eq!(bench.temp.read("first.txt"), "1\n");
    }
    let told: Value = serde_json::from_str(&bench.cairn(&["undo", "--json"]).out).unwrap();
    assert_eq!((&told["done"], &told["of"]), (&json!(false), &json!(first)));
    let ran = json!([{"run": second, "row": "1/1/1", "command": "echo 2 > a.txt"}]);
    assert_eq!(told["not_covered"], ran);
    let undo = bench.cairn(&["undo", &format!("log://{first}/1/1")]);
    assert_eq!(undo.code, 0, "{undo:?}");
    assert!(!bench.file("first.txt").exists());
    let nothing = bench.cairn(&["undo"]);
    assert_eq!(nothing.code, 2, "{nothing:?}");
    assert!(nothing.err.contains(&format!("is not undone already; {named}")), "{nothing:?}");
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.cairn(&["undo"]).code, 1, "what went past it does not stand any more");
    assert_eq!(bench.cairn(&["undo", "--run", &first]).code, 0, "a run that is named has none");
}

// keeps: undo-direct
#[test]
fn undo_stops_within_a_run_and_within_a_turn_and_goes_on_once_it_was_told_to() {
    let command = json!({"tool": "bash", "args": {"command": "echo made > c"}});
    let mut turn = write("b", "b\n");
    turn["calls"].as_array_mut().unwrap().push(command);
    let bench = Bench::new(json!([write("a", "a\n"), turn, {"say": "done"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 1, "{undo:?}");
    let said = "  1/2/3 ran on the files themselves; what it changed is not covered: echo made > c\n\
                nothing was undone: `cairn undo 1/2` takes back what was done before\n";
    assert_eq!(undo.out, said);
    assert_eq!(bench.cairn(&["undo", "1/2"]).code, 0);
    assert_eq!(bench.cairn(&["undo"]).code, 0, "that it ran is known by now");
    assert!(!bench.file("a").exists() && !bench.file("b").exists() && bench.file("c").exists());
}

// keeps: undo-direct
#[test]
fn commands_over_an_overlay_that_change_nothing_are_in_no_way() {
    let look = json!({"calls": [{"tool": "env", "args": {"command": "cat first.txt"}}]});
    let replies = json!([bash("echo 1 > first.txt"), bash("true"), look, {"say": "done"}]);
    let bench = Bench::confined(replies);
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let diff = bench.cairn(&["diff", "--stat"]);
    assert_eq!((diff.out.as_str(), diff.err.as_str()), ("first.txt  +1 -0\n", ""));
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 0, "{undo:?}");
    assert!(undo.out.starts_with("  removed first.txt\n1 path undone; row log://"), "{undo:?}");
}
