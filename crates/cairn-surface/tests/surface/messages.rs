//! Assistant messages in Chat shape, and what they would do.

use cairn_surface::native::message::{read, wire_names};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A list of tools from outside.
const TOOLS: &str = r#"[
    {"name":"weather.today","description":"The weather.","parameters":{"type":"object","properties":{
        "place":{"type":"string"},"days":{"type":"integer"},"degrees":{"type":"number"},"exact":{"type":"boolean"},
        "hours":{"type":"array"},"options":{"type":"object"},"unit":{"type":"string","enum":["c","f"]},
        "either":{"type":["integer","null"]},"both":{"anyOf":[{"type":"string"},{"type":"array"}]},"any":{},
        "level":{"enum":[1,2]},"code":{"type":"string","enum":["1","2"]},"more":{"type":["boolean","integer"]}
    },"required":["place"],"additionalProperties":false}},
    {"type":"function","function":{"name":"send_mail","parameters":{"type":"object","properties":{"to":{"type":"string"}}}}},
    {"name":"ping"}
]"#;

/// What is read, in one line.
fn said(message: &str, tools: Option<&str>) -> String {
    let heard = read(message, tools);
    let mut parts: Vec<String> = heard.calls.iter().map(|call| call.shown.to_string()).collect();
    parts.extend(heard.terminal.map(|status| format!("ends {status}")));
    for trouble in &heard.problems {
        parts.push(format!(
            "{} {}:{} {}",
            trouble.kind, trouble.at.line, trouble.at.column, trouble.note
        ));
    }
    let repairs: Vec<&str> = heard.repairs.iter().map(|repair| repair.note.as_str()).collect();
    if !repairs.is_empty() {
        parts.push(format!("(repaired: {})", repairs.join("; ")));
    }
    if !heard.text.is_empty() {
        parts.push(format!("(said: {})", heard.text));
    }
    if !heard.reasoning.is_empty() {
        parts.push(format!("(thought: {})", heard.reasoning));
    }
    parts.join("  ")
}

/// A message against our own tools.
fn check(message: &str, expected: &str) {
    assert_eq!(said(message, None), expected, "{message}");
}

/// One call of this name with these arguments.
fn call(name: &str, arguments: &str) -> String {
    let function = json!({"name": name, "arguments": arguments});
    let call = json!({"id": "c1", "type": "function", "function": function});
    json!({"role": "assistant", "content": null, "tool_calls": [call]}).to_string()
}

/// One call against our own tools.
fn check_own(name: &str, arguments: &str, expected: &str) {
    assert_eq!(said(&call(name, arguments), None), expected, "{name} {arguments}");
}

/// One call against those from outside.
fn check_call(name: &str, arguments: &str, expected: &str) {
    assert_eq!(said(&call(name, arguments), Some(TOOLS)), expected, "{name} {arguments}");
}

#[test]
fn a_message_is_its_words_and_its_calls() {
    check(r#"{"role":"assistant","content":"Four."}"#, "ends 200  (said: Four.)");
    check(
        r#"{"role":"assistant","content":"On it.","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"b","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}"#,
        r#"{"op":"read","target":"a"}  {"op":"exec","body":"ls"}  (said: On it.)"#,
    );
    check(
        r#"{"content":[{"type":"text","text":"one "},{"type":"text","text":"two"}],"reasoning_content":"hm"}"#,
        "ends 200  (said: one two)  (thought: hm)",
    );
    check(
        r#"{"role":"assistant","content":null,"tool_calls":[],"reasoning":"so"}"#,
        "ends 200  (thought: so)",
    );
    check(r#"{"role":"assistant","content":"x","tool_calls":null}"#, "ends 200  (said: x)");
    check(
        r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"read","arguments":{"path":"a"}}}]}"#,
        r#"{"op":"read","target":"a"}  (repaired: arguments that are no text read as they are)"#,
    );
    check(
        r#"{"role":"assistant","tool_calls":[{"name":"read","arguments":"{\"path\":\"a\"}"}]}"#,
        r#"{"op":"read","target":"a"}  (repaired: a call without function read as one)"#,
    );
    check(
        r#"{"role":"assistant","function_call":{"name":"read","arguments":"{\"path\":\"a\"}"}}"#,
        r#"{"op":"read","target":"a"}  (repaired: function_call read as a call)"#,
    );
}

#[test]
fn what_is_no_message_and_no_call_is_told_where_it_stands() {
    check("", "not_a_message 1:1 it is no message: EOF while parsing a value at line 1 column 0");
    check("hello", "not_a_message 1:1 it is no message: expected value at line 1 column 1");
    check(
        "[]",
        "not_a_message 1:1 it is no message: invalid type: sequence, expected an object at line 1 column 0",
    );
    check(
        r#"{"role":"assistant","content":"x""#,
        "not_a_message 1:33 it is no message: EOF while parsing an object at line 1 column 33",
    );
    check(
        r#"{"role":"assistant","role":"user"}"#,
        r#"not_a_message 1:34 it is no message: the key "role" is there twice at line 1 column 34"#,
    );
    check(
        r#"{"role":"user","content":"x"}"#,
        r#"not_a_message 1:9 it is of "user", and not of the assistant"#,
    );
    check(
        r#"{"role":"tool","content":"{\"tool_calls\":[]}"}"#,
        r#"not_a_message 1:9 it is of "tool", and not of the assistant"#,
    );
    check(r#"{"role":"assistant","content":7}"#, "not_a_message 1:31 content must be a string");
    let neither =
        "not_a_message 1:1 it has neither content nor tool_calls, and a message has one of them";
    check("{}", neither);
    check(r#"{"role":"assistant","content":null}"#, neither);
    check(r#"{"tool":"read","args":{"path":"a"},"nonce":"n"}"#, neither);
    check(
        r#"{"choices":[{"message":{"role":"assistant","content":"x"}}]}"#,
        "not_a_message 1:1 it is a whole response; give choices[0].message",
    );
    check(
        r#"{"role":"assistant","content":[{"type":"text","text":"one"},{"type":"tool_use","name":"read"},7]}"#,
        r#"not_text 1:61 a block of type "tool_use" is not text; calls stand in tool_calls  not_text 1:95 a block of type "none" is not text; calls stand in tool_calls  (said: one)"#,
    );
    check(r#"{"role":"assistant","tool_calls":{}}"#, "not_a_call 1:34 tool_calls must be a list");
    check(
        r#"{"role":"assistant","tool_calls":["read"]}"#,
        "not_a_call 1:35 a call must be an object",
    );
    check(
        r#"{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"read","input":"x"}}]}"#,
        r#"not_a_call 1:52 a call of type "custom" is none of a function"#,
    );
    check(
        r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"arguments":"{}"}}]}"#,
        "not_a_call 1:74 a call must name its function",
    );
    check(
        r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":7,"arguments":"{}"}}]}"#,
        "not_a_call 1:74 a call must name its function",
    );
    check(
        "{\"role\":\"assistant\",\n\"tool_calls\":[{\"function\":{\"name\":\"raed\",\"arguments\":\"{}\"}},\n{\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}}]}",
        r#"{"op":"read","target":"a"}  unknown_tool 2:35 there is no tool "raed"; the nearest are read; the tools are read, write, edit, multi_edit, find, list, remove, move, copy, open, fold, send, bash, env, todo, ask_user, present_plan"#,
    );
}

#[test]
fn our_own_tools_are_read_as_always() {
    check_own(
        "read_file",
        r#"{"file_path":"a","offset":"3"}"#,
        r#"{"op":"read","target":"a","attrs":{"first":3}}  (repaired: read_file read as read; file_path read as path; offset read as first; first: text "3" read as a number)"#,
    );
    check_own(
        "Bash",
        r#"{"cmd":"ls"}"#,
        r#"{"op":"exec","body":"ls"}  (repaired: Bash read as bash; cmd read as command)"#,
    );
    check_own(
        "edit",
        r#"{"path":"a","old":"x","new":"y"}"#,
        r#"{"op":"edit","target":"a","edits":[{"old":"x","new":"y"}]}"#,
    );
    check_own(
        "todo",
        r#"{"items":[{"text":"a","state":"done"}]}"#,
        r#"{"op":"todo","attrs":{"items":[{"text":"a","state":"done"}]}}"#,
    );
    check_own("ask_user", r#"{"question":"which?"}"#, r#"{"op":"ask_user","body":"which?"}"#);
    check_own("read", "", "invalid_args 1:117 read: path is missing");
    check_own(
        "read",
        r#"{"path":"a""#,
        "invalid_args 1:117 read: the arguments are not JSON: EOF while parsing an object at line 1 column 11",
    );
    check_own(
        "read",
        r#"{"path":"a","x":1}"#,
        r#"invalid_args 1:117 read: there is no argument "x"; the arguments are path, first, limit, hashes, scope, matching"#,
    );
    check_own(
        "finds",
        r#"{"text":"a"}"#,
        r#"unknown_tool 1:98 there is no tool "finds"; the nearest are find; the tools are read, write, edit, multi_edit, find, list, remove, move, copy, open, fold, send, bash, env, todo, ask_user, present_plan"#,
    );
    check_own(
        "web_search",
        r#"{"query":"a"}"#,
        r#"unknown_tool 1:98 there is no tool "web_search"; the nearest are read; the tools are read, write, edit, multi_edit, find, list, remove, move, copy, open, fold, send, bash, env, todo, ask_user, present_plan"#,
    );
}

#[test]
fn arguments_are_coerced_by_the_schema_where_nothing_is_lost() {
    check_call(
        "weather.today",
        r#"{"place":"Rome"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome"}}"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":"3","degrees":"1.5","exact":"yes"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","days":3,"degrees":1.5,"exact":true}}  (repaired: days: text "3" read as a number; degrees: text "1.5" read as a number; exact: "yes" read as true)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","exact":"No","more":"1"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","exact":false,"more":1}}  (repaired: exact: "No" read as false; more: text "1" read as a number)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","exact":0}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","exact":false}}  (repaired: exact: 0 read as false)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":7,"hours":"[1,2]","options":"{\"a\":1}"}"#,
        r#"{"op":"weather.today","attrs":{"place":"7","hours":[1,2],"options":{"a":1}}}  (repaired: place: 7 read as text; hours: text read as JSON; options: text read as JSON)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":1.10}"#,
        r#"{"op":"weather.today","attrs":{"place":"1.10"}}  (repaired: place: 1.10 read as text)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":true}"#,
        r#"{"op":"weather.today","attrs":{"place":"true"}}  (repaired: place: true read as text)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":3.0,"degrees":2}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","days":3.0,"degrees":2}}"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":" 12 ","degrees":"1e3"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","days":12,"degrees":1000.0}}  (repaired: days: text " 12 " read as a number; degrees: text "1e3" read as a number)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":"1e3"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","days":1000}}  (repaired: days: text "1e3" read as a number)"#,
    );
}

#[test]
fn a_property_may_be_of_several_types_or_of_any() {
    check_call(
        "weather.today",
        r#"{"place":"Rome","either":null,"days":null}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","either":null}}  (repaired: days: null left out)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","either":"4"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","either":4}}  (repaired: either: text "4" read as a number)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","both":["x"],"any":{"x":null}}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","both":["x"],"any":{"x":null}}}"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","both":5}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","both":"5"}}  (repaired: both: 5 read as text)"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","unit":"c","level":2,"code":1}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome","unit":"c","level":2,"code":"1"}}  (repaired: code: 1 read as text)"#,
    );
    check_call(
        "weather.today",
        r#""{\"place\":\"Rome\"}""#,
        r#"{"op":"weather.today","attrs":{"place":"Rome"}}  (repaired: the arguments: text read as JSON)"#,
    );
    check_call(
        "send_mail",
        r#"{"to":"a","cc":["b"]}"#,
        r#"{"op":"send_mail","attrs":{"to":"a","cc":["b"]}}"#,
    );
    check_call("ping", "", r#"{"op":"ping"}"#);
    check_call("ping", r#"{"x":"1"}"#, r#"{"op":"ping","attrs":{"x":"1"}}"#);
}

#[test]
fn what_no_coercion_helps_is_named() {
    check_call("weather.today", "{}", "invalid_args 1:126 weather.today: place is missing");
    check_call(
        "weather.today",
        r#"{"place":null}"#,
        "invalid_args 1:126 weather.today: place is missing",
    );
    check_call(
        "weather.today",
        r#"{"place":["Rome"]}"#,
        "invalid_args 1:126 weather.today: place must be a string",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":"many"}"#,
        "invalid_args 1:126 weather.today: days must be a whole number",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":"3.5"}"#,
        "invalid_args 1:126 weather.today: days must be a whole number",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":3.5}"#,
        "invalid_args 1:126 weather.today: days must be a whole number",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","days":"123456789012345678901234567890"}"#,
        "invalid_args 1:126 weather.today: days must be a whole number",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","degrees":"0x10"}"#,
        "invalid_args 1:126 weather.today: degrees must be a number",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","exact":"maybe"}"#,
        "invalid_args 1:126 weather.today: exact must be true or false",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","exact":2}"#,
        "invalid_args 1:126 weather.today: exact must be true or false",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","hours":"1,2"}"#,
        "invalid_args 1:126 weather.today: hours must be a list",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","options":"[1]"}"#,
        "invalid_args 1:126 weather.today: options must be an object",
    );
}

#[test]
fn what_a_schema_does_not_choose_or_know_is_named() {
    check_call(
        "weather.today",
        r#"{"place":"Rome","either":"x"}"#,
        "invalid_args 1:126 weather.today: either must be a whole number or null",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","unit":"kelvin"}"#,
        r#"invalid_args 1:126 weather.today: unit must be one of "c", "f""#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","level":"2"}"#,
        "invalid_args 1:126 weather.today: level must be one of 1, 2",
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","wind":true}"#,
        r#"invalid_args 1:126 weather.today: there is no argument "wind"; the arguments are place, days, degrees, exact, hours, options, unit, either, both, any, level, code, more"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome","place":"Oslo"}"#,
        r#"invalid_args 1:126 weather.today: the arguments are not JSON: the key "place" is there twice at line 1 column 31"#,
    );
    check_call(
        "weather.today",
        r#"{"place":"Rome""#,
        "invalid_args 1:126 weather.today: the arguments are not JSON: EOF while parsing an object at line 1 column 15",
    );
    check_call(
        "weather.today",
        "[1]",
        "invalid_args 1:126 weather.today: the arguments are not a JSON object",
    );
}

#[test]
fn names_are_the_lists_own_those_on_the_wire_or_like_them() {
    check_call(
        "weather_today",
        r#"{"place":"Rome"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome"}}"#,
    );
    check_call(
        "today",
        r#"{"place":"Rome"}"#,
        r#"unknown_tool 1:98 there is no tool "today"; the nearest are weather.today"#,
    );
    check_call(
        "Weather-Today",
        r#"{"place":"Rome"}"#,
        r#"{"op":"weather.today","attrs":{"place":"Rome"}}  (repaired: Weather-Today read as weather.today)"#,
    );
    check_call(
        "SendMail",
        r#"{"to":"a"}"#,
        r#"{"op":"send_mail","attrs":{"to":"a"}}  (repaired: SendMail read as send_mail)"#,
    );
    check_call(
        "functions.send_mail",
        r#"{"to":"a"}"#,
        r#"{"op":"send_mail","attrs":{"to":"a"}}  (repaired: functions.send_mail read as send_mail)"#,
    );
    check_call(
        "send_mial",
        r#"{"to":"a"}"#,
        r#"unknown_tool 1:98 there is no tool "send_mial"; the nearest are send_mail"#,
    );
    check_call(
        "read",
        r#"{"path":"a"}"#,
        r#"unknown_tool 1:98 there is no tool "read"; the tools are weather.today, send_mail, ping"#,
    );
}
#[test]
fn a_call_keeps_its_id_its_own_name_and_the_one_that_was_written() {
    let heard = read(&call("weather_today", r#"{"place":"Rome"}"#), Some(TOOLS));
    let [call] = &heard.calls[..] else { panic!("one call") };
    let names = (call.id.as_str(), call.name.as_str(), call.wire.as_str());
    assert_eq!(names, ("c1", "weather.today", "weather_today"));
    assert!(call.parsed.is_none() && heard.repairs.is_empty());
}

#[test]
fn a_list_that_is_none_of_tools_reads_nothing() {
    for (tools, expected) in [
        ("{}", "tools 1:1 the tools are not a list"),
        ("[{}]", "tools 1:1 the tool 1 of the list has no name"),
        (r#"[{"name":"a"},{"name":"a"}]"#, r#"tools 1:1 the tool "a" is in the list twice"#),
        ("[", "tools 1:1 the tools are not JSON: EOF while parsing a list at line 1 column 1"),
    ] {
        assert_eq!(said(&call("a", "{}"), Some(tools)), expected);
    }
    assert_eq!(
        said(&call("a", "{}"), Some("[]")),
        r#"unknown_tool 1:98 there is no tool "a", nor any other"#
    );
}

#[test]
fn of_thousands_of_broken_calls_only_the_first_are_told() {
    let list = |call: &str| format!(r#"{{"tool_calls":[{}]}}"#, vec![call; 5_000].join(","));
    let heard = read(&list("{}"), None);
    assert_eq!((heard.problems.len(), heard.repairs.len()), (65, 65));
    assert_eq!(heard.problems[63].kind, "not_a_call");
    assert_eq!(
        (heard.problems[64].kind, heard.repairs[64].kind),
        ("more_problems", "more_repairs")
    );
    let heard = read(&list(r#"{"name":"read","arguments":"{\"path\":\"a\"}"}"#), None);
    assert_eq!((heard.calls.len(), heard.problems.len()), (5_000, 0));
}

#[test]
fn names_on_the_wire_are_short_plain_and_all_different() {
    let long = "x".repeat(80);
    let names = ["a.b", "a/b", "a_b", "é", "", "", &long, &long];
    let wire = wire_names(&names);
    assert_eq!(wire[..6], ["a_b", "a_b_2", "a_b_3", "_", "_2", "_3"]);
    assert_eq!(wire[6], "x".repeat(64));
    assert_eq!(wire[7], format!("{}_2", "x".repeat(62)));
}

/// A value for a property of the list's first tool, right or nearly so.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6..1e6f64).prop_map(Value::from),
        prop::sample::select(vec!["true", "yes", "1", "0", "3", "1.5", "[1]", "{}", "c", "x", ""])
            .prop_map(Value::from),
        Just(json!([1])),
        Just(json!({"a": 1})),
    ]
}

proptest! {
    #[test]
    fn every_message_is_read(text in any::<String>(), tools in proptest::option::of(any::<String>())) {
        let heard = read(&text, tools.as_deref());
        prop_assert!(heard.calls.is_empty() || heard.problems.is_empty());
    }

    #[test]
    fn what_was_coerced_is_not_coerced_again(
        place in value(), days in value(), degrees in value(), exact in value(), hours in value(), unit in value(),
    ) {
        let args = json!({
            "place": place, "days": days, "degrees": degrees, "exact": exact, "hours": hours, "unit": unit,
        });
        let once = read(&call("weather.today", &args.to_string()), Some(TOOLS));
        prop_assert_eq!(once.calls.len() + once.problems.len(), 1);
        if let [called] = &once.calls[..] {
            let attrs = called.shown["attrs"].to_string();
            let again = read(&call("weather.today", &attrs), Some(TOOLS));
            prop_assert!(again.repairs.is_empty() && again.problems.is_empty(), "{}", attrs);
            prop_assert_eq!(&again.calls[0].shown, &called.shown);
        }
    }
}
