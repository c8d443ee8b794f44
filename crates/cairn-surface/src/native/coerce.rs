//! Arguments made to fit a JSON Schema, top-level property by property, where nothing is lost by it; each is
//! reported. Looks at types, choices and what is required. Whatever else a schema says is for admission.

use super::args::{is_as_written, written_numbers};
use crate::json::Exact;
use crate::json::short;
use serde_json::{Map, Number, Value};

/// Types that JSON Schema names, in the order in which a value is tried on them: `"1"` is a number before it is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Null,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    String,
}

impl Type {
    const ALL: [(&str, Type); 7] = [
        ("null", Type::Null),
        ("integer", Type::Integer),
        ("number", Type::Number),
        ("boolean", Type::Boolean),
        ("array", Type::Array),
        ("object", Type::Object),
        ("string", Type::String),
    ];

    fn of_word(word: &str) -> Option<Type> {
        Type::ALL.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind)
    }

    /// What completes "it must be …".
    fn told(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Boolean => "true or false",
            Type::Integer => "a whole number",
            Type::Number => "a number",
            Type::Array => "a list",
            Type::Object => "an object",
            Type::String => "a string",
        }
    }

    fn takes(self, value: &Value) -> bool {
        match self {
            Type::Null => value.is_null(),
            Type::Boolean => value.is_boolean(),
            Type::Integer => value.as_f64().is_some_and(|n| n.fract() == 0.0),
            Type::Number => value.is_number(),
            Type::Array => value.is_array(),
            Type::Object => value.is_object(),
            Type::String => value.is_string(),
        }
    }

    /// The value of this type that another value stands for.
    fn from(self, value: &Value) -> Option<Value> {
        let text = || value.as_str().map(str::trim);
        match self {
            Type::Null => None,
            Type::Boolean => flag(value).map(Value::Bool),
            Type::Integer => number(text()?).and_then(whole).map(Value::Number),
            Type::Number => number(text()?).map(Value::Number),
            Type::Array | Type::Object => {
                let Exact(inner) = serde_json::from_str(text()?).ok()?;
                self.takes(&inner).then_some(inner)
            }
            Type::String => match value {
                Value::Number(_) | Value::Bool(_) if is_as_written(value) => {
                    Some(Value::String(value.to_string()))
                }
                _ => None,
            },
        }
    }
}

fn flag(value: &Value) -> Option<bool> {
    let word = match value {
        Value::String(text) => text.trim().to_ascii_lowercase(),
        Value::Number(n) => n.to_string(),
        _ => return None,
    };
    match word.as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// A number that is written as JSON writes it and keeps all its digits.
fn number(text: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(text).ok()?;
    let is_exact = number.is_u64() || number.is_i64() || text.contains(['.', 'e', 'E']);
    is_exact.then_some(number)
}

/// The greatest number up to which every whole one has a floating one of its own.
const EXACT: f64 = 9_007_199_254_740_991.0;

fn whole(number: Number) -> Option<Number> {
    match number.as_f64() {
        _ if number.is_u64() || number.is_i64() => Some(number),
        Some(n) if n.fract() == 0.0 && n.abs() <= EXACT => Some(Number::from(n as i64)),
        _ => None,
    }
}

/// The types that a schema takes; none where it does not say.
fn types(schema: &Value) -> Vec<Type> {
    let words: Vec<&str> = match &schema["type"] {
        Value::String(word) => vec![word],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => {
            let branches = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
            let branches: Vec<Vec<Type>> = branches.into_iter().flatten().map(types).collect();
            // A branch that does not say takes anything.
            let is_open = branches.iter().any(Vec::is_empty);
            return if is_open { Vec::new() } else { branches.concat() };
        }
    };
    words.into_iter().filter_map(Type::of_word).collect()
}

/// The values that a schema chooses among.
fn choices(schema: &Value) -> Option<Vec<&Value>> {
    match (&schema["enum"], &schema["const"]) {
        (Value::Array(all), _) => Some(all.iter().collect()),
        (_, Value::Null) => None,
        (_, only) => Some(vec![only]),
    }
}

/// The arguments of a call, read and made to fit a schema. Repairs are added to `repairs`; where nothing helps, says
/// what is wrong.
pub(crate) fn coerced(
    schema: &Value,
    arguments: &str,
    repairs: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    let (given, numbers) = object(arguments, repairs)?;
    coerce(schema, given, &numbers, repairs)
}

/// An object, and the numbers in it as they are written.
type Exactly = (Map<String, Value>, Vec<(String, String)>);

/// The object that arguments are, and the numbers in it that may be written in more ways than one.
fn object(text: &str, repairs: &mut Vec<String>) -> Result<Exactly, String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let read = |text: &str| serde_json::from_str::<Exact>(text).map(|Exact(value)| value);
    match read(text).map_err(|e| format!("the arguments are not JSON: {e}"))? {
        Value::Object(given) => Ok((given, written_numbers(text))),
        Value::String(inner) => match read(&inner) {
            Ok(Value::Object(given)) => {
                repairs.push("the arguments: text read as JSON".to_owned());
                Ok((given, written_numbers(&inner)))
            }
            _ => Err("the arguments are not a JSON object".to_owned()),
        },
        _ => Err("the arguments are not a JSON object".to_owned()),
    }
}

/// Makes arguments fit a schema. `numbers` are those that are to be taken as they were written, where a text is wanted.
/// Repairs are added to `repairs`; where nothing helps, says what was wrong.
fn coerce(
    schema: &Value,
    given: Map<String, Value>,
    numbers: &[(String, String)],
    repairs: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    let properties = schema["properties"].as_object();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fitting = Map::new();
    for (name, value) in given {
        let shown = short(&name);
        let Some(property) = properties.and_then(|all| all.get(&name)) else {
            if schema["additionalProperties"] == false {
                let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(format!("there is no argument {shown:?}; the arguments are {known}"));
            }
            fitting.insert(name, value);
            continue;
        };
        let is_required = required.contains(&name.as_str());
        if value.is_null() && !is_required && !fits(property, &value) {
            repairs.push(format!("{shown}: null left out"));
            continue;
        }
        let written = numbers.iter().find(|(key, _)| *key == name).map(|(_, text)| text.as_str());
        let value = match written.and_then(|text| as_text(property, &value, text)) {
            Some(text) => {
                repairs.push(format!("{shown}: {} read as text", short(&text)));
                Value::String(text)
            }
            None => fit(property, &shown, value, repairs)?,
        };
        fitting.insert(name, value);
    }
    let is_given = |name: &&str| fitting.get(*name).is_some();
    match required.iter().find(|name| !is_given(name)) {
        Some(missing) => Err(format!("{} is missing", short(missing))),
        None => Ok(fitting),
    }
}

fn fits(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    (types.is_empty() || types.iter().any(|kind| kind.takes(value)))
        && choices(schema).is_none_or(|all| all.contains(&value))
}

/// A number as it was written, where only a text is wanted.
fn as_text(schema: &Value, number: &Value, written: &str) -> Option<String> {
    let text = Value::String(written.to_owned());
    (!fits(schema, number) && types(schema).contains(&Type::String) && fits(schema, &text))
        .then(|| written.to_owned())
}

fn fit(
    schema: &Value,
    name: &str,
    value: Value,
    repairs: &mut Vec<String>,
) -> Result<Value, String> {
    if fits(schema, &value) {
        return Ok(value);
    }
    let wanted = types(schema);
    let tried = Type::ALL.iter().map(|(_, kind)| *kind).filter(|kind| wanted.contains(kind));
    let made = tried.filter_map(|kind| kind.from(&value)).find(|made| fits(schema, made));
    if let Some(made) = made {
        repairs.push(format!("{name}: {}", read_as(&value, &made)));
        return Ok(made);
    }
    let is_null = value.is_null();
    Err(match choices(schema) {
        _ if is_null => format!("{name} is missing"),
        Some(all) => {
            let all: Vec<String> = all.iter().map(|choice| short(&choice.to_string())).collect();
            format!("{name} must be one of {}", all.join(", "))
        }
        None => {
            let wanted: Vec<&str> = wanted.iter().map(|kind| kind.told()).collect();
            format!("{name} must be {}", wanted.join(" or "))
        }
    })
}

/// How a value was read, in the words of the other coercions.
fn read_as(value: &Value, made: &Value) -> String {
    match (value, made) {
        (Value::String(_), Value::Array(_) | Value::Object(_)) => "text read as JSON".to_owned(),
        (Value::String(text), Value::Number(_)) => {
            format!("text {:?} read as a number", short(text))
        }
        (_, Value::String(_)) => format!("{value} read as text"),
        _ => format!("{} read as {made}", short(&value.to_string())),
    }
}
