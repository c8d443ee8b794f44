//! Ops as tags: each in the plainest form that reads back as that op. Names no tool.

use super::marks::Marks;
use super::parse;
use crate::native::{self, Tool};
use crate::skin::{Body, Skin};
use cairn_types::Action;
use serde_json::{Map, Value};

/// Ops as text that reads back as them.
#[must_use]
pub fn print(ops: &[Action]) -> String {
    ops.iter().map(|op| one(op) + "\n").collect()
}

fn one(op: &Action) -> String {
    let Some((tool, args)) = native::call_of(op) else { return String::new() };
    let Some(skin) = native::skins().iter().find(|skin| skin.tool.name == tool.name) else {
        return String::new();
    };
    let names = skin.tags.iter().chain(std::iter::once(&tool.name));
    let forms = names.flat_map(|name| {
        let call = Call { name, skin, tool, args: &args };
        [call.with_body(), Some(call.with_attributes())].into_iter().flatten()
    });
    let forms: Vec<String> = forms.collect();
    let reads_back = |form: &&String| {
        let reading = parse(form, 2);
        let is_it = matches!(&reading.ops[..], [read] if read.parsed.action.as_ref() == Ok(op));
        is_it && reading.repairs.is_empty() && reading.problems.is_empty()
    };
    forms.iter().find(reads_back).or(forms.last()).cloned().unwrap_or_default()
}

/// A call by one of the names of its tool.
struct Call<'a> {
    name: &'a str,
    skin: &'a Skin,
    tool: &'a Tool,
    args: &'a Map<String, Value>,
}

impl Call<'_> {
    fn with_attributes(&self) -> String {
        format!("<{}{}/>", self.name, self.attributes(None))
    }

    /// The same with what the body takes in the body, if that can stand there.
    fn with_body(&self) -> Option<String> {
        let slots = [self.skin.body, self.skin.bare.map(|bare| (bare, Body::Trimmed))];
        let is_given = |(slot, _): &(&str, Body)| self.args.contains_key(*slot);
        let (slot, _) = slots.into_iter().flatten().find(is_given)?;
        if self.skin.target.iter().any(|(target, _)| *target == slot) {
            return None;
        }
        let body = match &self.args[slot] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // Whatever might be taken for a tag stands in an attribute, where it is escaped.
        if !Marks::new(&body).is_empty() || body.contains("<|") {
            return None;
        }
        let line_end = if body.contains('\n') || body.starts_with(['\r', '>']) { "\n" } else { "" };
        let attributes = self.attributes(Some(slot));
        Some(format!("<{0}{attributes}>{line_end}{body}</{0}>", self.name))
    }

    fn attributes(&self, body: Option<&str>) -> String {
        let target = self.skin.target.iter().map(|(slot, _)| *slot);
        let target = target.into_iter().find(|slot| self.args.contains_key(*slot));
        let given = self.tool.params.iter().filter_map(|param| {
            let value = self.args.get(param.name).filter(|_| Some(param.name) != body)?;
            let name = if Some(param.name) == target { "path" } else { param.name };
            Some(match value {
                Value::String(text) => format!(" {name}=\"{}\"", escaped(text)),
                Value::Array(items) => format!(" {name}=\"{}\"", escaped(&listed(items))),
                other => format!(" {name}=\"{}\"", escaped(&other.to_string())),
            })
        });
        given.collect()
    }
}

/// Words between commas, where they are nothing but words; otherwise JSON.
fn listed(items: &[Value]) -> String {
    let word = |item: &Value| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        item.as_str()
            .filter(|text| !text.is_empty() && text.chars().all(is_word))
            .map(str::to_owned)
    };
    let words: Option<Vec<String>> = items.iter().map(word).collect();
    match words {
        Some(words) if !words.is_empty() => words.join(", "),
        _ => Value::Array(items.to_vec()).to_string(),
    }
}

/// A text as the value of an attribute, on one line and without anything that means something in tags.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '`' | '~' => out.push_str(&format!("&#{};", u32::from(c))),
            c if c.is_control() => out.push_str(&format!("&#{};", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
