//! Small things around a run: dumb terminals, endless lines, what a killed process leaves.

use crate::bench_world::Bench;
use crate::terminal::Terminal;
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
