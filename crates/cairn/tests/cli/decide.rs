//! A word on a question from another terminal: it is taken once, and everybody is told whose it was.

use crate::bench_world::{Bench, Done, done};
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

/// A run that waits for words from elsewhere.
fn waiting(bench: &Bench) -> Child {
    bench
        .command(&["run", "--await", "--max-turns", "10000", "work"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The next open question that is not this one.
fn question(bench: &Bench, not: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let listed = bench.cairn(&["decide", "--json"]).out;
        if let Some(line) = listed.lines().next() {
            let open: Value = serde_json::from_str(line).unwrap();
            if open["proposal"] != not {
                return open;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no question after {not}");
}

fn ended(child: Child) -> Done {
    done(child.wait_with_output().unwrap())
}

// keeps: decide-elsewhere
#[test]
fn a_word_from_another_terminal_is_taken_and_the_second_is_told_who_and_when() {
    let bench = Bench::new(json!([bash("touch a"), bash("touch b"), {"say": "done"}]));
    let run = waiting(&bench);
    let first = question(&bench, "");
    assert_eq!((&first["proposal"], &first["kind"]), (&json!("p1.1.1"), &json!("exec")));
    assert!(first["shown"].as_str().unwrap().contains("touch a"), "{first}");
    let shown = bench.cairn(&["decide", "p1.1.1"]).out;
    assert!(shown.contains("touch a") && shown.contains("cairn decide p1.1.1 allow"), "{shown}");
    assert!(!bench.file("a").exists());
    let taken = bench.cairn(&["decide", "p1.1.1", "allow"]);
    assert_eq!((taken.code, taken.err.as_str()), (0, ""), "{taken:?}");
    question(&bench, "p1.1.1");
    assert!(bench.file("a").exists());
    let late = bench.cairn(&["decide", "p1.1.1", "refuse"]);
    assert_eq!(late.code, 1);
    assert!(
        late.err.contains("409: p1.1.1 was decided already: allow by person:tester, "),
        "{}",
        late.err
    );
    let none = bench.cairn(&["decide", "p9.9.9", "allow"]);
    assert_eq!((none.code, none.err.contains("no open question")), (2, true));
    let refused =
        bench.cairn(&["decide", "p1.2.1", "refuse", "--words", "leave b alone", "--json"]);
    assert_eq!(refused.code, 0, "{refused:?}");
    assert_eq!(ended(run).code, 0);
    assert!(!bench.file("b").exists());
    assert!(bench.requests().last().unwrap().to_string().contains("leave b alone"));
    let over = bench.cairn(&["decide"]).out;
    assert!(over.contains("no question is open"), "{over}");
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    assert!(facts.contains(r#""by":{"kind":"person","name":"tester"}"#), "{facts}");
}

// keeps: decide-elsewhere
#[test]
fn a_run_without_a_terminal_says_how_its_question_is_decided_from_another() {
    let bench = Bench::new(json!([bash("touch a"), {"say": "done"}]));
    let run = bench.command(&["run", "--await", "work"]).spawn().unwrap();
    question(&bench, "");
    assert_eq!(bench.cairn(&["decide", "p1.1.1", "refuse"]).code, 0);
    let said = ended(run).err;
    let how = "decide from another terminal: cairn decide p1.1.1 allow, or refuse";
    assert!(said.contains(how) && !said.contains("allow? y"), "{said}");
}

// keeps: decide-elsewhere
#[test]
fn a_word_that_ends_the_run_is_told_as_taken() {
    let bench = Bench::new(json!([]));
    let replies = json!([bash("touch a"), {"say": "done"}]);
    let script = json!({"cairn_script": 1, "name": "test", "replies": replies});
    let file = bench.temp.path().join("script.json");
    std::fs::write(&file, script.to_string()).unwrap();
    let model = format!("scripted/{}", file.display());
    for _ in 0..5 {
        let mut run = bench.command(&["run", "--await", "--model", &model, "work"]);
        let run = run.stderr(Stdio::null()).spawn().unwrap();
        question(&bench, "");
        let taken = bench.cairn(&["decide", "p1.1.1", "refuse"]);
        assert_eq!((taken.code, taken.err.as_str()), (0, ""), "{taken:?}");
        assert_eq!(ended(run).code, 0);
    }
}

// keeps: decide-elsewhere
#[test]
fn of_two_who_decide_at_once_one_is_taken_and_the_other_is_told() {
    let races: usize = told("CAIRN_RACES", 40);
    let mut replies: Vec<Value> = (0..races).map(|n| bash(&format!("touch f{n}"))).collect();
    replies.push(json!({"say": "done"}));
    let bench = Bench::new(json!(replies));
    let run = waiting(&bench);
    let mut before = String::new();
    let mut firsts = [0, 0];
    for n in 0..races {
        let open = question(&bench, &before);
        before = open["proposal"].as_str().unwrap().to_owned();
        let id = open["run"].as_str().unwrap();
        let words = if n % 2 == 0 { ["allow", "refuse"] } else { ["refuse", "allow"] };
        let start = |word| {
            bench.command(&["decide", "--run", id, &before, word, "--json"]).spawn().unwrap()
        };
        let both = words.map(start).map(ended);
        let codes = both.each_ref().map(|done| {
            serde_json::from_str::<Value>(&done.out).unwrap()["code"].as_u64().unwrap()
        });
        let first = codes.iter().position(|code| *code == 200).unwrap();
        assert_eq!(codes[1 - first], 409, "{both:?}");
        assert!(both[1 - first].out.contains(&format!("{} by person:tester", words[first])));
        firsts[first] += 1;
    }
    assert_eq!(ended(run).code, 0);
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    let decisions = facts.lines().filter(|line| line.contains(r#""kind":"decision""#)).count();
    assert_eq!(decisions, races);
    println!("{races} races, one decision each; {firsts:?} were first");
}

#[allow(clippy::disallowed_methods, reason = "a test asks how long it shall run")]
fn told(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
