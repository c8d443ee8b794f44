//! A node as compact JSON. A value takes one line, since JSON escapes every line end within it.

use super::{Node, Value};
use std::fmt::{Display, Formatter, Result, Write};

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.value {
            Value::Null => f.write_str("null"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Number(number) => f.write_str(number.as_str()),
            Value::Text(text) => quoted(f, text),
            Value::List(items) => {
                f.write_char('[')?;
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        f.write_char(',')?;
                    }
                    Display::fmt(item, f)?;
                }
                f.write_char(']')
            }
            Value::Object(fields) => {
                f.write_char('{')?;
                for (n, (name, field)) in fields.iter().enumerate() {
                    if n > 0 {
                        f.write_char(',')?;
                    }
                    quoted(f, name)?;
                    f.write_char(':')?;
                    Display::fmt(field, f)?;
                }
                f.write_char('}')
            }
        }
    }
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> Result {
    f.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')) {
        f.write_str(&rest[..at])?;
        match rest.as_bytes()[at] {
            b'\x08' => f.write_str("\\b")?,
            b'\x0c' => f.write_str("\\f")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            byte @ (b'"' | b'\\') => write!(f, "\\{}", char::from(byte))?,
            byte => write!(f, "\\u{byte:04x}")?,
        }
        rest = &rest[at + 1..];
    }
    f.write_str(rest)?;
    f.write_char('"')
}
