//! Small files of the user's own beside `cairn.toml`: read within bounds, replaced whole or not at
//! all. What they mean is elsewhere.

use rustix::fs::OFlags;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Who may see a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Its owner alone; so is the folder it lies in.
    ByOwner,
    /// Whoever the system lets: it holds no secret.
    AsUsual,
}

/// A file's text; `None` when there is no such file. A secret one that others could read or change
/// is refused, unread.
pub fn read(path: &Path, most: u64, seen: Seen) -> io::Result<Option<String>> {
    let refuse = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(refuse("it is not a file; move it away".to_owned()));
    }
    if meta.len() > most {
        return Err(refuse(format!("it is longer than {most} bytes")));
    }
    if seen == Seen::ByOwner {
        if meta.mode() & 0o077 != 0 {
            let fix = format!("make it yours alone: chmod 600 {}", path.display());
            return Err(refuse(format!("others can read it; {fix}")));
        }
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(refuse("it belongs to somebody else; move it away".to_owned()));
        }
    }
    let mut text = String::new();
    file.take(most).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Replaces a file, which is its owner's alone: whoever reads it meanwhile, or after a crash, finds the old text or the new.
pub fn replace(path: &Path, text: &str, seen: Seen) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if seen == Seen::ByOwner && folder.metadata()?.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let fresh = folder.join(format!(".{name}.{}", std::process::id()));
    let _ = std::fs::remove_file(&fresh);
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh);
    let done = written
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&fresh, path))
        .and_then(|()| File::open(folder)?.sync_all());
    if done.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    done
}

/// Removes a file. Whether there was one.
pub fn remove(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}
