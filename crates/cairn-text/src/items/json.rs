//! Where the items of a JSON document stand. Reads RFC 8259, without recursion and to a limited depth; a
//! byte order mark before the document is passed over. Builds no values.

use std::ops::Range;

/// How deep arrays and objects may lie in one another.
pub(super) const DEPTH: usize = 127;
const TOO_DEEP: &str = "nested too deeply";

/// Why a text is not a JSON document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct JsonError {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Array,
    Object,
    Scalar,
}

/// An item of an array, a pair of an object, or the one value.
#[derive(Debug)]
pub(super) struct Item {
    /// Where it begins: its key or its value.
    pub(super) start: usize,
    /// Its key, with quotes.
    pub(super) key: Option<Range<usize>>,
    /// Its value.
    pub(super) value: Range<usize>,
}

/// A document and where its items stand.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) kind: Kind,
    /// The document without the blanks around it.
    pub(super) at: Range<usize>,
    /// A document that is neither array nor object is its only item.
    pub(super) items: Vec<Item>,
    /// How deep its arrays and objects lie in one another.
    pub(super) depth: usize,
}

impl JsonError {
    fn at(text: &str, byte: usize, what: &'static str) -> JsonError {
        let before = &text.as_bytes()[..byte.min(text.len())];
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let is_first = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
        let column = before[start..].iter().filter(is_first).count() + 1;
        JsonError { line, column, what }
    }

    pub(super) fn too_deep(text: &str, byte: usize) -> JsonError {
        JsonError::at(text, byte, TOO_DEEP)
    }
}

impl Outline {
    pub(super) fn of(text: &str) -> Result<Outline, JsonError> {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut reader = Reader { bytes: text.as_bytes(), at, depth: 0 };
        reader.outline().map_err(|(byte, what)| JsonError::at(text, byte, what))
    }
}

/// Where something is wrong, and what.
type Wrong = (usize, &'static str);

/// What may come next within a value.
#[derive(Clone, Copy)]
enum Next {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The deepest place so far.
    depth: usize,
}

impl Reader<'_> {
    fn outline(&mut self) -> Result<Outline, Wrong> {
        self.blanks();
        let start = self.at;
        let (kind, items) = match self.peek() {
            Some(b'[') => (Kind::Array, self.items(Kind::Array, b']')?),
            Some(b'{') => (Kind::Object, self.items(Kind::Object, b'}')?),
            _ => {
                self.value(0)?;
                (Kind::Scalar, vec![Item { start, key: None, value: start..self.at }])
            }
        };
        let at = start..self.at;
        self.blanks();
        match self.peek() {
            Some(_) => Err((self.at, "something follows the document")),
            None => Ok(Outline { kind, at, items, depth: self.depth }),
        }
    }

    /// Reads the outermost array or object.
    fn items(&mut self, kind: Kind, close: u8) -> Result<Vec<Item>, Wrong> {
        let mut items = Vec::new();
        (self.at, self.depth) = (self.at + 1, 1);
        self.blanks();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            self.blanks();
            let start = self.at;
            let key = if kind == Kind::Object { Some(start..self.key()?) } else { None };
            self.blanks();
            let from = self.at;
            self.value(1)?;
            items.push(Item { start, key, value: from..self.at });
            self.blanks();
            if self.take(close) {
                return Ok(items);
            }
            self.comma()?;
        }
    }

    /// Reads a value that lies so deep.
    fn value(&mut self, around: usize) -> Result<(), Wrong> {
        let mut open: Vec<Kind> = Vec::new();
        let mut next = Next::Value;
        loop {
            self.blanks();
            next = match (next, self.peek()) {
                (Next::ValueOrEnd, Some(b']')) | (Next::KeyOrEnd, Some(b'}')) => {
                    self.close(&mut open)
                }
                (Next::Value | Next::ValueOrEnd, Some(b'[')) => {
                    self.open(&mut open, Kind::Array, around)?
                }
                (Next::Value | Next::ValueOrEnd, Some(b'{')) => {
                    self.open(&mut open, Kind::Object, around)?
                }
                (Next::Value | Next::ValueOrEnd, _) => {
                    self.scalar()?;
                    Next::CommaOrEnd
                }
                (Next::Key | Next::KeyOrEnd, _) => {
                    self.key()?;
                    Next::Value
                }
                (Next::CommaOrEnd, at) => match (open.last(), at) {
                    (Some(Kind::Array), Some(b']')) | (Some(Kind::Object), Some(b'}')) => {
                        self.close(&mut open)
                    }
                    (Some(Kind::Object), _) => self.comma().map(|()| Next::Key)?,
                    (Some(_), _) => self.comma().map(|()| Next::Value)?,
                    (None, _) => return Ok(()),
                },
            };
            // What follows the value is not looked at: not even the blanks.
            if open.is_empty() && matches!(next, Next::CommaOrEnd) {
                return Ok(());
            }
        }
    }

    fn open(&mut self, open: &mut Vec<Kind>, kind: Kind, around: usize) -> Result<Next, Wrong> {
        open.push(kind);
        self.depth = self.depth.max(around + open.len());
        if self.depth > DEPTH {
            return Err((self.at, TOO_DEEP));
        }
        self.at += 1;
        Ok(if kind == Kind::Object { Next::KeyOrEnd } else { Next::ValueOrEnd })
    }

    fn close(&mut self, open: &mut Vec<Kind>) -> Next {
        open.pop();
        self.at += 1;
        Next::CommaOrEnd
    }

    /// Reads a key and its colon, and says where the key ends.
    fn key(&mut self) -> Result<usize, Wrong> {
        if self.peek() != Some(b'"') {
            return Err((self.at, "a key in double quotes is expected"));
        }
        self.string()?;
        let end = self.at;
        self.blanks();
        match self.take(b':') {
            true => Ok(end),
            false => Err((self.at, "a colon is expected")),
        }
    }

    fn comma(&mut self) -> Result<(), Wrong> {
        match self.take(b',') {
            true => Ok(()),
            false => Err((self.at, "a comma or a closing bracket is expected")),
        }
    }

    fn scalar(&mut self) -> Result<(), Wrong> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let rest = &self.bytes[self.at.min(self.bytes.len())..];
                let words: [&[u8]; 3] = [b"true", b"false", b"null"];
                let word = words.into_iter().find(|word| rest.starts_with(word));
                self.at += word.ok_or((self.at, "a value is expected"))?.len();
                Ok(())
            }
        }
    }

    fn string(&mut self) -> Result<(), Wrong> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..0x20) => return Err((self.at, "a control character stands in a string")),
                Some(_) => self.at += 1,
                None => return Err((self.at, "a string is not closed")),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<(), Wrong> {
        let length = match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 1,
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 1..self.at + 5).unwrap_or_default();
                if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err((self.at, "four hex digits are expected"));
                }
                5
            }
            _ => return Err((self.at, "an unknown escape")),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<(), Wrong> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err((start, "a digit is expected")) }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_here = self.peek() == Some(byte);
        self.at += usize::from(is_here);
        is_here
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn outline(text: &str) -> String {
        match Outline::of(text) {
            Err(e) => e.to_string(),
            Ok(Outline { kind, items, .. }) => {
                let items: Vec<&str> =
                    items.iter().map(|item| &text[item.start..item.value.end]).collect();
                format!("{kind:?} {}", items.join("|"))
            }
        }
    }

    #[test]
    fn items_are_found_in_order_and_errors_have_a_place() {
        let check = |text: &str, expected: &str| assert_eq!(outline(text), expected, "{text:?}");
        check("[]", "Array ");
        check(" [ ] ", "Array ");
        check("{\n}", "Object ");
        check("[1, [2, 3] ,{\"a\": []}]", "Array 1|[2, 3]|{\"a\": []}");
        check("{\"a\" : 1,\"b\":[ ]}", "Object \"a\" : 1|\"b\":[ ]");
        check(" \"a]\\\",\" ", "Scalar \"a]\\\",\"");
        check("-0.5e+3", "Scalar -0.5e+3");
        check("\u{feff}[1]", "Array 1");
        check("", "line 1, column 1: a value is expected");
        check("[1,]", "line 1, column 4: a value is expected");
        check("[1\n 2]", "line 2, column 2: a comma or a closing bracket is expected");
        check("[[1}", "line 1, column 4: a comma or a closing bracket is expected");
        check("{a: 1}", "line 1, column 2: a key in double quotes is expected");
        check("{\"a\" 1}", "line 1, column 6: a colon is expected");
        check("{\"a\": 1,}", "line 1, column 9: a key in double quotes is expected");
        check("[1] // x", "line 1, column 5: something follows the document");
        check("[\n  // x\n  1]", "line 2, column 3: a value is expected");
        check("01", "line 1, column 2: something follows the document");
        check("[\"é\", .5]", "line 1, column 7: a value is expected");
        check("1.", "line 1, column 3: a digit is expected");
        check("\"a", "line 1, column 3: a string is not closed");
        check("\"\t\"", "line 1, column 2: a control character stands in a string");
        check("\"\\x\"", "line 1, column 3: an unknown escape");
        check("\"\\u12\"", "line 1, column 3: four hex digits are expected");
    }

    #[test]
    fn depth_is_limited_as_it_is_elsewhere() {
        for depth in [DEPTH - 1, DEPTH, DEPTH + 1, 1_000_000] {
            let text = "[".repeat(depth) + &"]".repeat(depth);
            assert_eq!(Outline::of(&text).is_ok(), depth <= DEPTH, "{depth}");
            assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), depth <= DEPTH, "{depth}");
        }
        let text = "{\"a\":[".repeat(1_000_000);
        assert_eq!(Outline::of(&text).map(|_| ()), Err(JsonError::too_deep(&text, 6 * 63 + 5)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn a_document_is_what_others_take_for_one(
            text in "([\\[\\]{},: ]|\"a\"|\"a\": |1|-|0|\\.5|e|true|null|\"\\\\n\"|\"|é|日|😀|\n){0,9}",
        ) {
            let theirs = serde_json::from_str::<Value>(&text).is_ok();
            prop_assert_eq!(Outline::of(&text).is_ok(), theirs, "{:?}", text);
        }

        #[test]
        fn items_are_as_others_count_them(value in super::super::tests::any_json()) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            let outline = Outline::of(&text).unwrap();
            let count = match &value {
                Value::Array(items) => items.len(),
                Value::Object(pairs) => pairs.len(),
                _ => 1,
            };
            prop_assert_eq!(outline.items.len(), count);
        }
    }
}
