//! The private places of this person on this machine: the list that both the sandbox and file tools keep to,
//! with what the person opened of it.

use crate::config::{Config, MORE_OPERATOR};
use crate::home::place;
use crate::home::private::{self, Seen};
use anyhow::Result;
use cairn_text::settings_file::{SettingsForm, without_secret_values};
use cairn_types::PrivatePlaces;
use std::path::{Path, PathBuf};

/// A longer file is no file of settings.
const LONGEST_SETTINGS: u64 = 1 << 20;
/// The key by which a person opens private paths.
pub const ALLOW: &str = "private.allow";

/// The private places, each by its name and by where it really is. `env` is what commands are given.
pub fn places(config: &Config, env: &[(String, String)]) -> Result<PrivatePlaces> {
    let home = place::env("HOME").map(PathBuf::from);
    let all: Vec<(String, String)> = place::env_all().chain(env.iter().cloned()).collect();
    let mut places = PrivatePlaces::of_home(home.as_deref(), &all);
    if rustix::process::geteuid().is_root() {
        places = places.and_of_machine();
    }
    for sealed in sealed()? {
        places.seal(&std::path::absolute(sealed)?);
    }
    for allowed in config.list(ALLOW) {
        let path = match (allowed.strip_prefix("~/"), &home) {
            (Some(inner), Some(home)) => home.join(inner),
            _ => PathBuf::from(allowed),
        };
        places.allow(&path);
    }
    Ok(places.resolved(real_path))
}

/// The same for file tools, which see no files of settings that hold secret values.
pub fn places_for_tools(config: &Config, env: &[(String, String)]) -> Result<PrivatePlaces> {
    let mut places = places(config, env)?;
    let files: Vec<PathBuf> = places.settings().flat_map(settings_files).collect();
    files.iter().filter(|file| holds_secrets(file)).for_each(|file| places.hide(file));
    Ok(places)
}

/// The files that a path of settings means: itself, or those in it.
fn settings_files(path: &Path) -> Vec<PathBuf> {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![path.to_owned()],
    }
}

/// Whether a file of settings holds secret values; what cannot be looked through may.
fn holds_secrets(file: &Path) -> bool {
    let form = SettingsForm::of_file(&file.to_string_lossy());
    match private::read(file, LONGEST_SETTINGS, Seen::AsUsual) {
        Ok(None) => false,
        Ok(Some(text)) => without_secret_values(&text, form).is_some(),
        Err(_) => file.is_file(),
    }
}

/// What nobody can open: Cairn's home, and the configuration of the user and of the operator.
fn sealed() -> Result<Vec<PathBuf>> {
    let user = place::user_file().and_then(|file| file.parent().map(Path::to_owned));
    let operator = Path::new(place::OPERATOR).parent().map(Path::to_owned);
    let more = place::env(MORE_OPERATOR).map(PathBuf::from);
    Ok([Some(place::home()?), user, operator, more].into_iter().flatten().collect())
}

/// What a person is told who works in a folder that is a home, or holds it.
pub fn remark(root: &Path) -> Option<String> {
    let home = place::env("HOME").and_then(|home| Path::new(&home).canonicalize().ok())?;
    let what = match home.starts_with(root) {
        true if home == root => "This is your home folder",
        true => "Your home folder lies in this one",
        false => return None,
    };
    Some(format!(
        "{what}: keys, credentials and histories in it are not part of the project (docs/secrets.md)."
    ))
}

/// Where a path leads without links, also where its last parts do not exist.
fn real_path(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        let rest = path.strip_prefix(above).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    })
}
