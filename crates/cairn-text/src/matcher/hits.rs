//! Hits: what was found, where, and how it is shown. A hit takes one line: lines have no line end, and
//! JSON escapes those in its texts.

use super::Matched;
use crate::lines::{self, LINE_CHARS};
use crate::tree::Node;
use std::fmt::{Display, Formatter, Write};

/// How many hits are kept.
const HITS: usize = 1_000_000;
/// How many bytes of nodes are printed. A node lies in all of those around it, so that to print every
/// node of a document takes many times its length.
const PRINTED: usize = 128 << 20;

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The line on which it stands, or begins, from 1.
    pub line: usize,
    /// The line, or the node as compact JSON. Beyond 500 characters only how many bytes more it has.
    pub value: String,
}

impl Display for Hit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:\t{}", self.line, self.value)
    }
}

/// These hits as a text, one on each line. No line end follows the last.
#[must_use]
pub fn listing(hits: &[Hit]) -> String {
    let mut out = String::with_capacity(hits.iter().map(|hit| hit.value.len() + 8).sum());
    for hit in hits {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "{hit}");
    }
    out
}

/// The hits so far.
#[derive(Debug, Default)]
pub(super) struct Hits(Vec<Hit>);

impl From<Hits> for Matched {
    fn from(Hits(hits): Hits) -> Matched {
        match hits.is_empty() {
            true => Matched::None,
            false => Matched::Hits(hits),
        }
    }
}

impl Hits {
    /// These nodes, as JSON.
    pub(super) fn of_nodes(nodes: Vec<&Node>) -> Result<Hits, Matched> {
        let mut hits = Hits(Vec::with_capacity(nodes.len().min(HITS)));
        let mut left = PRINTED;
        for node in nodes {
            let mut shown = Shown { text: String::new(), room: LINE_CHARS, more: 0, left };
            if write!(shown, "{node}").is_err() {
                let reason =
                    format!("what is found has more than {PRINTED} bytes; ask for less of it");
                return Err(Matched::TooMuch { reason });
            }
            left = shown.left;
            hits.push(Hit { line: node.line(), value: shown.finished() })?;
        }
        Ok(hits)
    }

    /// A line of the text.
    pub(super) fn push_line(&mut self, line: usize, text: &str) -> Result<(), Matched> {
        self.push(Hit { line, value: lines::cut(text).into_owned() })
    }

    fn push(&mut self, hit: Hit) -> Result<(), Matched> {
        if self.0.len() == HITS {
            let reason = format!("there are more than {HITS} hits; look for something rarer");
            return Err(Matched::TooMuch { reason });
        }
        self.0.push(hit);
        Ok(())
    }
}

/// The beginning of what is printed. The rest is counted, and never held.
struct Shown {
    text: String,
    /// How many characters are still kept.
    room: usize,
    /// How many bytes were not kept.
    more: usize,
    /// How many bytes may still be printed.
    left: usize,
}

impl Write for Shown {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(std::fmt::Error)?;
        let end = text.char_indices().nth(self.room).map_or(text.len(), |(at, _)| at);
        let kept = &text[..end];
        self.room -= kept.chars().count();
        self.text.push_str(kept);
        self.more += text.len() - end;
        Ok(())
    }
}

impl Shown {
    fn finished(mut self) -> String {
        if self.more > 0 {
            let _ = write!(self.text, "{}", lines::more(self.more));
        }
        self.text
    }
}
