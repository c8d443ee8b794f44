//! `cairn parse`, `cairn surface` and `--surface`: what a reply would do, what a model is told, and runs on every surface.

use crate::bench_world::{Bench, Done, done};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

fn bench() -> Bench {
    Bench::new(json!([]))
}

/// Runs a command with this at its standard input.
fn with_input(bench: &Bench, args: &[&str], input: &[u8]) -> Done {
    let mut child = bench.command(args).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    done(child.wait_with_output().unwrap())
}

fn parsed(bench: &Bench, surface: &str, more: &[&str], reply: &str) -> Value {
    let args = [&["parse", "--surface", surface, "--json"], more].concat();
    let said = with_input(bench, &args, reply.as_bytes());
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{reply}");
    serde_json::from_str(&said.out).unwrap()
}

// keeps: parse-shows
#[test]
fn a_reply_is_shown_as_ops_repairs_and_problems_and_nothing_is_done() {
    let bench = bench();
    let op = json!({"op": "read", "target": "a.md", "scope": "2-3"});
    for (surface, reply) in [
        ("tags", r#"First: <get path="a.md" scope="2-3"/>"#),
        ("heredoc", "First: <<READ(a.md)<2-3>::READ"),
        ("envelope", r#"{"tool":"read","args":{"path":"a.md","scope":"2-3"},"nonce":"n1"}"#),
        (
            "native",
            r#"{"role":"assistant","content":"First:","tool_calls":[{"id":"c","type":"function",
               "function":{"name":"read","arguments":"{\"path\":\"a.md\",\"scope\":\"2-3\"}"}}]}"#,
        ),
    ] {
        let said = parsed(&bench, surface, &[], reply);
        assert_eq!(said["ops"], json!([op]), "{surface}: {said}");
        assert_eq!(said["problems"], json!([]), "{surface}");
        assert_eq!(said["terminal"], Value::Null, "{surface}");
    }
    let cut = parsed(&bench, "tags", &[], "<get path=\"a\"/>\n<set path=\"b\">text");
    assert_eq!(
        cut["ops"][1],
        json!({"op": "edit", "target": "b", "body": "text", "unclosed": true})
    );
    assert_eq!(cut["repairs"][0]["kind"], "unclosed");
    assert_eq!((&cut["repairs"][0]["line"], &cut["repairs"][0]["column"]), (&json!(2), &json!(1)));
    let end = parsed(&bench, "heredoc", &[], "<<SEND[200]:done:SEND");
    assert_eq!(end["terminal"], 200);
    let asked = parsed(&bench, "tags", &[], r#"<search path="rust"/>"#);
    assert_eq!(asked["ops"][0]["status"], 501);
    let refused = parsed(
        &bench,
        "envelope",
        &["--nonce", "n2"],
        r#"{"tool":"read","args":{"path":"a"},"nonce":"n1"}"#,
    );
    assert_eq!(
        (&refused["ops"], &refused["problems"][0]["kind"]),
        (&json!([]), &json!("tool_call_nonce_invalid"))
    );
    let mut made = std::fs::read_dir(bench.temp.home()).unwrap();
    assert!(made.next().is_none(), "nothing is opened for it");
}

#[test]
fn whatever_is_read_the_exit_code_is_0_and_only_a_wrong_command_line_is_refused() {
    let bench = bench();
    for surface in ["tags", "heredoc", "envelope", "native"] {
        for input in [&b""[..], b"\xff\xfe<get", b"{", b"<<", "\u{0}".as_bytes(), &[b'<'; 10_000]] {
            let said = with_input(&bench, &["parse", "--surface", surface, "--json"], input);
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{surface} {input:?}");
            assert!(serde_json::from_str::<Value>(&said.out).is_ok());
        }
    }
    let unknown = with_input(&bench, &["parse", "--surface", "xml"], b"x");
    assert_eq!(unknown.code, 2);
    assert_eq!(
        unknown.err,
        "cairn: unknown surface \"xml\"; use one of native, tags, heredoc, envelope\n"
    );
    let missing =
        with_input(&bench, &["parse", "--surface", "native", "--tools", "none.json"], b"{}");
    assert_eq!(missing.code, 2);
    assert!(missing.err.starts_with("cairn: none.json cannot be read: "), "{}", missing.err);
    for (text, told) in [
        ("[{", "cairn: tools.json: the tools are not JSON: EOF while parsing an object at line 1"),
        ("{}", "cairn: tools.json: the tools are not a list\n"),
        ("[{\"name\":\"a\"},{}]", "cairn: tools.json: the tool 2 of the list has no name\n"),
    ] {
        bench.temp.write("tools.json", text);
        let args = ["parse", "--surface", "native", "--tools", "tools.json"];
        let wrong = with_input(&bench, &args, b"{}");
        assert_eq!((wrong.code, wrong.out.as_str()), (2, ""), "{text}");
        assert!(wrong.err.starts_with(told), "{}", wrong.err);
    }
}

// keeps: parse-shows
#[test]
fn what_is_no_message_and_what_is_no_text_gives_a_problem_and_no_op() {
    let bench = bench();
    for (message, kind, told) in [
        ("{}", "not_a_message", "neither content nor tool_calls"),
        (r#"{"tool":"read","args":{"path":"a"},"nonce":"n"}"#, "not_a_message", "neither"),
        (
            r#"{"choices":[{"message":{"content":"x"}}]}"#,
            "not_a_message",
            "give choices[0].message",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"tool_use","name":"read","input":{}}]}"#,
            "not_text",
            "\"tool_use\" is not text",
        ),
    ] {
        let said = parsed(&bench, "native", &[], message);
        assert_eq!((&said["ops"], &said["terminal"]), (&json!([]), &Value::Null), "{said}");
        assert_eq!(said["problems"][0]["kind"], kind, "{said}");
        assert!(said["problems"][0]["note"].as_str().unwrap().contains(told), "{said}");
    }
    for surface in ["tags", "heredoc", "envelope", "native"] {
        let reply = b"ol\xc3\xa1\n<set path=\"a\">\xe9</set> <get path=\"b\"/>";
        let said = with_input(&bench, &["parse", "--surface", surface, "--json"], reply);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{surface}");
        let said: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!((&said["ops"], &said["terminal"]), (&json!([]), &Value::Null), "{said}");
        let problem = &said["problems"][0];
        assert_eq!(
            (&problem["kind"], &problem["line"], &problem["column"]),
            (&json!("not_utf8"), &json!(2), &json!(15)),
            "{said}"
        );
    }
}

#[test]
fn native_calls_are_held_against_tools_from_a_file() {
    let bench = bench();
    let tools = json!([{"name": "weather", "description": "d", "parameters": {"type": "object",
        "properties": {"days": {"type": "integer"}, "city": {"type": "string"}}, "required": ["city"]}}]);
    bench.temp.write("tools.json", tools.to_string());
    let call = |name: &str, args: &str| {
        let message = json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": name, "arguments": args}}]});
        parsed(&bench, "native", &["--tools", "tools.json"], &message.to_string())
    };
    let said = call("weather", r#"{"city":"Oslo","days":"3"}"#);
    assert_eq!(said["ops"], json!([{"op": "weather", "attrs": {"city": "Oslo", "days": 3}}]));
    assert_eq!(said["repairs"].as_array().unwrap().len(), 1);
    let said = call("wheather", r#"{"city":"Oslo"}"#);
    assert_eq!(said["ops"], json!([]));
    assert!(said["problems"][0]["note"].as_str().unwrap().contains("weather"), "{said}");
}

#[test]
fn every_surface_shows_what_a_model_is_told() {
    let bench = bench();
    for (name, part) in [
        ("tags", "<get path="),
        ("heredoc", "<<READ("),
        ("envelope", "{\"tool\":NAME"),
        ("native", "\n    \"name\": \"read\""),
    ] {
        let told = bench.cairn(&["surface", "show", name]);
        assert_eq!(told.code, 0);
        assert!(told.out.contains(part), "{name}: {}", told.out);
        let said = bench.cairn(&["surface", "show", name, "--json"]).out;
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["surface"], name);
        assert!(
            said["tokens"].as_u64().unwrap() > 100 && !said["tools"].as_array().unwrap().is_empty()
        );
        let read = said["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "read");
        let read = read.unwrap_or_else(|| panic!("{name}: {said}"));
        assert!(read["description"].is_string(), "{read}");
        assert_eq!(read["parameters"]["properties"]["path"]["type"], "string", "{read}");
        // What is shown is what can be given.
        bench.temp.write("tools.json", said["tools"].to_string());
        let call =
            r#"{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}"#;
        let called = parsed(&bench, "native", &["--tools", "tools.json"], call);
        assert_eq!(called["ops"], json!([{"op": "read", "attrs": {"path": "a"}}]), "{called}");
    }
    let unknown = bench.cairn(&["surface", "show", "xml"]);
    assert_eq!(unknown.code, 2);
}

#[test]
fn a_run_on_a_text_surface_works_to_its_last_word_and_can_be_gone_on_with() {
    let bench = Bench::new(json!([
        {"say": "I write it.\n<set path=\"a.txt\">\nhello\n</set>"},
        {"say": "<update status=\"200\">It says hello.</update>"},
        {"say": "<get path=\"a.txt\"/>"},
        {"say": "<update status=\"200\">Still hello.</update>"},
    ]));
    let first = bench.cairn(&["run", "--surface", "tags", "--yolo", "write hello"]);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(
        first.out.contains("I write it.") && first.out.contains("It says hello."),
        "{}",
        first.out
    );
    assert!(!first.out.contains("<set"), "{}", first.out);
    assert_eq!(bench.temp.read("a.txt"), "hello\n");
    let other = bench.cairn(&["run", "-c", "--surface", "heredoc", "--yolo", "look"]);
    assert_eq!(other.code, 2);
    assert!(other.err.contains("is written in tags, not in heredoc"), "{}", other.err);
    let events = bench.events(&["run", "-c", "--yolo", "--json", "look"]);
    let result = events.iter().find(|event| event["type"] == "result").unwrap();
    assert_eq!((&result["answer"], &result["exit_code"]), (&json!("Still hello."), &json!(0)));
    assert_eq!(bench.requests().len(), 4);
    let shown = bench.cairn(&["show", "1/1#reply"]).out;
    assert!(shown.contains("<set path=\"a.txt\">"), "{shown}");
}

#[test]
fn the_configuration_says_how_a_model_writes_and_a_flag_says_otherwise() {
    let bench = Bench::new(json!([
        {"say": "<<SEND[200]:done:SEND"},
    ]));
    bench.own("cairn.toml", "[models.\"openai/test\"]\nsurface = \"heredoc\"\nsmall = true\n");
    let ran = bench.cairn(&["run", "--yolo", "say done"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let system = bench.requests()[0]["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("<<READ("), "{system}");
    for (text, told) in [
        ("[models.\"openai/test\"]\nsmall = \"yes\"\n", "must be true or false"),
        ("[models.\"qwen3\"]\nsmall = true\n", "write [models.\"provider/name\"]"),
    ] {
        bench.own("cairn.toml", text);
        let wrong = bench.cairn(&["run", "--yolo", "say done"]);
        assert_eq!(wrong.code, 2, "{wrong:?}");
        assert!(wrong.err.contains(told), "{}", wrong.err);
    }
    let by_flag = Bench::new(json!([{"say": "done"}]));
    by_flag.own("cairn.toml", "[models.\"openai/test\"]\nsurface = \"heredoc\"\n");
    assert_eq!(by_flag.cairn(&["run", "--surface", "native", "--yolo", "say done"]).code, 0);
    assert!(by_flag.requests()[0]["tools"].as_array().is_some());
    by_flag.own("cairn.toml", "[models.\"openai/test\"]\nsurface = \"xml\"\n");
    let wrong = by_flag.cairn(&["run", "--yolo", "say done"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("native, tags, heredoc, envelope"), "{}", wrong.err);
    by_flag.own("cairn.toml", "");
    for (flags, told) in [
        (&["run", "--allowed-tools", "paint", "--yolo", "x"][..], "there is no tool \"paint\""),
        (&["run", "--allowed-tools", "raed", "--yolo", "x"], "the nearest are read;"),
        (&["run", "--allowed-tools", "read", "--skip-tools", "x"], "cannot be used with"),
        (&["run", "--require-tool", "--yolo", "x"], "--require-tool is for the envelope"),
        (&["run", "-c", "--allowed-tools", "read", "--yolo", "x"], "are for a new run"),
        (&["run", "-c", "--skip-tools", "--yolo", "x"], "are for a new run"),
        (&["run", "-c", "--small", "--yolo", "x"], "are for a new run"),
    ] {
        let refused = by_flag.cairn(flags);
        assert_eq!(refused.code, 2, "{flags:?}");
        assert!(refused.err.contains(told), "{flags:?}: {}", refused.err);
    }
}

// keeps: unclosed-op
#[test]
fn a_reply_that_was_cut_off_writes_nothing_half_and_the_model_is_told_that_it_was() {
    for (surface, cut, whole, last) in [
        (
            "heredoc",
            "<<EDIT(env.sh):A=1\nB=vim:EDIT",
            "<<EDIT(env.sh):A=1\nB=vim:EDITOR\n:EDIT",
            "<<SEND[200]:done:SEND",
        ),
        (
            "tags",
            "<set path=\"env.sh\">\n<sets>\n</set",
            "<set path=\"env.sh\">\nA=1\nB=vim:EDITOR\n</set>",
            "<update status=\"200\">done</update>",
        ),
    ] {
        let bench =
            Bench::new(json!([{"say": cut, "finish": "length"}, {"say": whole}, {"say": last}]));
        let done = bench.cairn(&["run", "--yolo", "--surface", surface, "work"]);
        assert_eq!((done.code, done.out.as_str()), (0, "done\n"), "{}", done.err);
        assert_eq!(bench.temp.read("env.sh"), "A=1\nB=vim:EDITOR\n");
        let requests = bench.requests();
        let told = |n: usize| requests[n]["messages"][1]["content"].as_str().unwrap().to_owned();
        assert!(told(1).contains("## reply_cut at "), "{}", told(1));
        assert!(!told(2).contains("reply_cut"), "{}", told(2));
        assert!(done.err.contains("reply_cut"), "{}", done.err);
        assert!(done.err.contains("env.sh (its end was not written)"), "{}", done.err);
    }
}

#[test]
fn what_could_not_be_read_is_no_answer_and_leaves_one_line_in_what_the_model_sees() {
    let bench = Bench::new(json!([
        {"say": r#"{"tool":"read","args":{"path":"a"},"nonce":"old1"}"#},
        {"say": r#"{"action":"final","nonce":"{NONCE}"}"#},
        {"say": "Nothing to do."},
    ]));
    let done = bench.cairn(&["run", "--yolo", "--surface", "envelope", "work"]);
    assert_eq!((done.code, done.out.as_str()), (0, "Nothing to do.\n"), "{}", done.err);
    let requests = bench.requests();
    let told = |n: usize| requests[n]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(told(1).contains("## said by you, not read: tool_call_nonce_invalid\n"), "{}", told(1));
    assert!(told(1).contains("# Problems\n## tool_call_nonce_invalid at "), "{}", told(1));
    assert!(!told(2).contains("old1"), "{}", told(2));
    assert!(
        done.err.contains(", model openai/test, act, asks nothing, written in envelope\n"),
        "{}",
        done.err
    );
    let shown = bench.cairn(&["show", "log:///1/1"]).out;
    assert!(shown.contains("\nnot read: tool_call_nonce_invalid at 1:"), "{shown}");
}

// keeps: json-complete
#[test]
fn a_program_is_told_how_a_run_is_written_and_what_could_not_be_read() {
    let bench = Bench::new(json!([
        {"say": "<get path=\"a\"/>\n</set>"},
        {"say": "<update status=\"200\">Done.</update>"},
    ]));
    let args = ["run", "--yolo", "--json", "--surface", "tags", "--small", "work"];
    let events = bench.events(&args);
    let of = |kind: &'static str| events.iter().filter(move |event| event["type"] == kind);
    let started = of("run/started").next().unwrap();
    assert_eq!((&started["surface"], &started["small"]), (&json!("tags"), &json!(true)));
    let tools = json!(["read", "write", "edit", "remove", "bash", "send"]);
    let names = |list: &Value| -> std::collections::BTreeSet<String> {
        list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&started["tools"]), names(&tools));
    let replied: Vec<&Value> = of("turn/replied").collect();
    let problem = &replied[0]["problems"][0];
    for key in ["kind", "note", "snippet"] {
        assert!(problem[key].as_str().is_some_and(|said| !said.is_empty()), "{}", replied[0]);
    }
    assert_eq!((&problem["line"], &problem["column"]), (&json!(2), &json!(1)), "{problem}");
    assert_eq!((&replied[1]["problems"], &replied[1]["repairs"]), (&Value::Null, &json!([])));

    let native = Bench::new(json!([{"say": "Done."}]));
    let events = native.events(&["run", "--yolo", "--json", "work"]);
    let started = events.iter().find(|event| event["type"] == "run/started").unwrap();
    assert_eq!((&started["surface"], &started["small"]), (&json!("native"), &json!(false)));
    assert!(names(&started["tools"]).contains("bash"), "{started}");
}
