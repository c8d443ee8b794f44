//! The grammar of a turn's replies in GBNF, for llama.cpp. It has no blanks and one order of fields, so that a small
//! model has nothing to choose but the tool and the values, and it makes no string that is not JSON.

use super::layout::{Layout, MOST_ITEMS, Slot, fields, layouts};
use super::{ACTION, ARGS, FINAL, LONGEST_TARGET, NONCE, TOOL, Turn};
use crate::native::{Kind, Tool};
use serde_json::json;

/// Rules that every grammar may use. Escapes by number are left out: half a surrogate is no character.
const SHARED: [(&str, &str); 5] = [
    ("text", r#""\"" char* "\"""#),
    ("char", r#"[^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt]"#),
    ("place-char", r#"[^"\\\x00-\x1F\x7F-\x9F] | "\\" ["\\/]"#),
    ("count", r#""0" | [1-9] [0-9]{0,14}"#),
    ("flag", r#""true" | "false""#),
];

/// The grammar of a turn's replies.
#[must_use]
pub fn grammar(turn: &Turn<'_>) -> String {
    let mut rules: Vec<(String, String)> = Vec::new();
    for tool in turn.tools {
        let ways = layouts(tool);
        for (n, way) in (1..).zip(&ways) {
            let name = tool.name.replace('_', "-");
            let name = match ways.len() {
                1 => format!("call-{name}"),
                _ => format!("call-{name}-{n}"),
            };
            rules.push((name, call(tool, way, turn)));
        }
    }
    if turn.may_end() {
        rules.push((
            "end".to_owned(),
            format!("{} nonce", literal(&format!("{{\"{ACTION}\":\"{FINAL}\""))),
        ));
    }
    let names: Vec<&str> = rules.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = format!("root ::= {}\n", names.join(" | "));
    let nonce = literal(&format!(",\"{NONCE}\":{}}}", json!(turn.nonce)));
    let place = format!(r#""\"" place-char{{1,{LONGEST_TARGET}}} "\"""#);
    let rules = rules.iter().map(|(name, rule)| (name.as_str(), rule.as_str()));
    let texts = list("text", false);
    let own = [("nonce", nonce.as_str()), ("place", place.as_str()), ("texts", texts.as_str())];
    let rules = rules.chain(own).chain(SHARED);
    for (name, rule) in rules {
        text.push_str(&format!("{name} ::= {rule}\n"));
    }
    text
}

fn call(tool: &Tool, way: &Layout, turn: &Turn<'_>) -> String {
    let action = match turn.is_decision() {
        true => format!("\"{ACTION}\":\"{TOOL}\","),
        false => String::new(),
    };
    let start = format!("{{{action}\"{TOOL}\":\"{}\",\"{ARGS}\":", tool.name);
    format!("{} {} nonce", literal(&start), object(way))
}

/// A text as it stands.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn object(layout: &Layout) -> String {
    let given = |slot: &Slot, comma: &str| {
        format!("{} {}", literal(&format!("{comma}\"{}\":", slot.param.name)), value(slot))
    };
    let maybe = |slots: &[Slot]| {
        let parts: Vec<String> =
            slots.iter().map(|slot| format!("( {} )?", given(slot, ","))).collect();
        parts.join(" ")
    };
    let inner = match &layout.needed[..] {
        [first, more @ ..] => {
            let more = more.iter().map(|slot| given(slot, ","));
            let mut parts: Vec<String> = std::iter::once(given(first, "")).chain(more).collect();
            parts.push(maybe(&layout.optional));
            parts.join(" ")
        }
        // Whichever is first has no comma before it.
        [] => {
            let from = |n: usize| {
                let first = layout.optional.get(n).map(|slot| given(slot, "")).unwrap_or_default();
                format!("{first} {}", maybe(layout.optional.get(n + 1..).unwrap_or_default()))
            };
            let starts: Vec<String> = (0..layout.optional.len()).map(from).collect();
            format!("( {} )?", starts.join(" | "))
        }
    };
    format!(r#""{{" {} "}}""#, inner.trim())
}

fn value(slot: &Slot) -> String {
    match slot.param.kind {
        Kind::Text if slot.is_target => "place".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Count => "count".to_owned(),
        Kind::Flag if slot.is_full => literal("true"),
        Kind::Flag => "flag".to_owned(),
        Kind::Word(words) => {
            let words: Vec<String> =
                words.iter().map(|word| literal(&format!("\"{word}\""))).collect();
            format!("( {} )", words.join(" | "))
        }
        Kind::Texts if slot.is_full => list("text", true),
        Kind::Texts => "texts".to_owned(),
        Kind::List(params) => list(&object(&fields(params)), slot.is_full),
    }
}

fn list(item: &str, is_full: bool) -> String {
    let maybe = if is_full { "" } else { "?" };
    let more = MOST_ITEMS - 1;
    format!(r#""[" ( {item} ( "," {item} ){{0,{more}}} ){maybe} "]""#)
}
