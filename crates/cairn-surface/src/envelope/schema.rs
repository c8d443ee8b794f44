//! The JSON Schema of a turn's replies, for providers that can hold a model to one. The order of its keys is the
//! order in which a reply is written, the tool before its arguments. Says no more than the forms: what a tool
//! refuses on looking closer, such as a question of blanks, is refused on reading.

use super::layout::{Layout, MOST_ITEMS, Slot, fields, layouts};
use super::{ACTION, ARGS, FINAL, LONGEST_TARGET, NONCE, TOOL, Turn};
use crate::native::{Kind, Tool};
use serde_json::{Map, Value, json};

/// What a nonce looks like, where a schema does not name it.
pub const NONCE_PATTERN: &str = "^[A-Za-z0-9_-]{4,64}$";
/// The greatest number that is ever sensible: fifteen digits.
const GREATEST: u64 = 999_999_999_999_999;

/// How a schema says what the nonce is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nonce {
    /// By name: for a model that is here, which cannot then get it wrong.
    Const,
    /// By its looks: for a provider that keeps schemas, which must then be the same in every turn.
    Pattern,
}

/// The schema of a turn's replies.
#[must_use]
pub fn schema(turn: &Turn<'_>, nonce: Nonce) -> String {
    let nonce = match nonce {
        Nonce::Const => json!({"type": "string", "const": turn.nonce}),
        Nonce::Pattern => json!({"type": "string", "pattern": NONCE_PATTERN}),
    };
    let calls = turn.tools.iter().flat_map(|tool| {
        let way = |way: Layout| call(tool, &way, turn, &nonce);
        layouts(tool).into_iter().map(way).collect::<Vec<_>>()
    });
    let end =
        turn.may_end().then(|| object(vec![(ACTION, word(FINAL)), (NONCE, nonce.clone())], 2));
    let mut all: Vec<Value> = calls.chain(end).collect();
    match (all.len(), all.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            all.extend(last);
            json!({ "anyOf": all })
        }
    }
    .to_string()
}

fn call(tool: &Tool, way: &Layout, turn: &Turn<'_>, nonce: &Value) -> Value {
    let action = turn.is_decision().then(|| (ACTION, word(TOOL)));
    let fields = [(TOOL, word(tool.name)), (ARGS, args(way)), (NONCE, nonce.clone())];
    let fields: Vec<_> = action.into_iter().chain(fields).collect();
    let count = fields.len();
    object(fields, count)
}

fn word(word: &str) -> Value {
    json!({"type": "string", "enum": [word]})
}

fn args(layout: &Layout) -> Value {
    let properties = layout.slots().map(|slot| (slot.param.name, value(slot))).collect();
    object(properties, layout.needed.len())
}

/// An object with these properties, the first of them required.
fn object(properties: Vec<(&str, Value)>, required: usize) -> Value {
    let names: Vec<&str> = properties.iter().take(required).map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

fn value(slot: &Slot) -> Value {
    let list = |items: Value| match slot.is_full {
        true => json!({"type": "array", "items": items, "minItems": 1, "maxItems": MOST_ITEMS}),
        false => json!({"type": "array", "items": items, "maxItems": MOST_ITEMS}),
    };
    match slot.param.kind {
        Kind::Text if slot.is_target => json!({"type": "string", "maxLength": LONGEST_TARGET}),
        Kind::Text => json!({"type": "string"}),
        Kind::Count => json!({"type": "integer", "minimum": 0, "maximum": GREATEST}),
        Kind::Flag if slot.is_full => json!({"type": "boolean", "enum": [true]}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Word(words) => json!({"type": "string", "enum": words}),
        Kind::Texts => list(json!({"type": "string"})),
        Kind::List(params) => list(args(&fields(params))),
    }
}
