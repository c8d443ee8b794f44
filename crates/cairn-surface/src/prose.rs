//! Where code is quoted in prose: spans in backticks and fenced blocks, much as in Markdown. What stands in them is
//! said about something, and asks for nothing. In doubt it is quoted. Knows nothing of ops.

use std::collections::{BTreeMap, HashMap};

/// A run of so many marks is a fence.
const FENCE: usize = 3;
/// So far into a line marks of lists are looked for.
const FARTHEST: usize = 256;

/// The lines of a text: where each begins, where what it says ends, and where the next begins. Whatever ends a line
/// somewhere ends it here.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        let (end, length) = rest
            .char_indices()
            .find_map(|(end, c)| match c {
                '\r' if rest[end + 1..].starts_with('\n') => Some((end, 2)),
                c if ends_line(c) => Some((end, c.len_utf8())),
                _ => None,
            })
            .unwrap_or((rest.len(), 0));
        at = start + end + length;
        Some((start, start + end, at))
    })
}

fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What shows nothing at the beginning of a line.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{A0}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')
}

/// A line without the blanks and the marks of lists it begins with.
pub(crate) fn unlisted(line: &str) -> &str {
    let mut rest = line.trim_start_matches(is_blank);
    loop {
        let digits = rest.bytes().take(9).take_while(u8::is_ascii_digit).count();
        let marks: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
        let Some(behind) = rest[digits..].strip_prefix(marks) else { return rest };
        if !behind.starts_with(is_blank) {
            return rest;
        }
        rest = behind.trim_start_matches(is_blank);
    }
}

/// The fence that a line begins with: its mark and its length.
pub(crate) fn leading_fence(line: &str) -> Option<(u8, usize)> {
    let inner = unlisted(line);
    let mark = *inner.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = run(inner.as_bytes(), 0, mark);
    // Backticks after the opening ones make it a span.
    let is_fence = length >= FENCE && (mark == b'~' || !inner[length..].contains('`'));
    is_fence.then_some((mark, length))
}

/// The fence that opens in a line, at its beginning or behind words: its mark and its length.
pub(crate) fn fence_in(line: &str) -> Option<(u8, usize)> {
    leading_fence(line).or_else(|| {
        let last = |mark: u8| {
            let end = line.rfind(char::from(mark))? + 1;
            let start = line[..end].trim_end_matches(char::from(mark)).len();
            (end - start >= FENCE).then_some((mark, end - start))
        };
        last(b'`').or_else(|| last(b'~'))
    })
}

/// The lines of a text that close fences.
#[derive(Debug, Default)]
pub(crate) struct Closers {
    /// Of each mark and length, where they begin and where the next line does.
    lines: [BTreeMap<usize, Vec<(usize, usize)>>; 2],
}

impl Closers {
    pub(crate) fn new(text: &str) -> Closers {
        let mut closers = Closers::default();
        for (start, end, next) in lines(text) {
            closers.add(&text[start..end], (start, next));
        }
        closers
    }

    fn add(&mut self, line: &str, place: (usize, usize)) {
        let said = line.trim_start_matches(is_blank).trim_end();
        let Some(mark) = said.bytes().next().filter(|byte| matches!(byte, b'`' | b'~')) else {
            return;
        };
        if said.len() >= FENCE && said.bytes().all(|byte| byte == mark) {
            self.lines[usize::from(mark == b'~')].entry(said.len()).or_default().push(place);
        }
    }

    /// Where the first line from this byte on begins, and is over, that closes such a fence.
    pub(crate) fn next(&self, (mark, length): (u8, usize), from: usize) -> Option<(usize, usize)> {
        let first = |lines: &Vec<(usize, usize)>| {
            lines.get(lines.partition_point(|(start, _)| *start < from)).copied()
        };
        self.lines[usize::from(mark == b'~')].range(length..).filter_map(|(_, of)| first(of)).min()
    }
}

/// The quotes of a text. Asked from left to right, the answers take time linear in the text.
#[derive(Debug)]
pub struct Quotes<'a> {
    text: &'a str,
    /// Of each length, where runs of backticks begin.
    runs: HashMap<usize, Vec<usize>>,
    /// Where lines begin.
    starts: Vec<usize>,
    /// Where lines begin that no span goes over: blank ones, and fences.
    gaps: Vec<usize>,
    closers: Closers,
}

impl<'a> Quotes<'a> {
    /// The quotes of this text.
    #[must_use]
    pub fn new(text: &'a str) -> Quotes<'a> {
        let mut runs: HashMap<usize, Vec<usize>> = HashMap::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'`') {
            let start = at + found;
            let length = run(bytes, start, b'`');
            runs.entry(length).or_default().push(start);
            at = start + length;
        }
        let (mut starts, mut gaps, mut closers) = (Vec::new(), Vec::new(), Closers::default());
        for (start, end, next) in lines(text) {
            let line = &text[start..end];
            starts.push(start);
            closers.add(line, (start, next));
            let is_empty = line.chars().all(|c| is_blank(c) || c.is_whitespace());
            // What ends lines only somewhere parts nothing: in doubt it is quoted.
            let is_parting = (start == 0 || text[..start].ends_with('\n'))
                && (next == text.len() || text[..next].ends_with('\n'));
            if (is_empty && is_parting) || leading_fence(line).is_some() {
                gaps.push(start);
            }
        }
        Quotes { text, runs, starts, gaps, closers }
    }

    /// What is quoted from this byte on, if a quote begins here: a fenced block with both its fences, or a span
    /// with its backticks. A block that begins a line and is not closed goes on to the end; one behind words, or a
    /// span, that is not closed is none. No span goes over a blank line.
    #[must_use]
    pub fn quote_at(&self, at: usize) -> Option<Quote<'a>> {
        let bytes = self.text.as_bytes();
        let mark = *bytes.get(at).filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = run(bytes, at, mark);
        let block = (length >= FENCE).then(|| self.block(at, (mark, length))).flatten();
        if block.is_some() {
            return block;
        }
        let runs = self.runs.get(&length).filter(|_| mark == b'`')?;
        let close = *runs[runs.partition_point(|start| *start <= at)..].first()?;
        let gap = self.gaps.get(self.gaps.partition_point(|gap| *gap <= at));
        if gap.is_some_and(|gap| *gap <= close) {
            return None;
        }
        let body = (at + length, close);
        Some(Quote { end: close + length, info: None, body, is_closed: true, is_led: false })
    }

    /// Whether nothing but blanks and marks of lists stands before this byte in its line.
    fn begins_line(&self, at: usize) -> bool {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line)).copied();
        let before = &self.text[start.unwrap_or_default()..at];
        before.len() <= FARTHEST
            && unlisted(&self.text[at - before.len()..]).len() == self.text.len() - at
    }

    fn block(&self, at: usize, (mark, length): (u8, usize)) -> Option<Quote<'a>> {
        let rest = &self.text[at + length..];
        let again = rest.find(|c: char| c == char::from(mark) || ends_line(c));
        let is_again = again.is_some_and(|found| rest[found..].starts_with(char::from(mark)));
        let begins_line = self.begins_line(at);
        // Marks after the opening ones make it a span; tildes that begin a line are never one.
        if is_again && !(begins_line && mark == b'~') {
            return None;
        }
        let next = self.starts.get(self.starts.partition_point(|start| *start <= at)).copied();
        let from = next.unwrap_or(self.text.len());
        let info = Some(self.text[at + length..from].trim());
        match self.closers.next((mark, length), from) {
            Some((close, end)) => {
                let body = (from, close);
                Some(Quote { end, info, body, is_closed: true, is_led: !begins_line })
            }
            None => begins_line.then_some(Quote {
                end: self.text.len(),
                info,
                body: (from, self.text.len()),
                is_closed: false,
                is_led: false,
            }),
        }
    }
}

/// A quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote<'a> {
    /// Where it is over.
    pub end: usize,
    /// What stands behind the opening fence, of a block.
    pub info: Option<&'a str>,
    /// Where what is quoted begins and ends.
    pub body: (usize, usize),
    /// Whether its end was written.
    pub is_closed: bool,
    /// Whether words stand before a block in its line.
    pub is_led: bool,
}

/// How often a byte stands here.
fn run(bytes: &[u8], at: usize, byte: u8) -> usize {
    bytes[at..].iter().take_while(|other| **other == byte).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quotes of a text, asked for at every backtick and tilde outside them.
    fn quotes(text: &str) -> Vec<&str> {
        let quotes = Quotes::new(text);
        let (mut found, mut at) = (Vec::new(), 0);
        while at < text.len() {
            match quotes.quote_at(at) {
                Some(quote) => {
                    found.push(&text[quote.body.0..quote.body.1]);
                    at = quote.end;
                }
                None => at += run(text.as_bytes(), at, text.as_bytes()[at]).max(1),
            }
        }
        found
    }

    #[test]
    fn spans_and_blocks_are_quotes() {
        for (text, expected) in [
            ("a `b` c", vec!["b"]),
            ("``a ` b``", vec!["a ` b"]),
            ("a ` b", vec![]),
            ("`a `` b", vec![]),
            ("```\nx\n```\ny `z`", vec!["x\n", "z"]),
            ("```rust\nx\n````\ny", vec!["x\n"]),
            ("````\n```\nx\n````", vec!["```\nx\n"]),
            ("  ~~~ a\nx\n~~~", vec!["x\n"]),
            ("~~ a ~~", vec![]),
            ("```\nnever closed", vec!["never closed"]),
            ("a ```b``` c", vec!["b"]),
            ("```a`b```", vec!["a`b"]),
            ("```", vec![""]),
            ("a: ```xml\nx\n```\ny `z`", vec!["x\n", "z"]),
            ("a: ~~~\nx\n ~~~~\ny", vec!["x\n"]),
            ("a ~~~ b ~~~\nx\n~~~", vec!["x\n"]),
            ("a: ```xml\nnever closed", vec![]),
            ("1. ```xml\n   x\n\n   y\n   ```\nz", vec!["   x\n\n   y\n"]),
            ("- ```\nnever closed", vec!["never closed"]),
            ("\u{FEFF}```\nx\n\u{200B}```\ny", vec!["x\n"]),
            ("\u{A0}~~~\rx\r~~~\ry", vec!["x\r"]),
            ("a `b\nc` d", vec!["b\nc"]),
            ("``\na\n``", vec!["\na\n"]),
            ("a `b\n \nc` d", vec![]),
            ("a `b\n```\nc ` d\n```\ne", vec!["c ` d\n"]),
            ("a ```b\nc``` d", vec!["b\nc"]),
        ] {
            assert_eq!(quotes(text), expected, "{text:?}");
        }
    }
}
