//! What was done while the hooks that look at its result have not had their word: it is in the log, is
//! undone like anything else, and nobody is told what those hooks would have kept back.

use crate::bench_world::{Bench, Talk};
use crate::hooks::{bash, hooks, shown, told};
use crate::undo::write;
use serde_json::{Value, json};

/// A hook that never comes to a word the first time it is asked, and has none later.
const HANGS_ONCE: &str = "test -e $HOME/asked && exit 0; touch $HOME/asked; exec sleep 60";

/// A run that wrote `a` and whose hook looks at that.
fn looked_at() -> (Bench, Talk) {
    let look = json!({"calls": [{"tool": "list", "args": {"path": "."}}]});
    let bench = Bench::new(json!([look, write("a", "two\n"), {"say": "ok"}]));
    bench.temp.write("a", "one\n");
    hooks(&bench, &[("PostToolUse", "Write", HANGS_ONCE)]);
    let mut talk = bench.talk(&["run", "--yolo", "--json", "work"]);
    talk.until("op/performed");
    until_asked(&bench);
    (bench, talk)
}

fn until_asked(bench: &Bench) {
    while !bench.temp.path().join("asked").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn killed(mut talk: Talk) {
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
}

// keeps: undo-exact
// keeps: log-shows
#[test]
fn a_change_whose_result_no_hook_looked_at_yet_is_shown_and_undone() {
    let (bench, talk) = looked_at();
    killed(talk);
    let log = bench.cairn(&["log"]).out;
    let unheard = "→ 200 (the hooks that look at its result were not all heard)";
    assert!(log.contains(unheard) && log.contains("modified a"), "{log}");
    let rows = bench.cairn(&["log", "--json"]).out;
    let row: Value = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
    assert_eq!((&row["status"], &row["concluded"]), (&json!(200), &json!(false)));
    assert!(bench.cairn(&["diff"]).out.contains("+two"));
    assert!(bench.cairn(&["show", "1/2/2"]).out.contains("+two"));
    assert_eq!(shown(&bench, "1/2/2")["outcome"]["status"], 200);
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 0, "{}", undo.err);
    assert_eq!(bench.temp.read("a"), "one\n");
    // Its outcome, when it comes, is the same row's.
    assert_eq!(bench.cairn(&["run", "--yolo", "-c"]).code, 0);
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains("→ 200  undone") && !log.contains("were not all heard"), "{log}");
    assert_eq!(bench.cairn(&["undo"]).code, 2, "it is undone already");
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.temp.read("a"), "two\n");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: undo-exact
#[test]
fn a_rewind_takes_back_what_no_hook_looked_at_yet() {
    let (bench, talk) = looked_at();
    killed(talk);
    let rewind = bench.cairn(&["rewind", "1/1"]);
    assert_eq!(rewind.code, 0, "{}", rewind.err);
    assert_eq!(bench.temp.read("a"), "one\n");
}

// keeps: hook-results
#[test]
fn what_a_hook_replaced_is_not_to_be_had_from_the_rows_output_either() {
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let output = "log:///1/1/1#output";
    let bench = Bench::new(json!([
        bash("printf 'hid%s' den"),
        call("read", json!({"path": output})),
        call("read", json!({"path": output, "scope": "1"})),
        call("read", json!({"path": output, "matching": "hid"})),
        call("find", json!({"under": "log:///#output", "text": "hid"})),
        call("copy", json!({"from": output, "to": "known:///copy"})),
        call("read", json!({"path": "known:///copy"})),
        {"say": "ok"}
    ]));
    hooks(&bench, &[("PostToolUse", "Bash", r#"echo '{"substitute":"REDACTED"}'"#)]);
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let told = told(&bench);
    assert_eq!(told[1], "REDACTED");
    assert_eq!(told[2..4], ["1\tREDACTED", "1\tREDACTED"]);
    assert_eq!(told[4..6], ["nothing matches", "nothing found"]);
    assert!(told[7].starts_with("1\tREDACTED") || told[7].starts_with("unchanged"), "{}", told[7]);
    assert_eq!(bench.cairn(&["world", "known:///copy"]).out, "1\tREDACTED\n");
    assert!(!told.iter().any(|text| text.contains("hidden")), "{told:?}");
    assert_eq!(
        bench.cairn(&["show", "1/1/1#output"]).out,
        "hidden",
        "a person sees what was printed"
    );
}

// keeps: hook-results
#[test]
fn a_result_that_hooks_were_not_all_heard_on_when_the_work_was_stopped_is_not_told() {
    let (bench, mut talk) = looked_at();
    talk.say(json!({"type": "abort"}));
    assert_eq!(talk.result()["exit_code"], 3);
    let told = bench.cairn(&["show", "1/2/2#result"]).out;
    assert_eq!(told, "not shown: the work was stopped before hooks had looked at it");
    assert_eq!(shown(&bench, "1/2/2")["outcome"]["changes"][0]["path"], "a");
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(bench.temp.read("a"), "one\n");
}

// keeps: hook-chain
#[test]
fn an_interrupt_reaches_a_hook_that_is_asked_when_the_work_is_over() {
    let bench = Bench::new(json!([{"say": "ok"}]));
    hooks(&bench, &[("SessionEnd", "", "touch $HOME/asked; exec sleep 20")]);
    let mut run = bench.command(&["run", "--yolo", "work"]).spawn().unwrap();
    until_asked(&bench);
    let id = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(0), "the work itself was done");
    let facts = bench.cairn(&["log", "--facts"]).out;
    assert!(facts.contains("it was not waited for: the work was stopped"), "{facts}");
}
