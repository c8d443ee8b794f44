//! What is kept aside beneath one root, as whole batches: how old and how large each is, and removing
//! one for good. Which of them nobody needs is not known here; single things are moved by `aside`.

use crate::Refusal;
use crate::changes::swap;
use crate::changes::write::set_mode;
use crate::folders::path;
use crate::folders::root_directory::{WorldError, entry};
use crate::folders::walk::names;
use crate::folders::workspace::{Workspace, refusal};
use cairn_types::{Aside, Status};
use rustix::fs::{AtFlags, FileType, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// How deep directories are entered at a time, each with an open handle.
const MAX_DEPTH: usize = 64;
/// What lets its owner look into a directory and empty it.
const OPEN: u32 = 0o700;

/// What is kept aside beneath a root.
#[derive(Debug)]
pub struct Trash(Workspace);

/// What was moved aside together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashBatch {
    /// Its name in the trash.
    pub name: String,
    /// When something last came or went, milliseconds since 1970.
    pub touched: u64,
}

/// How much there is, or was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrashSize {
    /// Files, links and directories that were moved with what is in them.
    pub entries: u64,
    /// The bytes they take on disk.
    pub bytes: u64,
}

impl Trash {
    /// The trash beneath a root.
    pub fn open(root: &Path) -> Result<Trash, WorldError> {
        Ok(Trash(Workspace::open(root)?))
    }

    /// Its batches by name; none where nothing was ever moved aside.
    #[must_use]
    pub fn batches(&self) -> Vec<TrashBatch> {
        let Ok(trash) = self.0.root.open_directory(Aside::TRASH) else { return Vec::new() };
        let mut found = names(&trash).unwrap_or_default();
        found.sort();
        let found = found.iter().filter_map(|name| std::str::from_utf8(name.directory()?).ok());
        found
            .map(|name| TrashBatch { name: name.to_owned(), touched: touched(&trash, name) })
            .collect()
    }

    /// How much a batch holds.
    pub fn size(&self, name: &str) -> Result<TrashSize, Refusal> {
        self.sweep(name, false)
    }

    /// Removes a batch, for good. Follows no link and leaves no directory for being closed.
    pub fn remove(&self, name: &str) -> Result<TrashSize, Refusal> {
        self.sweep(name, true)
    }

    fn sweep(&self, name: &str, removes: bool) -> Result<TrashSize, Refusal> {
        let told = path::joined(Aside::TRASH, name);
        if matches!(name, "" | "." | "..") || name.contains('/') {
            return Err(Refusal::new(Status::BAD_REQUEST, format!("{told} is no batch")));
        }
        let trash = self.0.root.open_directory(Aside::TRASH).map_err(|e| refusal(&told, e))?;
        let (size, seen, deeper) = (TrashSize::default(), HashMap::new(), vec![name.to_owned()]);
        let mut sweep = Sweep { trash: trash.as_fd(), removes, size, seen, deeper };
        while let Some(name) = sweep.deeper.pop() {
            sweep.enter(trash.as_fd(), name.as_bytes(), 0).map_err(|e| refusal(&told, e))?;
        }
        Ok(sweep.size)
    }
}

/// When something last came into a batch or went from it.
fn touched(trash: &OwnedFd, name: &str) -> u64 {
    let stat = |path: &str| rustix::fs::statat(trash, path, AtFlags::SYMLINK_NOFOLLOW).ok();
    let all = ["", "/before", "/after"].map(|inner| stat(&format!("{name}{inner}")));
    let ms = |stat: Stat| {
        let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
        seconds.saturating_mul(1000) + stat.st_mtime_nsec / 1_000_000
    };
    all.into_iter().flatten().map(ms).max().unwrap_or(0)
}

/// One way through a batch.
struct Sweep<'a> {
    trash: BorrowedFd<'a>,
    removes: bool,
    size: TrashSize,
    /// How many names were seen of a file with several, which all stay.
    seen: HashMap<u64, u64>,
    /// Directories in the trash itself that are still to be entered: those that lay too deep.
    deeper: Vec<String>,
}

impl Sweep<'_> {
    /// Goes through a directory, and removes it. The batch and its two halves are no entries.
    fn enter(&mut self, dir: BorrowedFd<'_>, name: &[u8], depth: usize) -> Result<(), Errno> {
        let inner = self.opened(dir, name)?;
        for found in names(&inner)? {
            match found.directory() {
                Some(name) if depth < MAX_DEPTH => self.enter(inner.as_fd(), name, depth + 1)?,
                Some(name) => self.move_up(inner.as_fd(), name)?,
                None => self.leaf(inner.as_fd(), found.bare())?,
            }
        }
        self.size.entries += u64::from(depth > 1);
        if self.removes {
            rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?;
        }
        Ok(())
    }

    fn leaf(&mut self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        self.size.entries += 1;
        // What has another name elsewhere frees nothing; each name that is removed is one less.
        let mut names = stat.st_nlink;
        if !self.removes && names > 1 {
            let seen = self.seen.entry(stat.st_ino).or_default();
            *seen += 1;
            names = names.saturating_sub(*seen - 1);
        }
        if names <= 1 {
            self.size.bytes += u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        }
        if self.removes {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
        }
        Ok(())
    }

    /// Opens a directory that is to be gone through, whatever its mode.
    fn opened(&self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
        if self.removes {
            let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let mode = stat.st_mode & 0o7777;
            if FileType::from_raw_mode(stat.st_mode).is_dir() && mode & OPEN != OPEN {
                set_mode(dir, name, mode | OPEN)?;
            }
        }
        entry(dir, name, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Brings a directory that lies too deep up into the trash, to be entered from there; where nothing
    /// is removed, it is one entry of unknown size.
    fn move_up(&mut self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
        if !self.removes {
            self.size.entries += 1;
            return Ok(());
        }
        drop(self.opened(dir, name)?);
        for n in 0..u32::MAX {
            let up = format!("deep.{n}");
            let flags = RenameFlags::NOREPLACE;
            let carried = match rustix::fs::renameat_with(dir, name, self.trash, &up, flags) {
                Err(e) if swap::is_unknown(e) => rustix::fs::renameat(dir, name, self.trash, &up),
                carried => carried,
            };
            match carried {
                Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                carried => {
                    carried?;
                    self.deeper.push(up);
                    return Ok(());
                }
            }
        }
        Err(Errno::EXIST)
    }
}
