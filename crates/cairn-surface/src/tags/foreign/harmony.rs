//! Messages in channels: `<|channel|>analysis<|message|>` … `<|end|>` is thought, a message to a function is a
//! call, and of any other only the marks are dropped. Also `<|tool_call>call:NAME{…}<tool_call|>`.

use super::super::later::Later;
use super::json::value_at;
use super::{Met, line_end};
use serde_json::{Map, Value};

const MESSAGE: &str = "<|message|>";
/// What ends a message, and what begins the next.
const ENDS: [&str; 5] = ["<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"];
/// Marks that say nothing by themselves.
const MARKUP: [&str; 7] =
    [MESSAGE, "<|end|>", "<|call|>", "<|return|>", "<|constrain|>", "<tool_call|>", "<channel|>"];
const CALL: &str = "<|tool_call>call:";
const THOUGHT: (&str, &str) = ("<|channel>", "<channel|>");
/// What stands around texts in calls of this kind.
const TEXT_MARK: &str = "<|\"|>";
/// Between the beginning of a message and its text there is no more than this.
const LONGEST_HEADER: usize = 200;

pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let rest = &text[at..];
    if rest.starts_with("<|start|>") || rest.starts_with("<|channel|>") {
        return Some(message(text, at, later));
    }
    if rest.starts_with(CALL) {
        return Some(call(text, at + CALL.len()));
    }
    if rest.starts_with("<|tool_call>") {
        let why = "<|tool_call> is not followed by a call".to_owned();
        return Some(Met::Malformed { why, end: line_end(text, at) });
    }
    if let Some(inner) = rest.strip_prefix(THOUGHT.0) {
        let from = at + THOUGHT.0.len();
        let is_thought = inner.starts_with("thought");
        return Some(match later.next(THOUGHT.1, from).filter(|_| is_thought) {
            Some(to) => {
                Met::Thought { from: from + "thought".len(), to, end: to + THOUGHT.1.len() }
            }
            None => Met::Markup { end: line_end(text, from) },
        });
    }
    let mark = MARKUP.iter().find(|mark| rest.starts_with(**mark))?;
    Some(Met::Markup { end: at + mark.len() })
}

/// A message, from the mark that begins it.
fn message(text: &str, at: usize, later: &mut Later<'_>) -> Met {
    let begins = text[at..].find("|>").map_or(at, |found| at + found + 2);
    let says = later.next(MESSAGE, at).filter(|says| says - at < LONGEST_HEADER);
    let Some(says) = says else { return Met::Markup { end: begins } };
    let header = &text[at..says];
    let from = says + MESSAGE.len();
    let (to, mark) = later.first(&ENDS, from).unwrap_or((text.len(), ""));
    let end = if ENDS[..3].contains(&mark) { to + mark.len() } else { to };
    if let Some(name) = recipient(header) {
        return match value_at(text, from) {
            Some((args @ Value::Object(_), over)) if text[over..to.max(over)].trim().is_empty() => {
                let calls = vec![(name.to_owned(), args)];
                Met::Calls { calls, format: "a message to a function", end: end.max(over) }
            }
            _ => Met::Malformed { why: format!("a message to {name} is no JSON object"), end },
        };
    }
    match header.contains("<|channel|>analysis") {
        true => Met::Thought { from, to, end },
        false => Met::Markup { end: from },
    }
}

/// To which function a message goes.
fn recipient(header: &str) -> Option<&str> {
    let (_, after) = header.split_once("to=")?;
    let end = after.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(after.len());
    Some(&after[..end]).filter(|name| !name.is_empty())
}

fn call(text: &str, from: usize) -> Met {
    let bad = || Met::Malformed {
        why: "<|tool_call> is not followed by a call".to_owned(),
        end: line_end(text, from),
    };
    let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let rest = &text[from..];
    let length = rest.chars().take(100).take_while(|c| is_name(*c)).map(char::len_utf8).sum();
    let name: &str = &rest[..length];
    let args = match value_at(text, from + length) {
        Some((args @ Value::Object(_), end)) => Some((args, end)),
        _ => loose(text, from + length),
    };
    match args {
        Some((args, end)) if length > 0 => {
            let calls = vec![(name.to_owned(), args)];
            Met::Calls { calls, format: "a <|tool_call>", end }
        }
        _ => bad(),
    }
}

/// `{name:value,…}` where names stand without quotes and texts between marks of their own.
fn loose(text: &str, at: usize) -> Option<(Value, usize)> {
    let mut rest = text[at..].strip_prefix('{')?;
    let mut args = Map::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Some((Value::Object(args), text.len() - after.len()));
        }
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let key = &rest[..rest.find(|c| !is_key(c)).filter(|length| *length > 0)?];
        rest = rest[key.len()..].trim_start().strip_prefix(':')?.trim_start();
        let value = match rest.strip_prefix(TEXT_MARK) {
            Some(inner) => {
                let (value, after) = inner.split_once(TEXT_MARK)?;
                rest = after;
                value.into()
            }
            None => {
                let (value, end) = value_at(rest, 0)?;
                rest = &rest[end..];
                value
            }
        };
        args.insert(key.to_owned(), value);
        let after = rest.trim_start();
        rest = after.strip_prefix(',').or_else(|| after.starts_with('}').then_some(after))?;
    }
}
