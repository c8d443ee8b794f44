//! A content under several edits: applies each, and knows where the changed places and the original
//! text now stand.

use super::{Edited, Piece};
use crate::moves::{Moves, moved_offset};
use std::ops::Range;

/// A content and what has become of it.
pub(crate) struct Work {
    content: String,
    /// The places that are new, in the content as it is now, in order, not touching.
    changed: Vec<Range<usize>>,
    moves: Moves,
}

impl Work {
    pub(crate) fn on(content: &str) -> Work {
        Work { content: content.to_owned(), changed: Vec::new(), moves: Moves::default() }
    }

    pub(crate) fn content(&self) -> &str {
        &self.content
    }

    /// Puts each piece where it belongs. Pieces are in order and do not overlap.
    pub(crate) fn exchange(&mut self, pieces: &[Piece]) {
        let grown: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        let mut out = String::with_capacity(self.content.len() + grown);
        let mut from = 0;
        let mut places = Vec::with_capacity(pieces.len());
        for piece in pieces {
            out.push_str(&self.content[from..piece.at.start]);
            let start = out.len();
            out.push_str(&piece.text);
            places.push(start..out.len());
            from = piece.at.end;
        }
        out.push_str(&self.content[from..]);
        let step: Vec<_> = pieces.iter().map(|p| (p.at.clone(), p.text.len())).collect();
        let earlier = self.changed.iter().map(|range| outer(&step, range));
        let mut all: Vec<Range<usize>> = earlier.chain(places).collect();
        all.sort_by_key(|range| (range.start, range.end));
        self.changed = merged(all);
        self.content = out;
        self.moves.push(pieces);
    }

    /// Where a range of the original content now stands; none if an edit has touched it.
    pub(crate) fn now(&self, range: Range<usize>) -> Option<Range<usize>> {
        self.moves.now(range)
    }

    /// The content, the first and last line of each new place, and what was moved.
    pub(crate) fn done(self, notes: Vec<String>) -> Edited {
        let mut spans: Vec<(usize, usize)> = Vec::with_capacity(self.changed.len());
        let (mut from, mut line) = (0, 1);
        for range in &self.changed {
            line += newlines(&self.content[from..range.start]);
            let text = &self.content[range.clone()];
            let last = line + newlines(text) - usize::from(text.ends_with('\n'));
            match spans.last_mut() {
                Some((_, end)) if *end >= line => *end = last.max(*end),
                _ => spans.push((line, last)),
            }
            line += newlines(text);
            from = range.end;
        }
        Edited { content: self.content, spans, notes, moves: self.moves }
    }
}

/// A changed place after a later step, together with what replaced parts of it.
fn outer(step: &[(Range<usize>, usize)], range: &Range<usize>) -> Range<usize> {
    let cut = step.iter().find(|(gone, _)| gone.start < range.start && range.start < gone.end);
    let start = match cut {
        Some((gone, _)) => moved_offset(step, gone.start),
        None => moved_offset(step, range.start),
    };
    start..moved_offset(step, range.end).max(start)
}

fn merged(sorted: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match out.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|&b| b == b'\n').count()
}
