//! Commands that take more memory than they may: what is ended, and what is said of it.

use crate::bench_world::Bench;
use crate::overlay::{bash, facts, told};
use serde_json::{Value, json};

/// A command that takes two hundredths of the machine's memory.
const TAKES: &str = "python3 -c 'import os; all = os.sysconf(\"SC_PHYS_PAGES\") * os.sysconf(\"SC_PAGE_SIZE\"); x = bytearray(b\"x\" * (all // 50))'";

// keeps: memory
#[test]
#[allow(clippy::print_stderr, reason = "what cannot be shown here is said")]
fn the_model_is_told_that_a_command_had_all_the_memory_it_may_have() {
    let beside = format!("{TAKES}; touch /tmp/over");
    let bench = Bench::confined(json!([
        bash(TAKES),
        {"calls": [{"tool": "bash", "args": {"command": beside, "background": true}}]},
        bash("until [ -e /tmp/over ]; do sleep 0.02; done; sleep 0.5"),
        {"say": "done"},
    ]));
    let doctor = bench.cairn(&["doctor", "--json"]).out;
    let mut findings = doctor.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let memory = findings.find(|found| found["what"] == "memory").unwrap();
    if memory["level"] != "ok" {
        eprintln!("not shown: {memory}");
        return;
    }
    bench.own("cairn.toml", "[sandbox]\nmemory = 1\n");
    let ran = bench.cairn(&["run", "--yolo", "take it"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let says =
        "1 of its processes ended by the system: commands here had all the memory they may have";
    let said = told(&bench, 2);
    assert!(said.starts_with(says), "{said}");
    let ended = facts(&bench, "stream");
    assert!(ended[0]["why"].as_str().is_some_and(|why| why.starts_with(says)), "{ended:?}");
}
