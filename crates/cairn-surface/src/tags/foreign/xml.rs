//! Calls in tags of other trainings: `<tool_call>` around JSON or parameters, `<tool_use>` with a name and an
//! input, `<invoke>` with parameters.

use super::super::later::Later;
use super::json::{calls, value_at};
use super::{Met, line_end};
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
/// A longer name is none.
const LONGEST_NAME: usize = 100;

pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let rest = &text[at..];
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| rest.starts_with(**wrapper)) {
        return Some(Met::Markup { end: at + wrapper.len() });
    }
    let (open, close) =
        [TOOL_CALL, TOOL_USE, INVOKE].into_iter().find(|(open, _)| rest.starts_with(open))?;
    let from = at + open.len();
    let met = match open {
        _ if open == TOOL_CALL.0 => tool_call(text, from, later),
        _ if open == TOOL_USE.0 => tool_use(text, from),
        _ => invoke(text, from, later),
    };
    Some(met.unwrap_or_else(|| malformed(text, from, close, later)))
}

/// Something that cannot be read is passed over to its closer, or to the end of its line.
fn malformed(text: &str, from: usize, close: &'static str, later: &mut Later<'_>) -> Met {
    let end = later.next(close, from).map(|at| at + close.len());
    let why = format!("what ends with {close} is no call that can be read");
    Met::Malformed { why, end: end.unwrap_or_else(|| line_end(text, from)) }
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
        let (name, rest) = name(inner, ">")?;
        let start = (text, text.len() - rest.len());
        let (args, end) = parameters(start, ("<parameter=", ">"), FUNCTION.1, later)?;
        let rest = behind(&text[end..], TOOL_CALL.1);
        let calls = vec![(name.to_owned(), Value::Object(args))];
        let end = rest.map_or(end, |rest| text.len() - rest.len());
        return Some(Met::Calls { calls, format, end });
    }
    let (value, end) = value_at(text, from)?;
    let calls = calls(value)?;
    let rest = behind(&text[end..], TOOL_CALL.1);
    Some(Met::Calls { calls, format, end: rest.map_or(end, |rest| text.len() - rest.len()) })
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
