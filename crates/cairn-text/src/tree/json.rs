//! JSON (RFC 8259) as a tree, one document or one on each line.

use super::limits::{Budget, within};
use super::{Node, Number, Unreadable, Value, fields};

/// A document that is one JSON value.
pub(super) fn read(text: &str, budget: &mut Budget) -> Result<Node, Unreadable> {
    let mut reader = Reader { text, at: 0, line: 1, budget };
    reader.whole(0)
}

/// A list of the JSON values on the lines of a text.
pub(super) fn read_lines(text: &str, budget: &mut Budget) -> Result<Node, Unreadable> {
    budget.value()?;
    let mut items = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let mut reader = Reader { text, at: 0, line, budget: &mut *budget };
        items.push(reader.whole(1)?);
    }
    Ok(Node::new(1, Value::List(items)))
}

struct Reader<'t, 'b> {
    text: &'t str,
    at: usize,
    line: usize,
    budget: &'b mut Budget,
}

impl Reader<'_, '_> {
    fn whole(&mut self, depth: usize) -> Result<Node, Unreadable> {
        self.blanks();
        let node = self.value(depth)?;
        self.blanks();
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.bad("something follows the value")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Unreadable> {
        within(depth, self.line)?;
        self.budget.value()?;
        let line = self.line;
        let value = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(_) => return Err(self.bad("a value was expected")),
            None => return Err(self.bad("it ends where a value was expected")),
        };
        Ok(Node::new(line, value))
    }

    fn object(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 1;
        let mut read = Vec::new();
        self.blanks();
        if self.took(b'}') {
            return Ok(Value::Object(read));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.bad("a name in double quotes was expected"));
            }
            let name = self.string()?;
            self.blanks();
            if !self.took(b':') {
                return Err(self.bad("a colon was expected after a name"));
            }
            self.blanks();
            read.push((name, self.value(depth + 1)?));
            self.blanks();
            if self.took(b'}') {
                return Ok(Value::Object(fields::unique(read)));
            }
            if !self.took(b',') {
                return Err(self.bad("a comma or } was expected"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.took(b']') {
            return Ok(Value::List(items));
        }
        loop {
            self.blanks();
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.took(b']') {
                return Ok(Value::List(items));
            }
            if !self.took(b',') {
                return Err(self.bad("a comma or ] was expected"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, Unreadable> {
        let read = Number::prefix(&self.text[self.at..]);
        let (number, length) = read.ok_or_else(|| self.bad("a digit was expected after -"))?;
        self.at += length;
        match self.peek() {
            Some(b'.' | b'e' | b'E' | b'+' | b'0'..=b'9') => {
                Err(self.bad("JSON writes no number like this"))
            }
            _ => Ok(Value::Number(number)),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Unreadable> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.bad("a value was expected"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn string(&mut self) -> Result<String, Unreadable> {
        self.at += 1;
        let mut read = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain =
                rest.iter().take_while(|b| **b >= b' ' && !matches!(b, b'"' | b'\\')).count();
            read.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(read);
                }
                Some(b'\\') => read.push(self.escape()?),
                Some(b'\n') | None => return Err(self.bad("a text is not closed")),
                Some(_) => return Err(self.bad("a control character in a text is not escaped")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Unreadable> {
        let letter = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match letter {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.bad("a backslash stands before what it does not escape")),
        })
    }

    fn unicode(&mut self) -> Result<char, Unreadable> {
        let first = self.hex()?;
        let code = match first {
            0xd800..=0xdbff if self.text[self.at..].starts_with("\\u") => {
                self.at += 2;
                let second = self.hex()?;
                let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400);
                low.map(|low| 0x10000 + ((first - 0xd800) << 10) + low)
            }
            code => Some(code),
        };
        code.and_then(char::from_u32)
            .ok_or_else(|| self.bad("half of a surrogate pair stands alone"))
    }

    fn hex(&mut self) -> Result<u32, Unreadable> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code =
            code.ok_or_else(|| self.bad("four hexadecimal digits were expected after \\u"))?;
        self.at += 4;
        Ok(code)
    }

    fn blanks(&mut self) {
        while let Some(blank @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.line += usize::from(blank == b'\n');
            self.at += 1;
        }
    }

    fn took(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn bad(&self, why: &str) -> Unreadable {
        Unreadable::Malformed { form: "JSON", line: self.line, why: why.to_owned() }
    }
}
