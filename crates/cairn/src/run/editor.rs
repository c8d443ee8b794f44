//! The texts of a proposal in a person's own editor: each in a file that only they can read and that is
//! gone afterwards. What the texts are for is not known here.

use crate::place;
use cairn_engine::NewText;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest text that is taken back.
const LONGEST: u64 = 16 << 20;

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
    File::open(file)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other(format!("it is longer than {LONGEST} bytes")));
    }
    Ok(text)
}

/// A folder that is its owner's alone; it is gone with what is in it when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Folder> {
        let within = PathBuf::from(place::env("TMPDIR").unwrap_or_else(|| "/tmp".to_owned()));
        for n in 0..1000 {
            let folder = within.join(format!("cairn-edit-{}-{n}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok(Folder(folder)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other(format!("{} is full of earlier ones", within.display())))
    }

    /// A file with this text, named like the one it is for, since editors look at that.
    fn file(&self, path: &str, text: &str) -> io::Result<PathBuf> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let name: String =
            name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(100).collect();
        let file = self.0.join(format!("proposed-{name}"));
        let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
        opened.write_all(text.as_bytes())?;
        Ok(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
