//! What commands print and where it is found, in front and in the background.

use crate::bench_world::Bench;
use serde_json::{Value, json};

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

// keeps: output-kept, output-told
#[test]
fn a_long_output_is_told_by_its_ends_and_shown_whole() {
    let bench = Bench::new(json!([bash("echo for $AGENT; seq 1 300000"), {"say": "done"}]));
    let events = bench.events(&["run", "--yolo", "--json", "count"]);
    let run = events[0]["run"].as_str().unwrap();
    let numbers: String = (1..=300_000).map(|n| format!("{n}\n")).collect();
    let all = format!("for cairn\n{numbers}");
    let settled = events.iter().find(|event| event["type"] == "op/settled").unwrap();
    let (head, tail) = (&all[..4096], &all[all.len() - 12_288..]);
    let missing = all.len() - 4096 - 12_288;
    let told =
        format!("{head}\n… {missing} bytes not shown; read log:///1/1/1#output …\n{tail}exit=0");
    assert_eq!(settled["text"].as_str().unwrap(), told);
    let shown = bench.cairn(&["show", &format!("log://{run}/1/1/1#output")]);
    assert!(shown.code == 0 && shown.out == all, "{}", shown.err);
    assert_eq!(bench.cairn(&["verify", run]).code, 0);
}

// keeps: background, asks-first
#[test]
fn a_person_is_asked_before_a_command_runs_in_the_background_and_before_it_is_ended() {
    let beside = json!({"command": "echo up; touch up; sleep 7800", "background": true});
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": beside}]},
        {"calls": [{"tool": "remove", "args": {"path": "log:///1/1/1"}}]},
        {"say": "done"},
    ]));
    let mut talk = bench.talk(&["run", "--json", "serve"]);
    let asked = talk.until("proposal/opened");
    let shown = asked["shown"].as_str().unwrap();
    assert!(shown.contains("\ntimeout: none, it runs in the background\n"), "{shown}");
    assert!(shown.contains("\nfiles: the files themselves; undo will not cover"), "{shown}");
    assert!(!bench.file("up").exists());
    talk.say(json!({"type": "decide", "proposal": asked["proposal"], "verdict": "allow"}));
    let settled = talk.until("op/settled");
    assert_eq!(settled["status"], 102);
    let asked = talk.until("proposal/opened");
    let expected =
        "end in the background: log:///1/1/1\ncommand:\n  echo up; touch up; sleep 7800\n";
    assert_eq!(asked["shown"], expected);
    while !bench.file("up").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    talk.say(json!({"type": "decide", "proposal": asked["proposal"], "verdict": "allow"}));
    let ended = talk.until("op/ended");
    assert_eq!((&ended["op_at"], &ended["state"]), (&json!("1/1/1"), &json!("removed")));
    assert!(ended["cursor"].is_u64());
    let result = talk.result();
    assert_eq!(result["status"], "done");
    let run = result["run"].as_str().unwrap();
    assert_eq!(bench.cairn(&["show", &format!("log://{run}/1/1/1#output")]).out, "up\n");
    let log = bench.cairn(&["log", run]).out;
    assert!(log.contains("  1/1/1  in the background: removed\n"), "{log}");
    assert_eq!(bench.cairn(&["verify", run]).code, 0);
}
