//! The configuration as `cairn config` shows it: value, origin, meaning.

use super::keys::{self, Key};
use super::{Config, KEYS, Kind, Project, Value};
use serde_json::{Map, Value as Json, json};
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
                who(key),
                key.docs
            );
        }
    }
    out
}

/// For programs. With `all`, also keys that nobody set, and of each what it means.
#[must_use]
pub fn as_json(config: &Config, all: bool) -> Json {
    let mut object = Map::new();
    for (name, setting) in config.settings() {
        let mut said =
            json!({"value": plain(&setting.value), "origin": setting.origin.to_string()});
        if let Some(key) = keys::find(name).filter(|_| all) {
            describe(&mut said, key);
        }
        object.insert(name.to_owned(), said);
    }
    for key in KEYS.iter().filter(|_| all) {
        object.entry(key.name).or_insert_with(|| {
            let mut said = json!({"value": null, "origin": null});
            describe(&mut said, key);
            said
        });
    }
    Json::Object(object)
}

fn plain(value: &Value) -> Json {
    match value {
        Value::Text(text) | Value::Decimal(text) => json!(text),
        Value::Count(n) => json!(n),
        Value::Flag(is) => json!(is),
        Value::List(list) => json!(list),
        Value::Hooks(hooks) => hooks
            .iter()
            .map(|hook| json!({"matcher": hook.matcher, "command": hook.command, "timeout_ms": hook.timeout_ms}))
            .collect(),
    }
}

fn describe(said: &mut Json, key: &Key) {
    said["kind"] = json!(kind(key.kind));
    said["who"] = json!(who(key));
    said["env"] = json!(key.env);
    said["docs"] = json!(key.docs);
}

fn literal(value: &Value) -> String {
    plain(value).to_string()
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::List => "list of texts".to_owned(),
        Kind::Count(low, high) => format!("{low} to {high}"),
        Kind::Rules => "list of rules".to_owned(),
        Kind::Globs => "list of globs".to_owned(),
        Kind::Paths => "list of paths".to_owned(),
        Kind::Hosts => "list of hosts".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Word(words) | Kind::Ladder(words) => words.join(" or "),
        Kind::Money => "US dollars".to_owned(),
        Kind::Price => "US dollars per million tokens".to_owned(),
        Kind::Hooks(_) => "tables with command, matcher and timeout_ms".to_owned(),
    }
}

fn who(key: &Key) -> &'static str {
    match key.project {
        Project::Never => "the user's alone",
        Project::Lowers if key.kind == Kind::Flag => "a project may set it to true",
        Project::Lowers => "a project may lower it",
        Project::Adds => "a project may add to it",
    }
}
