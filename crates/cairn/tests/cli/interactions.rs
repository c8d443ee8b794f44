//! What the agent puts to a person: a question, a plan, its list. Answered at the terminal, by a program,
//! from another terminal, or not at all.

use crate::bench_world::Bench;
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

fn asks() -> Value {
    call("ask_user", json!({"question": "Which database?", "options": ["SQLite", "Postgres"]}))
}

fn plans(plan: &str) -> Value {
    call("present_plan", json!({"plan": plan}))
}

fn writes(path: &str) -> Value {
    call("write", json!({"path": path, "content": "x\n"}))
}

fn wait_for_question(bench: &Bench) {
    let until = Instant::now() + Duration::from_secs(60);
    while bench.cairn(&["decide", "--json"]).out.is_empty() {
        assert!(Instant::now() < until, "no question");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The last thing that the model was sent.
fn heard(bench: &Bench) -> String {
    let requests = bench.requests();
    let messages = requests.last().unwrap()["messages"].as_array().unwrap().clone();
    messages.last().unwrap()["content"].to_string()
}

/// The tools that the model was offered.
fn offered(bench: &Bench) -> String {
    let tools = bench.requests()[0]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> =
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    names.join(" ")
}

// keeps: interactions
#[test]
fn a_question_is_put_with_its_answers_and_a_number_is_one_of_them() {
    let bench = Bench::new(json!([asks(), {"say": "SQLite it is"}]));
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "set up the store"]));
    let shown = terminal.until("or an answer of your own");
    assert!(shown.contains("Which database?"), "{shown}");
    assert!(shown.contains("1 SQLite") && shown.contains("2 Postgres"), "{shown}");
    terminal.keys("2\n");
    terminal.until("SQLite it is");
    assert_eq!(terminal.code(), Some(0));
    assert_eq!(heard(&bench), json!("Postgres").to_string());
    let row = bench.cairn(&["show", "1/1/1"]).out;
    assert!(row.contains("Which database?") && row.contains("answer by person"), "{row}");
    let replayed = bench.cairn(&["policy", "replay"]);
    assert_eq!(replayed.code, 0, "{replayed:?}");
}

// keeps: interactions
#[test]
fn a_program_answers_in_its_own_words_and_words_that_fit_no_question_are_not_taken() {
    let bench = Bench::new(json!([asks(), {"say": "done"}]));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let opened = talk.until("proposal/opened");
    assert_eq!(opened["kind"], "question");
    assert_eq!(opened["items"][1]["label"], "Postgres");
    let id = opened["proposal"].clone();
    talk.say(json!({"type": "decide", "proposal": id, "verdict": "allow"}));
    let notice = talk.until("notice");
    assert!(
        notice["text"]
            .as_str()
            .unwrap()
            .contains("this allow does not answer p1.1.1; answer with words, and refuse, do"),
        "{notice}"
    );
    talk.say(json!({"type": "decide", "proposal": id, "verdict": "answer", "words": "a file"}));
    let decided = talk.until("proposal/decided");
    assert_eq!(decided["verdict"], "answer");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(heard(&bench), json!("a file").to_string());
}

// keeps: interactions
#[test]
fn where_nobody_can_answer_no_question_is_offered_and_one_that_comes_is_refused_cleanly() {
    let bench = Bench::new(json!([asks(), plans("do it"), {"say": "went by what I know"}]));
    let run = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!((run.code, run.out.trim()), (0, "went by what I know"), "{}", run.err);
    assert!(!offered(&bench).contains("ask_user"), "{}", offered(&bench));
    assert!(heard(&bench).contains("nobody is there to answer"), "{}", heard(&bench));
    // A program that has hung up answers nothing either.
    let bench = Bench::new(json!([asks(), {"say": "done"}]));
    let run = bench.cairn(&["run", "--json", "work"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(heard(&bench).contains("nobody is there to answer"), "{}", heard(&bench));
    for flag in ["--no-interaction", "--no-proposals"] {
        let bench = Bench::new(json!([asks(), {"say": "done"}]));
        let mut talk = bench.talk(&["run", "--json", flag, "work"]);
        talk.until("result");
        assert!(!offered(&bench).contains("present_plan"), "{}", offered(&bench));
        assert!(heard(&bench).contains("nobody is there to answer"), "{}", heard(&bench));
    }
    let bench = Bench::new(json!([{"say": "done"}]));
    bench.talk(&["run", "--json", "work"]).until("result");
    assert!(offered(&bench).ends_with("todo ask_user present_plan"), "{}", offered(&bench));
}

// keeps: plans
#[test]
fn a_plan_is_revised_then_approved_and_only_then_carried_out() {
    let bench = Bench::new(json!([
        writes("early"),
        plans("# Plan\n1. write a\n2. write b"),
        plans("# Plan\n1. write a"),
        writes("a"),
        {"say": "done"}
    ]));
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "--mode", "plan", "work"]));
    let shown = terminal.until("r revise it");
    assert!(shown.contains("2. write b"), "{shown}");
    assert!(!bench.file("early").exists());
    terminal.keys("r\n");
    terminal.until("what shall be different?");
    terminal.keys("only a\n");
    terminal.until("r revise it");
    terminal.keys("e\n");
    let shown = terminal.until("done");
    assert!(shown.contains("it goes on in accept-edits"), "{shown}");
    assert_eq!(terminal.code(), Some(0));
    assert!(bench.file("a").exists() && !bench.file("early").exists());
    let sent: Vec<String> = bench.requests().iter().map(Value::to_string).collect();
    assert!(sent[1].contains("once a plan is approved"), "{}", sent[1]);
    assert!(sent[2].contains("revise it by what they say") && sent[2].contains("only a"));
    assert!(sent[3].contains("changes can be made now"), "{}", sent[3]);
}

// keeps: plans
#[test]
fn no_plan_goes_beyond_what_an_operator_lets_be() {
    let bench = Bench::new(json!([plans("do it"), writes("a"), {"say": "done"}]));
    let operator = bench.own("operator.toml", "[policy]\nmode = \"plan\"\n");
    let mut run = bench.command(&["run", "--await", "work"]);
    run.env("CAIRN_OPERATOR", &operator).stderr(Stdio::null());
    let run = run.spawn().unwrap();
    wait_for_question(&bench);
    let wide = bench.cairn(&["decide", "p1.1.1", "allow", "--mode", "act"]);
    assert_eq!(wide.code, 1);
    assert!(wide.err.contains("does not widen the mode to act here"), "{}", wide.err);
    let shown = bench.cairn(&["decide", "p1.1.1"]).out;
    assert!(shown.contains("the agent proposes a plan"), "{shown}");
    assert_eq!(bench.cairn(&["decide", "p1.1.1", "allow"]).code, 0);
    run.wait_with_output().unwrap();
    assert!(!bench.file("a").exists());
}

// keeps: interactions
#[test]
fn a_question_outlives_the_process_that_put_it_and_is_answered_once() {
    let bench = Bench::new(json!([asks(), {"say": "done"}]));
    let mut run = bench.command(&["run", "--await", "work"]).stderr(Stdio::null()).spawn().unwrap();
    wait_for_question(&bench);
    run.kill().unwrap();
    run.wait().unwrap();
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "-c"]));
    let shown = terminal.until("or an answer of your own");
    assert!(shown.contains("Which database?"), "{shown}");
    terminal.keys("-\n");
    terminal.until("done");
    assert_eq!(terminal.code(), Some(0));
    assert!(heard(&bench).contains("does not answer"), "{}", heard(&bench));
}

// keeps: todo-shown
#[test]
fn the_list_of_what_is_to_be_done_is_shown_as_it_changes() {
    let list = |state: &str| {
        let items = json!([{"text": "read the code", "state": state}, {"text": "fix it", "state": "pending"}]);
        call("todo", json!({"items": items}))
    };
    let bench = Bench::new(json!([list("active"), list("done"), {"say": "done"}]));
    let run = bench.cairn(&["run", "--yolo", "work"]);
    for line in ["[>] read the code", "[x] read the code", "[ ] fix it"] {
        assert!(run.err.contains(line), "{}", run.err);
    }
}
