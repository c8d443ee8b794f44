//! What `cairn run` is shown with a task, and who is asked while something is piped in.

use crate::bench_world::Bench;
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::process::Command;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nthe rest of a picture";

fn write(path: &str, lines: usize) -> Value {
    let content: String = (1..=lines).map(|n| format!("line {n}\n")).collect();
    json!({"calls": [{"tool": "write", "args": {"path": path, "content": content}}]})
}

// keeps: pictures-shown
#[test]
fn a_picture_is_shown_with_the_task_by_its_bytes_and_is_in_the_log() {
    let bench = Bench::new(json!([{"say": "a cat"}, {"say": "still a cat"}]));
    bench.temp.write("cat.txt", PNG);
    bench.temp.write("paper", "%PDF-1.7 a paper");
    let args =
        ["run", "--model", "openai/gpt-4.1", "--image", "cat.txt", "--image", "paper", "what?"];
    let done = bench.cairn(&args);
    assert_eq!((done.code, done.out.as_str()), (0, "a cat\n"), "{}", done.err);
    assert!(done.err.contains("with cat.txt, image/png"), "{}", done.err);
    let sent = |index: usize| bench.requests()[index]["messages"].to_string();
    assert!(sent(0).contains("data:image/png;base64,iVBORw0KGgp0aGUgcmVzdCBvZ"), "{}", sent(0));
    assert!(sent(0).contains("paper"), "{}", sent(0));
    assert_eq!(bench.cairn(&["run", "-c", "--model", "openai/gpt-4.1", "and now?"]).code, 0);
    assert!(sent(1).contains("data:image/png;base64,"), "it stays in sight");
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains("with cat.txt, image/png"), "{log}");

    let blind = bench.cairn(&["run", "--image", "cat.txt", "what?"]);
    assert!(blind.err.contains("not known to take images"), "{}", blind.err);
    assert!(!sent(2).contains("base64"), "{}", sent(2));
}

// keeps: bad-input
#[test]
fn what_cannot_be_shown_is_named_before_anything_begins() {
    let bench = Bench::new(json!([{"say": "-"}]));
    bench.temp.write("text.png", "only named like one");
    bench.temp.write("cat.png", PNG);
    bench.temp.write("huge.png", [PNG, &vec![0; 6 << 20]].concat());
    let check = |args: &[&str], says: &str| {
        let done = bench.cairn(&[&["run"], args].concat());
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(says), "{}", done.err);
    };
    check(&["--image", "text.png", "x"], "text.png is neither a picture");
    check(&["--image", "none.png", "x"], "none.png cannot be read");
    check(&["--image", ".", "x"], "is not a file");
    check(&["--image", "huge.png", "x"], "is larger than 5 MiB");
    check(&["--image", "cat.png"], "--image goes with a task");
    assert!(bench.model.requests().is_empty());
    assert!(!bench.temp.home().join("cairn.db").exists());
}

/// A shell line at a terminal.
#[allow(clippy::disallowed_methods, reason = "tests start the program")]
fn at_terminal(bench: &Bench, line: &str) -> Terminal {
    let mut shell = Command::new("/bin/sh");
    let cairn = bench.command(&[]);
    shell.args(["-c", &line.replace("cairn", cairn.get_program().to_str().unwrap())]);
    shell.envs(cairn.get_envs().filter_map(|(key, value)| Some((key, value?))));
    Terminal::open(bench, shell)
}

// keeps: asks-first
#[test]
fn a_person_is_asked_at_the_terminal_while_the_context_is_piped_in() {
    let bench = Bench::new(json!([write("a", 1), {"say": "finished"}]));
    let mut terminal = at_terminal(&bench, "echo the context | cairn run 'write a'");
    terminal.until("r refuse with words: ");
    assert!(!bench.file("a").exists());
    terminal.keys("y\n");
    terminal.until("done: 2 turns");
    assert_eq!(terminal.code(), Some(0));
    assert!(bench.file("a").exists());
    let asked = bench.requests()[0]["messages"].to_string();
    assert!(asked.contains("write a") && asked.contains("the context"), "{asked}");
    std::fs::remove_file(bench.file("a")).unwrap();
    let mut nobody = at_terminal(&bench, "cairn run 'write a' < /dev/null");
    nobody.until("nobody is there to allow it");
    assert_eq!(nobody.code(), Some(5));
    let mut nobody = at_terminal(&bench, "echo x | cairn run 'write a' 2> log; cat log");
    nobody.until("nobody is there to allow it");
}

// keeps: calls-once
#[test]
fn a_question_calls_once_unless_someone_is_there_and_shows_twenty_lines_first() {
    let bench = Bench::new(json!([write("a", 90), write("b", 1), {"say": "finished"}]));
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    let shown = terminal.until("r refuse with words: ");
    assert_eq!(shown.matches('\u{7}').count(), 1, "{shown}");
    let lines = |shown: &str| shown.matches("+line ").count();
    assert!((15..=20).contains(&lines(&shown)), "{shown}");
    terminal.keys("d\n");
    let all = terminal.until("r refuse with words: ");
    assert_eq!((lines(&all), all.contains('\u{7}')), (90, false), "{all}");
    terminal.keys("y\n");
    let second = terminal.until("r refuse with words: ");
    assert!(!second.contains('\u{7}'), "somebody is there: {second}");
    terminal.keys("y\n");
    terminal.until("done: 3 turns");

    std::fs::remove_file(bench.file("a")).unwrap();
    bench.own("cairn.toml", "notify = \"desktop\"");
    let mut command = bench.command(&["run", "work"]);
    command.env("TERM_PROGRAM", "WezTerm");
    let mut terminal = Terminal::open(&bench, command);
    let shown = terminal.until("r refuse with words: ");
    assert!(shown.contains("\u{7}\u{1b}]9;Cairn asks: "), "{shown:?}");
    terminal.keys("\u{3}");
    bench.own("cairn.toml", "notify = \"off\"");
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    assert!(!terminal.until("r refuse with words: ").contains('\u{7}'));
    terminal.keys("\u{3}");
    let piped = bench.cairn(&["run", "work"]);
    assert!(!piped.err.contains('\u{7}'));
    bench.temp.write("cairn.toml", "notify = \"off\"");
    assert!(bench.cairn(&["run", "work"]).err.contains("a project may not set notify"));
}
