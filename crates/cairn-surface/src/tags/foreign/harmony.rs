//! Messages in channels to a function, which are calls, and `<|tool_call>call:NAME{…}<tool_call|>`. Messages to
//! nobody are not known here: they are thoughts, or said aloud.

use super::super::later::Later;
use super::json::{PYTHON_TAG, value_at};
use super::{Frame, Met, over};
use serde_json::{Map, Value};

const MESSAGE: &str = "<|message|>";
/// What a message is between.
const MESSAGES: Frame =
    Frame { opens: &["<|start|>", "<|channel|>"], closes: &["<|end|>", "<|call|>", "<|return|>"] };
/// Marks that say nothing by themselves.
const MARKUP: [&str; 4] = ["<|constrain|>", "<tool_call|>", "<channel|>", PYTHON_TAG];
const CALL: &str = "<|tool_call>call:";
const CALLS: Frame = Frame { opens: &["<|tool_call>"], closes: &["<tool_call|>"] };
/// A channel that is named behind one mark.
const NAMED: &str = "<|channel>";
const THOUGHT: &str = "thought";
/// What stands around texts in calls of this kind.
const TEXT_MARK: &str = "<|\"|>";
/// Between the beginning of a message and its text there is no more than this.
const LONGEST_HEADER: usize = 200;

pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let rest = &text[at..];
    if MESSAGES.opens.iter().any(|open| rest.starts_with(open)) {
        return message(text, at, later);
    }
    if rest.starts_with(CALL) {
        return Some(call(text, at + CALL.len(), later));
    }
    if rest.starts_with("<|tool_call>") {
        return Some(no_call(text, at + "<|tool_call>".len(), later));
    }
    if let Some(inner) = rest.strip_prefix(NAMED).filter(|inner| !inner.starts_with(THOUGHT)) {
        let name = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
        return Some(Met::Markup { end: text.len() - inner.len() + name });
    }
    let mark = MARKUP.iter().find(|mark| rest.starts_with(**mark))?;
    Some(Met::Markup { end: at + mark.len() })
}

/// A message to a function, from the mark that begins it.
fn message(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let says = later.next(MESSAGE, at).filter(|says| says - at < LONGEST_HEADER)?;
    let header = &text[at..says];
    let name = recipient(header).filter(|_| !header.contains('\n'))?;
    let from = says + MESSAGE.len();
    if let Some((args @ Value::Object(_), end)) = value_at(text, from) {
        let rest = text[end..].trim_start();
        let mut ends = MESSAGES.closes.iter().chain(MESSAGES.opens);
        if rest.is_empty() || ends.any(|mark| rest.starts_with(mark)) {
            let calls = vec![(name.to_owned(), args)];
            return Some(Met::Calls { calls, format: "a message to a function", end });
        }
    }
    let end = over(text, from, &MESSAGES, later);
    Some(Met::Malformed { why: format!("a message to {name} is no JSON object"), end })
}

fn no_call(text: &str, from: usize, later: &mut Later<'_>) -> Met {
    let why = "<|tool_call> is not followed by a call".to_owned();
    Met::Malformed { why, end: over(text, from, &CALLS, later) }
}

/// To which function a message goes.
fn recipient(header: &str) -> Option<&str> {
    let (_, after) = header.split_once("to=")?;
    let end = after.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(after.len());
    Some(&after[..end]).filter(|name| !name.is_empty())
}

fn call(text: &str, from: usize, later: &mut Later<'_>) -> Met {
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
        _ => no_call(text, from + length, later),
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
        if args.insert(key.to_owned(), value).is_some() {
            return None;
        }
        let after = rest.trim_start();
        rest = after.strip_prefix(',').or_else(|| after.starts_with('}').then_some(after))?;
    }
}
