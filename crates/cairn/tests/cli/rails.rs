//! Loops that get nowhere are ended, loops that work are not, and the model is never told who counts.

use crate::bench_world::Bench;
use serde_json::{Value, json};

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

/// Fails like a test does, with a line that is another one every time.
const FAILS: &str = "wc -l < log.txt; exit 1";

/// A round of edit and test: what is edited, and what the test says, differs if `changing`.
fn rounds(n: usize, changing: bool) -> Vec<Value> {
    let mut replies = Vec::new();
    for round in 0..n {
        let line = if changing { format!("try {round}") } else { "try".to_owned() };
        let append = if changing { ">>" } else { ">" };
        let write = format!("echo {line} {append} log.txt");
        replies.push(call("bash", json!({"command": write})));
        replies.push(call("bash", json!({"command": FAILS})));
    }
    replies.push(json!({"say": "that is all"}));
    replies
}

/// How it ends: the result's status and exit code, and how many turns it took.
fn check(what: &str, replies: Vec<Value>, expected: (&str, i32, usize)) -> (Bench, Value) {
    let bench = Bench::new(Value::Array(replies));
    let result = bench.events(&["run", "--yolo", "--json", "work"]).pop().unwrap();
    let turns = bench.requests().len();
    let code = i32::try_from(result["exit_code"].as_i64().unwrap()).unwrap();
    assert_eq!((result["status"].as_str().unwrap(), code, turns), expected, "{what}: {result}");
    (bench, result)
}

// keeps: rails-end
#[test]
fn ten_rounds_of_edit_and_failing_test_survive_and_five_identical_ones_are_ended() {
    check("changing", rounds(10, true), ("done", 0, 21));
    let (bench, result) = check("identical", rounds(5, false), ("stopped", 1, 8));
    let why = "the model goes through the same 2 turns again and again, with the same results";
    assert_eq!(result["why"], why);
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains(&format!("loop 1 ended: 499 {why}")), "{log}");
    let told = String::from_utf8(bench.model.requests().last().unwrap().clone()).unwrap();
    for word in ["strike", "cycle", "repeat", "again and again"] {
        assert!(!told.contains(word), "the model is told {word}: {told}");
    }
    let on = bench.cairn(&["run", "--yolo", "-c", "--max-turns", "9", "say something else"]);
    assert_eq!(
        (on.code, on.out.as_str()),
        (0, "that is all\n"),
        "a new loop starts anew: {}",
        on.err
    );
}

// keeps: rails-end
#[test]
fn a_poll_whose_content_changes_survives_and_one_of_the_same_is_ended() {
    let poll = |command: &str| {
        let mut replies = vec![call("bash", json!({"command": command})); 9];
        replies.push(json!({"say": "ready"}));
        replies
    };
    check("changing", poll("echo . >> ticks; wc -l < ticks"), ("done", 0, 10));
    check("the same", poll("echo nothing yet"), ("stopped", 1, 5));
    let mut reads = vec![call("read", json!({"path": "."})); 9];
    reads.push(json!({"say": "ready"}));
    check("the same read", reads, ("stopped", 1, 5));
}

// keeps: rails-end
#[test]
fn calls_that_make_no_sense_end_a_loop_with_what_they_were() {
    let wrong = |n: usize| call("edit", json!({"path": format!("f{n}")}));
    let replies: Vec<Value> = (0..5).map(wrong).collect();
    let (_, result) = check("senseless", replies, ("stopped", 1, 3));
    let why = "3 turns in a row had a call that could not act; the last was 1/3/1 edit, 400";
    assert_eq!(result["why"], why);
}

// keeps: rails-end
#[test]
fn three_refusals_by_a_person_do_not_end_a_loop() {
    let mut replies = vec![call("bash", json!({"command": "touch made"})); 6];
    replies.push(json!({"say": "then not"}));
    let bench = Bench::new(Value::Array(replies));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    for _ in 0..6 {
        let asked = talk.until("proposal/opened");
        talk.say(json!({"type": "decide", "proposal": asked["proposal"], "verdict": "refuse"}));
    }
    let result = talk.result();
    assert_eq!((&result["status"], &result["answer"]), (&json!("done"), &json!("then not")));
    assert!(!bench.file("made").exists());
}

// keeps: turns-left
#[test]
fn in_the_last_three_turns_before_the_cap_the_model_is_told_how_many_are_left() {
    let poll = call("bash", json!({"command": "echo . >> ticks; wc -l < ticks"}));
    let bench = Bench::new(Value::Array(vec![poll; 9]));
    let events = bench.events(&["run", "--yolo", "--json", "--max-turns", "5", "work"]);
    let result = events.last().unwrap();
    assert_eq!((&result["status"], &result["exit_code"]), (&json!("limit"), &json!(4)));
    let last = |request: &Value| {
        let messages = request["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    let told: Vec<String> = bench.requests().iter().map(last).collect();
    assert_eq!(told[2], "3 turns of this loop are left, this one included.");
    assert_eq!(told[3], "2 turns of this loop are left, this one included.");
    let end = "This is the last turn of this loop: the results of calls made in it are not told.";
    assert_eq!(told[4], end);
    assert!(!told[..2].iter().any(|told| told.contains("left")), "{told:?}");
    let sent = bench.model.requests();
    for pair in sent.windows(2) {
        assert!(
            pair[1].starts_with(&pair[0][..pair[0].len() - 2]),
            "a message that was sent changed"
        );
    }
    for (turn, sent) in (1..).zip(&sent) {
        let shown = bench.cairn(&["show", &format!("log:///1/{turn}#request")]);
        assert_eq!(shown.out.as_bytes(), &sent[..], "{}", shown.err);
    }
    let taken = events.iter().filter(|event| event["type"] == "steer/taken");
    assert!(taken.map(|event| &event["writer"]).eq(["system"; 3]));
}
