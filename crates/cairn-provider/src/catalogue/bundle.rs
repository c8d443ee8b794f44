//! The list that comes with the program, searched as text: finding a model reads one line of it and
//! parses nothing else. The list has one line per model and one per provider; a test keeps it so.

use super::document::entry;
use super::entry::{Entry, Source};
use super::shape::{Model, Provider};

/// The list.
pub(super) const TEXT: &str = include_str!("../../data/models.json");

/// What is known of a provider besides its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The variables that usually hold its key, the first that is set wins.
    pub env: Vec<String>,
    /// Where its OpenAI-compatible API stands, where the list says so.
    pub api: Option<String>,
}

/// The ids of all providers, in the list's order.
pub(super) fn providers() -> impl Iterator<Item = &'static str> {
    let headers = TEXT.lines().filter_map(|line| line.strip_prefix('"'));
    headers.filter_map(|header| header.split('"').next())
}

/// A provider's first line and the lines of its models.
fn section(provider: &str) -> Option<(&'static str, &'static str)> {
    let start = TEXT.find(&format!("\n\"{provider}\":{{"))? + 1;
    let rest = &TEXT[start..];
    let (header, rest) = rest.split_once('\n')?;
    let end = rest.find("\n]}")?;
    Some((header, &rest[..end]))
}

/// What is known of a provider.
pub(super) fn provider(id: &str) -> Option<Listed> {
    let (header, _) = section(id)?;
    let (_, body) = header.split_once(':')?;
    let whole = format!("{body}]}}");
    let Provider { name, env, api, .. } = serde_json::from_str(&whole).ok()?;
    Some(Listed { id: id.to_owned(), name: name.unwrap_or_else(|| id.to_owned()), env, api })
}

/// One model, by its exact id.
pub(super) fn model(provider: &str, id: &str) -> Option<Entry> {
    // What a list may name needs no escape in JSON, so an id stands there as it is.
    if id.contains(['"', '\\', '\n']) {
        return None;
    }
    let (_, lines) = section(provider)?;
    let head = format!("{{\"id\":\"{id}\",");
    let start = match lines.starts_with(&head) {
        true => 0,
        false => lines.find(&format!("\n{head}"))? + 1,
    };
    read(provider, lines[start..].lines().next()?)
}

/// All models of a provider, in the list's order.
pub(super) fn models(provider: &str) -> impl Iterator<Item = Entry> {
    let lines = section(provider).map_or("", |(_, lines)| lines).lines();
    lines.filter_map(move |line| read(provider, line))
}

fn read(provider: &str, line: &str) -> Option<Entry> {
    let line = line.strip_suffix(',').unwrap_or(line);
    let mut model: Model<'_> = serde_json::from_str(line).ok()?;
    let id = model.id.take()?;
    entry(provider, &id, model, Source::Bundled).ok()
}
