//! A call's arguments, read by the tool's own declaration: closed aliases and lossless coercions,
//! each reported; anything else is a sentence that says what was wrong.

use super::declare::{Argument, Kind, Param};
use super::tools::Tool;
use crate::json::{Exact, Fields, short};
use serde_json::{Map, Value};

/// Arguments that fit a declaration.
pub struct Args {
    values: Map<String, Value>,
}

impl Args {
    /// Reads the model's text against the declared arguments. Repairs are added to `repairs`.
    pub(super) fn of_text(
        params: &'static [Param],
        text: &str,
        repairs: &mut Vec<String>,
    ) -> Result<Args, String> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        let Exact(mut value) =
            serde_json::from_str(text).map_err(|e| format!("the arguments are not JSON: {e}"))?;
        let mut numbers = written_numbers(text);
        if let Value::String(inner) = &value
            && let Ok(Exact(object @ Value::Object(_))) = serde_json::from_str(inner)
        {
            repairs.push("the arguments: text read as JSON".to_owned());
            numbers = written_numbers(inner);
            value = object;
        }
        let Value::Object(mut given) = value else {
            return Err("the arguments are not a JSON object".to_owned());
        };
        for (key, written) in numbers {
            let is_text = |p: &&Param| {
                matches!(p.kind, Kind::Text) && (p.name == key || p.aliases.contains(&key.as_str()))
            };
            if let Some(param) = params.iter().find(is_text) {
                repairs.push(format!("{}: {} read as text", param.name, short(&written)));
                given.insert(key, Value::String(written));
            }
        }
        Reader { repairs, place: String::new() }.object(params, given).map(|values| Args { values })
    }

    /// The fields.
    pub(super) fn into_fields(self) -> Map<String, Value> {
        self.values
    }

    /// Fields that are known to fit.
    pub(super) fn fitting(values: Map<String, Value>) -> Args {
        Args { values }
    }

    /// The argument of this name.
    pub(super) fn take<T: Argument>(&mut self, name: &str) -> Result<T, String> {
        T::read(self.values.remove(name)).map_err(|why| format!("{name} {why}"))
    }
}

/// An argument as the text surfaces give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// Its name alone.
    Flag,
    /// A text, which may stand for a number, a word or a list.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

impl Given {
    /// The value it stands for where one of this kind is wanted. What does not fit stays as it is, and is refused
    /// where it is looked at.
    fn value(self, kind: Kind) -> Value {
        let text = match self {
            Given::Flag => return Value::Bool(true),
            Given::Texts(texts) => return texts.into(),
            Given::Text(text) => text,
        };
        let json = |text: &str| serde_json::from_str(text).ok().map(|Exact(value)| value);
        match kind {
            Kind::Text | Kind::Word(_) => Value::String(text),
            Kind::Count => text.trim().parse::<u64>().map_or(Value::String(text), Value::from),
            Kind::Flag => match text.trim() {
                "" | "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => Value::String(text),
            },
            Kind::List(_) => json(&text).unwrap_or(Value::String(text)),
            Kind::Texts => match json(&text) {
                Some(list @ Value::Array(_)) => list,
                _ => split(&text).into(),
            },
        }
    }
}

/// Texts that stand in lines, or between semicolons, or else between commas.
fn split(text: &str) -> Vec<String> {
    let trimmed = text.trim();
    let between = ['\n', ';', ','].into_iter().find(|mark| trimmed.contains(*mark)).unwrap_or(',');
    let parts = trimmed.split(between).map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// Arguments given as texts, as the tool takes them. Repairs are added to `repairs`.
pub(crate) fn fit_texts(
    tool: &Tool,
    given: Vec<(&str, Given)>,
    repairs: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    let mut values = Map::new();
    for (name, given) in given {
        let is_it = |p: &&Param| p.name == name || p.aliases.contains(&name);
        let kind = tool.params.iter().find(is_it).map_or(Kind::Text, |param| param.kind);
        if values.insert(name.to_owned(), given.value(kind)).is_some() {
            return Err(format!("{name} is given twice"));
        }
    }
    Reader { repairs, place: String::new() }.object(tool.params, values)
}

/// Arguments whose values must be what the tool takes as they stand; only their names may be other ones.
/// Repairs are added to `repairs`.
pub(crate) fn fit_exactly(
    tool: &Tool,
    given: Map<String, Value>,
    repairs: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    exact(tool.params, &given, "")?;
    Reader { repairs, place: String::new() }.object(tool.params, given)
}

/// Says which value is not of its kind. A name that means nothing is told by the reader.
fn exact(params: &[Param], given: &Map<String, Value>, place: &str) -> Result<(), String> {
    for (key, value) in given {
        let is_it = |p: &&Param| p.name == key || p.aliases.contains(&key.as_str());
        let Some(param) = params.iter().find(is_it) else { continue };
        let name = format!("{place}{}", param.name);
        let must = match (param.kind, value) {
            (Kind::Text, Value::String(_)) | (Kind::Flag, Value::Bool(_)) => continue,
            (Kind::Count, Value::Number(n)) if whole(n).is_some() => continue,
            (Kind::Word(words), Value::String(word)) if words.contains(&word.as_str()) => continue,
            (Kind::Texts, Value::Array(items)) if items.iter().all(Value::is_string) => continue,
            (Kind::List(fields), Value::Array(items)) if items.iter().all(Value::is_object) => {
                for (n, item) in (1..).zip(items.iter().filter_map(Value::as_object)) {
                    exact(fields, item, &format!("{name}[{n}]."))?;
                }
                continue;
            }
            (Kind::Text, _) => "a string".to_owned(),
            (Kind::Flag, _) => "true or false".to_owned(),
            (Kind::Count, _) => "a whole number from 0".to_owned(),
            (Kind::Word(words), _) => format!("one of {}", words.join(", ")),
            (Kind::Texts, _) => "a list of strings".to_owned(),
            (Kind::List(_), _) => "a list of objects".to_owned(),
        };
        return Err(format!("{name} must be {must}"));
    }
    Ok(())
}

/// Makes a value fit its declaration, and says what it did.
struct Reader<'a> {
    repairs: &'a mut Vec<String>,
    /// Where we are, such as `edits[2].`.
    place: String,
}

impl Reader<'_> {
    fn object(
        &mut self,
        params: &'static [Param],
        given: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let mut values = Map::new();
        for (key, value) in given {
            let param = self.param(params, &key)?;
            if value.is_null() && !param.required {
                continue;
            }
            let value = self.fit(param, value)?;
            if values.insert(param.name.to_owned(), value).is_some() {
                return Err(format!("{}{} is given twice", self.place, param.name));
            }
        }
        match params.iter().find(|p| p.required && !values.contains_key(p.name)) {
            Some(missing) => Err(format!("{}{} is missing", self.place, missing.name)),
            None => Ok(values),
        }
    }

    fn param(&mut self, params: &'static [Param], key: &str) -> Result<&'static Param, String> {
        if let Some(param) = params.iter().find(|p| p.name == key) {
            return Ok(param);
        }
        if let Some(param) = params.iter().find(|p| p.aliases.contains(&key)) {
            self.repairs.push(format!("{}{key} read as {}", self.place, param.name));
            return Ok(param);
        }
        let known: Vec<&str> = params.iter().map(|p| p.name).collect();
        let place = &self.place;
        Err(format!(
            "there is no argument \"{place}{key}\"; the arguments are {}",
            known.join(", ")
        ))
    }

    fn fit(&mut self, param: &Param, value: Value) -> Result<Value, String> {
        let name = format!("{}{}", self.place, param.name);
        match param.kind {
            Kind::Text => self.text(&name, value),
            Kind::Flag => self.flag(&name, value),
            Kind::Count => self.count(&name, value),
            Kind::Word(words) => self.word(&name, words, value),
            Kind::Texts => self.texts(&name, value),
            Kind::List(fields) => self.list(&name, fields, value),
        }
    }

    fn text(&mut self, name: &str, value: Value) -> Result<Value, String> {
        match value {
            Value::String(_) => Ok(value),
            Value::Number(_) | Value::Bool(_) if is_as_written(&value) => {
                self.repairs.push(format!("{name}: {value} read as text"));
                Ok(Value::String(value.to_string()))
            }
            _ => Err(format!("{name} must be a string")),
        }
    }

    /// A value that may have been written as a text; absent when that text is no JSON.
    fn unquoted(&mut self, name: &str, value: Value) -> Option<Value> {
        let Value::String(text) = &value else { return Some(value) };
        let Exact(inner) = serde_json::from_str(text).ok()?;
        self.repairs.push(format!("{name}: text read as JSON"));
        Some(inner)
    }

    fn texts(&mut self, name: &str, value: Value) -> Result<Value, String> {
        let bad = || format!("{name} must be a list of strings");
        let value = self.unquoted(name, value).ok_or_else(bad)?;
        let Value::Array(items) = value else { return Err(bad()) };
        let mut texts = Vec::with_capacity(items.len());
        for (n, item) in (1..).zip(items) {
            let name = format!("{name}[{n}]");
            texts.push(match item {
                Value::Object(mut fields) if fields.get("label").is_some_and(Value::is_string) => {
                    self.repairs.push(format!("{name}: its label read as text"));
                    fields.remove("label").unwrap_or_default()
                }
                item => self.text(&name, item)?,
            });
        }
        Ok(Value::Array(texts))
    }

    fn flag(&mut self, name: &str, value: Value) -> Result<Value, String> {
        let flag = match &value {
            Value::Bool(_) => return Ok(value),
            Value::String(s) => match s.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" => Some(false),
                _ => None,
            },
            Value::Number(n) => match n.as_u64() {
                Some(1) => Some(true),
                Some(0) => Some(false),
                _ => None,
            },
            _ => None,
        };
        let flag = flag.ok_or_else(|| format!("{name} must be true or false"))?;
        self.repairs.push(format!("{name}: {value} read as {flag}"));
        Ok(Value::Bool(flag))
    }

    fn count(&mut self, name: &str, value: Value) -> Result<Value, String> {
        let bad = || format!("{name} must be a whole number from 0");
        match &value {
            Value::Number(n) => whole(n).map(Value::from).ok_or_else(bad),
            Value::String(s) => {
                let n: u64 = s.trim().parse().map_err(|_| bad())?;
                self.repairs.push(format!("{name}: text {s:?} read as a number"));
                Ok(Value::from(n))
            }
            _ => Err(bad()),
        }
    }

    fn word(&mut self, name: &str, words: &[&str], value: Value) -> Result<Value, String> {
        let bad = || format!("{name} must be one of {}", words.join(", "));
        let given = value.as_str().ok_or_else(bad)?;
        if words.contains(&given) {
            return Ok(value);
        }
        let plain = given.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let meant = match plain.as_str() {
            "in_progress" | "doing" | "started" => "active",
            "completed" | "complete" | "finished" => "done",
            "todo" | "open" | "not_started" => "pending",
            other => other,
        };
        let word = words.iter().find(|word| **word == meant).ok_or_else(bad)?;
        self.repairs.push(format!("{name}: {given:?} read as {word}"));
        Ok(Value::from(*word))
    }

    fn list(
        &mut self,
        name: &str,
        fields: &'static [Param],
        value: Value,
    ) -> Result<Value, String> {
        let bad = || format!("{name} must be a list of objects");
        let value = self.unquoted(name, value).ok_or_else(bad)?;
        let items = match value {
            Value::Array(items) => items,
            single @ Value::Object(_) => {
                self.repairs.push(format!("{name}: one object read as a list of one"));
                vec![single]
            }
            _ => return Err(bad()),
        };
        let mut fitting = Vec::with_capacity(items.len());
        for (n, item) in (1..).zip(items) {
            let Value::Object(given) = item else { return Err(bad()) };
            let outer = std::mem::replace(&mut self.place, format!("{name}[{n}]."));
            let object = self.object(fields, given);
            self.place = outer;
            fitting.push(Value::Object(object?));
        }
        Ok(Value::Array(fitting))
    }
}

/// The numbers of an object that may be written in another way than they are printed, as they are written.
pub(super) fn written_numbers(text: &str) -> Vec<(String, String)> {
    let is_number = |raw: &str| raw.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let is_other =
        |raw: &str| serde_json::from_str(raw).is_ok_and(|value: Value| !is_as_written(&value));
    let fields = serde_json::from_str::<Fields<'_>>(text).map(|fields| fields.0);
    let numbers = fields.into_iter().flatten().filter(|(_, raw)| is_number(raw.get()));
    let numbers = numbers.filter(|(_, raw)| is_other(raw.get()));
    numbers.map(|(key, raw)| (key, raw.get().to_owned())).collect()
}

/// Whether a value was written in the only way that there is to write it. A number with a point is not: `1.10`.
pub(crate) fn is_as_written(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_u64() || number.is_i64(),
        Value::Bool(_) | Value::Null => true,
        Value::String(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// `3` and `3.0` are whole; `3.5` and `-1` are not counts.
pub(crate) fn whole(n: &serde_json::Number) -> Option<u64> {
    n.as_u64().or_else(|| {
        let f = n.as_f64()?;
        (f >= 0.0 && f.fract() == 0.0 && f < 9e15).then_some(f as u64)
    })
}
