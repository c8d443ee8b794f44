//! What stands on one side of a change, in the workspace or in the upper directory: its state, and its
//! bytes where they are read. Large things are not, nor are ignored ones and what may not be read.

use super::gathered::Count;
use super::layer;
use super::tree::Tree;
use crate::changes::{attributes, state};
use crate::folders::root_directory::entry;
use crate::folders::workspace::refusal;
use crate::settled::Refusal;
use cairn_types::{FileKind, FileState, Hash, Status};
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};

/// A larger file is moved and not read.
pub(super) const LARGE: u64 = 8 << 20;
/// So many bytes are read in all; files beyond that are moved.
pub(super) const MOST_READ: u64 = 64 << 20;

/// One side of a change.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) state: FileState,
    pub(super) bytes: Option<Vec<u8>>,
    /// The number of what is moved and not written.
    pub(super) aside: Option<u64>,
    pub(super) count: Count,
    /// What is in it that is asked about by its name.
    pub(super) precious: Vec<String>,
    /// What is in it that rules name.
    pub(super) ruled: Vec<String>,
}

/// Where something stands, and how it is taken.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) dir: BorrowedFd<'a>,
    pub(super) name: &'a str,
    /// For sentences.
    pub(super) path: &'a str,
    pub(super) stat: &'a Stat,
    /// Whether it stands in the upper directory, where modes may be changed.
    pub(super) is_ours: bool,
}

/// What kind of thing a stat is of; none when it is neither file, directory nor link.
pub(super) fn kind(stat: &Stat) -> Option<FileKind> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(FileKind::File),
        FileType::Directory => Some(FileKind::Directory),
        FileType::Symlink => Some(FileKind::Symlink),
        _ => None,
    }
}

pub(super) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

impl Side {
    /// Only a state.
    fn bare(state: FileState) -> Side {
        let (precious, ruled) = (Vec::new(), Vec::new());
        Side { state, bytes: None, aside: None, count: Count::default(), precious, ruled }
    }

    /// A directory, of which only its own state is meant.
    pub(super) fn directory(stat: &Stat) -> Side {
        Side::bare(state::of(stat, FileKind::Directory))
    }

    /// The same with the attributes of the directory, which has this name in another one.
    pub(super) fn named_directory(dir: BorrowedFd<'_>, name: &str, stat: &Stat) -> Side {
        let mut side = Side::directory(stat);
        side.state.attributes = state::of_directory(dir, name).ok().flatten();
        side
    }

    /// A directory with all that is in it, which is moved whole.
    pub(super) fn whole(stat: &Stat, tree: Tree) -> Side {
        let Tree { count, precious, ruled, .. } = tree;
        Side { aside: Some(stat.st_ino), count, precious, ruled, ..Side::directory(stat) }
    }

    /// The same without what would let it act as its owner or group, unless what it lies over has that
    /// and a person can be shown what changed. Says whether anything was taken.
    pub(super) fn tamed(mut self, stat: &Stat, lower: Option<&Stat>) -> (Side, bool) {
        let had = lower.filter(|_| self.aside.is_none()).map_or(0, layer::acting_bits);
        let taken = layer::acting_bits(stat) & !had;
        self.state.mode &= !taken;
        (self, taken != 0)
    }

    /// A file or a link. `room` is how many bytes of it may be read,
    /// if any of it may.
    pub(super) fn of(place: Place<'_>, room: Option<u64>) -> Result<Side, Refusal> {
        let stat = place.stat;
        let count = Count { files: 1, bytes: size(stat) };
        let Some(FileKind::File) = kind(stat) else {
            let link = link(place)?;
            let state = FileState { link: Some(link), ..state::of(stat, FileKind::Symlink) };
            let count = Count { files: 1, bytes: 0 };
            return Ok(Side { count, ..Side::bare(state) });
        };
        let moved = || {
            let bytes = Some(size(stat));
            let state = FileState { bytes, ..state::of(stat, FileKind::File) };
            Side { aside: Some(stat.st_ino), count, ..Side::bare(state) }
        };
        if room.is_none_or(|room| size(stat) > room.min(LARGE)) {
            return Ok(moved());
        }
        let file = match open(place) {
            Err(Errno::ACCESS | Errno::PERM) => return Ok(moved()),
            opened => opened.map_err(|e| refusal(place.path, e))?,
        };
        let attributes = attributes::of(&file).map_err(|e| refusal(place.path, e))?;
        let mut bytes = Vec::with_capacity(usize::try_from(size(stat)).unwrap_or(0));
        let read = File::from(file).take(LARGE + 1).read_to_end(&mut bytes);
        read.map_err(|e| state::unread(place.path, &e))?;
        if bytes.len() as u64 > LARGE {
            return Ok(moved());
        }
        let mut state = state::of_file(stat, Hash::of(&bytes));
        state.bytes = Some(bytes.len() as u64);
        state.attributes = attributes;
        Ok(Side { bytes: Some(bytes), count, ..Side::bare(state) })
    }

    /// Whether two sides are the same but for their times.
    pub(super) fn is_as(&self, other: &Side) -> bool {
        let owner = |side: &Side| (side.state.uid, side.state.gid);
        state::same(Some(&self.state), Some(&other.state))
            && owner(self) == owner(other)
            && self.state.bytes == other.state.bytes
    }
}

fn open(place: Place<'_>) -> Result<OwnedFd, Errno> {
    match place.is_ours {
        true => layer::open(place.dir, place.name.as_bytes()),
        false => entry(place.dir, place.name.as_bytes(), OFlags::RDONLY),
    }
}

fn link(place: Place<'_>) -> Result<String, Refusal> {
    let path = place.path;
    let link = rustix::fs::readlinkat(place.dir, place.name, Vec::new());
    link.map_err(|e| refusal(path, e))?.into_string().map_err(|_| {
        Refusal::new(Status::NOT_TEXT, format!("{path} links to a path that is not UTF-8"))
    })
}

/// Whether two files hold the same bytes. They are read side by side up to the first difference.
pub(super) fn same_bytes(one: Place<'_>, other: Place<'_>) -> bool {
    let open = |place: Place<'_>| entry(place.dir, place.name.as_bytes(), OFlags::RDONLY);
    let compared = || -> Result<bool, std::io::Error> {
        let (mut one, mut other) = (File::from(open(one)?), File::from(open(other)?));
        let (mut left, mut right) = (Vec::new(), Vec::new());
        loop {
            left.clear();
            right.clear();
            let piece = 1 << 20;
            one.by_ref().take(piece).read_to_end(&mut left)?;
            other.by_ref().take(piece).read_to_end(&mut right)?;
            if left != right {
                return Ok(false);
            }
            if left.is_empty() {
                return Ok(true);
            }
        }
    };
    compared().unwrap_or(false)
}
