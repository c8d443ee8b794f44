//! The texts of a proposal in a person's own editor: each in a file that only they can read and that is
//! gone afterwards, or, where this process was ended meanwhile, when the next run starts. What the texts
//! are for is not known here.

use crate::home::place;
use cairn_engine::{LONGEST_TEXT, NewText};
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// An editor has the terminal.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Whether an editor has the terminal: then an interrupt is meant for it.
pub fn is_open() -> bool {
    IS_OPEN.load(Ordering::Relaxed)
}

/// The texts that a person made others of, one after the other; a sentence when that did not come to an
/// end, and then nothing counts.
pub fn edited(proposed: &[NewText]) -> Result<Vec<NewText>, String> {
    let editor = place::env("VISUAL").or_else(|| place::env("EDITOR"));
    let editor = editor.ok_or("there is no editor: set VISUAL or EDITOR")?;
    let is_theirs = |(name, _): &(String, String)| !cairn_sandbox::names_secret(name);
    let env: Vec<(String, String)> = place::env_all().filter(is_theirs).collect();
    let mut changed = Vec::new();
    for NewText { path, text } in proposed {
        let folder = Folder::new().map_err(|e| format!("there is no place to edit: {e}"))?;
        let file = folder.file(path, text).map_err(|e| format!("{path} cannot be edited: {e}"))?;
        IS_OPEN.store(true, Ordering::Relaxed);
        let ended = cairn_sandbox::edit(&editor, &file, &env);
        IS_OPEN.store(false, Ordering::Relaxed);
        let ended = ended.map_err(|e| format!("the editor {editor} did not start: {e}"))?;
        if !ended.success() {
            return Err(format!("the editor {editor} failed: {ended}"));
        }
        let made = read(&file).map_err(|e| format!("the text of {path} cannot be read: {e}"))?;
        if made != *text {
            changed.push(NewText { path: path.clone(), text: made });
        }
    }
    match changed.is_empty() {
        true => Err("no text was changed".to_owned()),
        false => Ok(changed),
    }
}

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(LONGEST_TEXT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_TEXT {
        return Err(io::Error::other(format!("it is longer than {LONGEST_TEXT} bytes")));
    }
    Ok(text)
}

/// Where texts are edited, in the home: what is left there is known to be nobody else's. Only one at a
/// time may look around in it.
struct Room {
    folder: PathBuf,
    _turn: File,
}

impl Room {
    fn enter(folder: PathBuf) -> io::Result<Room> {
        let turn = File::open(&folder)?;
        flock(&turn, FlockOperation::LockExclusive)?;
        Ok(Room { folder, _turn: turn })
    }

    fn open() -> io::Result<Room> {
        let folder = room()?;
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        Room::enter(folder)
    }

    /// Removes what nobody holds any more.
    fn sweep(&self) -> io::Result<()> {
        for left in std::fs::read_dir(&self.folder)? {
            let left = left?.path();
            if let Ok(folder) = File::open(&left)
                && flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok()
            {
                let _ = std::fs::remove_dir_all(&left);
            }
        }
        Ok(())
    }
}

fn room() -> io::Result<PathBuf> {
    Ok(place::home().map_err(io::Error::other)?.join("edit"))
}

/// Removes what editors of processes that were ended left behind.
pub fn sweep() {
    // Mostly there is no such folder.
    let _ = room().and_then(Room::enter).and_then(|room| room.sweep());
}

/// A folder that is its owner's alone; it is gone with what is in it when this is dropped. While this
/// process lives it holds it.
struct Folder {
    path: PathBuf,
    _held: File,
}

impl Folder {
    fn new() -> io::Result<Folder> {
        let room = Room::open()?;
        room.sweep()?;
        let path = room.folder.join(std::process::id().to_string());
        DirBuilder::new().mode(0o700).create(&path)?;
        let held = File::open(&path)?;
        flock(&held, FlockOperation::LockExclusive)?;
        Ok(Folder { path, _held: held })
    }

    /// A file with this text, named like the one it is for, since editors look at that.
    fn file(&self, path: &str, text: &str) -> io::Result<PathBuf> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let name: String =
            name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(100).collect();
        let file = self.path.join(format!("proposed-{name}"));
        let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
        opened.write_all(text.as_bytes())?;
        Ok(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
