//! What happened to a path: what it was, what it is. Enough to show it, check it and undo it.

use crate::{ContentRef, Hash};
use serde::{Deserialize, Serialize};

/// One path's change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path beneath the root, `/`-separated.
    pub path: String,
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// What was there; absent when the path is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileState>,
    /// What is there now; absent when the path is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileState>,
    /// git ignores it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Of a directory that is moved whole: what in it is asked about by its name, the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precious: Vec<String>,
    /// Other paths that it is judged as: those of git's own files in whose place git takes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts_as: Vec<String>,
}

impl Change {
    /// The change of a path from one state to another.
    #[must_use]
    pub fn between(
        path: String,
        mut before: Option<FileState>,
        mut after: Option<FileState>,
    ) -> Change {
        settle_attributes(&mut before, &mut after);
        let kind = match (&before, &after) {
            (None, _) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        let (ignored, precious, counts_as) = Default::default();
        Change { path, kind, before, after, ignored, precious, counts_as }
    }

    /// The same change, with what it led to.
    #[must_use]
    pub fn led_to(&self, mut after: Option<FileState>) -> Change {
        let mut before = self.before.clone();
        settle_attributes(&mut before, &mut after);
        Change { before, after, ..self.clone() }
    }

    /// The paths by which it is judged: its own, unless it makes a directory on the way or is ignored and
    /// asked about for what is in it; those in it that are asked about; and those that it counts as.
    pub fn judged(&self) -> impl Iterator<Item = &String> {
        let is_for_its_inside = self.ignored && !self.precious.is_empty();
        let is_judged = !self.only_makes_way() && !is_for_its_inside;
        let own = is_judged.then_some(&self.path).into_iter();
        own.chain(&self.precious).chain(&self.counts_as)
    }

    /// What it says of an entry, where it is of one and not of anything on a disk.
    #[must_use]
    pub fn entry(&self) -> Option<&EntryState> {
        [&self.before, &self.after].into_iter().flatten().find_map(|state| state.entry.as_ref())
    }

    /// Whether it is of an entry that the store keeps: it is made true together with the outcome that
    /// names it.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        self.entry().is_some_and(|entry| !entry.own)
    }

    /// Whether it makes a directory that by itself means nothing. To git and to Cairn a folder with a `.git` is
    /// another project, whatever is in that.
    #[must_use]
    pub fn only_makes_way(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        self.makes_directory() && !name.eq_ignore_ascii_case(".git")
    }

    /// Whether it only makes a directory, for what is put into it.
    #[must_use]
    pub fn makes_directory(&self) -> bool {
        let made = self.after.as_ref().filter(|_| self.before.is_none());
        made.is_some_and(|state| state.kind == FileKind::Directory)
    }
}

/// Of attributes that nothing is said of after a change it is said that they stay. Where there are none on either
/// side nothing is said, so that most rows are as short as they can be.
fn settle_attributes(before: &mut Option<FileState>, after: &mut Option<FileState>) {
    if let (Some(before), Some(after)) = (before.as_ref(), after.as_mut()) {
        after.attributes = after.attributes.take().or_else(|| before.attributes.clone());
    }
    let is_empty = |state: &Option<FileState>| {
        let attributes = state.as_ref().and_then(|state| state.attributes.as_ref());
        attributes.is_none_or(Vec::is_empty)
    };
    if is_empty(before) && is_empty(after) {
        for state in [before, after].into_iter().flatten() {
            state.attributes = None;
        }
    }
}

/// The kinds of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The path is new.
    Created,
    /// Its content, mode or target changed.
    Modified,
    /// The path is gone.
    Deleted,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// File, directory or symlink; an entry, which is a content with a name, is a file.
    pub kind: FileKind,
    /// BLAKE3 of a file's bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// A file's length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Permission bits.
    pub mode: u32,
    /// Modification time, nanoseconds since 1970; absent where it is not known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtime_ns: Option<i64>,
    /// A symlink's target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Who owns it; absent where nobody in particular does, and in rows of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Its group; absent as the owner is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Set where it is moved and not written: a large or ignored file, or a directory with all that is
    /// in it, of which nobody reads or keeps the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Aside>,
    /// Extended attributes (`user.*`) and access control lists, by name. Absent where nothing is said of them: then
    /// what is replaced keeps what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<FileAttribute>>,
    /// Set where it is an entry of the world and stands on no disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryState>,
}

/// What an entry's channel has besides its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryState {
    /// The content's type.
    pub mime: String,
    /// What it is tagged with, in order and each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Every session of the home has it, not only its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent: bool,
    /// Its scheme keeps it, not the store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
}

impl FileState {
    /// Something of this kind and with these permissions, of which nothing else is said.
    #[must_use]
    pub fn of(kind: FileKind, mode: u32) -> FileState {
        FileState {
            kind,
            hash: None,
            bytes: None,
            mode,
            mtime_ns: None,
            link: None,
            uid: None,
            gid: None,
            aside: None,
            attributes: None,
            entry: None,
        }
    }

    /// A file with this content and with these permissions.
    #[must_use]
    pub fn of_file(content: ContentRef, mode: u32) -> FileState {
        let (hash, bytes) = (Some(content.hash), Some(content.bytes));
        FileState { hash, bytes, ..FileState::of(FileKind::File, mode) }
    }

    /// The state of an entry's channel with this content.
    #[must_use]
    pub fn of_entry(content: ContentRef, entry: EntryState) -> FileState {
        FileState { entry: Some(entry), ..FileState::of_file(content, 0) }
    }
}

/// An extended attribute, or an access control list in the form in which the system gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAttribute {
    /// Its name, such as `user.note` or `system.posix_acl_access`.
    pub name: String,
    /// Its bytes in hexadecimal.
    pub value: String,
}

impl FileAttribute {
    /// The attribute of this name with these bytes.
    #[must_use]
    pub fn new(name: String, bytes: &[u8]) -> FileAttribute {
        let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
        let value = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        FileAttribute { name, value }
    }

    /// Its bytes; `None` if the value is not hexadecimal.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let digits: Vec<u32> = self.value.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
        let byte = |pair: &[u32]| u8::try_from(pair.first()? << 4 | pair.get(1)?).ok();
        digits.chunks(2).map(byte).collect()
    }
}

/// Where something is kept while it does not stand in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// The path beneath the root, in the trash.
    pub path: String,
    /// The number by which the file system knows it, wherever it is moved.
    pub inode: u64,
}

impl Aside {
    /// Where things are kept aside, beneath each root.
    pub const TRASH: &'static str = ".cairn/trash";

    /// The parts of a path beneath a root that leads into its trash: what was moved together, and the
    /// way to one thing in it. None for a path that leads anywhere else, by its letters alone.
    #[must_use]
    pub fn in_trash(path: &str) -> Option<(&str, &str)> {
        let (name, rest) = path.strip_prefix(Self::TRASH)?.strip_prefix('/')?.split_once('/')?;
        let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
        (plain(name) && rest.split('/').all(plain)).then_some((name, rest))
    }
}

/// The kinds of thing at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_path_inside_the_trash_leads_into_it() {
        let check = |path: &str, expected: Option<(&str, &str)>| {
            assert_eq!(Aside::in_trash(path), expected, "{path:?}");
        };
        check(".cairn/trash/op/before/0", Some(("op", "before/0")));
        check(".cairn/trash/op/0", Some(("op", "0")));
        check(".cairn/trash/op", None);
        check(".cairn/trash/op/", None);
        check(".cairn/trash//0", None);
        check(".cairn/trash/../x", None);
        check(".cairn/trash/op/../../x", None);
        check(".cairn/trash/op/./0", None);
        check(".cairn/trash/op//0", None);
        check(".cairn/trash/op/a\0b", None);
        check(".cairn/trashy/op/0", None);
        check("/.cairn/trash/op/0", None);
        check("./.cairn/trash/op/0", None);
        check("src/main.rs", None);
        check("", None);
    }
}
