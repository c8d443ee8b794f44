//! Calls in tags of other trainings: `<tool_call>` around JSON or parameters, `<tool_use>` with a name and an
//! input, `<invoke>` with parameters.

use super::super::later::Later;
use super::json::{calls, value_at};
use super::{Frame, Met, over};
use serde_json::{Map, Value};

/// Wrappers that say nothing.
const WRAPPERS: [&str; 4] =
    ["<function_calls>", "</function_calls>", "<tool_calls>", "</tool_calls>"];
const INVOKE: (&str, &str) = ("<invoke name=", "</invoke>");
const TOOL_CALL: (&str, &str) = ("<tool_call>", "</tool_call>");
const TOOL_USE: (&str, &str) = ("<tool_use>", "</tool_use>");
const NAME: (&str, &str) = ("<name>", "</name>");
const INPUT: (&str, &str) = ("<input>", "</input>");
const FUNCTION: (&str, &str) = ("<function=", "</function>");
const PARAMETER_END: &str = "</parameter>";
/// What may be the end of a call, by the name of what it closes.
pub(in super::super) const CLOSERS: [(&str, &str); 5] = [
    ("tool_call", TOOL_CALL.1),
    ("tool_use", TOOL_USE.1),
    ("invoke", INVOKE.1),
    ("function", FUNCTION.1),
    ("parameter", PARAMETER_END),
];
/// What opens them.
pub(super) const OPENERS: [(&str, &str); 6] = [
    ("tool_call", TOOL_CALL.0),
    ("tool_use", TOOL_USE.0),
    ("invoke", "<invoke"),
    ("function", FUNCTION.0),
    ("parameter", "<parameter="),
    ("parameter", "<parameter "),
];
/// A longer name is none.
const LONGEST_NAME: usize = 100;

pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let rest = &text[at..];
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| rest.starts_with(**wrapper)) {
        return Some(Met::Markup { end: at + wrapper.len() });
    }
    if let Some((name, close)) = CLOSERS.iter().find(|(_, close)| rest.starts_with(close)) {
        return Some(Met::Closer { name, end: at + close.len() });
    }
    let behind = |(open, _): (&str, &str)| rest.starts_with(open).then_some(at + open.len());
    let (met, frame, from) = if let Some(from) = behind(TOOL_CALL) {
        (
            tool_call(text, from, later),
            Frame { opens: &[TOOL_CALL.0], closes: &[TOOL_CALL.1] },
            from,
        )
    } else if let Some(from) = behind(TOOL_USE) {
        (tool_use(text, from), Frame { opens: &[TOOL_USE.0], closes: &[TOOL_USE.1] }, from)
    } else if let Some(from) = behind(FUNCTION) {
        let frame = Frame { opens: &[FUNCTION.0], closes: &[FUNCTION.1] };
        (function(text, from, "a <function=…>", later), frame, from)
    } else {
        let from = behind(INVOKE)?;
        (invoke(text, from, later), Frame { opens: &[INVOKE.0], closes: &[INVOKE.1] }, from)
    };
    Some(met.unwrap_or_else(|| malformed(text, from, &frame, later)))
}

fn malformed(text: &str, from: usize, frame: &Frame, later: &mut Later<'_>) -> Met {
    let why = format!("what begins with {} is no call that can be read", frame.opens.concat());
    Met::Malformed { why, end: over(text, from, frame, later) }
}

/// What stands behind a mark, without blanks before it, if that mark stands here.
fn behind<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.trim_start().strip_prefix(mark)
}

/// A name up to a mark, and what stands behind that.
fn name<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let is_name = |c: char| c.is_alphanumeric() || "_-.:/ ".contains(c);
    let (at, _) = text.char_indices().take(LONGEST_NAME).find(|(_, c)| !is_name(*c))?;
    let rest = text[at..].strip_prefix(mark)?;
    let name = text[..at].trim();
    (!name.is_empty()).then_some((name, rest))
}

fn tool_call(text: &str, from: usize, later: &mut Later<'_>) -> Option<Met> {
    let format = "a <tool_call>";
    if let Some(inner) = behind(&text[from..], FUNCTION.0) {
        let Met::Calls { calls, end, .. } =
            function(text, text.len() - inner.len(), format, later)?
        else {
            return None;
        };
        let rest = behind(&text[end..], TOOL_CALL.1);
        let end = rest.map_or(end, |rest| text.len() - rest.len());
        return Some(Met::Calls { calls, format, end });
    }
    // All that stand in it, or none.
    let (mut all, mut end) = (Vec::new(), from);
    while all.is_empty() || text[end..].trim_start().starts_with(['{', '[']) {
        let (value, over) = value_at(text, end)?;
        all.extend(calls(value)?);
        end = over;
    }
    let rest = behind(&text[end..], TOOL_CALL.1);
    Some(Met::Calls { calls: all, format, end: rest.map_or(end, |rest| text.len() - rest.len()) })
}

/// From the name on: parameters, or a JSON object, up to the closer.
fn function(text: &str, from: usize, format: &'static str, later: &mut Later<'_>) -> Option<Met> {
    let (name, rest) = name(&text[from..], ">")?;
    let start = text.len() - rest.len();
    let object = value_at(text, start).filter(|(value, _)| value.is_object());
    let (args, end) = match object {
        Some((args, end)) => (args, text.len() - behind(&text[end..], FUNCTION.1)?.len()),
        None => {
            let (args, end) = parameters((text, start), ("<parameter=", ">"), FUNCTION.1, later)?;
            (Value::Object(args), end)
        }
    };
    Some(Met::Calls { calls: vec![(name.to_owned(), args)], format, end })
}

fn tool_use(text: &str, from: usize) -> Option<Met> {
    let (name, rest) = name(behind(&text[from..], NAME.0)?, NAME.1)?;
    let input = behind(rest, INPUT.0)?;
    let (args, end) = value_at(text, text.len() - input.len())?;
    let rest = behind(&text[end..], INPUT.1)?;
    let rest = behind(rest, TOOL_USE.1).unwrap_or(rest);
    let calls = vec![(name.to_owned(), args)];
    Some(Met::Calls { calls, format: "a <tool_use>", end: text.len() - rest.len() })
}

fn invoke(text: &str, from: usize, later: &mut Later<'_>) -> Option<Met> {
    let (name, rest) = name(text[from..].strip_prefix('"')?, "\">")?;
    let start = (text, text.len() - rest.len());
    let (args, end) = parameters(start, ("<parameter name=\"", "\">"), INVOKE.1, later)?;
    let calls = vec![(name.to_owned(), Value::Object(args))];
    Some(Met::Calls { calls, format: "an <invoke>", end })
}

/// Parameters from a place on up to a closer, and where that is over. A value ends at the first closer; a line end
/// on either side of it is framing.
fn parameters(
    (text, from): (&str, usize),
    (open, ends): (&str, &str),
    close: &str,
    later: &mut Later<'_>,
) -> Option<(Map<String, Value>, usize)> {
    let (mut args, mut at) = (Map::new(), from);
    loop {
        let rest = &text[at..];
        if let Some(after) = behind(rest, close) {
            return Some((args, text.len() - after.len()));
        }
        let (key, inner) = name(behind(rest, open)?, ends)?;
        let start = text.len() - inner.len();
        let end = later.next(PARAMETER_END, start)?;
        let value = &text[start..end];
        let is_lines = value.starts_with('\n') && value.ends_with('\n') && value.len() > 1;
        let value = if is_lines { &value[1..value.len() - 1] } else { value };
        if args.insert(key.to_owned(), value.into()).is_some() {
            return None;
        }
        at = end + PARAMETER_END.len();
    }
}
