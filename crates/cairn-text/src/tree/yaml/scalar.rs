//! What a YAML scalar is, by the core schema of YAML 1.2.

use crate::tree::{Number, Value};
use saphyr_parser::{ScalarStyle, Tag};

/// The value of a scalar, as it was written and tagged. What JSON has no form for is a text.
pub(super) fn value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
    let is_plain = match core {
        Some("str") => false,
        Some("null" | "bool" | "int" | "float") => true,
        // `!` alone says that a scalar is no more than its text.
        _ => style == ScalarStyle::Plain && !tag.is_some_and(is_bare),
    };
    match is_plain {
        true => plain(text),
        false => Value::Text(text.to_owned()),
    }
}

/// Whether a tag is `!` alone.
fn is_bare(tag: &Tag) -> bool {
    matches!((tag.handle.as_str(), tag.suffix.as_str()), ("", "!") | ("!", ""))
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::Text(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let unsigned = |digits: &str, radix| {
        let is_number = !digits.starts_with(['+', '-']);
        is_number.then(|| Number::whole(digits, radix)).flatten()
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return unsigned(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return unsigned(digits, 8);
    }
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_whole = bare.bytes().all(|byte| byte.is_ascii_digit());
    // Rust reads words as numbers too, which YAML writes otherwise.
    let begins = bare.strip_prefix('.').unwrap_or(bare).starts_with(|c: char| c.is_ascii_digit());
    match Number::parse(text) {
        Some(number) => Some(number),
        None if !begins => None,
        None if is_whole => Number::whole(text, 10).or_else(|| Number::foreign(text)),
        None => Number::foreign(text),
    }
}
