//! Calls in tags of other trainings: `<tool_call>` around JSON or parameters, `<tool_use>` with a name and an
//! input, `<invoke>` with parameters.

use super::super::later::Later;
use super::json::{calls, value_at};
use super::{Frame, Met, over};
use crate::thinking::SPACE;
use serde_json::{Map, Value};

/// Wrappers that say nothing.
const WRAPPERS: [&str; 2] = ["function_calls", "tool_calls"];
const INVOKE: &str = "invoke";
const INVOKES: Frame = Frame {
    opens: &["<invoke ", concat!("<ant", "ml:invoke ")],
    closes: &["</invoke>", concat!("</ant", "ml:invoke>")],
};
const TOOL_CALL: (&str, &str) = ("<tool_call>", "</tool_call>");
const TOOL_USE: (&str, &str) = ("<tool_use>", "</tool_use>");
const NAME: (&str, &str) = ("<name>", "</name>");
const INPUT: (&str, &str) = ("<input>", "</input>");
const FUNCTION: (&str, &str) = ("<function=", "</function>");
const PARAMETER: &str = "parameter";
const PARAMETER_ENDS: [&str; 2] = ["</parameter>", concat!("</ant", "ml:parameter>")];
/// What may be the end of a call, by the name of what it closes.
pub(in super::super) const CLOSERS: [(&str, &str); 7] = [
    ("tool_call", TOOL_CALL.1),
    ("tool_use", TOOL_USE.1),
    (INVOKE, INVOKES.closes[0]),
    (INVOKE, INVOKES.closes[1]),
    ("function", FUNCTION.1),
    (PARAMETER, PARAMETER_ENDS[0]),
    (PARAMETER, PARAMETER_ENDS[1]),
];
/// What opens them.
pub(super) const OPENERS: [(&str, &str); 8] = [
    ("tool_call", TOOL_CALL.0),
    ("tool_use", TOOL_USE.0),
    (INVOKE, "<invoke"),
    (INVOKE, concat!("<ant", "ml:invoke")),
    ("function", FUNCTION.0),
    (PARAMETER, "<parameter="),
    (PARAMETER, "<parameter "),
    (PARAMETER, concat!("<ant", "ml:parameter ")),
];
/// No tag that opens is longer.
const LONGEST_TAG: usize = 300;
/// A longer name is none.
const LONGEST_NAME: usize = 100;

pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let rest = &text[at..];
    if let Some(length) = WRAPPERS.iter().find_map(|wrapper| wraps(rest, wrapper)) {
        return Some(Met::Markup { end: at + length });
    }
    if let Some((name, close)) = CLOSERS.iter().find(|(_, close)| begins(rest, close)) {
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
        let inner = named(rest.strip_prefix('<')?, INVOKE)?;
        let from = text.len() - inner.len();
        inner.starts_with(char::is_whitespace).then_some(())?;
        (invoke(text, at, later), INVOKES, from)
    };
    Some(met.unwrap_or_else(|| malformed(text, from, &frame, later)))
}

fn malformed(text: &str, from: usize, frame: &Frame, later: &mut Later<'_>) -> Met {
    let open = frame.opens.first().copied().unwrap_or_default().trim_end();
    let why = format!("what begins with {open} is no call that can be read");
    Met::Malformed { why, end: over(text, from, frame, later) }
}

/// Whether a text begins with this mark, whatever the case of the letters.
pub(super) fn begins(text: &str, mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// What stands behind a name, whatever the case of its letters and what stands before names.
fn named<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let text = if begins(text, SPACE) { &text[SPACE.len()..] } else { text };
    begins(text, name).then(|| &text[name.len()..])
}

/// The length of a tag of this name that opens or closes here, with whatever attributes.
fn wraps(text: &str, name: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let rest = named(inner.strip_prefix('/').unwrap_or(inner), name)?;
    let (_, behind) = attributes(rest)?;
    Some(text.len() - behind.len())
}

/// What stands between the name of a tag and its end, and what stands behind that.
fn attributes(text: &str) -> Option<(&str, &str)> {
    let mut near = text.char_indices().take(LONGEST_TAG);
    let (at, end) = near.find(|(_, c)| matches!(c, '<' | '>'))?;
    let is_tag = end == '>' && (at == 0 || text.starts_with(char::is_whitespace));
    is_tag.then(|| (&text[..at], &text[at + 1..]))
}

/// The name that a tag of this kind gives, and what stands behind it: `<invoke name="…">`.
fn given<'a>(text: &'a str, kind: &str) -> Option<(&'a str, &'a str)> {
    let (head, behind) = attributes(named(text.trim_start().strip_prefix('<')?, kind)?)?;
    let mut keys = head.match_indices("name=\"");
    let (at, key) = keys.find(|(at, _)| head[..*at].ends_with(char::is_whitespace))?;
    let (name, _) = name(&head[at + key.len()..], "\"")?;
    Some((name, behind))
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
    let (called, rest) = name(&text[from..], ">")?;
    let start = text.len() - rest.len();
    let object = value_at(text, start).filter(|(value, _)| value.is_object());
    let (args, end) = match object {
        Some((args, end)) => (args, text.len() - behind(&text[end..], FUNCTION.1)?.len()),
        None => {
            let open = |text| name(behind(text, "<parameter=")?, ">");
            let (args, end) = parameters((text, start), open, &[FUNCTION.1], later)?;
            (Value::Object(args), end)
        }
    };
    Some(Met::Calls { calls: vec![(called.to_owned(), args)], format, end })
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

fn invoke(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let (name, rest) = given(&text[at..], INVOKE)?;
    let start = (text, text.len() - rest.len());
    let open = |text| given(text, PARAMETER);
    let (args, end) = parameters(start, open, INVOKES.closes, later)?;
    let calls = vec![(name.to_owned(), Value::Object(args))];
    Some(Met::Calls { calls, format: "an <invoke>", end })
}

/// Parameters from a place on up to a closer, and where that is over. A value ends at the first closer; a line end
/// on either side of it is framing.
fn parameters<'a>(
    (text, from): (&'a str, usize),
    open: impl Fn(&'a str) -> Option<(&'a str, &'a str)>,
    closes: &[&str],
    later: &mut Later<'_>,
) -> Option<(Map<String, Value>, usize)> {
    let (mut args, mut at) = (Map::new(), from);
    loop {
        let rest = text[at..].trim_start();
        if let Some(close) = closes.iter().find(|close| begins(rest, close)) {
            return Some((args, text.len() - rest.len() + close.len()));
        }
        let (key, inner) = open(rest)?;
        let start = text.len() - inner.len();
        let (end, close) = later.first(&PARAMETER_ENDS, start)?;
        let value = &text[start..end];
        let is_lines = value.starts_with('\n') && value.ends_with('\n') && value.len() > 1;
        let value = if is_lines { &value[1..value.len() - 1] } else { value };
        if args.insert(key.to_owned(), value.into()).is_some() {
            return None;
        }
        at = end + close.len();
    }
}
