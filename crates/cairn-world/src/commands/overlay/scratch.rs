//! The directories in which one command's changes are gathered, from when they are made to when they
//! are gone. Knows nothing of what is in them.

use super::layer;
use super::mark::Mark;
use crate::folders::workspace::Workspace;
use cairn_sandbox::Own;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Why there is no scratch.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot hold what a command changes: {source}", .place.display())]
pub struct ScratchError {
    /// Where it was to be.
    pub place: PathBuf,
    /// The system's reason.
    #[source]
    pub source: io::Error,
}

/// The upper and the work directory of one overlay. They are gone with this value.
#[derive(Debug)]
pub struct Scratch {
    own: Own,
    mark: Mark,
}

impl Scratch {
    /// Makes one in a directory, for an overlay of this workspace that is mounted afterwards.
    pub fn new(place: &Path, workspace: &Workspace) -> Result<Scratch, ScratchError> {
        Scratch::timed(place, workspace, workspace)
    }

    /// The same, where the time is that of `clock`, which lies on the same file system as the workspace.
    pub(crate) fn timed(
        place: &Path,
        workspace: &Workspace,
        clock: &Workspace,
    ) -> Result<Scratch, ScratchError> {
        let refused = |source: io::Error| ScratchError { place: place.to_owned(), source };
        let own = Own::make(place).map_err(refused)?;
        let made = || -> Result<Mark, Errno> {
            let dir = opened(own.path())?;
            make(dir.as_fd(), workspace)?;
            marked(dir.as_fd(), clock)
        };
        let mark = made().map_err(|e| refused(e.into()))?;
        Ok(Scratch { own, mark })
    }

    /// The directory that holds both.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.own.path()
    }

    /// Where changes are gathered.
    #[must_use]
    pub fn upper(&self) -> PathBuf {
        self.path().join("upper")
    }

    /// What the file system needs beside it.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// When it was made.
    #[must_use]
    pub fn mark(&self) -> &Mark {
        &self.mark
    }
}

fn opened(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Makes the directories. A command sees the upper one's mode as that of the workspace itself, so it
/// has that; nobody else comes to it, since the one around it is closed.
fn make(dir: BorrowedFd<'_>, workspace: &Workspace) -> Result<(), Errno> {
    for name in ["upper", "work"] {
        rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700))?;
    }
    let shown = rustix::fs::fstat(workspace.root.handle())?.st_mode & 0o7777;
    layer::set_mode(dir, b"upper", |_| shown)
}

/// The present moment by the clock that stamps the workspace's files: that of its own file system.
fn marked(dir: BorrowedFd<'_>, workspace: &Workspace) -> Result<Mark, Errno> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let here = rustix::fs::fstat(dir)?;
    if here.st_dev == rustix::fs::fstat(workspace.root.handle())?.st_dev {
        return mark_in(dir, "mark");
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = format!(".cairn-mark-{}-{count}", std::process::id());
    let own = super::stage::own_directory(&workspace.root)?;
    mark_in(own.as_fd(), &path)
}

fn mark_in(dir: BorrowedFd<'_>, path: &str) -> Result<Mark, Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, path, flags, Mode::from_raw_mode(0o600))?;
    let mark = Mark::of(&rustix::fs::fstat(&file)?);
    rustix::fs::unlinkat(dir, path, AtFlags::empty())?;
    Ok(mark)
}
