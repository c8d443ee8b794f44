//! Keys of providers: in the environment, or in the user's own file of them. A key leaves here only
//! as a `Secret`, which cannot be printed.

use crate::config::Config;
use crate::home::place;
use crate::home::private::{self, Seen};
use crate::model::{self, known};
use crate::run::Usage;
use anyhow::Result;
use cairn_types::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;

const LONGEST_FILE: u64 = 1 << 18;
const LONGEST_KEY: usize = 8192;

/// The file of keys.
pub fn path() -> Result<PathBuf> {
    let none = || Usage("there is no place for keys: set HOME or XDG_CONFIG_HOME".to_owned());
    Ok(place::user_file().ok_or_else(none)?.with_file_name("credentials.toml"))
}

/// Keys that were stored, by provider.
#[derive(Default)]
pub struct Stored(BTreeMap<String, Secret>);

impl Stored {
    /// Reads the file; an absent one holds no keys.
    pub fn load() -> Result<Stored> {
        let path = path()?;
        let wrong = |why: String| Usage(format!("{}: {why}", path.display()));
        let text = private::read(&path, LONGEST_FILE, Seen::ByOwner);
        let Some(text) = text.map_err(|e| wrong(e.to_string()))? else {
            return Ok(Stored::default());
        };
        // What the parser says may quote the line, and the line may be a key.
        let keys: BTreeMap<String, String> = toml::from_str(&text).map_err(|_| {
            wrong("it is not a list of keys, one provider = \"key\" a line; move it away and log in again".to_owned())
        })?;
        Ok(Stored(keys.into_iter().map(|(name, key)| (name, Secret::new(key))).collect()))
    }

    /// Writes the file.
    pub fn save(&self) -> Result<()> {
        let path = path()?;
        let mut text = String::from("# Keys of model providers, written by `cairn login`.\n");
        for (provider, key) in &self.0 {
            let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
            text.push_str(&format!("{} = {}\n", quoted(provider), quoted(key.expose())));
        }
        private::replace(&path, &text, Seen::ByOwner)
            .map_err(|e| Usage(format!("{} cannot be written: {e}", path.display())).into())
    }

    /// Keeps a key.
    pub fn put(&mut self, provider: &str, key: Secret) {
        self.0.insert(provider.to_owned(), key);
    }

    /// Forgets a key. Whether there was one.
    pub fn take(&mut self, provider: &str) -> bool {
        self.0.remove(provider).is_some()
    }

    /// The providers whose keys are stored.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The keys, by provider.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.0.iter().map(|(provider, key)| (provider.as_str(), key))
    }

    /// Whether this provider's key is stored.
    pub fn has(&self, provider: &str) -> bool {
        self.0.contains_key(provider)
    }
}

/// The key as it was typed, if it can be one: visible characters, nothing between them.
pub fn checked(typed: &Secret) -> Result<Secret, Usage> {
    let key = typed.expose().trim();
    match key {
        "" => Err(Usage("no key was given; nothing is stored".to_owned())),
        key if key.len() > LONGEST_KEY || !key.bytes().all(|b| b.is_ascii_graphic()) => Err(Usage(
            "that is not a key: spaces or unusual characters are in it; nothing is stored"
                .to_owned(),
        )),
        key => Ok(Secret::new(key)),
    }
}

/// The variables that may hold a provider's key: the configured one, or the usual ones.
pub fn variables(provider: &str, config: &Config) -> Vec<String> {
    match model::setting(provider, "key_env", config) {
        Some(variable) => vec![variable.to_owned()],
        None => known::find(provider).map(known::Known::key_variables).unwrap_or_default(),
    }
}

/// The variable that holds a provider's key.
pub fn in_environment(
    provider: &str,
    config: &Config,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let set = |variable: &String| env(variable).is_some_and(|key| !key.is_empty());
    variables(provider, config).into_iter().find(set)
}

/// A provider's key: the environment's before the stored one.
pub fn key(
    provider: &str,
    config: &Config,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>> {
    if let Some(variable) = in_environment(provider, config, env) {
        return Ok(env(&variable).map(Secret::new));
    }
    if place::user_file().is_none() {
        return Ok(None);
    }
    Ok(Stored::load()?.0.remove(provider))
}
