//! JSON as models are held to it: an object's keys are all different, at every depth. Knows no field.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use std::fmt;

/// Of a text that a model wrote and that is named to it no more is shown, in characters.
const SHOWN: usize = 80;

/// The beginning of a text, for a message.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// The fields of an object, each where it stands in the text.
pub(crate) struct Fields<'a>(pub(crate) Vec<(String, &'a RawValue)>);

/// A value in which no object has a key twice.
pub(crate) struct Exact(pub(crate) Value);

fn twice<E: Error>(key: &str) -> E {
    E::custom(format_args!("the key {:?} is there twice", short(key)))
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields: Map<String, Value> = Map::new();
                let mut found = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    if fields.insert(key.clone(), Value::Null).is_some() {
                        return Err(twice(&key));
                    }
                    found.push((key, value));
                }
                Ok(Fields(found))
            }
        }
        from.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any).map(Exact)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Exact(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Exact(value))) = map.next_entry::<String, Exact>()? {
            if object.insert(key.clone(), value).is_some() {
                return Err(twice(&key));
            }
        }
        Ok(Value::Object(object))
    }
}

/// Where an error stands in the text that it is about.
pub(crate) fn place_of(error: &serde_json::Error, text: &str) -> usize {
    let before = error.line().saturating_sub(1);
    let line: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    (line + error.column().saturating_sub(1)).min(text.len())
}

/// The objects of a text that stand in no other, from left to right. Braces in strings are none.
pub(crate) fn objects(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let from = &rest[rest.find('{')?..];
            let (whole, after) = from.split_at(balanced(from)?);
            rest = after;
            if serde_json::from_str::<Fields<'_>>(whole).is_ok_and(|fields| !fields.0.is_empty()) {
                return Some(whole);
            }
        }
    })
}

/// How long an object is that a text begins with, by its braces.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
