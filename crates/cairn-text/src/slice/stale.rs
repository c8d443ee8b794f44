//! Finds the line that an anchor means, or tells what stands there now. An anchor with a number means
//! that line alone: an equal line elsewhere may have been another one when the anchor was read.

use super::problem::OutOfScope;
use crate::edit::rows::TextLines;
use crate::lines;
use crate::scope::{Anchor, LineHash, line_hash};
use std::fmt;

/// How many lines around a place are shown.
const CONTEXT: usize = 3;
/// How many of the lines that have a hash are shown.
const SHOWN: usize = 3;
/// How many of them are named.
const NAMED: usize = 20;

/// An anchor that does not mean one line of the text as it now is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The anchor.
    pub anchor: Anchor,
    /// The lines that have its hash, from 1.
    pub lines: Vec<usize>,
    /// The text around where the line was or may be, each line with its number and hash. All of it, by
    /// its beginning and end where it is long, when nothing tells where the line was.
    pub fresh: String,
}

impl std::error::Error for Stale {}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stale { anchor: Anchor { line, hash }, lines, fresh } = self;
        match (line, lines.as_slice()) {
            (Some(line), []) => write!(f, "line {line} no longer has the hash {hash}")?,
            (Some(line), [now]) => {
                write!(f, "line {line} no longer has the hash {hash}, line {now} has it")?;
            }
            (Some(line), _) => {
                write!(
                    f,
                    "line {line} no longer has the hash {hash}, lines {} have",
                    listed(lines)
                )?;
            }
            (None, []) => write!(f, "no line has the hash {hash}")?,
            (None, [first, ..]) => write!(
                f,
                "lines {} have the hash {hash}; put the number before it, as in {first}:{hash}",
                listed(lines)
            )?,
        }
        match fresh.is_empty() {
            true => write!(f, "; the text is empty"),
            false => write!(f, "; the text is now:\n{fresh}"),
        }
    }
}

fn listed(lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = if lines.len() > named.len() { ", …" } else { "" };
    format!("{}{rest}", named.join(", "))
}

/// The index of the line that an anchor means. The anchor at the other end of the scope helps to tell
/// where a line was.
pub(super) fn find(
    rows: &TextLines<'_>,
    text: &str,
    anchor: &Anchor,
    other: Option<&Anchor>,
) -> Result<usize, OutOfScope> {
    let claimed = anchor.line.map(|line| usize::try_from(line).unwrap_or(usize::MAX));
    if let Some(index) = claimed.and_then(|line| line.checked_sub(1))
        && index < rows.len()
        && hash_of(rows, index) == anchor.hash
    {
        return Ok(index);
    }
    let lines = having(rows, anchor.hash);
    if let (None, [only]) = (claimed, lines.as_slice()) {
        return Ok(only - 1);
    }
    let mut places: Vec<usize> = claimed.into_iter().collect();
    places.extend(lines.iter().take(SHOWN));
    if places.is_empty() {
        places.extend(other.into_iter().flat_map(|other| {
            let found = having(rows, other.hash);
            other.line.and_then(|line| usize::try_from(line).ok()).or(found.first().copied())
        }));
    }
    let fresh = fresh(rows, text, &places);
    Err(OutOfScope::Stale(Box::new(Stale { anchor: *anchor, lines, fresh })))
}

/// The text around these lines; all of it when there are none.
fn fresh(rows: &TextLines<'_>, text: &str, places: &[usize]) -> String {
    let within = |line: &usize| {
        let line = (*line).clamp(1, rows.len().max(1));
        (line, line)
    };
    let mut spans: Vec<(usize, usize)> = places.iter().map(within).collect();
    if spans.is_empty() {
        spans.push((1, rows.len()));
    }
    lines::excerpt_labelled(text, &spans, CONTEXT, |number| {
        format!("{number}:{}", hash_of(rows, number.saturating_sub(1)))
    })
}

/// The lines that have a hash, from 1.
fn having(rows: &TextLines<'_>, hash: LineHash) -> Vec<usize> {
    (0..rows.len()).filter(|index| hash_of(rows, *index) == hash).map(|index| index + 1).collect()
}

/// A line's hash as reads print it: without a `\r` at its end, even where no line feed follows.
fn hash_of(rows: &TextLines<'_>, index: usize) -> LineHash {
    let line = rows.line(index);
    let is_open = rows.end(index).is_empty();
    line_hash(line.strip_suffix('\r').filter(|_| is_open).unwrap_or(line).as_bytes())
}
