//! Walks the workspace in the order of its paths. Follows no link, and never enters `.git`.

use crate::workspace::{Workspace, entry};
use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use rustix::io::Errno;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How deep directories are entered.
const MAX_DEPTH: usize = 128;

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

    fn directory(&self) -> Option<&[u8]> {
        self.sort_key.strip_suffix(b"/")
    }
}

/// The names in a directory, in no order.
pub(crate) fn names(dir: &OwnedFd) -> Result<Vec<Name>, Errno> {
    let mut found = Vec::new();
    for item in Dir::read_from(dir)? {
        let item = item?;
        let name = item.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match item.file_type() {
            FileType::Unknown => rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        let mut sort_key = name.to_bytes().to_vec();
        if kind.is_dir() {
            sort_key.push(b'/');
        }
        found.push(Name { sort_key, is_file: kind.is_file() });
    }
    Ok(found)
}

/// A file met on a walk.
pub(crate) struct Met<'a> {
    /// Its path beneath the root.
    pub(crate) path: &'a [u8],
    dir: BorrowedFd<'a>,
    name: &'a [u8],
}

impl Met<'_> {
    /// Opens it for reading.
    pub(crate) fn open(&self) -> Result<OwnedFd, Errno> {
        entry(self.dir, self.name, OFlags::RDONLY)
    }
}

/// Calls `visit` for every regular file, in the order of paths, until it breaks. Says how many
/// directories could not be entered.
pub(crate) fn walk(
    workspace: &Workspace,
    visit: &mut dyn FnMut(&Met<'_>) -> ControlFlow<()>,
) -> Result<u64, Errno> {
    let root = workspace.directory(".")?;
    let mut walker = Walker { path: Vec::new(), closed: 0, visit };
    let _ = walker.directory(&root, 0);
    Ok(walker.closed)
}

struct Walker<'v> {
    path: Vec<u8>,
    closed: u64,
    visit: &'v mut dyn FnMut(&Met<'_>) -> ControlFlow<()>,
}

impl Walker<'_> {
    fn directory(&mut self, dir: &OwnedFd, depth: usize) -> ControlFlow<()> {
        let Ok(mut found) = names(dir) else {
            self.closed += 1;
            return ControlFlow::Continue(());
        };
        found.sort();
        for name in found {
            let length = self.path.len();
            self.path.extend_from_slice(&name.sort_key);
            let flow = match name.directory() {
                Some(inner) => self.enter(dir, inner, depth),
                None if name.is_file => {
                    let (path, name) = (self.path.as_slice(), name.sort_key.as_slice());
                    (self.visit)(&Met { path, dir: dir.as_fd(), name })
                }
                None => ControlFlow::Continue(()),
            };
            self.path.truncate(length);
            flow?;
        }
        ControlFlow::Continue(())
    }

    fn enter(&mut self, dir: &OwnedFd, name: &[u8], depth: usize) -> ControlFlow<()> {
        if name.eq_ignore_ascii_case(b".git") {
            return ControlFlow::Continue(());
        }
        match entry(dir.as_fd(), name, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(inner) if depth < MAX_DEPTH => self.directory(&inner, depth + 1),
            _ => {
                self.closed += 1;
                ControlFlow::Continue(())
            }
        }
    }
}
