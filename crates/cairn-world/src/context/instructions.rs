//! The instruction file of one directory: which it is, and its text with its imports in place.

use super::imports::with_imports;
use crate::folders::workspace::Workspace;
use crate::git::ignored::{Git, GitJudge};
use crate::settled::Refusal;
use cairn_types::{Hash, Seen, Status};
use std::collections::HashMap;
use std::io::Read;

/// What an instruction file may be called. The first that is there is the directory's.
const NAMES: [&str; 3] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];

/// A larger file is no instruction file, and is not imported.
const LARGEST: u64 = 1 << 20;

/// What the authors of a directory say to agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// The file's path beneath the workspace, as it is named there.
    pub path: String,
    /// Where the file really is, and the hash of all of it, without imports.
    pub seen: Seen,
    /// Its text with its imports in place.
    pub text: String,
    /// Whether there was more text than asked for.
    pub is_cut: bool,
}

/// A Markdown file, whole.
pub(super) struct Markdown {
    /// Where it really is beneath the workspace.
    pub(super) path: String,
    pub(super) text: String,
}

impl Workspace {
    /// The instructions of a directory beneath the root, up to `most` bytes of them. Absent when
    /// there are none, when the file that is there cannot be read as text, and in a folder that git
    /// ignores: what is built there is nobody's word.
    #[must_use]
    pub fn instructions(&self, directory: &str, most: usize) -> Option<Instructions> {
        let (path, file) = NAMES.iter().find_map(|name| {
            let path =
                if directory == "." { (*name).to_owned() } else { format!("{directory}/{name}") };
            match markdown(self, &path) {
                Err(refusal) if refusal.status == Status::NOT_FOUND => None,
                found => Some((path, found)),
            }
        })?;
        let file = file.ok().filter(|file| !file.text.trim().is_empty())?;
        if GitJudge::new(self).is_root_ignored {
            return None;
        }
        let hash = Hash::of(file.text.as_bytes());
        let (text, is_cut) = with_imports(self, &file.path, &file.text, most);
        Some(Instructions { path, seen: Seen { path: file.path, hash, part: false }, text, is_cut })
    }
}

/// Reads a Markdown file. What it is called where it really is counts, too: a link must not show
/// as instructions what is none. Nobody asks for one by name, so nobody is asked about it either: what
/// is read only when a person says so is not read.
pub(super) fn markdown(workspace: &Workspace, path: &str) -> Result<Markdown, Refusal> {
    let opened = workspace.open_existing(path)?;
    workspace.refuse_unasked(path, &opened.path)?;
    let refuse = || Refusal::new(Status::NOT_TEXT, format!("{path} is no Markdown of ours"));
    let folder = crate::folders::path::split(workspace.root.inner_path(&opened.path)).0;
    let git = GitJudge::new(workspace).judge_beneath(folder, true, &mut HashMap::new());
    if matches!(git, Git::Ignores | Git::Unsure) {
        let text = format!("{path} lies in a folder that git ignores");
        return Err(Refusal::new(Status::REFUSED, text));
    }
    if opened.is_directory() || opened.bytes() > LARGEST || !is_markdown(&opened.path) {
        return Err(refuse());
    }
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(opened.fd).take(LARGEST);
    file.read_to_end(&mut bytes).map_err(|_| refuse())?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(refuse)?;
    Ok(Markdown { path: opened.path, text })
}

/// Whether a path ends as Markdown files do.
pub(super) fn is_markdown(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() > 3 && bytes[bytes.len() - 3..].eq_ignore_ascii_case(b".md")
}
