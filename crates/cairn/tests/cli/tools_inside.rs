//! Ordinary toolchains in the sandbox, as they are on this machine: they build, test and commit as they do
//! outside, and nobody is asked about anything but what changes.

use crate::bench_world::{Bench, Talk};
use crate::overlay::bash;
use crate::sessions_of_commands::{at_home, follow, is_there, project};
use serde_json::json;

/// A tool at work in a sample project.
struct Work {
    tool: &'static str,
    project: &'static str,
    command: &'static str,
    /// How many questions are right.
    questions: usize,
    /// What it prints at its end.
    says: &'static str,
}

const WORK: [Work; 7] = [
    Work { tool: "make", project: "ring", command: "make test", questions: 0, says: "" },
    Work {
        tool: "git",
        project: "history",
        command: "git commit -q -a -m 'Runs' && git log -1 --format=%s && git status --short",
        questions: 1,
        says: "Runs",
    },
    Work {
        tool: "python3",
        project: "ledger",
        command: "python3 -m unittest",
        questions: 0,
        says: "OK",
    },
    Work { tool: "pytest", project: "slugs", command: "pytest", questions: 0, says: "passed" },
    Work { tool: "npm", project: "tally", command: "npm test", questions: 0, says: "passed" },
    Work {
        tool: "cargo",
        project: "spans",
        command: "cargo test --offline",
        questions: 0,
        says: "test result: ok",
    },
    Work { tool: "go", project: "lines", command: "go test ./...", questions: 0, says: "ok" },
];

/// Does it twice, the second time on what the first left.
fn check(work: &Work) {
    let again = work.command.replace("git commit", "git commit --allow-empty");
    let bench = Bench::confined(json!([bash(work.command), bash(&again), {"say": "done"}]));
    let root = bench.temp.workspace();
    project(work.project, &root);
    let mut command = bench.command(&["run", "--json", "work"]);
    at_home(&bench, &mut command);
    let mut talk = Talk::with(&mut command);
    let asked: usize = follow(&mut talk, &root).values().map(Vec::len).sum();
    let settled = talk.seen.iter().filter(|event| event["type"] == "op/settled");
    for event in settled.clone() {
        let said = event["text"].as_str().unwrap();
        let is_done = event["status"] == 200 && event["exit"] == 0;
        assert!(is_done && said.contains(work.says), "{}: {event}", work.command);
    }
    assert_eq!(settled.count(), 2);
    assert_eq!(asked, work.questions * 2, "{}", work.command);
}

// keeps: tools-inside
#[test]
fn toolchains_work_in_the_sandbox_as_they_do_outside() {
    let (here, missing): (Vec<&Work>, Vec<&Work>) =
        WORK.iter().partition(|work| is_there(work.tool));
    here.iter().for_each(|work| check(work));
    let names = |all: &[&Work]| all.iter().map(|work| work.tool).collect::<Vec<_>>().join(", ");
    println!("in the sandbox: {}; skipped: {}", names(&here), names(&missing));
    assert!(here.len() >= 4, "only {}", names(&here));
}

// keeps: bad-input
#[test]
fn a_runtime_without_a_command_is_named() {
    for text in ["[executors.perl]\neffect = \"read\"\n", "[executors.perl]\ncommand = []\n"] {
        let bench = Bench::confined(json!([{"say": "done"}]));
        bench.own("cairn.toml", text);
        let done = bench.cairn(&["run", "work"]);
        assert_eq!(done.code, 2, "{text} {done:?}");
        assert!(done.err.contains("[executors.perl] needs a command"), "{text} {done:?}");
    }
}

// keeps: confined
#[test]
fn the_model_is_told_what_commands_are_kept_in_and_what_else_runs_code() {
    for (level, says) in [
        ("workspace", "commands: confined: no network but hosts that the person lets them reach; "),
        ("strict", "commands: confined: no network; /tmp and the home are their own; "),
        ("open", "commands: further runtimes: perl"),
    ] {
        let bench = Bench::confined(json!([{"say": "done"}]));
        bench.own("cairn.toml", "[executors.perl]\ncommand = [\"perl\", \"-e\"]\n");
        assert_eq!(bench.cairn(&["run", "--sandbox", level, "work"]).code, 0);
        let told = bench.requests()[0].to_string();
        assert!(
            told.contains(says) && told.contains("further runtimes: perl\\n"),
            "{level} {told}"
        );
    }
}
