//! What is sent: bodies as the vendors' own types take them, which only grow, with marks where they
//! belong. The files beside this one are type-checked against the vendors' libraries.

use crate::kit::WIRES;
use cairn_provider::http::{Config, Wire, render};
use cairn_provider::{Abilities, CallText, Constraint, Effort, Message, Part, Request, Thought};
use serde_json::{Value, json};
use std::sync::Arc;

const TOOLS: &str = r#"[
    {"name":"bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}},
    {"name":"now","description":"Tells the time.","parameters":{"type":"object","properties":{}}}
]"#;
const SCHEMA: &str = r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}"#;

fn call(id: &str, name: &str, args: &str) -> CallText {
    CallText { id: id.into(), name: name.into(), args: args.into() }
}

fn result(call: &str, name: &str, parts: Vec<Part>, failed: bool) -> Message {
    Message::Result { call: call.into(), name: name.into(), parts, failed }
}

fn text(text: &str) -> Part {
    Part::Text(text.into())
}

fn image() -> Part {
    Part::Image { mime: "image/png".into(), data: b"\x89PNG".as_slice().into() }
}

fn document() -> Part {
    let (mime, name) = ("application/pdf".into(), "plan.pdf".into());
    Part::Document { mime, name, data: b"%PDF-1.7".as_slice().into() }
}

fn thought(origin: &str, at: usize, sealed: &str) -> Thought {
    Thought { origin: origin.into(), text: "secret".into(), sealed: Some(sealed.into()), at }
}

/// What each format would have sealed, and something of everybody else's.
fn thoughts() -> Vec<Thought> {
    vec![
        thought(
            "anthropic:m-1",
            0,
            r#"{"type":"thinking","thinking":"secret","signature":"c2ln"}"#,
        ),
        thought("anthropic:m-1", 2, r#"{"type":"redacted_thinking","data":"eHl6"}"#),
        thought(
            "responses:m-1",
            0,
            r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"secret"}],"encrypted_content":"eHl6"}"#,
        ),
        thought("gemini:m-1", 0, r#"{"text":"once.","thoughtSignature":"dGV4dA=="}"#),
        thought("gemini:m-1", 1, r#"{"thoughtSignature":"Y2FsbA=="}"#),
        thought(
            "anthropic:m-2",
            0,
            r#"{"type":"thinking","thinking":"other","signature":"b3RoZXI="}"#,
        ),
        thought("anthropic:m-1", 0, "not JSON"),
        Thought { sealed: None, ..thought("anthropic:m-1", 0, "") },
    ]
}

/// Text, pictures, documents, calls in parallel, results of all kinds, words in between.
fn conversation() -> Vec<Arc<Message>> {
    let calls = vec![call("c1", "bash", r#"{"command": "ls"}"#), call("c2", "now", "")];
    vec![
        Message::User { parts: vec![text("go \"on\""), image(), document()] },
        Message::Assistant { text: Some("I look once.".into()), calls, thoughts: thoughts() },
        result("c1", "bash", vec![text("a.txt\n"), image()], false),
        result("c2", "now", vec![text("no clock")], true),
        Message::user("and then?"),
        Message::Assistant {
            text: None,
            calls: vec![call("c3", "bash", "{not json")],
            thoughts: vec![],
        },
        result("c3", "bash", vec![], false),
        Message::Assistant { text: Some("done".into()), calls: vec![], thoughts: vec![] },
        Message::user("thanks"),
    ]
    .into_iter()
    .map(Arc::new)
    .collect()
}

/// How many messages there are whenever the model is asked.
const ASKED_AT: [usize; 4] = [1, 4, 7, 9];

fn config(wire: Wire, abilities: Abilities) -> Config {
    Config { abilities, ..Config::new("demo", wire, "http://host", "m-1") }
}

fn everything() -> Abilities {
    Abilities { vision: true, pdf: true, reasoning: true, ..Abilities::default() }
}

fn request(messages: usize) -> Request {
    Request {
        system: "be brief".into(),
        tools: TOOLS.into(),
        messages: conversation()[..messages].to_vec(),
        effort: Effort::Low,
        ..Request::default()
    }
}

fn body(wire: Wire, abilities: Abilities, request: &Request) -> String {
    String::from_utf8(render(&config(wire, abilities), request).unwrap()).unwrap()
}

fn pretty(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap();
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

#[test]
fn a_conversation_with_everything_is_written_as_each_api_wants_it() {
    let request = Request {
        max_output: Some(2000),
        schema: Some(SCHEMA.into()),
        ..request(conversation().len())
    };
    let written = |wire| pretty(&body(wire, everything(), &request));
    expect_test::expect_file!["bodies/chat.json"].assert_eq(&written(Wire::Chat));
    expect_test::expect_file!["bodies/responses.json"].assert_eq(&written(Wire::Responses));
    expect_test::expect_file!["bodies/anthropic.json"].assert_eq(&written(Wire::Anthropic));
    expect_test::expect_file!["bodies/gemini.json"].assert_eq(&written(Wire::Gemini));
}

#[test]
fn an_answer_is_held_to_a_form_in_the_field_that_the_endpoint_has_for_it() {
    const GRAMMAR: &str = "root ::= \"{\\\"ok\\\":true}\"\n";
    let held = |wire, constraint, schema: Option<&str>, grammar: Option<&str>| {
        let abilities = Abilities { constraint, ..Abilities::default() };
        let (schema, grammar) = (schema.map(Arc::from), grammar.map(Arc::from));
        let messages = vec![Arc::new(Message::user("go"))];
        let request = Request { messages, schema, grammar, ..Request::default() };
        let body: Value = serde_json::from_str(&body(wire, abilities, &request)).unwrap();
        let named = ["response_format", "format", "grammar"];
        let told = named.into_iter().filter_map(|key| Some((key, body.get(key)?.clone())));
        told.collect::<Vec<(&str, Value)>>()
    };
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let usual = json!({
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": true, "schema": schema},
    });
    let usual = vec![("response_format", usual)];
    let grammar = vec![("grammar", Value::from(GRAMMAR))];
    let both = (Some(SCHEMA), Some(GRAMMAR));
    let check = |constraint, (schema, grammar): (Option<&str>, Option<&str>), expected: &[_]| {
        let told = held(Wire::Chat, constraint, schema, grammar);
        assert_eq!(told, expected, "{constraint:?} {schema:?} {grammar:?}");
    };
    check(Constraint::JsonSchema, both, &usual);
    check(Constraint::JsonSchema, (None, Some(GRAMMAR)), &[]);
    check(Constraint::Ollama, both, &[("format", schema)]);
    check(Constraint::Ollama, (None, Some(GRAMMAR)), &[]);
    check(Constraint::Gbnf, both, &grammar);
    check(Constraint::Gbnf, (None, Some(GRAMMAR)), &grammar);
    check(Constraint::Gbnf, (Some(SCHEMA), None), &usual);
    check(Constraint::None, both, &[]);
    for constraint in Constraint::ALL {
        check(constraint, (None, None), &[]);
        assert_eq!(Constraint::of_word(constraint.word()), Some(constraint));
        for wire in [Wire::Responses, Wire::Anthropic, Wire::Gemini] {
            assert_eq!(held(wire, constraint, None, Some(GRAMMAR)), [], "{wire:?}");
        }
    }
}

#[test]
fn a_conversation_is_written_plainly_for_a_model_that_takes_text_only() {
    let plain = || Abilities { tools: false, ..Abilities::default() };
    for wire in WIRES {
        let body = body(wire, plain(), &request(conversation().len()));
        let value: Value = serde_json::from_str(&body).unwrap();
        for absent in ["tools", "reasoning", "thinking", "reasoning_effort", "include"] {
            assert!(value.get(absent).is_none(), "{wire:?} {absent}");
        }
        assert!(body.contains("[image/png, 4 bytes: this model takes no images]"), "{body}");
        let document = "[application/pdf, plan.pdf, 8 bytes: this model takes no documents]";
        assert!(body.contains(document), "{body}");
        assert!(!body.contains("base64"), "{body}");
    }
    let tiff = Part::Image { mime: "image/tiff".into(), data: b"x".as_slice().into() };
    let messages = vec![Arc::new(Message::User { parts: vec![tiff] })];
    let body = body(Wire::Gemini, everything(), &Request { messages, ..Request::default() });
    assert!(
        body.contains("[image/tiff, 1 bytes: this model takes no images of this type]"),
        "{body}"
    );
}

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

#[test]
fn each_request_begins_with_the_bytes_of_the_one_before() {
    let marked = || Abilities { cache_marks: true, ..everything() };
    for wire in WIRES {
        for abilities in [Abilities::default(), everything(), marked()] {
            for pair in ASKED_AT.windows(2) {
                let [earlier, later] = [pair[0], pair[1]]
                    .map(|n| body(wire, abilities.clone(), &request(n)).replace(MARK, ""));
                let shared = earlier.strip_suffix("]}").unwrap();
                assert!(later.starts_with(shared), "{wire:?} {pair:?}\n{earlier}\n{later}");
            }
        }
    }
}

#[test]
fn marks_stand_on_the_last_tool_the_system_message_and_the_last_block() {
    for n in ASKED_AT {
        let body = body(Wire::Anthropic, everything(), &request(n));
        let value: Value = serde_json::from_str(&body).unwrap();
        let last = |list: &Value| list.as_array().unwrap().last().unwrap().clone();
        let places = [
            last(&value["system"]),
            last(&value["tools"]),
            last(&last(&value["messages"])["content"]),
        ];
        for place in places {
            assert_eq!(place["cache_control"]["type"], "ephemeral", "{n}: {place}");
        }
        assert_eq!(body.matches("cache_control").count(), 3, "{n}: {body}");
    }
    let marked = Abilities { cache_marks: true, ..everything() };
    for n in ASKED_AT {
        let body = body(Wire::Chat, marked.clone(), &request(n));
        let value: Value = serde_json::from_str(&body).unwrap();
        let messages = value["messages"].as_array().unwrap();
        for message in [&messages[0], messages.last().unwrap()] {
            let piece = message["content"].as_array().unwrap().last().unwrap();
            assert_eq!(piece["cache_control"]["type"], "ephemeral", "{n}: {message}");
        }
        assert_eq!(body.matches("cache_control").count(), 2, "{n}: {body}");
    }
    // Not on what the model thought, when that comes last.
    let thinking = r#"{"type":"thinking","thinking":"secret","signature":"c2ln"}"#;
    let said = Message::Assistant {
        text: Some("x".into()),
        calls: vec![],
        thoughts: vec![thought("anthropic:m-1", 0, thinking)],
    };
    let messages = vec![Arc::new(Message::user("go")), Arc::new(said)];
    let body = body(Wire::Anthropic, everything(), &Request { messages, ..Request::default() });
    assert!(body.contains(thinking), "{body}");
}

#[test]
fn thoughts_go_back_to_who_had_them_and_to_nobody_else() {
    let check = |wire, present: &[&str], absent: &[&str]| {
        let body = body(wire, everything(), &request(4));
        for word in present {
            assert!(body.contains(word), "{wire:?} {word}: {body}");
        }
        for word in absent {
            assert!(!body.contains(word), "{wire:?} {word}: {body}");
        }
    };
    check(Wire::Chat, &[], &["secret", "other", "c2ln", "eHl6", "rs_1", "Y2FsbA"]);
    check(Wire::Responses, &["rs_1", "eHl6"], &["other", "c2ln", "Y2FsbA", "redacted"]);
    check(Wire::Gemini, &["Y2FsbA==", "dGV4dA=="], &["secret", "other", "c2ln", "rs_1"]);
    check(Wire::Anthropic, &["c2ln", "redacted"], &["other", "b3RoZXI", "rs_1", "Y2FsbA"]);
    // Another model of the same provider.
    let config = Config { model: "m-3".into(), ..config(Wire::Anthropic, everything()) };
    let body = String::from_utf8(render(&config, &request(4)).unwrap()).unwrap();
    assert!(!body.contains("secret") && !body.contains("other"), "{body}");
}

#[test]
fn a_thought_that_led_nowhere_is_not_sent() {
    for (wire, sealed) in [
        (Wire::Anthropic, r#"{"type":"thinking","thinking":"secret","signature":"c2ln"}"#),
        (
            Wire::Responses,
            r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"}"#,
        ),
    ] {
        let origin = format!("{}:m-1", wire.word());
        let said = |at| Message::Assistant {
            text: if at == 0 { None } else { Some("x".into()) },
            calls: vec![],
            thoughts: vec![thought(&origin, at, sealed)],
        };
        for at in [0, 1, 2] {
            let messages = vec![Arc::new(Message::user("go")), Arc::new(said(at))];
            let body = body(wire, everything(), &Request { messages, ..Request::default() });
            assert!(!body.contains("c2ln"), "{wire:?} {at} {body}");
        }
    }
}

#[test]
fn reasoning_goes_back_over_chat_where_the_model_wants_it() {
    let said = |sealed: &str| {
        let said = Message::Assistant {
            text: None,
            calls: vec![call("c1", "now", "{}")],
            thoughts: vec![thought("chat:m-1", 0, sealed)],
        };
        let messages = vec![Arc::new(said)];
        body(Wire::Chat, everything(), &Request { messages, ..Request::default() })
    };
    let body = said(r#"{"reasoning_content":"hm \"so\""}"#);
    assert!(
        body.contains(r#""content":null,"reasoning_content":"hm \"so\"","tool_calls""#),
        "{body}"
    );
    let detail = r#"{"type":"reasoning.text","text":"hm","signature":"s","index":0}"#;
    let body = said(detail);
    assert!(body.contains(&format!(r#""reasoning_details":[{detail}],"tool_calls""#)), "{body}");
}

#[test]
fn effort_is_told_as_each_model_wants_to_be_told() {
    let check = |wire, model: &str, effort, expected: &str| {
        let abilities = Abilities { output: Some(64_000), ..everything() };
        let config = Config { model: model.into(), ..config(wire, abilities) };
        let messages = vec![Arc::new(Message::user("go"))];
        let request = Request { messages, effort, ..Request::default() };
        let value: Value = serde_json::from_slice(&render(&config, &request).unwrap()).unwrap();
        let keys =
            ["thinking", "output_config", "reasoning", "reasoning_effort", "generationConfig"];
        let told: Vec<String> =
            keys.iter().filter_map(|key| Some(value.get(key)?.to_string())).collect();
        assert_eq!(told.join(" "), expected, "{model} {effort:?}");
    };
    let budget = |n| format!(r#"{{"type":"enabled","budget_tokens":{n}}}"#);
    check(Wire::Anthropic, "claude-sonnet-4-5-20250929", Effort::Minimal, &budget(1024));
    check(Wire::Anthropic, "claude-sonnet-4-20250514", Effort::Medium, &budget(10_240));
    check(Wire::Anthropic, "claude-3-7-sonnet-latest", Effort::High, &budget(32_000));
    check(Wire::Anthropic, "claude-opus-4-1", Effort::Off, "");
    let adaptive =
        |word| format!(r#"{{"type":"adaptive","display":"summarized"}} {{"effort":"{word}"}}"#);
    check(Wire::Anthropic, "claude-opus-4-6", Effort::Minimal, &adaptive("low"));
    check(Wire::Anthropic, "claude-sonnet-5", Effort::High, &adaptive("high"));
    check(Wire::Anthropic, "claude-opus-5-5-20260901", Effort::Medium, &adaptive("medium"));
    check(Wire::Responses, "gpt-5", Effort::Low, r#"{"effort":"low","summary":"auto"}"#);
    check(Wire::Responses, "gpt-5", Effort::Off, "");
    check(Wire::Chat, "gpt-5", Effort::High, r#""high""#);
    check(Wire::Chat, "gpt-5", Effort::Off, "");
    let gemini =
        |thinking: &str| format!(r#"{{"thinkingConfig":{{"includeThoughts":{thinking}}}}}"#);
    check(Wire::Gemini, "gemini-2.5-flash", Effort::Off, &gemini(r#"false,"thinkingBudget":0"#));
    check(Wire::Gemini, "gemini-2.5-pro", Effort::Off, "");
    check(Wire::Gemini, "gemini-2.5-pro", Effort::Low, &gemini(r#"true,"thinkingBudget":4096"#));
    check(Wire::Gemini, "gemini-3-pro", Effort::High, &gemini(r#"true,"thinkingLevel":"HIGH""#));
}

#[test]
fn a_change_of_model_within_a_turn_does_not_ask_for_thinking_that_is_not_there() {
    let thinking = |model: &str, sealed: bool| {
        let config = Config { model: model.into(), ..config(Wire::Anthropic, everything()) };
        let mut request = request(4);
        if sealed {
            let block = r#"{"type":"thinking","thinking":"x","signature":"c2ln"}"#;
            let origin = format!("anthropic:{model}");
            request.messages[1] = Arc::new(Message::Assistant {
                text: None,
                calls: vec![call("c1", "bash", "{}"), call("c2", "now", "{}")],
                thoughts: vec![thought(&origin, 0, block)],
            });
        }
        let body: Value = serde_json::from_slice(&render(&config, &request).unwrap()).unwrap();
        body["thinking"]["type"].as_str().map(str::to_owned)
    };
    assert_eq!(thinking("claude-sonnet-4-5", false), None);
    assert_eq!(thinking("claude-sonnet-4-5", true).as_deref(), Some("enabled"));
    assert_eq!(thinking("claude-opus-5", false).as_deref(), Some("adaptive"));
}

#[test]
fn gemini_gets_a_stand_in_for_signatures_of_calls_that_others_made() {
    let signatures = |model: &str| {
        let config = Config { model: model.into(), ..config(Wire::Gemini, everything()) };
        let body = String::from_utf8(render(&config, &request(9)).unwrap()).unwrap();
        body.matches("skip_thought_signature_validator").count()
    };
    assert_eq!(signatures("m-1"), 1, "its own calls are signed, those without thoughts are not");
    assert_eq!(signatures("gemini-3-pro"), 2);
    assert_eq!(signatures("gemini-2.5-pro"), 0);
}

#[test]
fn limits_and_broken_lists_are_told() {
    let limits = |abilities: Abilities, max_output| {
        let messages = vec![Arc::new(Message::user("go"))];
        let request = Request { messages, max_output, effort: Effort::Low, ..Request::default() };
        let config =
            Config { model: "claude-opus-4-5".into(), ..config(Wire::Anthropic, abilities) };
        let body: Value = serde_json::from_slice(&render(&config, &request).unwrap()).unwrap();
        (body["max_tokens"].as_u64().unwrap(), body["thinking"]["budget_tokens"].as_u64())
    };
    let thinks = || Abilities { reasoning: true, ..Abilities::default() };
    assert_eq!(limits(Abilities::default(), None), (8192, None));
    assert_eq!(limits(thinks(), None), (8192 + 4096, Some(4096)));
    assert_eq!(limits(Abilities { output: Some(64_000), ..thinks() }, None), (64_000, Some(4096)));
    assert_eq!(limits(thinks(), Some(3000)), (3000, Some(1500)));
    assert_eq!(limits(thinks(), Some(1000)), (1000, None));
    for wire in WIRES {
        for (tools, schema) in [("{}", None), ("", Some("{"))] {
            let schema = schema.map(Arc::from);
            let request = Request { tools: tools.into(), schema, ..Request::default() };
            assert!(render(&config(wire, everything()), &request).is_err(), "{wire:?} {tools}");
        }
        for tools in ["", "[]"] {
            let body =
                body(wire, everything(), &Request { tools: tools.into(), ..Request::default() });
            assert!(!body.contains("\"tools\""), "{body}");
        }
    }
}
