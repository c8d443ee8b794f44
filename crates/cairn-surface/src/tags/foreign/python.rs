//! Calls as Python writes them, one behind the other and nothing besides: `print(default_api.read(path="a"))`.
//! Arguments stand by their names, and are what JSON can say.

use serde_json::{Map, Value};

const PRINT: &str = "print";
/// Lists nest no deeper.
const DEEPEST: usize = 8;

/// The calls that a text is, if it is nothing else.
pub(in super::super) fn calls(text: &str) -> Option<Vec<(String, Value)>> {
    let (mut calls, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let (call, after) = statement(rest)?;
        calls.push(call);
        rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    }
    (!calls.is_empty()).then_some(calls)
}

type Call = (String, Value);

/// One call, with `print` around it or not, and what stands behind it.
fn statement(text: &str) -> Option<(Call, &str)> {
    let printed = text.strip_prefix(PRINT).and_then(|rest| rest.trim_start().strip_prefix('('));
    match printed {
        None => call(text),
        Some(inner) => {
            let (call, rest) = call(inner.trim_start())?;
            Some((call, rest.trim_start().strip_prefix(')')?))
        }
    }
}

fn call(text: &str) -> Option<(Call, &str)> {
    let (name, rest) = name(text, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))?;
    let mut rest = rest.strip_prefix('(')?.trim_start();
    let mut args = Map::new();
    loop {
        if let Some(after) = rest.strip_prefix(')') {
            return Some(((name.to_owned(), Value::Object(args)), after));
        }
        let (key, after) = self::name(rest, |c| c.is_ascii_alphanumeric() || c == '_')?;
        let (value, after) = value(after.trim_start().strip_prefix('=')?.trim_start(), 0)?;
        if args.insert(key.to_owned(), value).is_some() {
            return None;
        }
        rest = over_comma(after, ')')?;
    }
}

/// What stands behind a comma, or before what closes.
fn over_comma(text: &str, close: char) -> Option<&str> {
    let text = text.trim_start();
    match text.strip_prefix(',') {
        Some(after) => Some(after.trim_start()),
        None => text.starts_with(close).then_some(text),
    }
}

fn name(text: &str, is_name: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let length = text.find(|c| !is_name(c)).unwrap_or(text.len());
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then(|| text.split_at(length))
}

fn value(text: &str, depth: usize) -> Option<(Value, &str)> {
    if text.starts_with(['"', '\'']) {
        return string(text);
    }
    if let Some(inner) = text.strip_prefix('[').filter(|_| depth < DEEPEST) {
        let (mut items, mut rest) = (Vec::new(), inner.trim_start());
        loop {
            if let Some(after) = rest.strip_prefix(']') {
                return Some((Value::Array(items), after));
            }
            let (item, after) = value(rest, depth + 1)?;
            items.push(item);
            rest = over_comma(after, ']')?;
        }
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
    let (word, rest) = text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()));
    let value = match word {
        "True" => true.into(),
        "False" => false.into(),
        "None" => Value::Null,
        _ => serde_json::from_str::<serde_json::Number>(word).ok()?.into(),
    };
    Some((value, rest))
}

/// A text between quotes, one or three. What Python would refuse, or reads by its own names, is none.
fn string(text: &str) -> Option<(Value, &str)> {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text.starts_with(quote))?;
    let (mut out, mut rest) = (String::new(), &text[quote.len()..]);
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            return Some((out.into(), after));
        }
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let escaped = rest.chars().next()?;
                rest = &rest[escaped.len_utf8()..];
                out.extend(match escaped {
                    '\n' => None,
                    'n' => Some('\n'),
                    't' => Some('\t'),
                    'r' => Some('\r'),
                    '\\' | '\'' | '"' => Some(escaped),
                    _ => return None,
                });
            }
            '\n' if quote.len() == 1 => return None,
            _ => out.push(c),
        }
    }
}
