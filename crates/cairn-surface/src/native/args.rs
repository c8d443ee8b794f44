//! A call's arguments, read by the tool's own parameter list: closed aliases and lossless coercions,
//! each reported; anything else is a sentence that says what was wrong.

use super::tools::{Kind, Param, Tool};
use serde_json::Value;
use std::collections::BTreeMap;

/// Arguments that fit the tool's parameters.
pub(super) struct Args {
    values: BTreeMap<&'static str, Value>,
    repairs: Vec<String>,
}

impl Args {
    /// Reads the model's text.
    pub(super) fn read(tool: &Tool, arguments: &str) -> Result<Args, String> {
        let say = |what: String| format!("{}: {what}", tool.name);
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        let value: Value = serde_json::from_str(text)
            .map_err(|e| say(format!("the arguments are not JSON: {e}")))?;
        let Value::Object(given) = value else {
            return Err(say("the arguments are not a JSON object".to_owned()));
        };
        let mut args = Args { values: BTreeMap::new(), repairs: Vec::new() };
        for (key, value) in given {
            args.take(tool, &key, value).map_err(say)?;
        }
        match tool.params.iter().find(|p| p.required && !args.values.contains_key(p.name)) {
            Some(missing) => Err(say(format!("{} is missing", missing.name))),
            None => Ok(args),
        }
    }

    fn take(&mut self, tool: &Tool, key: &str, value: Value) -> Result<(), String> {
        let param = self.param(tool, key)?;
        if value.is_null() && !param.required {
            return Ok(());
        }
        let value = self.coerce(param, value)?;
        match self.values.insert(param.name, value) {
            Some(_) => Err(format!("{} is given twice", param.name)),
            None => Ok(()),
        }
    }

    fn param(&mut self, tool: &Tool, key: &str) -> Result<&'static Param, String> {
        let params: &'static [Param] = tool.params;
        if let Some(param) = params.iter().find(|p| p.name == key) {
            return Ok(param);
        }
        if let Some(param) = params.iter().find(|p| p.aliases.contains(&key)) {
            self.repairs.push(format!("{key} read as {}", param.name));
            return Ok(param);
        }
        let known: Vec<&str> = params.iter().map(|p| p.name).collect();
        Err(format!("there is no argument {key:?}; the arguments are {}", known.join(", ")))
    }

    fn coerce(&mut self, param: &Param, value: Value) -> Result<Value, String> {
        let name = param.name;
        match (param.kind, value) {
            (Kind::Text, value @ Value::String(_)) => Ok(value),
            (Kind::Text, _) => Err(format!("{name} must be a string")),
            (Kind::Flag, value @ Value::Bool(_)) => Ok(value),
            (Kind::Flag, Value::String(s)) if s == "true" || s == "false" => {
                self.repairs.push(format!("{name}: text {s:?} read as {s}"));
                Ok(Value::Bool(s == "true"))
            }
            (Kind::Flag, _) => Err(format!("{name} must be true or false")),
            (Kind::Count, Value::Number(n)) => match whole(&n) {
                Some(n) => Ok(Value::from(n)),
                None => Err(format!("{name} must be a whole number from 0")),
            },
            (Kind::Count, Value::String(s)) => match s.trim().parse::<u64>() {
                Ok(n) => {
                    self.repairs.push(format!("{name}: text {s:?} read as a number"));
                    Ok(Value::from(n))
                }
                Err(_) => Err(format!("{name} must be a whole number from 0")),
            },
            (Kind::Count, _) => Err(format!("{name} must be a whole number from 0")),
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, String> {
        match self.values.remove(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(format!("{name} is missing")),
        }
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.values.get(name).and_then(Value::as_u64)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.values.get(name).and_then(Value::as_bool)
    }

    pub(super) fn into_repairs(self) -> Vec<String> {
        self.repairs
    }
}

/// `3` and `3.0` are whole; `3.5` and `-1` are not counts.
fn whole(n: &serde_json::Number) -> Option<u64> {
    n.as_u64().or_else(|| {
        let f = n.as_f64()?;
        (f >= 0.0 && f.fract() == 0.0 && f < 9e15).then_some(f as u64)
    })
}
