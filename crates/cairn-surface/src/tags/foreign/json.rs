//! Calls as JSON: alone on lines of their own, and behind `[TOOL_CALLS]`.

use super::{Met, line_end};
use serde_json::{Map, Value};

const TOOL_CALLS: &str = "[TOOL_CALLS]";
const ARGS: &str = "[ARGS]";
/// So far is looked around the beginning of JSON.
const DEEPEST: usize = 64;
/// What arguments are called.
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "input", "args"];
/// What may stand beside them.
const BESIDE: [&str; 4] = ["id", "type", "index", "call_id"];

pub(super) fn read(text: &str, at: usize) -> Option<Met> {
    if text[at..].starts_with(TOOL_CALLS) {
        return Some(behind_mark(text, at + TOOL_CALLS.len()));
    }
    alone(text, at)
}

/// The JSON value that begins here after blanks, and where it is over.
pub(super) fn value_at(text: &str, at: usize) -> Option<(Value, usize)> {
    let rest = &text[at..];
    let start = at + rest.len() - rest.trim_start().len();
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, start + values.byte_offset()))
}

/// JSON that stands alone on its lines and is nothing but calls.
fn alone(text: &str, at: usize) -> Option<Met> {
    let mut before = text.as_bytes()[..at].iter().rev().take(DEEPEST);
    let before = before.find(|byte| !matches!(byte, b' ' | b'\t'));
    let is_first = before.is_none_or(|byte| *byte == b'\n');
    if !is_first || !begins_a_call(&text[at..]) {
        return None;
    }
    let Some((value, end)) = value_at(text, at) else {
        let end = line_end(text, at);
        let is_call = ARGUMENTS.iter().any(|key| text[at..end].contains(&format!("\"{key}\"")));
        let why = || "what begins like a function call is no JSON".to_owned();
        return is_call.then(|| Met::Malformed { why: why(), end });
    };
    let rest = &text[end..line_end(text, end)];
    let calls = calls(value).filter(|_| rest.trim().is_empty())?;
    Some(Met::Calls { calls, format: "a function call in JSON", end })
}

/// Whether the first key is one that a call has, so that other JSON is not read for nothing.
fn begins_a_call(text: &str) -> bool {
    let start = &text[..text.char_indices().nth(DEEPEST).map_or(text.len(), |(at, _)| at)];
    let inner = start.trim_start_matches(['[', '{', ' ', '\t', '\r', '\n']);
    let Some(inner) = inner.strip_prefix('"') else { return false };
    let keys = ["name", "function", "tool_calls", "role", "content"];
    let mut keys = keys.iter().chain(&ARGUMENTS).chain(&BESIDE);
    keys.any(|key| inner.strip_prefix(key).is_some_and(|rest| rest.starts_with('"')))
}

fn behind_mark(text: &str, at: usize) -> Met {
    let format = "a [TOOL_CALLS] list";
    let rest = text[at..].trim_start_matches([' ', '\t', '\r', '\n']);
    let start = text.len() - rest.len();
    let length = rest.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)).unwrap_or(0);
    if length > 0 && rest.starts_with(char::is_alphabetic) {
        let name = rest[..length].to_owned();
        let after = rest[length..]
            .strip_prefix(ARGS)
            .map_or(start + length, |_| start + length + ARGS.len());
        if let Some((args @ Value::Object(_), end)) = value_at(text, after) {
            return Met::Calls { calls: vec![(name, args)], format, end };
        }
    } else if let Some((value, end)) = value_at(text, start)
        && let Some(calls) = calls(value)
    {
        return Met::Calls { calls, format, end };
    }
    let why = format!("{TOOL_CALLS} is not followed by calls");
    Met::Malformed { why, end: line_end(text, at) }
}

/// The calls that a value is, if it is nothing else.
pub(super) fn calls(value: Value) -> Option<Vec<(String, Value)>> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let calls = items.into_iter().map(call).collect::<Option<Vec<_>>>()?;
            Some(calls)
        }
        Value::Object(mut fields) if fields.contains_key("tool_calls") => {
            let list = fields.remove("tool_calls")?;
            let is_said = |key: &String| key == "role" || key == "content";
            fields.keys().all(is_said).then_some(())?;
            if list.is_array() { calls(list) } else { None }
        }
        Value::Object(_) => Some(vec![call(value)?]),
        _ => None,
    }
}

fn call(value: Value) -> Option<(String, Value)> {
    let Value::Object(mut fields) = value else { return None };
    for key in BESIDE {
        fields.remove(key);
    }
    if let Some(Value::Object(function)) = fields.remove("function") {
        return if fields.is_empty() { named(function) } else { None };
    }
    named(fields)
}

/// A name and arguments, and nothing besides.
fn named(mut fields: Map<String, Value>) -> Option<(String, Value)> {
    let Some(Value::String(name)) = fields.remove("name") else { return None };
    let args = ARGUMENTS.iter().find_map(|key| fields.remove(*key))?;
    let args = match &args {
        Value::String(text) => serde_json::from_str(text).ok()?,
        _ => args,
    };
    (fields.is_empty() && args.is_object() && !name.trim().is_empty()).then_some((name, args))
}
