//! The names in one directory, read through its handle. What is done with them, and in which order
//! directories are entered, is decided elsewhere.

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Room for names between two questions to the kernel.
const ROOM: usize = 32 * 1024;

/// A name in a directory.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// The name, with a slash if it is a directory's, which sorts names as whole paths sort.
    pub(crate) sort_key: Vec<u8>,
    is_file: bool,
}

impl Name {
    /// The name itself.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        if self.sort_key.last() == Some(&b'/') {
            self.sort_key.pop();
        }
        self.sort_key
    }

    /// The name alone, when it is a directory's.
    pub(crate) fn directory(&self) -> Option<&[u8]> {
        self.sort_key.strip_suffix(b"/")
    }

    /// The name alone, whatever it names.
    pub(crate) fn bare(&self) -> &[u8] {
        self.directory().unwrap_or(&self.sort_key)
    }

    /// Whether it names a regular file.
    pub(crate) fn is_file(&self) -> bool {
        self.is_file
    }
}

/// The names in a directory, in no order. Reads on from where the handle stands, so a handle
/// serves once.
pub(crate) fn names(dir: &OwnedFd) -> Result<Vec<Name>, Errno> {
    let mut found = Vec::new();
    each(dir, &mut Vec::with_capacity(ROOM), |bytes, kind| {
        let mut sort_key = Vec::with_capacity(bytes.len() + 1);
        sort_key.extend_from_slice(bytes);
        if kind.is_dir() {
            sort_key.push(b'/');
        }
        found.push(Name { sort_key, is_file: kind.is_file() });
    })?;
    Ok(found)
}

/// Tells each name with what it names.
fn each(
    dir: &OwnedFd,
    room: &mut Vec<u8>,
    mut tell: impl FnMut(&[u8], FileType),
) -> Result<(), Errno> {
    let mut items = RawDir::new(dir, room.spare_capacity_mut());
    while let Some(item) = items.next() {
        let item = item?;
        let name = item.file_name();
        let bytes = name.to_bytes();
        if matches!(bytes, b"." | b"..") {
            continue;
        }
        let kind = match item.file_type() {
            FileType::Unknown => rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        tell(bytes, kind);
    }
    Ok(())
}

/// The names of files and directories in one directory, in order. They lie in one piece of memory, which
/// serves for one directory after another.
#[derive(Debug, Default)]
pub(crate) struct Names {
    room: Vec<u8>,
    text: Vec<u8>,
    spans: Vec<Span>,
}

/// Where a name's sort key stands in the text.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

impl Names {
    /// Takes those of another directory instead; `see` is told everything that is there, and whether it is
    /// a regular file.
    pub(crate) fn fill(
        &mut self,
        dir: &OwnedFd,
        mut see: impl FnMut(&[u8], bool),
    ) -> Result<(), Errno> {
        let Names { room, text, spans } = self;
        room.reserve(ROOM);
        text.clear();
        spans.clear();
        each(dir, room, |bytes, kind| {
            see(bytes, kind.is_file());
            if !kind.is_file() && !kind.is_dir() {
                return;
            }
            let start = text.len();
            text.extend_from_slice(bytes);
            if kind.is_dir() {
                text.push(b'/');
            }
            spans.push(Span { start, end: text.len() });
        })?;
        spans.sort_unstable_by(|one, other| {
            text[one.start..one.end].cmp(&text[other.start..other.end])
        });
        // A directory that changes while it is read may tell a name twice.
        spans.dedup_by(|one, other| text[one.start..one.end] == text[other.start..other.end]);
        Ok(())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// One of them, with a slash if it is a directory's, which sorts names as whole paths sort.
    pub(crate) fn sort_key(&self, nth: usize) -> &[u8] {
        let Span { start, end } = self.spans[nth];
        &self.text[start..end]
    }

    /// Some of them, on their own.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Names {
        let mut part = Names::default();
        for nth in range {
            let start = part.text.len();
            part.text.extend_from_slice(self.sort_key(nth));
            part.spans.push(Span { start, end: part.text.len() });
        }
        part
    }
}
