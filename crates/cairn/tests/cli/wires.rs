//! One task of forty steps, worked over each wire format: the rows are the same.

use crate::bench_world::Bench;
use serde_json::{Value, json};

fn call(tool: &str, args: Value) -> Value {
    json!({"tool": tool, "args": args})
}

/// Forty turns that use every tool, fail in every usual way, think, and call several at once.
fn forty_steps() -> Value {
    let mut turns: Vec<Value> = vec![
        json!({"think": "where am I", "say": "I look.", "calls": [call("list", json!({})), call("read", json!({"path": "a.txt"})), call("find", json!({"text": "two"}))]}),
        json!({"calls": [call("write", json!({"path": "new/b.txt", "content": "b\nc\n"}))]}),
        json!({"calls": [call("edit", json!({"path": "a.txt", "old": "two", "new": "2"}))]}),
        json!({"calls": [call("multi_edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "1"}, {"old": "three", "new": "3"}]}))]}),
        json!({"calls": [call("edit", json!({"path": "a.txt", "patch": "s/1/eins/"}))]}),
        json!({"calls": [call("edit", json!({"patch": "*** Begin Patch\n*** Update File: new/b.txt\n@@\n-b\n+B\n*** Add File: new/d.txt\n+d\n*** End Patch"}))]}),
        json!({"calls": [call("read", json!({"path": "picture.png"}))]}),
        json!({"calls": [call("bash", json!({"command": "printf 'é%.0s' 1 2 3; exit 3"}))]}),
        json!({"calls": [call("copy", json!({"from": "new", "to": "copied"})), call("move", json!({"from": "copied/d.txt", "to": "d.txt"}))]}),
        json!({"calls": [call("remove", json!({"path": "copied"}))]}),
        json!({"calls": [call("todo", json!({"items": [{"text": "look", "state": "done"}, {"text": "more", "state": "active"}]}))]}),
        json!({"think": "that was wrong", "calls": [call("edit", json!({"path": "a.txt", "old": "nowhere", "new": "x"})), call("bash", json!({"command": "echo not run"}))]}),
        json!({"calls": [call("read", json!({"path": "missing"})), call("brush", json!({})), call("bash", json!({"cmd": "echo repaired"}))]}),
        // No half of an object: Gemini's calls are objects, so it cannot say one.
        json!({"calls": [call("bash", json!({"command": ["ls"]}))]}),
        json!({"calls": [call("write", json!({"path": "unread.txt", "content": "over"}))]}),
        json!({"calls": [call("write", json!({"path": "unread.txt", "content": "over"}))]}),
        json!({"calls": [call("read", json!({"path": "long.txt"}))]}),
        json!({"calls": [call("read", json!({"path": "long.txt"}))]}),
        json!({"calls": [call("read", json!({"path": "long.txt", "first": 3, "limit": 2})), call("read", json!({"path": "log:///1/8/1#output"}))]}),
    ];
    for n in turns.len() + 1..40 {
        let say = if n % 3 == 0 { "still at it" } else { "" };
        let command = format!("echo step {n} >> steps; wc -l < steps");
        turns.push(json!({"say": say, "calls": [call("bash", json!({"command": command}))]}));
    }
    turns.push(json!({"say": "All forty are done."}));
    turns.into()
}

/// A field that tells runs apart, and how it is made the same.
const NORMALISED: [(&str, &str); 19] = [
    ("id", "of calls: each format has its own"),
    ("call", "the same id in an intent"),
    ("run", "a run's id"),
    ("session", "a session's id"),
    ("system", "names the folder"),
    ("holder", "a process"),
    ("root", "names the folder"),
    ("home", "names the person's folder"),
    ("epoch", "a lease"),
    ("at_ms", "a time"),
    ("ms", "a duration"),
    ("mtime_ns", "a time"),
    ("usage", "each format counts in its own way"),
    ("cost", "follows from usage"),
    ("model", "named after the provider"),
    ("form", "how it is asked"),
    ("thoughts", "sealed by each format in its own way"),
    ("reasoning", "told by some formats only"),
    ("attempts", "requests it took"),
];

fn normal(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                *field = match NORMALISED.iter().any(|(listed, _)| listed == name) {
                    true => Value::Null,
                    false => normal(field.take()),
                };
            }
            fields.retain(|_, field| !field.is_null());
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = normal(item.take())),
        _ => {}
    }
    value
}

/// The facts of the task worked over one format.
fn worked(wire: &str) -> Vec<Value> {
    let bench = Bench::new(forty_steps());
    bench.temp.write("a.txt", "one\ntwo\nthree\n");
    bench.temp.write("unread.txt", "theirs\n");
    bench.temp.write("long.txt", "a line that is long enough\n".repeat(40));
    std::fs::write(bench.file("picture.png"), b"\x89PNG\r\n\x1a\nnot much").unwrap();
    let url = bench.model.url();
    let root = url.trim_end_matches("/v1");
    let (model, config) = match wire {
        "chat" => ("openai/test", format!("[providers.openai]\nbase_url = \"{url}\"\n")),
        "responses" => (
            "openai/test",
            format!("[providers.openai]\nbase_url = \"{url}\"\nwire = \"responses\"\n"),
        ),
        "anthropic" => (
            "anthropic/claude-sonnet-4-5",
            format!("[providers.anthropic]\nbase_url = \"{root}\"\n"),
        ),
        _ => ("google/gemini-2.5-pro", format!("[providers.google]\nbase_url = \"{root}\"\n")),
    };
    bench.own("cairn.toml", &config);
    let mut command = bench.command(&["run", "--yolo", "--model", model, "work"]);
    command.env_remove("OPENAI_BASE_URL").env("ANTHROPIC_API_KEY", "sk-ant-key-of-a-test");
    command.env("GEMINI_API_KEY", "key-of-a-test");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{wire}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.ends_with(b"\nAll forty are done.\n"), "{wire}");
    assert_eq!(bench.model.requests().len(), 40, "{wire}");
    assert_eq!(bench.cairn(&["verify"]).code, 0, "{wire}");
    // What was sent can be written again, in whatever format it was.
    let run = bench.cairn(&["sessions", "--json"]).out;
    let run: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    let id = run["runs"][0]["id"].as_str().or(run["runs"][0]["run"].as_str()).unwrap().to_owned();
    for turn in [1, 9, 40] {
        let shown = bench.cairn(&["show", &format!("log://{id}/1/{turn}#request")]).out;
        assert_eq!(shown.trim_end().as_bytes(), bench.model.requests()[turn - 1], "{wire} {turn}");
    }
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    facts
        .lines()
        .map(|line| {
            let mut fact: Value = serde_json::from_str(line).unwrap();
            if let Some(fields) = fact.as_object_mut() {
                fields.remove("at");
            }
            normal(fact)
        })
        .collect()
}

// keeps: same-rows
#[test]
fn forty_steps_leave_the_same_rows_over_every_format() {
    let chat = worked("chat");
    assert!(chat.len() > 200, "only {} facts", chat.len());
    for wire in ["responses", "anthropic", "gemini"] {
        let other = worked(wire);
        for (a, b) in chat.iter().zip(&other) {
            assert_eq!(a, b, "{wire}");
        }
        assert_eq!(chat.len(), other.len(), "{wire}");
    }
}
