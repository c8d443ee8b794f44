//! What the members of the project were when somebody last looked: enough to tell by a stat whether one
//! changed, and by its lines where. A cache: it can be lost, and is made again by reading every member once.

mod files;
mod look;
mod marks;
mod packed;
pub(crate) mod scan;
mod walk;

pub use scan::{Noticed, Scanned};

pub(crate) use scan::scan;

use cairn_types::Hash;
use files::Files;
use marks::{Kept, Marks};
use std::fs::File;
use std::sync::Arc;

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surveyed {
    pub(crate) stat: Stat,
    /// Its content's hash; none where it is too large to be read for this.
    pub hash: Option<Hash>,
    /// Its length in bytes.
    pub bytes: u64,
    /// How many lines it has; none where it is no text.
    pub lines: Option<u32>,
    /// Permission bits.
    pub mode: u32,
    /// A mark of each line, of a text that is not too long.
    pub(crate) marks: Marks,
    /// It may have been changed after it was read without showing it: its time is as new as the look.
    pub(crate) in_doubt: bool,
}

/// What tells that a file is still the same, without reading it. Its change time nobody can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) inode: u64,
    pub(crate) bytes: u64,
    pub(crate) modified_ns: i64,
    pub(crate) changed_ns: i64,
}

/// The members of the project by path, as they were.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    files: Files,
    /// Up to where the log of the session was known then; not this module's to read.
    pub upto: String,
    /// Where the marks are that nobody asked for yet.
    kept: Option<Arc<Kept>>,
    is_looked_at: bool,
}

impl Survey {
    /// The survey that was packed into a file; none where it is of another version, or not whole. Of the
    /// lines nothing is read before something changed.
    #[must_use]
    pub fn read(file: File) -> Option<Survey> {
        packed::read(file)
    }

    /// As bytes, to be kept.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        packed::write(self)
    }

    /// Its files in order of path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Surveyed)> {
        self.files.iter()
    }

    /// Whether nobody ever looked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_looked_at
    }
}
