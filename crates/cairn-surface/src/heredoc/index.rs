//! Where a text could open and close statements, found in one pass, so that no question about it is asked by
//! searching. Says where things stand, not what they mean.

use super::{name_at, opens_slot, word_of};
use crate::prose::{fence_in, lines};
use std::collections::HashMap;

/// The openers and closers of a text, each list in its order.
pub(super) struct Index<'a> {
    /// By name, where the `:` of closers stands.
    closers: HashMap<&'a str, Vec<usize>>,
    /// By name, where the `<<` of openers stands that have a slot or a body.
    openers: HashMap<&'a str, Vec<usize>>,
    /// Where names stand that begin with a word, whatever is around them.
    pub(super) names: Vec<(usize, &'a str)>,
    /// By name, where it stands first.
    named: HashMap<&'a str, usize>,
    /// Where lines begin in which fences open or close, of each mark and length.
    fences: HashMap<(u8, usize), Vec<usize>>,
    /// Where closers of words stand.
    of_words: Vec<usize>,
    /// Where openers of words begin a line.
    lines: Vec<usize>,
    /// Where openers of words stand within a line.
    within: Vec<usize>,
    /// Of the openers that begin a line, and of each 2, 4, 8 … neighbours, the last place where one is closed.
    closed: Vec<Vec<usize>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(text: &'a str) -> Index<'a> {
        let mut index = Index {
            closers: HashMap::new(),
            openers: HashMap::new(),
            names: Vec::new(),
            named: HashMap::new(),
            fences: fence_lines(text),
            of_words: Vec::new(),
            lines: Vec::new(),
            within: Vec::new(),
            closed: Vec::new(),
        };
        let mut names = Vec::new();
        let bytes = text.as_bytes();
        let mut begins_line = true;
        let mut is_in_name = false;
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b':' => index.closer(at, name_at(text, at + 1)),
                b'<' if bytes.get(at + 1) == Some(&b'<') => {
                    let name = name_at(text, at + 2);
                    if opens_slot(text[at + 2 + name.len()..].trim_start()) && !name.is_empty() {
                        index.opener(at, name, begins_line);
                        names.extend((begins_line && word_of(name).is_some()).then_some(name));
                    }
                }
                b'A'..=b'Z' if !is_in_name => index.name(at, name_at(text, at)),
                _ => {}
            }
            is_in_name = byte.is_ascii_alphanumeric() || *byte == b'_';
            begins_line = *byte == b'\n' || (begins_line && matches!(byte, b' ' | b'\t'));
        }
        index.closed = index.closings(&names);
        index
    }

    fn closer(&mut self, at: usize, name: &'a str) {
        if !name.is_empty() {
            self.closers.entry(name).or_default().push(at);
            self.of_words.extend(word_of(name).map(|_| at));
        }
    }

    fn name(&mut self, at: usize, name: &'a str) {
        if word_of(name).is_some() {
            self.names.push((at, name));
            self.named.entry(name).or_insert(at);
        }
    }

    fn opener(&mut self, at: usize, name: &'a str, begins_line: bool) {
        self.openers.entry(name).or_default().push(at);
        let of_words = if begins_line { &mut self.lines } else { &mut self.within };
        of_words.extend(word_of(name).map(|_| at));
    }

    /// A table of maxima, so that those of any range are the greater of two of its fields.
    fn closings(&self, names: &[&str]) -> Vec<Vec<usize>> {
        let places = self.lines.iter().zip(names);
        let first: Vec<usize> =
            places.map(|(at, name)| self.closer_of(name, *at).unwrap_or(usize::MAX)).collect();
        let (mut table, mut width) = (vec![first], 1);
        while let Some(last) = table.last().filter(|last| last.len() > width) {
            let row = last.iter().zip(&last[width..]).map(|(a, b)| *a.max(b)).collect();
            table.push(row);
            width *= 2;
        }
        table
    }

    /// The first closer of this name from a byte on.
    pub(super) fn closer_of(&self, name: &str, from: usize) -> Option<usize> {
        first(self.closers.get(name)?, from)
    }

    /// Whether this name stands before a byte.
    pub(super) fn is_named_before(&self, name: &str, before: usize) -> bool {
        self.named.get(name).is_some_and(|at| *at < before)
    }

    /// Whether a body between two bytes opens a fence that is not closed in it.
    pub(super) fn is_half_fenced(&self, text: &str, from: usize, to: usize) -> bool {
        // The first line of a body does not begin in it.
        let first = text[from..to].lines().next().and_then(fence);
        let is_odd = |kind: &(u8, usize), lines: &Vec<usize>| {
            let before = |place: usize| lines.partition_point(|at| *at < place);
            (before(to) - before(from) + usize::from(first == Some(*kind))) % 2 == 1
        };
        let is_alone = first.is_some_and(|kind| !self.fences.contains_key(&kind));
        is_alone || self.fences.iter().any(|(kind, lines)| is_odd(kind, lines))
    }

    /// Whether a statement of this name is opened between two bytes.
    pub(super) fn opens(&self, name: &str, from: usize, to: usize) -> bool {
        let places = self.openers.get(name);
        places.and_then(|places| first(places, from)).is_some_and(|at| at < to)
    }

    /// Whether a closer of any word stands between two bytes.
    pub(super) fn closes_a_word(&self, from: usize, to: usize) -> bool {
        first(&self.of_words, from).is_some_and(|at| at < to)
    }

    /// The closers of words between two bytes.
    pub(super) fn closers_of_words(&self, from: usize, to: usize) -> &[usize] {
        let place = |byte: usize| self.of_words.partition_point(|at| *at < byte);
        self.of_words.get(place(from)..place(to)).unwrap_or_default()
    }

    /// Whether an opener of any word begins a line between two bytes.
    pub(super) fn line_opens(&self, from: usize, to: usize) -> bool {
        first(&self.lines, from).is_some_and(|at| at < to)
    }

    /// Whether an opener of any word stands within a line between two bytes.
    pub(super) fn opens_within(&self, from: usize, to: usize) -> bool {
        first(&self.within, from).is_some_and(|at| at < to)
    }

    /// Whether an opener of any word stands between two bytes.
    pub(super) fn opens_any(&self, from: usize, to: usize) -> bool {
        self.line_opens(from, to) || self.opens_within(from, to)
    }

    /// Whether an opener of a word begins a line here.
    pub(super) fn is_line_opener(&self, at: usize) -> bool {
        self.lines.binary_search(&at).is_ok()
    }

    /// Whether a statement that begins a line between two bytes is not closed between them.
    pub(super) fn opens_across(&self, from: usize, to: usize) -> bool {
        let start = self.lines.partition_point(|at| *at < from);
        let end = self.lines.partition_point(|at| *at < to);
        if start >= end {
            return false;
        }
        let level = (end - start).ilog2() as usize;
        let Some(row) = self.closed.get(level) else { return false };
        let ends = [start, end - (1 << level)].map(|at| row.get(at).copied().unwrap_or_default());
        ends.into_iter().any(|closed| closed >= to)
    }
}

/// The fence in a line. Longer ones are all taken to be of one length.
fn fence(line: &str) -> Option<(u8, usize)> {
    const LONGEST: usize = 8;
    fence_in(line).map(|(mark, length)| (mark, length.min(LONGEST)))
}

fn fence_lines(text: &str) -> HashMap<(u8, usize), Vec<usize>> {
    let mut found: HashMap<(u8, usize), Vec<usize>> = HashMap::new();
    for (start, end, _) in lines(text) {
        if let Some(fence) = fence(&text[start..end]) {
            found.entry(fence).or_default().push(start);
        }
    }
    found
}

/// The first of these places from a byte on.
fn first(places: &[usize], from: usize) -> Option<usize> {
    places.get(places.partition_point(|at| *at < from)).copied()
}
