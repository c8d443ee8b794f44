//! The documents of `[docs]`: which entry each is, where it is read from, and what is wrong with one before a run
//! is started with it.

use crate::config::{Config, ConfigError, Origin};
use crate::hooks::expanded;
use cairn_world::{Doc, DocSource, World};

/// The pattern of their keys.
const KEYS: &str = "docs.*";
/// The longest name.
const LONGEST: usize = 64;
/// The entry that every world has beside them.
const CATALOG: &str = "catalog.json";

/// The documents that are configured.
pub fn of(config: &Config) -> Result<Vec<Doc>, ConfigError> {
    let mut docs: Vec<Doc> = Vec::new();
    for name in config.names_of(KEYS) {
        let wrong = |what: &str| wrong(config, name, what);
        let entry = entry(name);
        if !is_name(name) || entry == CATALOG {
            return Err(wrong(&format!(
                "cannot be an entry's name; use up to {LONGEST} letters, digits, - _ and ., not first, and not {CATALOG}"
            )));
        }
        if docs.iter().any(|doc| doc.name == entry) {
            return Err(wrong(&format!("is cairn:///{entry}, which another key is already")));
        }
        docs.push(Doc { name: entry, source: source(config, name)? });
    }
    Ok(docs)
}

/// Says what is wrong with a document that cannot be read, before anything is done.
pub fn check(config: &Config, world: &World) -> Result<(), ConfigError> {
    for name in config.names_of(KEYS) {
        let doc = world.docs().iter().find(|doc| doc.name == entry(name));
        if let Some(Err(refusal)) = doc.map(|doc| world.doc(doc)) {
            let what = format!("cannot be used: {}; name a text file that is there", refusal.text);
            return Err(wrong(config, name, &what));
        }
    }
    Ok(())
}

fn wrong(config: &Config, name: &str, what: &str) -> ConfigError {
    let place = config.origin(&key(name)).map(Origin::to_string).unwrap_or_default();
    ConfigError { place, what: format!("{} {what}", key(name)) }
}

fn key(name: &str) -> String {
    KEYS.replace('*', name)
}

/// The entry's name: as it is given where it has an extension.
fn entry(name: &str) -> String {
    let has_extension = |(stem, extension): (&str, &str)| !stem.is_empty() && !extension.is_empty();
    match name.rsplit_once('.').is_some_and(has_extension) {
        true => name.to_owned(),
        false => format!("{name}.md"),
    }
}

fn is_name(name: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.len() <= LONGEST
        && !name.starts_with('.')
        && !name.ends_with('.')
        && name.chars().all(is_fine)
}

/// Where it is read from: a project names files of its own, everybody else any file by its whole path.
fn source(config: &Config, name: &str) -> Result<DocSource, ConfigError> {
    let given = config.text(&key(name)).unwrap_or_default();
    if let Some(Origin::Project { .. }) = config.origin(&key(name)) {
        return Ok(DocSource::Member(given.to_owned()));
    }
    let path = expanded(given);
    match path.is_absolute() {
        true => Ok(DocSource::Own(path)),
        false => {
            let why = "would be another file in every project; write the whole path, from / or ~/";
            Err(wrong(config, name, why))
        }
    }
}
