//! Small things around a run: dumb terminals, endless lines, what a killed process leaves.

use crate::bench_world::Bench;
use crate::terminal::Terminal;
use cairn_testkit::Fault;
use serde_json::json;
use std::io::Write;

// keeps: clean-screen
#[test]
fn a_dumb_terminal_gets_no_colours() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": "a", "content": "x"}}]},
        {"say": "over"},
    ]));
    for (term, is_coloured) in [("dumb", false), ("xterm", true)] {
        let mut run = bench.command(&["run", "--yolo", "--new-session", "work"]);
        run.env("TERM", term);
        let mut terminal = Terminal::sized(&bench, &run, (80, 24));
        let shown = terminal.until("turns, ");
        assert_eq!(shown.contains('\u{1b}'), is_coloured, "{term}: {shown:?}");
    }
}

// keeps: bad-input
#[test]
fn a_line_without_end_on_stdin_is_left_out_and_the_next_one_is_heard() {
    let bench = Bench::new(json!([{"say": "never told"}]));
    bench.model.delay(std::time::Duration::from_secs(60));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    talk.until("turn/asked");
    let mut line = vec![b'x'; 17 << 20];
    line.push(b'\n');
    talk.stdin.as_mut().unwrap().write_all(&line).unwrap();
    talk.say(json!({"type": "abort"}));
    let notice = talk.until("notice");
    assert!(
        notice["text"].as_str().unwrap().starts_with("a line of more than 16 MiB was left out")
    );
    assert_eq!(talk.result()["status"], "cancelled");
}

// keeps: survives-kill
#[test]
fn what_a_killed_process_left_in_the_sandbox_is_cleared_by_the_next_one() {
    let bench = Bench::confined(json!([{"say": "done"}]));
    let left = bench.temp.home().join("sandbox/4194305-0");
    std::fs::create_dir_all(left.join("work")).unwrap();
    std::fs::write(left.with_extension("lock"), "").unwrap();
    assert_eq!(bench.cairn(&["run", "work"]).code, 0);
    assert!(!left.exists() && !left.with_extension("lock").exists());
}

// keeps: never-half-a-call
#[test]
fn a_call_with_bytes_that_are_not_utf8_is_not_performed_and_its_neighbour_is() {
    let bench = Bench::new(json!([{"say": "unused"}, {"say": "done"}]));
    let call = |n: u32, path: &str, content: &str| {
        let args = json!({"path": path, "content": content}).to_string();
        json!({"index": n, "id": format!("c{n}"), "function": {"name": "write", "arguments": args}})
    };
    let calls = [call(0, "broken", "hel~lo"), call(1, "whole", "hello")];
    let delta = json!({"content": "he~re", "tool_calls": calls});
    let chunk = json!({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]}).to_string();
    let response = format!("HTTP/1.1 200 OK\r\n\r\ndata: {chunk}\n\ndata: [DONE]\n\n");
    let bytes = response.bytes().map(|byte| if byte == b'~' { 0xff } else { byte }).collect();
    bench.model.fault(0, Fault::Garbage(bytes));
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    assert_eq!(events.last().unwrap()["status"], "done", "{events:#?}");
    let settled: Vec<_> =
        events.iter().filter(|e| e["type"] == "op/settled").map(|e| e["status"].clone()).collect();
    assert_eq!(settled, [json!(403), json!(201)]);
    assert!(!bench.file("broken").exists());
    assert_eq!(bench.temp.read("whole"), "hello");
    let said = events.iter().any(|event| {
        event["type"] == "notice"
            && event["text"].as_str().is_some_and(|text| text.contains("not UTF-8"))
    });
    assert!(said, "{events:#?}");
}

// keeps: log-shows
#[test]
fn a_question_that_nobody_answered_shows_as_approval_needed() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": "a", "content": "x"}}]},
        {"say": "over"},
        {"say": "over again"},
    ]));
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    terminal.until("r refuse with words: ");
    terminal.keys("\u{4}");
    assert_eq!(terminal.code(), Some(5));
    let listed = bench.cairn(&["sessions"]).out;
    assert!(listed.contains("approval-needed"), "{listed}");
    assert_eq!(bench.cairn(&["run", "-c", "--yolo", "go on"]).code, 0);
    let listed = bench.cairn(&["sessions"]).out;
    assert!(!listed.contains("approval-needed"), "{listed}");
}
