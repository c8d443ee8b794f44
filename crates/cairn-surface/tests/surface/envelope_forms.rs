//! Schemas and grammars: what they let through is admitted, and what is printed they let through. The grammars are
//! read by a small matcher of our own; that llama.cpp takes them is for a proof with a model.

use crate::actions::action;
use crate::envelope_hold::{all, stage, turn};
use crate::gbnf::Grammar;
use cairn_surface::envelope::{NONCE_PATTERN, Nonce, Stage, Turn, grammar, parse, print, schema};
use cairn_surface::native::{self, Tool};
use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Choices by a seed.
fn chooser(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |among| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % among.max(1)
    }
}

/// A value that a schema lets through.
fn instance(schema: &Value, choose: &mut impl FnMut(usize) -> usize) -> Value {
    if let Some(all) = schema["anyOf"].as_array() {
        return instance(&all[choose(all.len())], choose);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[choose(words.len())].clone();
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    match schema["type"].as_str() {
        Some("string") => {
            let words = [
                "a",
                "x/y.rs",
                "{",
                "}{\"tool\":1}",
                "a \"b\"",
                "\\",
                "</think>",
                "é",
                "*.rs",
                "log:///1",
            ];
            json!(words[choose(words.len())])
        }
        Some("integer") => json!([0, 1, 7, 200, 300, 999_999_999_999_999_u64][choose(6)]),
        Some("boolean") => json!(choose(2) == 1),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
            let most = schema["maxItems"].as_u64().unwrap_or(99) as usize;
            let count = if choose(8) == 0 { most } else { least + choose(3) };
            (0..count).map(|_| instance(&schema["items"], choose)).collect()
        }
        Some("object") => {
            let required = schema["required"].as_array().expect("a list");
            let properties = schema["properties"].as_object().expect("an object");
            let mut object = serde_json::Map::new();
            for (name, schema) in properties {
                if required.contains(&json!(name)) || choose(3) == 0 {
                    object.insert(name.clone(), instance(schema, choose));
                }
            }
            Value::Object(object)
        }
        other => panic!("a schema of type {other:?}"),
    }
}

/// Whether a schema lets a value through.
fn accepts(schema: &Value, value: &Value) -> bool {
    if let Some(all) = schema["anyOf"].as_array() {
        return all.iter().any(|schema| accepts(schema, value));
    }
    let is_said = |name: &str| !schema[name].is_null();
    let length = value.as_str().map_or(0, |text| text.chars().count() as u64);
    (!is_said("enum") || schema["enum"].as_array().is_some_and(|words| words.contains(value)))
        && (!is_said("const") || schema["const"] == *value)
        && (!is_said("maxLength")
            || schema["maxLength"].as_u64().is_some_and(|most| length <= most))
        && match schema["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => {
                value.as_u64().is_some_and(|n| n <= schema["maximum"].as_u64().unwrap())
            }
            Some("boolean") => value.is_boolean(),
            Some("array") => value.as_array().is_some_and(|items| {
                let count = items.len() as u64;
                count >= schema["minItems"].as_u64().unwrap_or(0)
                    && count <= schema["maxItems"].as_u64().unwrap()
                    && items.iter().all(|item| accepts(&schema["items"], item))
            }),
            Some("object") => value.as_object().is_some_and(|fields| {
                let required = schema["required"].as_array().unwrap();
                required.iter().all(|name| fields.contains_key(name.as_str().unwrap()))
                    && fields.iter().all(|(name, value)| {
                        schema["properties"].get(name).is_some_and(|schema| accepts(schema, value))
                    })
            }),
            _ => false,
        }
}

/// Whether a reply is admitted, or refused only for what the tool itself wants of a value.
fn is_admitted(text: &str, turn: &Turn<'_>) -> bool {
    let reading = parse(text, turn);
    let own = [
        "question is empty",
        "plan is empty",
        "text is missing",
        "status must be a number from 100 to 599",
    ];
    let is_own = |note: &str| own.iter().any(|own| note.ends_with(own));
    reading.repairs.is_empty() && reading.problems.iter().all(|trouble| is_own(&trouble.note))
}

proptest! {
    #[test]
    fn what_a_schema_lets_through_is_admitted(seed: u64, stage in stage(), requires_tool: bool) {
        let tools = all();
        let turn = Turn { requires_tool, ..turn(&tools, stage) };
        let schema: Value = serde_json::from_str(&schema(&turn, Nonce::Const)).unwrap();
        let text = instance(&schema, &mut chooser(seed)).to_string();
        prop_assert!(is_admitted(&text, &turn), "{}", text);
    }

    #[test]
    fn what_a_grammar_lets_through_is_admitted(seed: u64, stage in stage(), requires_tool: bool) {
        let tools = all();
        let turn = Turn { requires_tool, ..turn(&tools, stage) };
        let text = Grammar::new(&grammar(&turn)).text(&mut chooser(seed));
        prop_assert!(is_admitted(&text, &turn), "{}", text);
        let schema: Value = serde_json::from_str(&schema(&turn, Nonce::Const)).unwrap();
        prop_assert!(accepts(&schema, &serde_json::from_str(&text).unwrap()), "{}", text);
    }

    #[test]
    fn what_is_printed_is_let_through(op in action(), stage in stage()) {
        let tools = all();
        let turn = turn(&tools, stage);
        let text = print(&op, &turn).expect("every op has a call");
        prop_assert!(Grammar::new(&grammar(&turn)).accepts(&text), "{}", text);
        let schema: Value = serde_json::from_str(&schema(&turn, Nonce::Const)).unwrap();
        prop_assert!(accepts(&schema, &serde_json::from_str(&text).unwrap()), "{}", text);
    }

    #[test]
    fn schemas_and_grammars_have_the_turns_tools_and_no_others(chosen in proptest::sample::subsequence(all(), 0..8), stage in stage()) {
        let turn = turn(&chosen, stage);
        let names: Vec<&str> = chosen.iter().map(|tool| tool.name).collect();
        let (schema, grammar) = (schema(&turn, Nonce::Pattern), grammar(&turn));
        let schema: Value = serde_json::from_str(&schema).unwrap();
        let mut forms = schema["anyOf"].as_array().cloned().unwrap_or_else(|| vec![schema]);
        forms.pop().expect("the end");
        let mut told: Vec<String> = forms.iter().map(|form| called(form, stage)).collect();
        told.dedup();
        prop_assert_eq!(told, names);
        let ways: usize = chosen.iter().map(|tool| tool.ways.len().max(1)).sum();
        prop_assert_eq!(forms.len(), ways);
        prop_assert_eq!(Grammar::new(&grammar).rules("call-"), ways);
    }
}

/// The tool that a form of call is for, which is its first property but for the one that says that it is a call.
fn called(form: &Value, stage: Stage) -> String {
    let properties = form["properties"].as_object().expect("an object");
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    match stage {
        Stage::First => assert_eq!(names, ["tool", "args", "nonce"]),
        Stage::Next => assert_eq!(names, ["action", "tool", "args", "nonce"]),
    }
    assert_eq!(form["required"], json!(names));
    assert_eq!(form["additionalProperties"], false);
    form["properties"]["tool"]["enum"][0].as_str().expect("a name").to_owned()
}

fn named(names: &[&str]) -> Vec<&'static Tool> {
    names.iter().filter_map(|name| native::tool(name)).collect()
}

#[test]
fn a_grammar_takes_no_blanks_no_other_order_and_no_other_nonce() {
    let tools = named(&["read", "find"]);
    let grammar = Grammar::new(&grammar(&turn(&tools, Stage::First)));
    for (text, is_accepted) in [
        (r#"{"tool":"read","args":{"path":"a"},"nonce":"q7Zr-01_x"}"#, true),
        (
            r#"{"tool":"read","args":{"path":"a","first":10,"hashes":true},"nonce":"q7Zr-01_x"}"#,
            true,
        ),
        (r#"{"action":"final","nonce":"q7Zr-01_x"}"#, true),
        (r#"{"tool":"find","args":{"tags":["a"]},"nonce":"q7Zr-01_x"}"#, true),
        (r#"{"tool":"find","args":{"tags":[]},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{"tool":"find","args":{},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{"tool":"read","args":{"path":""},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{"tool":"read","args":{"path":"a\n"},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{"tool":"read","args":{"path":"a","first":01},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{"tool":"read","args":{"first":1,"path":"a"},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{ "tool":"read","args":{"path":"a"},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{"tool":"read","args":{"path":"a"},"nonce":"q7Zr-01_y"}"#, false),
        (r#"{"tool":"bash","args":{"command":"a"},"nonce":"q7Zr-01_x"}"#, false),
        (r#"{"tool":"read","args":{"path":"\ud800"},"nonce":"q7Zr-01_x"}"#, false),
    ] {
        assert_eq!(grammar.accepts(text), is_accepted, "{text}");
    }
    let place = |n: usize| {
        format!(r#"{{"tool":"read","args":{{"path":"{}"}},"nonce":"q7Zr-01_x"}}"#, "é".repeat(n))
    };
    assert!(grammar.accepts(&place(512)) && !grammar.accepts(&place(513)));
}

#[test]
fn a_nonce_is_named_to_models_here_and_described_to_others() {
    let tools = named(&["remove"]);
    let turn = Turn { requires_tool: true, ..turn(&tools, Stage::First) };
    expect![[r#"{"type":"object","properties":{"tool":{"type":"string","enum":["remove"]},"args":{"type":"object","properties":{"path":{"type":"string","maxLength":512}},"required":["path"],"additionalProperties":false},"nonce":{"type":"string","const":"q7Zr-01_x"}},"required":["tool","args","nonce"],"additionalProperties":false}"#]].assert_eq(&schema(&turn, Nonce::Const));
    let other: Value = serde_json::from_str(&schema(&turn, Nonce::Pattern)).unwrap();
    assert_eq!(other["properties"]["nonce"], json!({"type": "string", "pattern": NONCE_PATTERN}));
    let next = Turn { nonce: "another", ..turn };
    assert_eq!(schema(&next, Nonce::Pattern), schema(&turn, Nonce::Pattern));
    expect![[r#"
        root ::= call-remove
        call-remove ::= "{\"tool\":\"remove\",\"args\":" "{" "\"path\":" place "}" nonce
        nonce ::= ",\"nonce\":\"q7Zr-01_x\"}"
        place ::= "\"" place-char{1,512} "\""
        texts ::= "[" ( text ( "," text ){0,19} )? "]"
        text ::= "\"" char* "\""
        char ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt]
        place-char ::= [^"\\\x00-\x1F\x7F-\x9F] | "\\" ["\\/]
        count ::= "0" | [1-9] [0-9]{0,14}
        flag ::= "true" | "false"
    "#]]
    .assert_eq(&grammar(&turn));
}
