//! Files of settings as commands see them: copies without the secret values, kept in a directory of our own.

use cairn_text::settings_file::{SettingsForm, without_secret_values};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A larger file is no file of settings.
const LARGEST: u64 = 1 << 20;

/// What a command sees of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The file itself: it has no secret values.
    Itself,
    /// This copy.
    Copy(PathBuf),
    /// Nothing: it is no text, or too large to be looked through.
    Nothing,
}

/// The files that a path of settings means: itself, or those in it.
pub(super) fn files(path: &Path) -> Vec<PathBuf> {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|e| e.path()).filter(|path| path.is_file()).collect(),
        Err(_) => vec![path.to_owned()],
    }
}

/// What is to be seen of a file; copies are made in `own`.
pub(super) fn seen(path: &Path, own: &Path) -> io::Result<Seen> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) if text.len() as u64 <= LARGEST => text,
        _ => return Ok(Seen::Nothing),
    };
    let form = SettingsForm::of_file(&path.to_string_lossy());
    let Some(without) = without_secret_values(&text, form) else { return Ok(Seen::Itself) };
    // Named by what it holds, so that commands that run see no half of it.
    let copy = own.join(format!("settings-{}", blake3::hash(without.as_bytes()).to_hex()));
    if !copy.exists() {
        let fresh = copy.with_extension("fresh");
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(without.as_bytes())?;
        std::fs::rename(fresh, &copy)?;
    }
    Ok(Seen::Copy(copy))
}
