//! Calls as JSON: alone on lines of their own, and behind `[TOOL_CALLS]`.

use super::super::later::Later;
use super::{Frame, Met, over};
use crate::json::Exact;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::io::Read;

const TOOL_CALLS: &str = "[TOOL_CALLS]";
const ARGS: &str = "[ARGS]";
/// Nothing stands around these calls.
const BARE: Frame = Frame { opens: &[], closes: &[] };
/// What may stand before a call in its line, and what behind it.
const BEFORE: [&str; 1] = [PYTHON_TAG];
const BEHIND: [&str; 6] =
    ["<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end_of_text|>", "<end_of_turn>", "</s>"];
pub(super) const PYTHON_TAG: &str = "<|python_tag|>";
const CALL_ID: &str = "[CALL_ID]";
/// So far is looked around the beginning of JSON.
const DEEPEST: usize = 64;
/// In what began like JSON and is none, no more calls than this are looked for.
const MOST_AGAIN: usize = 8;
/// So far from its beginning a call that is no JSON names its arguments.
const FARTHEST: usize = 512;
/// What arguments are called.
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "input", "args"];
/// What may stand beside them.
const BESIDE: [&str; 4] = ["id", "type", "index", "call_id"];

pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    if text[at..].starts_with(TOOL_CALLS) {
        return Some(behind_mark(text, at + TOOL_CALLS.len(), later));
    }
    // What is broken is so for all that is open in it: it is not read again for each.
    later.again = if at < later.tried { later.again + 1 } else { 0 };
    let is_tried = later.again <= MOST_AGAIN && begins_a_call(&text[at..]);
    let met = is_tried.then(|| begun(text, at, later)).flatten();
    met.or_else(|| data(text, at, later))
}

/// JSON that is no call: nothing in it is one. Where it begins a line and the text ends in it, it goes on to the end.
fn data(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    if at < later.tried {
        return None;
    }
    match whole(text, at) {
        Whole::Until(end) => Some(Met::Prose { end }),
        Whole::Cut if is_first(text, at) => Some(Met::Prose { end: text.len() }),
        Whole::Cut => {
            later.tried = text.len();
            None
        }
        Whole::Broken(at) => {
            later.tried = at;
            None
        }
    }
}

/// Whether nothing but blanks, or a mark that calls follow, stands before this in its line.
fn is_first(text: &str, at: usize) -> bool {
    let near = at - at.min(DEEPEST);
    let near = (near..=at).find(|near| text.is_char_boundary(*near)).unwrap_or(at);
    let before = text[near..at].trim_end_matches([' ', '\t']);
    (before.is_empty() && near == 0)
        || before.ends_with('\n')
        || BEFORE.iter().any(|mark| before.ends_with(mark))
}

/// Whether nothing but blanks, or a mark that ends a turn, stands behind this in its line.
fn is_last(text: &str, end: usize) -> bool {
    let rest = text[end..].trim_start_matches([' ', '\t', '\r']);
    rest.is_empty() || rest.starts_with('\n') || BEHIND.iter().any(|mark| rest.starts_with(mark))
}

/// The JSON value that begins here after blanks, and where it is over. No key is in it twice.
pub(super) fn value_at(text: &str, at: usize) -> Option<(Value, usize)> {
    let rest = &text[at..];
    let start = at + rest.len() - rest.trim_start().len();
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Exact>();
    let Exact(value) = values.next()?.ok()?;
    Some((value, start + values.byte_offset()))
}

/// Where something is over that would be JSON but for line ends in its texts, or keys that are in it twice.
pub(super) fn extent(text: &str, at: usize) -> Option<usize> {
    match whole(text, at) {
        Whole::Until(end) => Some(end),
        Whole::Cut | Whole::Broken(_) => None,
    }
}

/// How far something of that kind goes.
enum Whole {
    Until(usize),
    /// The text ends in it.
    Cut,
    /// From here on it is none.
    Broken(usize),
}

fn whole(text: &str, at: usize) -> Whole {
    let rest = text[at..].trim_start();
    let start = text.len() - rest.len();
    if !rest.starts_with(['{', '[']) {
        return Whole::Broken(start);
    }
    let blanked = serde_json::Deserializer::from_reader(Blanked(rest.as_bytes()));
    let mut values = blanked.into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => Whole::Until(start + values.byte_offset()),
        Some(Err(why)) if !why.is_eof() => Whole::Broken(start + why.column()),
        _ => Whole::Cut,
    }
}

/// Bytes with a blank for each that may not stand in a text.
struct Blanked<'a>(&'a [u8]);

impl Read for Blanked<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(to)?;
        to.iter_mut().take(count).filter(|byte| **byte < b' ').for_each(|byte| *byte = b' ');
        Ok(count)
    }
}

/// What begins like a call: one, where it stands alone on its lines and is nothing else.
fn begun(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let Some((value, end)) = value_at(text, at) else {
        let is_call = names_arguments(&text[at..]);
        let why = || "what begins like a function call is no JSON".to_owned();
        return is_call.then(|| Met::Malformed { why: why(), end: over(text, at, &BARE, later) });
    };
    let is_first = is_first(text, at);
    if let Some((calls, end)) = is_first.then(|| row(text, end)).flatten() {
        let mut all = self::calls(value)?;
        all.extend(calls);
        return Some(Met::Calls { calls: all, format: "a function call in JSON", end });
    }
    let is_alone = is_first && is_last(text, end);
    if is_alone && is_spoiled(&value) {
        let why = "the arguments of a function call are no JSON object".to_owned();
        return Some(Met::Malformed { why, end });
    }
    Some(match calls(value).filter(|_| is_alone) {
        Some(calls) => Met::Calls { calls, format: "a function call in JSON", end },
        None => Met::Prose { end },
    })
}

/// The calls behind a semicolon, and where they are over, if all that is left of the line is such.
fn row(text: &str, from: usize) -> Option<(Vec<(String, Value)>, usize)> {
    let (mut all, mut end) = (Vec::new(), from);
    while let Some(rest) = text[end..].trim_start_matches(' ').strip_prefix(';') {
        let (value, over) = value_at(text, text.len() - rest.len())?;
        all.extend(calls(value)?);
        end = over;
    }
    (!all.is_empty() && is_last(text, end)).then_some((all, end))
}

/// Whether a key near the beginning is one of arguments.
fn names_arguments(text: &str) -> bool {
    let near = &text.as_bytes()[..text.len().min(FARTHEST)];
    let quotes = near.iter().enumerate().filter(|(_, byte)| **byte == b'"');
    let mut behind = quotes.map(|(at, _)| &text[at + 1..]);
    let is_key = |rest: &str, key: &str| rest.strip_prefix(key).is_some_and(|r| r.starts_with('"'));
    behind.any(|rest| ARGUMENTS.iter().any(|key| is_key(rest, key)))
}

/// Whether something in a text looks like a call.
pub(in super::super) fn names_a_call(text: &str) -> bool {
    text.contains("\"name\"") && ARGUMENTS.iter().any(|key| text.contains(&format!("\"{key}\"")))
}

/// Whether arguments in it are written as a text that begins like an object, and are none.
fn is_spoiled(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_spoiled),
        Value::Object(fields) => fields.iter().any(|(key, value)| match value {
            Value::String(text) if ARGUMENTS.contains(&key.as_str()) => {
                text.trim_start().starts_with('{') && serde_json::from_str::<Exact>(text).is_err()
            }
            Value::Object(_) => key == "function" && is_spoiled(value),
            _ => key == "tool_calls" && is_spoiled(value),
        }),
        _ => false,
    }
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

fn behind_mark(text: &str, at: usize, later: &mut Later<'_>) -> Met {
    let format = "a [TOOL_CALLS] list";
    let rest = text[at..].trim_start_matches([' ', '\t', '\r', '\n']);
    let start = text.len() - rest.len();
    let length = rest.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)).unwrap_or(0);
    if length > 0 && rest.starts_with(char::is_alphabetic) {
        let name = rest[..length].to_owned();
        let rest = without_id(&rest[length..]);
        let rest = rest.strip_prefix(ARGS).unwrap_or(rest);
        let after = text.len() - rest.len();
        if let Some((args @ Value::Object(_), end)) = value_at(text, after) {
            return Met::Calls { calls: vec![(name, args)], format, end };
        }
    } else if let Some((value, end)) = value_at(text, start)
        && let Some(calls) = calls(value)
    {
        return Met::Calls { calls, format, end };
    }
    let why = format!("{TOOL_CALLS} is not followed by calls");
    Met::Malformed { why, end: over(text, at, &BARE, later) }
}

/// A text without the number of a call at its beginning.
fn without_id(text: &str) -> &str {
    let Some(inner) = text.strip_prefix(CALL_ID) else { return text };
    inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
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
        Value::String(text) => serde_json::from_str::<Exact>(text).ok()?.0,
        _ => args,
    };
    (fields.is_empty() && args.is_object() && !name.trim().is_empty()).then_some((name, args))
}
