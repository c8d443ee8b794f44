//! `cairn run` from start to end, and what the log says afterwards.

use crate::bench_world::{Bench, durable};
use serde_json::{Value, json};

fn fix() -> Value {
    json!([
        {"reasoning": "hm", "say": "Looking.", "calls": [
            {"tool": "read", "args": {"path": "a.txt"}},
            {"tool": "find", "args": {"text": "hello"}},
            {"tool": "edit", "args": {"path": "a.txt", "old": "hello", "new": "goodbye"}},
            {"tool": "bash", "args": {"command": "cat a.txt; exit 3"}}]},
        {"say": "Done.", "usage": {"input": 100, "output": 7}},
    ])
}

// keeps: run-json
#[test]
fn a_program_gets_one_event_per_line_and_a_flat_result_at_the_end() {
    let bench = Bench::new(fix());
    bench.temp.write("a.txt", "hello\n");
    let events = bench.events(&["run", "--yolo", "--json", "say goodbye"]);
    assert_eq!(
        durable(&events),
        [
            "run/started",
            "run/driven",
            "prompt/taken",
            "turn/asked",
            "turn/replied",
            "op/requested",
            "op/requested",
            "op/requested",
            "op/requested",
            "op/settled",
            "op/settled",
            "proposal/decided",
            "op/began",
            "op/settled",
            "proposal/decided",
            "op/began",
            "op/settled",
            "turn/asked",
            "turn/replied",
            "loop/ended",
        ]
    );
    let cursors: Vec<u64> = events.iter().filter_map(|e| e["cursor"].as_u64()).collect();
    assert_eq!(cursors, (1..=20).collect::<Vec<_>>());
    let result = events.last().unwrap();
    let keys =
        ["type", "status", "session", "run", "turns", "usage", "cost", "duration_ms", "exit_code"];
    assert!(keys.iter().all(|key| result.get(key).is_some()), "{result}");
    assert_eq!(result["status"], "done");
    assert_eq!(result["answer"], "Done.");
    assert_eq!(result["usage"]["input"], 100);
    assert_eq!(std::fs::read_to_string(bench.file("a.txt")).unwrap(), "goodbye\n");
    let settled: Vec<&Value> = events.iter().filter(|e| e["type"] == "op/settled").collect();
    assert!(settled.iter().all(|e| e["receipt"].as_str().unwrap().starts_with("rcpt_")));
    assert_eq!(settled[3]["exit"], 3);
    assert_eq!(settled[3]["status"], 200);
}

// keeps: request-rebuilt
#[test]
fn what_the_model_was_sent_is_rebuilt_from_the_log_byte_for_byte() {
    let bench = Bench::new(fix());
    bench.temp.write("a.txt", "hello\n");
    let events = bench.events(&["run", "--yolo", "--json", "say goodbye"]);
    let run = events[0]["run"].as_str().unwrap();
    let sent = bench.model.requests();
    assert_eq!(sent.len(), 2);
    for (turn, sent) in (1..).zip(&sent) {
        let shown = bench.cairn(&["show", &format!("log://{run}/1/{turn}#request")]);
        assert_eq!(shown.code, 0, "{}", shown.err);
        assert_eq!(shown.out.as_bytes(), &sent[..]);
    }
    assert_eq!(bench.cairn(&["show", &format!("log://{run}/1/1#reasoning")]).out, "hm");
    assert!(bench.cairn(&["show", &format!("log://{run}/1/1#reply")]).out.starts_with("Looking."));
    let row = bench.cairn(&["show", &format!("log://{run}/1/1/3")]).out;
    assert!(row.contains("-hello\n+goodbye\n") && row.contains("receipt rcpt_"), "{row}");
    let output = bench.cairn(&["show", &format!("log://{run}/1/1/4#output")]).out;
    assert_eq!(output, "goodbye\n");
}

// keeps: log-shows
#[test]
fn the_log_lists_every_row_and_the_sessions_every_run() {
    let bench = Bench::new(fix());
    bench.temp.write("a.txt", "hello\n");
    bench.events(&["run", "--yolo", "--json", "--name", "greeting", "say goodbye"]);
    let log = bench.cairn(&["log"]);
    for part in [
        "1/1/1  read a.txt  → 200",
        "1/1/4  bash cat a.txt; exit 3  → 200 exit 3",
        "modified a.txt",
    ] {
        assert!(log.out.contains(part), "{}", log.out);
    }
    assert_eq!(bench.cairn(&["log", "greeting"]).out, log.out);
    assert_eq!(bench.cairn(&["log", "--json"]).out.lines().count(), 4);
    assert_eq!(bench.cairn(&["log", "--facts", "--json"]).out.lines().count(), 20);
    assert!(bench.cairn(&["sessions"]).out.contains("greeting"));
}

// keeps: no-key-in-log
#[test]
fn the_key_is_nowhere_in_the_home() {
    let bench = Bench::new(
        json!([{"calls": [{"tool": "bash", "args": {"command": "env"}}]}, {"say": "ok"}]),
    );
    let events = bench.events(&["run", "--yolo", "--json", "look"]);
    let text = serde_json::to_string(&events).unwrap();
    assert!(text.contains("AGENT=cairn"), "{text}");
    assert!(!text.contains("sk-secret-key"));
    for file in walk(&bench.temp.home()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(13).any(|w| w == b"sk-secret-key"), "{}", file.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

// keeps: nobody-refuses
#[test]
fn without_anybody_to_ask_effects_are_refused_the_loop_goes_on_and_the_code_is_5() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": "new.txt", "content": "x"}}]},
        {"say": "I was not allowed."},
    ]));
    let done = bench.cairn(&["run", "make a file"]);
    assert_eq!(done.code, 5, "{}", done.err);
    assert!(!bench.file("new.txt").exists());
    assert_eq!(done.out, "I was not allowed.\n");
    let told = &bench.requests()[1]["messages"];
    assert_eq!(told[3]["content"], "refused: it needs approval and nobody is there to give it");
}

// keeps: read-only
#[test]
fn read_only_changes_nothing_and_still_looks() {
    for flag in ["--read-only", "--mode=read-only"] {
        let bench = Bench::new(json!([
            {"calls": [{"tool": "bash", "args": {"command": "touch made"}}, {"tool": "read", "args": {"path": "."}}]},
            {"say": "ok"},
        ]));
        let done = bench.cairn(&["run", flag, "look"]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(!bench.file("made").exists());
        let told = &bench.requests()[1]["messages"];
        assert_eq!(told[3]["content"], "refused: this run is read-only");
    }
}

// keeps: turn-cap
#[test]
fn the_turn_cap_ends_the_loop_with_code_4_and_the_run_can_go_on() {
    let call = json!({"calls": [{"tool": "bash", "args": {"command": "true"}}]});
    let bench = Bench::new(json!([call, call, {"say": "ok"}]));
    let done = bench.cairn(&["run", "--yolo", "--max-turns", "2", "work"]);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(done.err.contains("the loop reached its 2 turns"), "{}", done.err);
    let done = bench.cairn(&["run", "--yolo", "-c", "go on"]);
    assert_eq!((done.code, done.out.as_str()), (0, "ok\n"), "{}", done.err);
}

// keeps: proposals-json
#[test]
fn a_program_decides_on_proposals_and_words_with_a_refusal_become_the_next_message() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": "a", "content": "1\n"}}]},
        {"calls": [{"tool": "bash", "args": {"command": "touch b"}}]},
        {"say": "ok"},
    ]));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let first = talk.until("proposal/opened");
    assert!(first["shown"].as_str().unwrap().contains("+1"), "{first}");
    assert_eq!(first["kind"], "edit");
    let stale = json!({"type": "decide", "proposal": first["proposal"], "verdict": "allow", "shown_hash": "0".repeat(64)});
    talk.say(stale);
    assert!(talk.until("notice")["text"].as_str().unwrap().starts_with("409"));
    talk.say(json!({"type": "decide", "proposal": first["proposal"], "verdict": "allow", "shown_hash": first["shown_hash"]}));
    let second = talk.until("proposal/opened");
    assert_eq!(second["kind"], "exec");
    assert!(!bench.file("b").exists());
    talk.say(json!({"type": "decide", "proposal": second["proposal"], "verdict": "refuse", "words": "use c instead"}));
    let result = talk.result();
    assert_eq!(result["status"], "done");
    assert_eq!(std::fs::read_to_string(bench.file("a")).unwrap(), "1\n");
    assert!(!bench.file("b").exists());
    let told = bench.requests()[2]["messages"].as_array().unwrap().clone();
    assert_eq!(told[told.len() - 2]["content"], "refused by the person");
    assert_eq!(told[told.len() - 1], json!({"role": "user", "content": "use c instead"}));
}

// keeps: steering
#[test]
fn words_abort_and_further_prompts_reach_a_working_run() {
    let slow = json!({"calls": [{"tool": "bash", "args": {"command": "sleep 30"}}, {"tool": "bash", "args": {"command": "touch never"}}]});
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "sleep 1"}}, {"tool": "bash", "args": {"command": "touch never"}}]},
        slow,
        {"say": "second"},
    ]));
    let mut talk = bench.talk(&["run", "--yolo", "--json", "first"]);
    talk.until("op/began");
    talk.say(json!({"type": "steer", "text": "do it differently"}));
    talk.until("steer/taken");
    talk.say(json!({"type": "prompt", "text": "and then this"}));
    talk.until("prompt/taken");
    talk.until("turn/asked");
    talk.until("op/began");
    let began = std::time::Instant::now();
    talk.say(json!({"type": "abort"}));
    let ended = talk.until("loop/ended");
    assert!(began.elapsed().as_millis() < 1500, "an abort reaches the process");
    assert_eq!(ended["status"], 499);
    let result = talk.result();
    assert_eq!(result["answer"], "second");
    assert!(!bench.file("never").exists());
    let told = bench.requests()[1]["messages"].as_array().unwrap().clone();
    assert_eq!(told[told.len() - 1]["content"], "do it differently");
    assert!(told[told.len() - 2]["content"].as_str().unwrap().starts_with("not performed"));
}

// keeps: nobody-refuses
#[test]
fn when_the_program_hangs_up_open_questions_are_refused() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "touch b"}}]},
        {"say": "ok"},
    ]));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    talk.until("proposal/opened");
    talk.hang_up();
    let result = talk.result();
    assert_eq!(result["exit_code"], 5);
    assert!(!bench.file("b").exists());
}

// keeps: walkthrough
#[test]
#[allow(clippy::disallowed_methods, reason = "the script that `make try` runs")]
fn the_walkthrough_fixes_the_sample_twice_in_a_row() {
    let temp = cairn_testkit::TempHome::new();
    let project = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for _ in 0..2 {
        let tried = std::process::Command::new("tools/try.sh")
            .args([env!("CARGO_BIN_EXE_cairn"), "scripted/walkthrough"])
            .current_dir(&project)
            .env("TRY_DIR", temp.path().join("try"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let (out, err) =
            (String::from_utf8(tried.stdout).unwrap(), String::from_utf8(tried.stderr).unwrap());
        assert!(tried.status.success(), "{out}{err}");
        for part in
            ["bundled walkthrough", "+echo $(( $1 * 9 / 5 + 32 ))", "exit 0", "done: 4 turns"]
        {
            assert!(err.contains(part), "{part}: {err}");
        }
        assert!(out.contains("Fixed.") && out.contains("try next"), "{out}");
    }
}

/// How often a run of this script makes sure that something is on the disk.
#[allow(clippy::disallowed_methods, reason = "strace counts from outside")]
fn count_syncs(bench: &Bench) -> usize {
    let run = bench.command(&[]);
    let log = bench.temp.path().join("strace.log");
    let mut command = std::process::Command::new("strace");
    command
        .args(["-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs", "-o"])
        .arg(&log);
    command.arg(run.get_program()).args(["run", "--yolo", "work"]);
    command.env_clear().envs(run.get_envs().filter_map(|(k, v)| Some((k, v?))));
    command.current_dir(bench.temp.workspace()).stdin(std::process::Stdio::null());
    assert!(command.output().unwrap().status.success());
    std::fs::read_to_string(log).unwrap().lines().filter(|line| line.contains("sync")).count()
}

// keeps: two-syncs
#[test]
fn a_turn_with_one_call_makes_exactly_two_syncs() {
    let syncs = |turns: usize| {
        let turn =
            |n| json!({"calls": [{"tool": "bash", "args": {"command": format!("true {n}")}}]});
        let mut replies: Vec<Value> = (0..turns).map(turn).collect();
        replies.push(json!({"say": "ok"}));
        count_syncs(&Bench::new(Value::Array(replies)))
    };
    let (three, thirteen) = (syncs(3), syncs(13));
    assert_eq!(thirteen - three, 20, "ten more turns are twenty more syncs");
    println!("{three} syncs for three turns in a fresh home");
}

// keeps: survives-power-cut
#[test]
fn what_a_command_changed_is_made_durable_by_as_many_syncs_however_many_files_it_is() {
    let syncs = |files: usize| {
        let command = format!("mkdir many; for n in $(seq {files}); do echo $n > many/$n; done");
        let replies =
            json!([{"calls": [{"tool": "bash", "args": {"command": command}}]}, {"say": "ok"}]);
        let bench = Bench::confined(replies);
        let count = count_syncs(&bench);
        assert!(bench.file(&format!("many/{files}")).exists());
        count
    };
    assert_eq!(syncs(40), syncs(1500));
}

// keeps: proposals-json
#[test]
fn a_question_nobody_answers_in_time_is_withdrawn_and_the_loop_goes_on() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "touch made"}}]},
        {"say": "then not"},
    ]));
    let folder = bench.temp.path().join(".config/cairn");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cairn.toml"), "approval_timeout_ms = 50\n").unwrap();
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let decided = talk.until("proposal/decided");
    assert_eq!((&decided["verdict"], &decided["by"]), (&json!("cancel"), &json!("timeout")));
    assert_eq!(talk.result()["answer"], "then not");
    assert!(!bench.file("made").exists());
}

// keeps: run-json
#[test]
fn piped_input_becomes_part_of_the_task() {
    use std::io::Write;
    let bench = Bench::new(json!([{"say": "read"}]));
    let mut child =
        bench.command(&["run", "review this"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"some diff\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(bench.requests()[0]["messages"][1]["content"], "review this\n\nsome diff");
}

// keeps: output-schema
#[test]
fn an_answer_that_must_follow_a_schema_does_or_the_exit_code_says_so() {
    let bench = Bench::new(json!([{"say": "{\"n\": 3}"}, {"say": "three"}]));
    let schema =
        r#"{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}"#;
    bench.temp.write("schema.json", schema);
    let run = |more: &[&str]| {
        bench.cairn(&[&["run", "--output-schema", "schema.json", "count"], more].concat())
    };
    let done = run(&[]);
    assert_eq!((done.code, done.out.as_str()), (0, "{\"n\": 3}\n"), "{}", done.err);
    let sent = &bench.requests()[0]["response_format"];
    assert_eq!(sent["json_schema"]["schema"]["required"][0], "n", "{sent}");
    let wrong = run(&["-c"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("the answer is not JSON"), "{}", wrong.err);
    for (text, expected) in [
        ("[]", "schema.json is no JSON Schema: it is not an object"),
        ("{\"type\": 7}", "schema.json is no JSON Schema: "),
        ("{", "schema.json is no JSON Schema: EOF"),
    ] {
        bench.temp.write("schema.json", text);
        let refused = run(&[]);
        assert_eq!(refused.code, 2, "{text}");
        assert!(refused.err.contains(expected), "{text}: {}", refused.err);
    }
    assert_eq!(bench.requests().len(), 2, "a bad schema is told before anything is asked");
}

// keeps: output-schema
#[test]
fn a_fence_around_the_whole_answer_is_taken_off_and_no_other() {
    let fenced = "```json\n{\"n\": 3}\n```";
    let replies = json!([{"say": fenced}, {"say": fenced}, {"say": format!("Here:\n{fenced}")}]);
    let bench = Bench::new(replies);
    bench.temp.write("schema.json", r#"{"type": "object", "required": ["n"]}"#);
    let run = |more: &[&str]| {
        bench.cairn(&[&["run", "--output-schema", "schema.json", "count"], more].concat())
    };
    let done = run(&[]);
    assert_eq!((done.code, done.out.as_str()), (0, "{\"n\": 3}\n"), "{}", done.err);
    let told = run(&["-c", "--json"]).out;
    let result: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((&result["status"], &result["answer"]), (&json!("done"), &json!("{\"n\": 3}")));
    let wrong = run(&["-c"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("the answer is not JSON"), "{}", wrong.err);
}

// keeps: output-schema
#[test]
fn how_much_to_think_is_asked_for_and_kept() {
    let bench = Bench::new(json!([{"say": "done"}]));
    bench.own("cairn.toml", "[models.\"openai/test\"]\nabilities = [\"tools\", \"reasoning\"]\n");
    assert_eq!(bench.cairn(&["run", "--effort", "low", "think"]).code, 0);
    assert_eq!(bench.requests()[0]["reasoning_effort"], "low");
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    assert!(facts.contains("\"effort\":\"low\""), "{facts}");
}

// keeps: pictures
#[test]
fn a_picture_that_was_read_is_shown_to_a_model_that_takes_pictures() {
    let replies =
        json!([{"calls": [{"tool": "read", "args": {"path": "p.png"}}]}, {"say": "nice"}]);
    for (abilities, expected) in [
        ("[\"tools\", \"images\"]", "data:image/png;base64,iVBORw0KGgpub3QgbXVjaA=="),
        ("[\"tools\"]", "[image/png, 16 bytes: this model takes no images]"),
    ] {
        let bench = Bench::new(replies.clone());
        bench.own("cairn.toml", &format!("[models.\"openai/test\"]\nabilities = {abilities}\n"));
        std::fs::write(bench.file("p.png"), b"\x89PNG\r\n\x1a\nnot much").unwrap();
        assert_eq!(bench.cairn(&["run", "look"]).out, "nice\n");
        let sent = String::from_utf8(bench.model.requests()[1].clone()).unwrap();
        assert!(sent.contains(expected), "{sent}");
        assert!(sent.contains("p.png: image/png, 16 bytes"), "{sent}");
    }
}
