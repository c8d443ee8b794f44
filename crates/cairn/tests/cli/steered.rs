//! Words that are typed while a command runs over an overlay, or while somebody is asked about it: it had
//! begun, so it comes to its end.

use crate::bench_world::{Bench, Talk};
use crate::overlay::{decide, statuses};
use serde_json::json;

/// Prints when it has begun, and ends when a file says so that is written outside.
const WAITS: &str = "echo mine > a.txt; echo begun; until grep -q go flag; do sleep 0.01; done";

/// A reply with a command that waits and one after it.
fn waiting() -> Bench {
    let bash = |command: &str| json!({"tool": "bash", "args": {"command": command}});
    let calls = json!({"calls": [bash(WAITS), bash("echo never > b.txt")]});
    let bench = Bench::confined(json!([calls, {"say": "heard"}, {"say": "heard again"}]));
    bench.temp.write("a.txt", "one\n");
    bench.temp.write("flag", "wait\n");
    bench.temp.write(".ignore", "flag\n");
    bench
}

fn steer(talk: &mut Talk) {
    talk.say(json!({"type": "steer", "text": "words"}));
    talk.until("steer/taken");
}

/// Drives it until its command runs, and says something then.
fn steered(bench: &Bench) -> Talk {
    let mut talk = bench.talk(&["run", "--json", "work"]);
    talk.until("op/output");
    steer(&mut talk);
    talk
}

fn is_kept(bench: &Bench, talk: Talk) {
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "mine\n");
    assert!(!bench.file("b.txt").exists());
    assert_eq!(statuses(bench), [200, 499]);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
}

// keeps: steering
#[test]
fn words_while_a_command_runs_and_while_it_is_asked_about_throw_nothing_of_it_away() {
    let bench = waiting();
    let mut talk = steered(&bench);
    bench.temp.write("flag", "go\n");
    let question = talk.until("proposal/opened");
    steer(&mut talk);
    decide(&mut talk, &question, "allow");
    is_kept(&bench, talk);
    let messages = bench.requests()[1]["messages"].as_array().unwrap().clone();
    let heard: Vec<&str> =
        messages.iter().rev().take(4).filter_map(|m| m["content"].as_str()).collect();
    assert_eq!(heard[..2], ["words", "words"], "{messages:?}");
    assert!(
        heard[2].starts_with("not performed: the person said something meanwhile"),
        "{heard:?}"
    );
    assert!(heard[3].ends_with("kept: changed a.txt"), "{heard:?}");
}

// keeps: steering
#[test]
fn a_command_that_was_cut_off_after_words_came_runs_again_and_is_asked_about() {
    let bench = waiting();
    let mut talk = steered(&bench);
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    bench.temp.write("flag", "go\n");
    let mut talk = bench.talk(&["run", "--json", "-c"]);
    let question = talk.until("proposal/opened");
    decide(&mut talk, &question, "allow");
    is_kept(&bench, talk);
}
