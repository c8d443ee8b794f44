//! The tags of a text that mean something, wherever they stand, and which closer belongs to which opener: of
//! tags of the same name the innermost. Knows nothing of what they mean.

use super::head::{self, Head, Shape};
use crate::native;
use crate::prose::{fence_in, is_blank, lines};
use crate::thinking::NAMES as THOUGHTS;
use std::collections::{HashMap, HashSet};

/// Ops in fences are passed over up to this many: looking further would take too long in all.
const MOST_PASSED: usize = 64;
/// No more than this stands in a closer behind its name.
const LONGEST_REST: usize = 64;
/// Longer fences than this are all taken to be of one length.
const LONGEST_FENCE: usize = 8;

/// What a mark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A tag opens, or stands whole, or is broken.
    Head(Shape),
    /// A closer.
    Close,
    /// A closer whose `>` is missing.
    CloseUnended,
}

/// A tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) name: &'static str,
    /// Written in another case.
    pub(super) is_shouted: bool,
    /// A closer with more in it than its name.
    pub(super) is_sloppy: bool,
    pub(super) kind: Kind,
    /// The closer of an opener, by its number.
    pub(super) mate: Option<usize>,
}

impl Mark {
    pub(super) fn is_thought(&self) -> bool {
        THOUGHTS.contains(&self.name)
    }

    pub(super) fn is_close(&self) -> bool {
        matches!(self.kind, Kind::Close | Kind::CloseUnended)
    }
}

pub(super) struct Marks<'a> {
    text: &'a str,
    all: Vec<Mark>,
    /// Where lines begin with a tag that opens.
    lines: Vec<usize>,
    /// Where ops begin that stand whole on lines of their own, and in no body and no thought.
    clean: Vec<usize>,
    /// Where lines begin that are fences, of each kind and length.
    fences: HashMap<(u8, usize), Vec<usize>>,
    /// Of each name, its closers.
    closes: HashMap<&'static str, Vec<usize>>,
    /// Of each name, the closers that close nothing.
    strays: HashMap<&'static str, Vec<usize>>,
    /// Those of all ops.
    stray_ops: Vec<usize>,
}

/// What stands behind a tag that opens, up to the next of its name.
#[derive(Debug, Default)]
struct Body {
    /// Bare tags of that name before the first closer.
    met: Vec<usize>,
    closers: usize,
}

impl Body {
    fn meets(&mut self, n: usize) {
        if self.closers == 0 {
            self.met.push(n);
        }
    }

    fn mentions(self) -> Vec<usize> {
        if self.closers == 1 { self.met } else { Vec::new() }
    }
}

/// The tag of this name, whatever the case of its letters, and whether they are not as they should be.
fn known(name: &str) -> Option<(&'static str, bool)> {
    let is_it = |known: &&'static str| known.eq_ignore_ascii_case(name);
    let tags = native::skins().iter().flat_map(|skin| skin.tags.iter().copied());
    let own = native::skins().iter().map(|skin| skin.tool.name);
    let found = tags.chain(own).chain(THOUGHTS).find(is_it)?;
    Some((found, found != name && !THOUGHTS.contains(&found)))
}

/// The length of the name that begins here.
fn name_length(bytes: &[u8]) -> usize {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    bytes.iter().take(24).take_while(is_name).count()
}

/// The tag that opens at this bracket, whether it is in another case, and where its name is over.
pub(super) fn opens_at(text: &str, at: usize) -> Option<(&'static str, bool, usize)> {
    let rest = text.as_bytes().get(at + 1..)?;
    let length = name_length(rest);
    let is_over = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    if length == 0 || !rest.get(length).is_none_or(is_over) {
        return None;
    }
    let (name, is_shouted) = known(&text[at + 1..at + 1 + length])?;
    Some((name, is_shouted, at + 1 + length))
}

/// Whether a tag might begin here of which the end of the text leaves only the beginning.
pub(super) fn is_cut_at(text: &str, at: usize) -> bool {
    let begun = &text[at + 1..];
    let begins = |name: &&str| name.starts_with(begun);
    !begun.is_empty() && begun.len() < 24 && {
        let mut tags = native::skins().iter().flat_map(|skin| skin.tags.iter().copied());
        tags.any(|name| begins(&name)) || native::skins().iter().any(|s| begins(&s.tool.name))
    }
}

impl<'a> Marks<'a> {
    pub(super) fn new(text: &'a str) -> Marks<'a> {
        let (all, lines) = (Vec::new(), line_tags(text));
        let (closes, strays) = (HashMap::new(), HashMap::new());
        let (clean, stray_ops) = (Vec::new(), Vec::new());
        let fences = fence_lines(text);
        let mut marks = Marks { text, all, lines, clean, fences, closes, strays, stray_ops };
        marks.find();
        marks.pair();
        marks.clean = marks.clean_ops();
        marks
    }

    fn find(&mut self) {
        let mut at = 0;
        while let Some(found) = self.text[at..].find('<').map(|found| found + at) {
            at = found + 1;
            if let Some(mark) = self.mark_at(found) {
                // What stands in a head that makes sense is a value; otherwise it may be anything.
                let is_sound = matches!(mark.kind, Kind::Head(Shape::Open | Shape::Whole));
                at = if is_sound || mark.is_close() { mark.end } else { found + 1 };
                self.all.push(mark);
            }
        }
    }

    fn mark_at(&self, at: usize) -> Option<Mark> {
        if self.text.as_bytes().get(at + 1) == Some(&b'/') {
            return self.close_at(at);
        }
        let (name, is_shouted, from) = opens_at(self.text, at)?;
        let head = head::read(self.text, from, self.limit(from));
        let kind = Kind::Head(head.shape);
        Some(Mark { at, end: head.end, name, is_shouted, is_sloppy: false, kind, mate: None })
    }

    fn close_at(&self, at: usize) -> Option<Mark> {
        let inner = self.text[at + 2..].trim_start_matches(is_blank);
        let length = name_length(inner.as_bytes());
        let (name, is_shouted) = known(&inner[..length])?;
        let behind = &inner[length..];
        let rest = behind.trim_start_matches([' ', '\t', '\r']);
        let (kind, rest, is_loose) = match rest.as_bytes().first() {
            Some(b'>') => (Kind::Close, &rest[1..], false),
            None | Some(b'\n' | b'<') => (Kind::CloseUnended, rest, false),
            Some(_) => (Kind::Close, behind_rest(behind)?, true),
        };
        let end = self.text.len() - rest.len();
        let is_sloppy = is_loose || inner.len() < self.text.len() - at - 2;
        // Thoughts have closers of their own.
        let is_mark = !is_sloppy || (kind == Kind::Close && !THOUGHTS.contains(&name));
        is_mark.then_some(Mark { at, end, name, is_shouted, is_sloppy, kind, mate: None })
    }

    fn pair(&mut self) {
        let mentions = self.mentions();
        let mut open: HashMap<&'static str, Vec<usize>> = HashMap::new();
        for n in 0..self.all.len() {
            let Mark { name, kind, .. } = self.all[n];
            match kind {
                Kind::Head(Shape::Open) if mentions.contains(&n) => {}
                Kind::Head(Shape::Open) => open.entry(name).or_default().push(n),
                Kind::Head(_) => {}
                Kind::Close | Kind::CloseUnended => {
                    self.closes.entry(name).or_default().push(n);
                    match open.get_mut(name).and_then(Vec::pop) {
                        Some(opener) => self.all[opener].mate = Some(n),
                        None => self.strays.entry(name).or_default().push(n),
                    }
                }
            }
        }
        let is_op = |name: &&str| !THOUGHTS.contains(name);
        let ops = self.strays.iter().filter(|(name, _)| is_op(name));
        self.stray_ops = ops.flat_map(|(_, strays)| strays.iter().copied()).collect();
        self.stray_ops.sort_unstable();
    }

    /// Bare tags within lines of a body whose statement has their name, and one closer up to the next that begins:
    /// `#include <set>`. It is the statement's, and they are its text.
    fn mentions(&self) -> HashSet<usize> {
        let mut bodies: HashMap<&'static str, Body> = HashMap::new();
        let mut mentions = HashSet::new();
        for (n, mark) in self.all.iter().enumerate().filter(|(_, mark)| !mark.is_thought()) {
            match (mark.kind, bodies.get_mut(mark.name)) {
                (Kind::Head(Shape::Open), Some(body)) if self.is_bare(mark) => body.meets(n),
                (Kind::Head(Shape::Open), _) => {
                    let before = bodies.insert(mark.name, Body::default());
                    mentions.extend(before.into_iter().flat_map(Body::mentions));
                }
                (Kind::Close | Kind::CloseUnended, Some(body)) => body.closers += 1,
                _ => {}
            }
        }
        mentions.extend(bodies.into_values().flat_map(Body::mentions));
        mentions
    }

    /// Whether a tag says nothing but its name, and stands within a line.
    fn is_bare(&self, mark: &Mark) -> bool {
        mark.end - mark.at == mark.name.len() + 2 && !self.leads_line(mark.at)
    }

    fn clean_ops(&self) -> Vec<usize> {
        let (mut clean, mut covered) = (Vec::new(), 0);
        for mark in &self.all {
            if covered <= mark.at && self.is_clean(mark) {
                clean.push(mark.at);
            }
            covered = self.mate(*mark).map_or(covered, |close| covered.max(close.end));
        }
        clean
    }

    /// Whether it is a whole op on lines of its own.
    fn is_clean(&self, mark: &Mark) -> bool {
        let end = match (mark.kind, mark.mate.map(|mate| self.all[mate])) {
            (Kind::Head(Shape::Whole), _) => mark.end,
            (Kind::Head(Shape::Open), Some(close)) if close.kind == Kind::Close => close.end,
            _ => return false,
        };
        let rest = self.text[end..].trim_start_matches([' ', '\t', '\r']);
        let is_alone = rest.is_empty() || rest.starts_with('\n');
        is_alone && !mark.is_thought() && !mark.is_shouted && self.begins_line(mark.at)
    }

    /// Whether this byte is the first of its line.
    pub(super) fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.text.as_bytes()[at - 1] == b'\n'
    }

    /// Whether nothing but blanks stands before this byte in its line.
    pub(super) fn leads_line(&self, at: usize) -> bool {
        let mut before = self.text[..at].chars().rev();
        before.find(|c| !is_blank(*c)).is_none_or(|c| matches!(c, '\n' | '\r'))
    }

    /// Where the next line begins that a tag opens, or the text is over.
    fn limit(&self, from: usize) -> usize {
        let next = self.lines.partition_point(|line| *line < from);
        self.lines.get(next).copied().unwrap_or(self.text.len())
    }

    /// The mark at this byte.
    pub(super) fn at(&self, at: usize) -> Option<Mark> {
        let n = self.all.binary_search_by_key(&at, |mark| mark.at).ok()?;
        Some(self.all[n])
    }

    /// The first mark from this byte on.
    pub(super) fn next(&self, from: usize) -> Option<Mark> {
        self.all.get(self.all.partition_point(|mark| mark.at < from)).copied()
    }

    pub(super) fn mate(&self, mark: Mark) -> Option<Mark> {
        mark.mate.map(|mate| self.all[mate])
    }

    pub(super) fn head(&self, mark: Mark) -> Head<'a> {
        let from = mark.at + 1 + mark.name.len();
        head::read(self.text, from, self.limit(from))
    }

    /// Where the next op begins that stands whole on lines of its own, and in no fence that opens from here on.
    pub(super) fn next_clean(&self, from: usize) -> Option<usize> {
        let first = self.clean.partition_point(|at| *at < from);
        let mut next = self.clean[first..].iter().take(MOST_PASSED).copied();
        next.find(|at| !self.is_fenced(from, *at))
    }

    /// The tags that begin between two bytes.
    pub(super) fn within(&self, from: usize, to: usize) -> &[Mark] {
        let place = |byte: usize| self.all.partition_point(|mark| mark.at < byte);
        self.all.get(place(from)..place(to)).unwrap_or_default()
    }

    /// Where the first tag between two bytes begins that makes sense as the head of an op.
    pub(super) fn first_sound(&self, from: usize, to: usize) -> Option<usize> {
        let is_sound = |mark: &&Mark| {
            matches!(mark.kind, Kind::Head(Shape::Open | Shape::Whole)) && !mark.is_thought()
        };
        self.within(from, to).iter().find(is_sound).map(|mark| mark.at)
    }

    /// The closers of ops between two bytes that close nothing there.
    pub(super) fn strays_within(&self, from: usize, to: usize) -> Vec<Mark> {
        let (mut open, mut strays): (HashMap<&str, usize>, Vec<Mark>) = Default::default();
        for mark in self.within(from, to).iter().filter(|mark| !mark.is_thought()) {
            let depth = open.entry(mark.name).or_default();
            match mark.kind {
                Kind::Head(Shape::Open) => *depth += 1,
                Kind::Head(_) => {}
                _ if *depth > 0 => *depth -= 1,
                _ => strays.push(*mark),
            }
        }
        strays
    }

    /// Whether a closer, and nothing else, stands between two bytes.
    pub(super) fn is_closer(&self, from: usize, to: usize) -> bool {
        let said = self.text[from..to].trim();
        let at = to - self.text[from..to].trim_start().len();
        self.at(at).is_some_and(|mark| mark.is_close() && mark.end == at + said.len())
    }

    /// Whether a fence that opens between two places is not closed there.
    pub(super) fn is_fenced(&self, from: usize, to: usize) -> bool {
        let before = |lines: &[usize], at: usize| lines.partition_point(|line| *line < at);
        let is_odd = |lines: &Vec<usize>| (before(lines, to) - before(lines, from)) % 2 == 1;
        self.fences.values().any(is_odd)
    }

    /// The first closer of an op from here on that closes nothing.
    pub(super) fn next_stray(&self, from: usize) -> Option<Mark> {
        self.first_of(&self.stray_ops, from)
    }

    /// The first closer of this name from here on that closes nothing.
    pub(super) fn next_stray_of(&self, name: &str, from: usize) -> Option<Mark> {
        self.first_of(self.strays.get(name)?, from)
    }

    fn first_of(&self, numbers: &[usize], from: usize) -> Option<Mark> {
        let first = numbers.partition_point(|n| self.all[*n].at < from);
        numbers.get(first).map(|n| self.all[*n])
    }

    /// The last closer of this name between two bytes.
    pub(super) fn last_close(&self, name: &str, from: usize, to: usize) -> Option<Mark> {
        let closes = self.closes.get(name)?;
        let after = closes.partition_point(|n| self.all[*n].at < to);
        let last = self.all[*closes[..after].last()?];
        (from <= last.at).then_some(last)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// What stands behind a closer in which more stands than its name, from the end of that on.
fn behind_rest(text: &str) -> Option<&str> {
    text.starts_with(|c| is_blank(c) || c == '/').then_some(())?;
    let mut near = text.char_indices().take(LONGEST_REST);
    let (at, end) = near.find(|(_, c)| matches!(c, '<' | '>' | '\n'))?;
    (end == '>').then(|| &text[at + 1..])
}

/// Where lines begin with a tag that opens.
fn line_tags(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with('<') && opens_at(text, at).is_some() {
            found.push(at);
        }
        at += line.len();
    }
    found
}

/// Where lines begin in which fences open or close: of backticks and tildes, and by their length.
fn fence_lines(text: &str) -> HashMap<(u8, usize), Vec<usize>> {
    let mut found: HashMap<(u8, usize), Vec<usize>> = HashMap::new();
    for (start, end, _) in lines(text) {
        if let Some((mark, length)) = fence_in(&text[start..end]) {
            found.entry((mark, length.min(LONGEST_FENCE))).or_default().push(start);
        }
    }
    found
}
