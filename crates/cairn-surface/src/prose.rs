//! Where code is quoted in prose: spans in backticks and fenced blocks, as in Markdown. What stands in them is
//! said about something, and asks for nothing. Knows nothing of ops.

use std::collections::HashMap;

/// The runs of backticks of a text. Asked from left to right, the answers take time linear in the text.
#[derive(Debug)]
pub struct Quotes<'a> {
    text: &'a str,
    /// Of each length, where runs of backticks begin.
    runs: HashMap<usize, Vec<usize>>,
}

impl<'a> Quotes<'a> {
    /// The runs of this text.
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
        Quotes { text, runs }
    }

    /// What is quoted from this byte on, if a quote begins here: a fenced block with both its fences, or a span
    /// with its backticks. A block that is not closed goes on to the end; a span that is not closed is none.
    #[must_use]
    pub fn quote_at(&self, at: usize) -> Option<Quote<'a>> {
        let bytes = self.text.as_bytes();
        let mark = *bytes.get(at).filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = run(bytes, at, mark);
        if length >= 3 && self.begins_line(at) {
            let rest = &self.text[at + length..];
            let info = rest.lines().next().unwrap_or_default();
            // Backticks after the opening ones make it a span.
            if mark == b'~' || !info.contains('`') {
                return Some(self.block(at, (mark, length), info));
            }
        }
        let runs = self.runs.get(&length).filter(|_| mark == b'`')?;
        let close = runs[runs.partition_point(|start| *start <= at)..].first()?;
        let end = close + length;
        Some(Quote { end, info: None, body: (at + length, *close), is_closed: true })
    }

    /// Whether nothing but blanks stands before this byte in its line.
    fn begins_line(&self, at: usize) -> bool {
        let before = &self.text[..at];
        before.trim_end_matches([' ', '\t']).is_empty()
            || before.trim_end_matches([' ', '\t']).ends_with('\n')
    }

    fn block(&self, at: usize, (mark, length): (u8, usize), info: &'a str) -> Quote<'a> {
        let body = (at + length + info.len() + 1).min(self.text.len());
        let info = Some(info.trim());
        let mut line = body;
        while line < self.text.len() {
            let rest = &self.text[line..];
            let end = rest.find('\n').map_or(self.text.len(), |found| line + found + 1);
            let said = self.text[line..end].trim();
            let closes = said.len() >= length && said.bytes().all(|byte| byte == mark);
            if closes {
                return Quote { end, info, body: (body, line), is_closed: true };
            }
            line = end;
        }
        Quote { end: self.text.len(), info, body: (body, self.text.len()), is_closed: false }
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
        ] {
            assert_eq!(quotes(text), expected, "{text:?}");
        }
    }
}
