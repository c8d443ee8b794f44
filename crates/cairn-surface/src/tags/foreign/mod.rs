//! Calls as other trainings write them. Finds where one stands and what it calls; what that means is not known here.

mod harmony;
mod json;
mod xml;

use super::later::Later;
use serde_json::Value;

/// What stands at a place.
pub(super) enum Met {
    /// Calls, by name and arguments.
    Calls { calls: Vec<(String, Value)>, format: &'static str, end: usize },
    /// A thought.
    Thought { from: usize, to: usize, end: usize },
    /// The end of a thought that began nowhere.
    ThoughtEnd { end: usize },
    /// Marks that say nothing.
    Markup { end: usize },
    /// Something that is begun like a call and is none.
    Malformed { why: String, end: usize },
}

/// Where brackets hold thoughts.
const BRACKETED: [(&str, &str); 2] = [("[thinking]", "[/thinking]"), ("[THINK]", "[/THINK]")];

/// What stands here, if it is written in a format of this kind.
pub(super) fn read(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    match text.as_bytes()[at] {
        b'<' => harmony::read(text, at, later).or_else(|| xml::read(text, at, later)),
        b'[' => bracketed(text, at, later).or_else(|| json::read(text, at)),
        _ => json::read(text, at),
    }
}

fn bracketed(text: &str, at: usize, later: &mut Later<'_>) -> Option<Met> {
    let rest = &text[at..];
    for (open, close) in BRACKETED {
        if rest.starts_with(open) {
            let from = at + open.len();
            let to = later.next(close, from)?;
            return Some(Met::Thought { from, to, end: to + close.len() });
        }
        if rest.starts_with(close) {
            return Some(Met::ThoughtEnd { end: at + close.len() });
        }
    }
    None
}

/// The end of the line that holds this place, without its line end.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |found| at + found)
}
