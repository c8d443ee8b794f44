//! `cairn models probe`: the way of writing that serves a model best is found, kept and used, and nothing else changes.

use crate::bench_world::{Bench, done};
use cairn_provider::scripted::Script;
use cairn_testkit::{Fault, ModelServer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

const GARBAGE: &str = "I am not sure what to do here.";

/// The reply to the first of these texts that the last message holds.
fn by_text(replies: &[(&str, Value)]) -> Value {
    let lost = json!({"say": GARBAGE});
    replies.iter().rev().fold(lost, |last, (text, reply)| {
        let mut reply = reply.clone();
        reply["expect"] = json!(text);
        reply["else"] = last;
        reply
    })
}

/// A model that replies like this in its first turns, and later makes no sense.
fn bench(turns: &[Vec<(&str, Value)>]) -> Bench {
    let replies: Vec<Value> = turns.iter().map(|turn| by_text(turn)).collect();
    let script =
        json!({"cairn_script": 1, "name": "test", "replies": replies, "then": {"say": GARBAGE}});
    let model = ModelServer::start(Script::parse(&script.to_string()).unwrap());
    Bench { model, ..Bench::new(json!([])) }
}

fn say(text: &str) -> Value {
    json!({"say": text})
}

/// It can write tags, and nothing else.
fn of_tags() -> Bench {
    bench(&[
        vec![
            ("NONCE is", say(GARBAGE)),
            ("Reply with statements;", say(GARBAGE)),
            ("second line of notes.txt", say("<update status=\"200\">Bread</update>")),
            ("Create the file hello.txt", say("<set path=\"hello.txt\">Hello there</set>")),
            ("Delete the file a.txt", say("<rm path=\"a.txt\"/>")),
        ],
        vec![("Only statements in tags", say("<update status=\"200\">done</update>"))],
    ])
}

/// It can write envelopes, and nothing else.
fn of_envelopes() -> Bench {
    let call = |call: Value| {
        let mut call = call;
        call["nonce"] = json!("{NONCE}");
        // The nonce comes last, as everywhere.
        json!({"say": call.to_string()})
    };
    let write = json!({"tool": "write", "args": {"path": "hello.txt", "content": "Hello there"}});
    let remove = json!({"tool": "remove", "args": {"path": "a.txt"}});
    bench(&[
        vec![
            ("Only statements in tags", say(GARBAGE)),
            ("Reply with statements;", say(GARBAGE)),
            (
                "second line of notes.txt",
                call(json!({"tool": "read", "args": {"path": "notes.txt"}})),
            ),
            ("Create the file hello.txt", call(write)),
            ("Delete the file a.txt", call(remove)),
        ],
        vec![("NONCE is", call(json!({"action": "final"})))],
        vec![("# Task", say("Bread"))],
    ])
}

/// Calls tools, and stops only where it is told how.
fn forgetful() -> Bench {
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let made = json!({"path": "hello.txt", "content": "Hello there"});
    bench(&[
        vec![
            ("Create the file hello.txt", call("write", made)),
            ("Delete the file a.txt", call("remove", json!({"path": "a.txt"}))),
            ("second line", say("Bread")),
        ],
        vec![
            ("call nothing", say("done")),
            ("", call("write", json!({"path": "stray.txt", "content": "more"}))),
        ],
        vec![("", say("done"))],
    ])
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kept(bench: &Bench) -> Option<Value> {
    let text = fs::read_to_string(bench.temp.path().join(".config/cairn/probes.json")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// Whether nothing was ever written into the home.
fn is_untouched(bench: &Bench) -> bool {
    fs::read_dir(bench.temp.home()).map_or(true, |mut home| home.next().is_none())
}

/// The rows of a probe: surface, constrained, small, and what share of the tasks came out right.
fn rows(all: &[Value]) -> Vec<(&str, bool, bool, f64)> {
    let rows = all.iter().filter(|line| line["type"] == "row");
    rows.map(|row| {
        let flag = |key: &str| row[key].as_bool().unwrap();
        let surface = row["surface"].as_str().unwrap();
        (surface, flag("constrained"), flag("small"), row["correct"].as_f64().unwrap())
    })
    .collect()
}

// keeps: probe-chooses
#[test]
fn the_surface_that_a_model_does_best_on_is_kept_and_used() {
    let bench = of_tags();
    let probe = bench.cairn(&["models", "probe", "openai/test", "--tasks", "3", "--json"]);
    assert_eq!(probe.code, 0, "{}", probe.err);
    let all = lines(&probe.out);
    let expected = [
        ("native", false, true, 33.3),
        ("envelope", true, true, 0.0),
        ("tags", false, true, 100.0),
        ("heredoc", false, true, 0.0),
        ("envelope", false, true, 0.0),
        // It does as well with all there is, so it is given all.
        ("tags", false, false, 100.0),
    ];
    assert_eq!(rows(&all), expected, "{}", probe.out);
    let native = &all[0];
    assert_eq!((&native["replies"], &native["valid"]), (&json!(3), &json!(100.0)));
    assert_eq!(all[3]["valid"], 0.0, "{}", all[3]);
    let found = &all.last().unwrap()["recorded"];
    assert_eq!((&found["surface"], &found["small"]), (&json!("tags"), &json!(false)));
    assert_eq!(kept(&bench).unwrap()["openai/test"], *found);
    assert!(probe.err.contains("tags, small profile: task 2 of 3, create\n"), "{}", probe.err);
    let third = |line: &&str| line.starts_with("tags, small profile: task 3 of 3, ");
    let third = probe.err.lines().find(third).unwrap();
    assert!(third.ends_with("; less than a minute left"), "{third}");
    assert!(is_untouched(&bench));
    let before = bench.requests().len();
    let run = bench.cairn(&["run", "--mode", "accept-edits", "Create the file hello.txt, please"]);
    assert_eq!(
        (run.code, bench.temp.read("hello.txt").as_str()),
        (0, "Hello there"),
        "{}",
        run.err
    );
    assert!(bench.requests()[before].to_string().contains("Only statements in tags"));
    let shown = bench.cairn(&["models", "show", "openai/test"]);
    assert!(
        shown.out.contains(
            "probe           tags, full profile (100% of replies valid, 100% of tasks correct), 2"
        ),
        "{}",
        shown.out
    );
    let shown = lines(&bench.cairn(&["models", "show", "openai/test", "--json"]).out);
    assert_eq!(shown[0]["probe"], *found);
}

// keeps: probe-chooses
#[test]
fn the_small_profile_is_kept_where_the_full_one_does_worse() {
    let bench = forgetful();
    let args = ["models", "probe", "openai/test", "--tasks", "3", "--surface", "native"];
    let probe = bench.cairn(&args);
    assert_eq!(probe.code, 0, "{}", probe.err);
    assert_eq!(kept(&bench).unwrap()["openai/test"]["small"], true, "{}", probe.out);
    let table: Vec<Vec<&str>> =
        probe.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(table[0][..3], ["surface", "constrained", "profile"], "{}", probe.out);
    assert_eq!(table[1][..7], ["native", "-", "small", "5", "100%", "3", "100%"]);
    assert_eq!(table[2][..3], ["native", "-", "full"]);
    assert_eq!(table[2][6], "33.3%", "{}", probe.out);
    assert!(
        probe.out.ends_with("openai/test is used with native, small profile (100% of replies valid, 100% of tasks correct) from now on.\n"),
        "{}",
        probe.out
    );
}

// keeps: probe-chooses
#[test]
fn whether_decoding_is_held_is_found_out_kept_and_used() {
    let is_held = |bench: &Bench| {
        let before = bench.requests().len();
        let run = bench.cairn(&["run", "--mode", "accept-edits", "Delete the file a.txt"]);
        assert_eq!(run.code, 0, "{}", run.err);
        bench.requests()[before]["response_format"].is_object()
    };
    let args =
        ["models", "probe", "openai/test", "--tasks", "2", "--surface", "envelope", "--json"];
    let bench = of_envelopes();
    bench.temp.write("a.txt", "a\n");
    let probe = bench.cairn(&args);
    assert_eq!(probe.code, 0, "{}{}", probe.err, probe.out);
    assert_eq!(kept(&bench).unwrap()["openai/test"]["constrained"], true, "{}", probe.out);
    assert!(is_held(&bench));
    // One that takes no form is used without.
    let bench = of_envelopes();
    bench.temp.write("a.txt", "a\n");
    bench.model.fault(0, Fault::status(400, r#"{"error":{"message":"no response_format here"}}"#));
    let probe = bench.cairn(&args);
    let all = lines(&probe.out);
    assert_eq!(rows(&all)[..2], [("envelope", true, true, 0.0), ("envelope", false, true, 100.0)]);
    assert!(all[0]["problem"].as_str().unwrap().contains("no response_format here"), "{}", all[0]);
    assert_eq!(kept(&bench).unwrap()["openai/test"]["constrained"], false, "{}", probe.out);
    assert!(!is_held(&bench));
}

// keeps: probe-clean
#[test]
fn what_ends_early_records_nothing() {
    let nothing = |bench: &Bench| kept(bench).is_none() && is_untouched(bench);
    for signal in [Signal::INT, Signal::TERM] {
        let bench = of_tags();
        bench.model.delay(Duration::from_secs(20));
        let place = bench.temp.path().join("temporary");
        fs::create_dir(&place).unwrap();
        let mut command = bench.command(&["models", "probe", "openai/test", "--json"]);
        let mut child = command.env("TMPDIR", &place).spawn().unwrap();
        let mut told = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut told).unwrap();
        assert!(told.starts_with("native, small profile: task 1 of 40"), "{told}");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = done(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 3, "{ended:?}");
        let row = &lines(&ended.out)[0];
        assert_eq!((&row["tasks"], &row["correct"]), (&json!(0), &Value::Null), "{row}");
        assert!(nothing(&bench) && fs::read_dir(&place).unwrap().next().is_none());
    }

    let bench = of_tags();
    let args = ["models", "probe", "openai/gpt-5-mini", "--tasks", "2", "--max-cost", "0.000001"];
    let dear = bench.cairn(&args);
    assert_eq!(dear.code, 4, "{dear:?}");
    assert!(dear.err.contains("more than --max-cost; nothing was recorded"), "{}", dear.err);
    assert!(bench.requests().is_empty() && nothing(&bench));

    let bench = of_tags();
    bench.model.fault_always(Fault::status(401, r#"{"error":{"message":"who are you"}}"#));
    let refused = bench.cairn(&["models", "probe", "openai/test", "--tasks", "2"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("cairn: openai/test could not be had: "), "{}", refused.err);
    assert!(nothing(&bench));

    let bench = of_tags();
    let useless =
        bench.cairn(&["models", "probe", "openai/test", "--tasks", "2", "--surface", "heredoc"]);
    assert_eq!(useless.code, 1, "{useless:?}");
    assert!(
        useless.err.contains("no task came out right; nothing was recorded"),
        "{}",
        useless.err
    );
    assert!(nothing(&bench));
}

// keeps: probe-clean
#[test]
fn a_server_that_nobody_runs_ends_it_at_once_with_the_reason() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bench = of_tags();
    let mut command = bench.command(&["models", "probe", "openai/test", "--tasks", "2", "--json"]);
    let began = Instant::now();
    let url = format!("http://{nobody}/v1");
    let ended = done(command.env("OPENAI_BASE_URL", url).output().unwrap());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(ended.code, 1, "{ended:?}");
    let told = "Connection refused (os error 111); check that it runs";
    assert!(ended.err.contains("cannot reach ") && ended.err.contains(told), "{}", ended.err);
    let all = lines(&ended.out);
    assert_eq!(all.len(), 2, "no other way is tried: {}", ended.out);
    assert!(all[0]["problem"].as_str().unwrap().contains(told), "{}", all[0]);
    assert_eq!((&all[0]["replies"], &all[0]["valid"]), (&json!(0), &Value::Null));
    assert!(all[1]["why"].as_str().unwrap().contains(told), "{}", all[1]);
}

// keeps: probe-clean
// keeps: bad-input
#[test]
fn wrong_input_is_told_and_a_dry_run_asks_nothing() {
    let bench = of_tags();
    let dry = bench.cairn(&["models", "probe", "openai/gpt-5-mini", "--dry-run"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(
        dry.out
            .starts_with("40 tasks on each of 5 settings and the best once more: 240 runs, about "),
        "{}",
        dry.out
    );
    // It needs no key, and says the same to programs.
    let dry = bench.cairn(&["models", "probe", "groq/x", "--tasks", "2", "--dry-run", "--json"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    let expected = json!({"type": "dry-run", "model": "groq/x", "settings": 5, "tasks": 2,
        "runs": 12, "input": 28800, "output": 2160, "cost": null});
    assert_eq!(lines(&dry.out), [expected]);
    let keyless = bench.cairn(&["models", "probe", "groq/x"]);
    assert!(!keyless.err.contains("--model"), "{}", keyless.err);
    for (args, told) in [
        (&["test"][..], "\"test\" is not a model; write provider/name"),
        (&["nobody/x"], "there is no provider \"nobody\""),
        (&["groq/x"], "groq needs a key: set GROQ_API_KEY"),
        (&["scripted/walkthrough"], "is a script"),
        (&["openai/test", "--surface", "xml"], "xml"),
        (&["openai/test", "--max-cost", "1"], "no price of openai/test is known"),
        (&["openai/gpt-5-mini", "--max-cost", "much"], "max_cost must be US dollars"),
        (&["openai/test", "--tasks", "0"], "0 is not in 1..=40"),
        (&["openai/test", "--tasks", "99"], "99 is not in 1..=40"),
    ] {
        let refused = bench.cairn(&[&["models", "probe"], args].concat());
        assert_eq!(refused.code, 2, "{args:?}: {refused:?}");
        assert!(refused.err.contains(told), "{args:?}: {}", refused.err);
    }
    assert!(bench.requests().is_empty() && kept(&bench).is_none());
}
