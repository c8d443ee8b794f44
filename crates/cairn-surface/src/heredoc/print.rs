//! Ops as heredocs. What is printed is read back and compared: slots that cannot say an op are not used for it.

use super::{CALL, parse};
use crate::native;
use crate::skin::{Ranged, Skin};
use cairn_types::Action;
use serde_json::{Map, Value};

/// Ops as text, one after the other.
#[must_use]
pub fn print(ops: &[Action]) -> String {
    ops.iter().map(statement).collect::<Vec<_>>().join("\n")
}

fn statement(action: &Action) -> String {
    let Some((tool, args)) = native::call_of(action) else { return String::new() };
    let skins = native::skins().iter().filter(|skin| skin.tool.name == tool.name);
    let mut written = skins.flat_map(|skin| {
        let parts = Parts::of(skin, &args);
        skin.words.iter().filter_map(move |word| parts.as_ref().map(|parts| parts.written(word)))
    });
    let says_it = |text: &String| {
        let read = parse(text, 1);
        let ops: Vec<_> = read.ops.iter().map(|op| op.parsed.action.as_ref()).collect();
        ops == [Ok(action)] && read.problems.is_empty() && read.repairs.is_empty()
    };
    written.find(says_it).unwrap_or_else(|| {
        let body = Value::Object(args.clone()).to_string();
        Parts { target: tool.name.to_owned().into(), body, ..Parts::default() }.written(CALL)
    })
}

/// What stands in the places of a statement.
#[derive(Default)]
struct Parts {
    signal: Option<String>,
    target: Option<String>,
    scope: Option<String>,
    body: String,
}

impl Parts {
    /// The arguments in the places that a skin has for them; none where one has no place.
    fn of(skin: &Skin, args: &Map<String, Value>) -> Option<Parts> {
        let mut parts = Parts { scope: scope(skin.scope, args)?, ..Parts::default() };
        for (name, value) in args {
            let name = name.as_str();
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Array(items) if items.iter().all(Value::is_string) => {
                    items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
                }
                other => other.to_string(),
            };
            if skin.target.iter().any(|(slot, _)| *slot == name) {
                // One target says one thing.
                if parts.target.replace(text).is_some() {
                    return None;
                }
            } else if skin.signal == Some(name) {
                parts.signal = Some(text);
            } else if skin.body.is_some_and(|(slot, _)| slot == name) || skin.bare == Some(name) {
                parts.body = text;
            } else if !skin.scope.is_some_and(|scope| scope.says(name)) {
                return None;
            }
        }
        Some(parts)
    }

    fn written(&self, word: &str) -> String {
        let name = name(word, &self.body);
        let signal = self.signal.as_ref().map(|said| format!("[{said}]")).unwrap_or_default();
        let target = self.target.as_ref().map(|said| format!("({said})")).unwrap_or_default();
        let scope = self.scope.as_ref().map(|said| format!("<{said}>")).unwrap_or_default();
        format!("<<{name}{signal}{target}{scope}:{}:{name}", self.body)
    }
}

/// A word with a suffix where the body holds anything that opens or closes a statement.
fn name(word: &str, body: &str) -> String {
    let is_plain =
        !body.contains("<<") && !body.contains(&format!(":{word}")) && !body.starts_with(word);
    let suffixed = || (1_usize..).map(|n| format!("{word}{n}")).find(|name| !body.contains(name));
    let name = if is_plain { None } else { suffixed() };
    name.unwrap_or_else(|| word.to_owned())
}

/// What a scope says of the arguments; none where it cannot say them.
fn scope(scope: Option<Ranged>, args: &Map<String, Value>) -> Option<Option<String>> {
    let number = |name: &str| args.get(name).and_then(Value::as_u64);
    let Some(scope) = scope else { return Some(None) };
    Some(match scope {
        Ranged::Argument(name) => args.get(name).and_then(Value::as_str).map(str::to_owned),
        Ranged::Seconds(name) => match number(name) {
            Some(ms) if ms % 1000 != 0 => return None,
            ms => ms.map(|ms| (ms / 1000).to_string()),
        },
        Ranged::Results(skip, limit) => match (number(skip), number(limit)) {
            (None, None) => None,
            (skip, limit) => {
                let skip = skip.unwrap_or_default();
                Some(format!("{}-{}", skip.checked_add(1)?, skip.checked_add(limit?)?))
            }
        },
    })
}
