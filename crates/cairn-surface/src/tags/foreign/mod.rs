//! Calls as other trainings write them. Finds where one stands and what it calls; what that means is not known here.

mod ends;
mod harmony;
mod json;
mod python;
mod xml;

use super::later::Later;
pub(super) use ends::Ends;
pub(super) use json::names_a_call;
pub(super) use python::calls as python_calls;
use serde_json::Value;
pub(super) use xml::CLOSERS;

/// What stands at a place.
pub(super) enum Met {
    /// Calls, by name and arguments.
    Calls { calls: Vec<(String, Value)>, format: &'static str, end: usize },
    /// Marks that say nothing.
    Markup { end: usize },
    /// The end, by this name, of a call that is not open.
    Closer { name: &'static str, end: usize },
    /// Something that is no call, and stands in the text as it is. Nothing in it is an op.
    Prose { end: usize },
    /// Something that is begun like a call and is none.
    Malformed { why: String, end: usize },
}

/// What stands here, if it is written in a format of this kind.
pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    match text.as_bytes()[at] {
        b'<' => harmony::read(text, at, later).or_else(|| xml::read(text, at, later)),
        _ => json::read(text, at, later),
    }
}

/// What stands around calls of a kind: what opens it, and what closes it.
struct Frame {
    opens: &'static [&'static str],
    closes: &'static [&'static str],
}

/// Where a call is over that began before this place and cannot be read: behind what closes it, if that cannot stand
/// in one of its texts. Otherwise nothing in the rest can be told from those, and all of it is taken.
fn over(text: &str, from: usize, frame: &Frame, later: &mut Later<'_>) -> usize {
    if let Some(end) = json::extent(text, from) {
        let rest = text[end..].trim_start();
        let close = frame.closes.iter().find(|close| rest.starts_with(**close));
        let is_bare = frame.closes.is_empty();
        let behind = close.map(|close| text.len() - rest.len() + close.len());
        return behind.or(is_bare.then_some(end)).unwrap_or(text.len());
    }
    let Some((at, close)) = later.first(frame.closes, from) else { return text.len() };
    let end = at + close.len();
    let is_plain = !text[from..at].contains(['"', '<', '[', '{']);
    let is_closed_again = match (later.first(frame.closes, end), later.first(frame.opens, end)) {
        (Some((close, _)), Some((open, _))) => close < open,
        (close, _) => close.is_some(),
    };
    if is_plain && !is_closed_again { end } else { text.len() }
}
