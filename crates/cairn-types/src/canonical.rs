//! Canonical JSON: RFC 8785 restricted to integers and ASCII keys, so that any language can
//! reproduce it byte for byte with a sort and a plain string escape.

use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// A number that is not a 64-bit integer.
    #[error("{0} is not an integer; canonical JSON here holds integers only")]
    NotAnInteger(String),
    /// An object key outside ASCII.
    #[error("the key {0:?} is not ASCII")]
    Key(String),
    /// The value could not be represented as JSON at all.
    #[error("not representable as JSON: {0}")]
    Json(String),
}

/// The canonical text of a value.
pub fn canonical(value: &Value) -> Result<String, CanonicalError> {
    let mut out = String::new();
    write_value(&mut out, value)?;
    Ok(out)
}

/// The canonical text of anything serialisable.
pub fn to_canonical<T: Serialize>(value: &T) -> Result<String, CanonicalError> {
    let value = serde_json::to_value(value).map_err(|e| CanonicalError::Json(e.to_string()))?;
    canonical(&value)
}

fn write_value(out: &mut String, value: &Value) -> Result<(), CanonicalError> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(n) if n.is_i64() || n.is_u64() => out.push_str(&n.to_string()),
        Value::Number(n) => return Err(CanonicalError::NotAnInteger(n.to_string())),
        Value::String(s) => write_string(out, s),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(out, item)?;
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if !key.is_ascii() {
                    return Err(CanonicalError::Key(key.clone()));
                }
                if i > 0 {
                    out.push(',');
                }
                write_string(out, key);
                out.push(':');
                write_value(out, &map[key])?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// RFC 8785 §3.2.2.2: the five short escapes, `\u00xx` for other controls, the rest verbatim.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_strings_escaped_as_rfc_8785_says() {
        let value = json!({"b": [1, -2, null], "a": "\u{1}\"\\\n\u{e9}\u{20ac}", "_": true});
        assert_eq!(
            canonical(&value).as_deref(),
            Ok("{\"_\":true,\"a\":\"\\u0001\\\"\\\\\\n\u{e9}\u{20ac}\",\"b\":[1,-2,null]}")
        );
    }

    #[test]
    fn floats_and_foreign_keys_are_refused() {
        assert!(matches!(canonical(&json!(1.5)), Err(CanonicalError::NotAnInteger(_))));
        assert!(matches!(canonical(&json!({"\u{e9}": 1})), Err(CanonicalError::Key(_))));
    }
}
