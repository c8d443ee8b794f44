//! The configuration as `cairn config` shows it: value, origin, meaning.

use super::{Config, KEYS, Kind, Project, Setting, Value};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// For people. With `all`, also keys that nobody set, and what each means.
#[must_use]
pub fn as_text(config: &Config, all: bool) -> String {
    let mut out = String::new();
    for (name, setting) in config.settings() {
        let _ = writeln!(out, "{name} = {}  # {}", literal(&setting.value), setting.origin);
    }
    if all {
        out.push_str("\nAll keys:\n");
        for key in KEYS {
            let _ = writeln!(
                out,
                "\n{}  ({}; {})\n    {}",
                key.name,
                kind(key.kind),
                who(key.project),
                key.docs
            );
        }
    }
    out
}

/// For programs.
#[must_use]
pub fn as_json(config: &Config) -> Json {
    let one = |setting: &Setting| {
        let value = match &setting.value {
            Value::Text(text) | Value::Decimal(text) => json!(text),
            Value::Count(n) => json!(n),
            Value::List(list) => json!(list),
        };
        json!({"value": value, "origin": setting.origin.to_string()})
    };
    Json::Object(config.settings().map(|(name, s)| (name.to_owned(), one(s))).collect())
}

fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Decimal(text) => json!(text).to_string(),
        Value::Count(n) => n.to_string(),
        Value::List(list) => json!(list).to_string(),
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::List => "list of texts".to_owned(),
        Kind::Count(low, high) => format!("{low} to {high}"),
        Kind::Word(words) => words.join(" or "),
        Kind::Money => "US dollars".to_owned(),
        Kind::Price => "US dollars per million tokens".to_owned(),
    }
}

fn who(project: Project) -> &'static str {
    match project {
        Project::MayNot => "the user's alone",
        Project::MayLower => "a project may lower it",
    }
}
