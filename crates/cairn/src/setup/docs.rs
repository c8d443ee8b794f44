//! The documents of `[docs]`: which entry each is, where it is read from, and what is wrong with one before a run
//! is started with it.

use crate::config::{Config, ConfigError, Origin};
use crate::setup::hooks::expanded;
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
    for key in DocKey::all(config) {
        let entry = key.entry();
        if !key.is_name() || entry == CATALOG {
            return Err(key.wrong(&format!(
                "cannot be an entry's name; use up to {LONGEST} letters, digits, - _ and ., not first, and not {CATALOG}"
            )));
        }
        if docs.iter().any(|doc| doc.name == entry) {
            return Err(key.wrong(&format!("is cairn:///{entry}, which another key is already")));
        }
        docs.push(Doc { name: entry, source: key.source()? });
    }
    Ok(docs)
}

/// Says what is wrong with a document that cannot be read, before anything is done.
pub fn check(config: &Config, world: &World) -> Result<(), ConfigError> {
    for key in DocKey::all(config) {
        let doc = world.docs().iter().find(|doc| doc.name == key.entry());
        if let Some(Err(refusal)) = doc.map(|doc| world.doc(doc)) {
            let what = format!("cannot be used: {}; name a text file that is there", refusal.text);
            return Err(key.wrong(&what));
        }
    }
    Ok(())
}

/// One key of `[docs]`.
struct DocKey<'a> {
    config: &'a Config,
    /// What stands for the star of the pattern.
    name: &'a str,
}

impl<'a> DocKey<'a> {
    /// All that are set.
    fn all(config: &'a Config) -> impl Iterator<Item = DocKey<'a>> {
        config.names_of(KEYS).map(move |name| DocKey { config, name })
    }

    /// The whole key.
    fn key(&self) -> String {
        KEYS.replace('*', self.name)
    }

    /// The entry's name: as it is given where it has an extension.
    fn entry(&self) -> String {
        let has_extension =
            |(stem, extension): (&str, &str)| !stem.is_empty() && !extension.is_empty();
        match self.name.rsplit_once('.').is_some_and(has_extension) {
            true => self.name.to_owned(),
            false => format!("{}.md", self.name),
        }
    }

    /// Whether an entry may have this name.
    fn is_name(&self) -> bool {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        self.name.len() <= LONGEST
            && !self.name.starts_with('.')
            && !self.name.ends_with('.')
            && self.name.chars().all(is_fine)
    }

    /// Where it is read from: a project names files of its own, everybody else any file by its whole path.
    fn source(&self) -> Result<DocSource, ConfigError> {
        let given = self.config.text(&self.key()).unwrap_or_default();
        if let Some(Origin::Project { .. }) = self.config.origin(&self.key()) {
            return Ok(DocSource::Member(given.to_owned()));
        }
        let path = expanded(given);
        match path.is_absolute() {
            true => Ok(DocSource::Own(path)),
            false => {
                let why =
                    "would be another file in every project; write the whole path, from / or ~/";
                Err(self.wrong(why))
            }
        }
    }

    /// The error that something is wrong with it, with the place where it is set.
    fn wrong(&self, what: &str) -> ConfigError {
        let key = self.key();
        let place = self.config.origin(&key).map(Origin::to_string).unwrap_or_default();
        ConfigError { place, what: format!("{key} {what}") }
    }
}
