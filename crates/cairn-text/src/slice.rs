//! What a scope selects among a text's lines, and the text with that replaced. Items of JSON are
//! [`crate::items`].
//!
//! A line is what stands before a line feed, or after the last one if anything does. Selected lines come
//! with their ends.

mod problem;
mod splice;
mod stale;

use crate::edit::rows::TextLines;
use crate::scope::{self, Place, Scope, within};
pub(crate) use problem::counted;
pub use problem::{OutOfScope, SpliceProblem};
pub use splice::{Spliced, SplicedAll, splice, splice_all};
pub use stale::Stale;
use std::ops::Range;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected<'a> {
    /// The first line that belongs to it, from 1.
    pub first: usize,
    /// The last one; one less than the first where there is none.
    pub last: usize,
    /// The part as it stands, line ends included.
    pub text: &'a str,
}

/// The part of a text that a scope selects. Nothing for the places before the first line and after the
/// last one.
///
/// # Errors
///
/// When the scope lies outside the text, or is anchored to a line that is not there.
pub fn select<'a>(text: &'a str, scope: &Scope) -> Result<Selected<'a>, OutOfScope> {
    let found = Found::of(&TextLines::of(text), text, scope)?;
    Ok(Selected { first: found.first, last: found.last, text: &text[found.at] })
}

/// The bytes of the part of a text that a scope selects.
pub(crate) fn place(text: &str, scope: &Scope) -> Result<Range<usize>, OutOfScope> {
    Ok(Found::of(&TextLines::of(text), text, scope)?.at)
}

/// Where a scope lies in a text.
struct Found {
    /// Its bytes.
    at: Range<usize>,
    /// Its first and last line, from 1.
    first: usize,
    last: usize,
    /// Whether it begins and ends with lines.
    is_whole: bool,
    /// The lines whose ends belong to it, from 0.
    ends: Range<usize>,
}

impl Found {
    fn of(rows: &TextLines<'_>, text: &str, scope: &Scope) -> Result<Found, OutOfScope> {
        let outside = || OutOfScope::Lines { scope: *scope, lines: rows.len() };
        let lines = match scope {
            Scope::At(at) => within(*at, None, rows.len()).ok_or_else(outside)?,
            Scope::Range(first, last) => {
                within(*first, Some(*last), rows.len()).ok_or_else(outside)?
            }
            Scope::Span(from, to) => return Found::span(rows, text, (*from, *to)),
            Scope::Anchor(anchor) => {
                let at = stale::find(rows, text, anchor, None)?;
                at..at + 1
            }
            Scope::Anchors(first, last) => {
                let from = stale::find(rows, text, first, Some(last))?;
                let to = stale::find(rows, text, last, Some(first))?;
                if to < from {
                    return Err(outside());
                }
                from..to + 1
            }
        };
        let (first, last) = (lines.start + 1, lines.end);
        Ok(Found { at: rows.bytes(lines.clone()), first, last, is_whole: true, ends: lines })
    }

    fn span(
        rows: &TextLines<'_>,
        text: &str,
        (from, to): (Place, Place),
    ) -> Result<Found, OutOfScope> {
        let scope = Scope::Span(from, to);
        let (first, start) = byte(rows, text, from, scope)?;
        let (mut last, end) = byte(rows, text, to, scope)?;
        if end < start {
            return Err(OutOfScope::Lines { scope, lines: rows.len() });
        }
        let ends = first - 1..last - 1;
        // Nothing of a line belongs to a span that ends where the line begins.
        let ends_before = last > first && to.column == 1;
        if ends_before || last > rows.len() {
            last -= 1;
        }
        Ok(Found { at: start..end, first, last, is_whole: false, ends })
    }
}

/// The line of a place and its byte. After the last line end is a place, too.
fn byte(
    rows: &TextLines<'_>,
    text: &str,
    place: Place,
    scope: Scope,
) -> Result<(usize, usize), OutOfScope> {
    let outside = || OutOfScope::Lines { scope, lines: rows.len() };
    let count = i64::try_from(rows.len()).map_err(|_| outside())?;
    let line = usize::try_from(scope::counted(place.line, count)).map_err(|_| outside())?;
    let is_open = rows.len().checked_sub(1).is_none_or(|last| !rows.end(last).is_empty());
    if line == 0 || line > rows.len() + usize::from(is_open) {
        return Err(outside());
    }
    // The line after the last is empty and begins where the text ends.
    let start = rows.bytes(line - 1..line).start.min(text.len());
    let row = rows.line(line - 1);
    let column = usize::try_from(place.column).ok().and_then(|column| column.checked_sub(1));
    let offset = column
        .and_then(|column| row.char_indices().map(|(at, _)| at).chain([row.len()]).nth(column));
    let columns = row.chars().count();
    let offset = offset.ok_or(OutOfScope::Columns { scope, line, columns })?;
    Ok((line, start + offset))
}

#[cfg(test)]
mod tests;
