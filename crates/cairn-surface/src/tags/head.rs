//! The head of a tag: what stands between its name and the `>`. Attributes in quotes of either kind, without
//! quotes, or as a name alone. Knows nothing of what they mean.

use super::marks::opens_at;

/// No tag has more attributes; a heap of words behind a name is none.
const MOST_ATTRIBUTES: usize = 64;

/// How a head ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// By `>`: a body follows.
    Open,
    /// By `/>`.
    Whole,
    /// The text is over before it.
    Truncated,
    /// It makes no sense, and ends by `>`, so that a body may follow.
    Broken,
    /// It makes no sense, and no body can follow.
    BrokenWhole,
}

/// A head.
pub(super) struct Head<'a> {
    /// Names and values, as they are written.
    pub(super) attrs: Vec<(&'a str, Option<&'a str>)>,
    /// Where it is over.
    pub(super) end: usize,
    pub(super) shape: Shape,
    /// A quote was not closed and was taken to be closed by the end of the tag.
    pub(super) is_requoted: bool,
    /// Where the attribute begins that was read last.
    pub(super) last: usize,
}

/// Reads from behind the name. `limit` is where the next line begins that a tag opens: no value goes on beyond it.
pub(super) fn read(text: &str, from: usize, limit: usize) -> Head<'_> {
    let (shape, is_requoted) = (Shape::Broken, false);
    let head = Head { attrs: Vec::new(), end: from, shape, is_requoted, last: from };
    let mut reader = Reader { text, at: from, limit, head };
    while !reader.step() {}
    reader.head
}

/// Whether a body begins with attributes in quotes and a bracket, or with the value of one: the head may go on there.
pub(super) fn goes_on(body: &str) -> bool {
    let line = &body[..body.find('\n').unwrap_or(body.len())];
    let value = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let rest = value.map_or(line, |(_, rest)| rest);
    let head = read(rest, 0, rest.len());
    let is_head = matches!(head.shape, Shape::Open | Shape::Whole);
    // A command may begin with quotes, and a redirection follow.
    let is_over = value.is_some() && (rest.starts_with('>') || rest.starts_with("/>"));
    is_head && (is_over || rest[..head.end].contains("=\""))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    limit: usize,
    head: Head<'a>,
}

impl<'a> Reader<'a> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied().filter(|_| at < self.limit)
    }

    fn skip_blanks(&mut self) {
        while self.byte(self.at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn end(&mut self, shape: Shape, end: usize) -> bool {
        (self.head.shape, self.head.end) = (shape, end);
        true
    }

    /// Nothing more comes before the limit.
    fn end_at_limit(&mut self) -> bool {
        let is_over = self.limit == self.text.len();
        self.end(if is_over { Shape::Truncated } else { Shape::BrokenWhole }, self.limit)
    }

    /// What stands here makes no sense: the head is over at the next bracket.
    fn end_broken(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..self.limit];
        match rest.iter().position(|byte| matches!(byte, b'<' | b'>')).map(|n| n + self.at) {
            None => self.end_at_limit(),
            Some(at) if self.byte(at) == Some(b'<') => self.end(Shape::BrokenWhole, at),
            Some(at) if self.text.as_bytes()[at - 1] == b'/' => {
                self.end(Shape::BrokenWhole, at + 1)
            }
            Some(at) => self.end(Shape::Broken, at + 1),
        }
    }

    /// Reads one thing; whether that was the last.
    fn step(&mut self) -> bool {
        self.skip_blanks();
        match self.byte(self.at) {
            None => self.end_at_limit(),
            Some(b'>') => self.end(Shape::Open, self.at + 1),
            Some(b'/') if self.byte(self.at + 1) == Some(b'>') => {
                self.end(Shape::Whole, self.at + 2)
            }
            Some(byte)
                if self.head.attrs.len() < MOST_ATTRIBUTES
                    && (byte.is_ascii_alphabetic() || byte == b'_') =>
            {
                self.attribute()
            }
            Some(_) => {
                self.head.last = self.at;
                self.end_broken()
            }
        }
    }

    fn attribute(&mut self) -> bool {
        let start = self.at;
        self.head.last = start;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':');
        while self.byte(self.at).is_some_and(is_name) {
            self.at += 1;
        }
        let name = &self.text[start..self.at];
        let after = self.at;
        self.skip_blanks();
        if self.byte(self.at) != Some(b'=') {
            let is_over = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
            self.at = after;
            if self.byte(after).is_some_and(|byte| !is_over(byte)) {
                return self.end_broken();
            }
            self.head.attrs.push((name, None));
            return false;
        }
        self.at += 1;
        self.skip_blanks();
        match self.byte(self.at) {
            Some(quote @ (b'"' | b'\'')) => self.quoted(name, char::from(quote)),
            Some(_) => self.unquoted(name),
            None => self.end_at_limit(),
        }
    }

    fn quoted(&mut self, name: &'a str, quote: char) -> bool {
        let start = self.at + 1;
        let close = self.text[start..self.limit].find(quote).map(|at| at + start);
        if let Some(close) = close {
            let is_followed = match self.byte(close + 1) {
                None | Some(b'>') => true,
                Some(b'/') => self.byte(close + 2).is_none_or(|byte| byte == b'>'),
                Some(byte) => byte.is_ascii_whitespace(),
            };
            if is_followed {
                self.head.attrs.push((name, Some(&self.text[start..close])));
                self.at = close + 1;
                return false;
            }
        }
        self.requoted(name, (start, close))
    }

    /// A quote that is not closed, or closed by one that belongs to another tag: the value ends where the tag
    /// does, if it is one word.
    fn requoted(&mut self, name: &'a str, (start, close): (usize, Option<usize>)) -> bool {
        self.at = start;
        let before = close.unwrap_or(self.limit);
        let Some(end) = self.text[start..before].find('>').map(|at| at + start) else {
            self.at = before;
            return self.end_broken();
        };
        let inner = &self.text[start..end];
        let (value, shape) = match inner.strip_suffix('/') {
            Some(value) => (value, Shape::Whole),
            None => (inner, Shape::Open),
        };
        let is_word = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '=');
        let is_others = close.is_none_or(|close| {
            let opens = |(at, _)| opens_at(self.text, end + at).is_some();
            self.text[end..close].match_indices('<').any(opens)
        });
        if value.is_empty() || !value.chars().all(is_word) || !is_others {
            return self.end_broken();
        }
        self.head.attrs.push((name, Some(value)));
        self.head.is_requoted = true;
        self.end(shape, end + 1)
    }

    fn unquoted(&mut self, name: &'a str) -> bool {
        let start = self.at;
        // Quotes of other kinds are none, and no part of a name either.
        if self.text[start..].starts_with(['“', '”', '‘', '’', '«', '»']) {
            return self.end_broken();
        }
        loop {
            match self.byte(self.at) {
                Some(b'/') if self.byte(self.at + 1) == Some(b'>') => break,
                Some(b'<' | b'"' | b'\'' | b'=' | b'`') => return self.end_broken(),
                Some(byte) if byte != b'>' && !byte.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        if start == self.at {
            return self.end_broken();
        }
        self.head.attrs.push((name, Some(&self.text[start..self.at])));
        false
    }
}

/// A value with its entities read.
pub(super) fn decoded(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let entity = after.bytes().take(9).position(|byte| byte == b';');
        let read = entity.and_then(|end| Some((character(&after[..end])?, end)));
        match read {
            Some((c, end)) => {
                out.push(c);
                rest = &after[end + 1..];
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out + rest
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "quot" => Some('"'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) if hex.starts_with('+') => return None,
                Some(hex) => u32::from_str_radix(hex, 16),
                // A sign is no digit.
                None if number.starts_with('+') => return None,
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
