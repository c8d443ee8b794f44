//! The directories in which one command's changes are gathered, from when they are made to when they
//! are gone. Knows nothing of what is in them.

use super::clear::clear;
use super::layer;
use super::mark::Mark;
use crate::walk::names;
use crate::workspace::Workspace;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How a scratch's lock is called, after its own name.
const LOCK: &str = ".lock";
/// How often a name is tried that somebody clears away at that moment.
const TRIES: usize = 16;
/// Counts the scratches of this process.
static COUNT: AtomicU32 = AtomicU32::new(0);

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
    place: PathBuf,
    path: PathBuf,
    mark: Mark,
    /// Held while the scratch is in use.
    _lock: File,
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
        let refused = |e: Errno| ScratchError { place: place.to_owned(), source: e.into() };
        let dir = opened(place).map_err(refused)?;
        let (name, lock) = locked(dir.as_fd()).map_err(refused)?;
        let path = place.join(&name);
        let made =
            make(dir.as_fd(), &name, workspace).and_then(|()| marked(dir.as_fd(), &name, clock));
        match made {
            Ok(mark) => Ok(Scratch { place: place.to_owned(), path, mark, _lock: lock }),
            Err(e) => {
                forget(dir.as_fd(), &name);
                Err(refused(e))
            }
        }
    }

    /// The directory that holds both.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where changes are gathered.
    #[must_use]
    pub fn upper(&self) -> PathBuf {
        self.path.join("upper")
    }

    /// What the file system needs beside it.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// When it was made.
    #[must_use]
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Removes what processes that are gone left in a directory.
    pub fn clear_stale(place: &Path) {
        let Ok(dir) = opened(place) else { return };
        let found = opened(place).and_then(|dir| names(&dir)).unwrap_or_default();
        let found = found.iter().filter_map(|name| std::str::from_utf8(name.bare()).ok());
        for name in found.filter_map(|name| name.strip_suffix(LOCK)) {
            if let Ok(Some(_lock)) = lock(dir.as_fd(), name, OFlags::empty()) {
                forget(dir.as_fd(), name);
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let name = self.path.file_name().and_then(std::ffi::OsStr::to_str);
        if let (Ok(dir), Some(name)) = (opened(&self.place), name) {
            forget(dir.as_fd(), name);
        }
    }
}

fn opened(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// A name that nobody else has, and its lock.
fn locked(dir: BorrowedFd<'_>) -> Result<(String, File), Errno> {
    for _ in 0..TRIES {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{count}", std::process::id());
        match lock(dir, &name, OFlags::CREATE | OFlags::EXCL) {
            Ok(Some(file)) => return Ok((name, file)),
            Ok(None) | Err(Errno::EXIST) => {}
            Err(e) => return Err(e),
        }
    }
    Err(Errno::EXIST)
}

/// The lock of a name, unless somebody holds it or has just removed it.
fn lock(dir: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<Option<File>, Errno> {
    let path = format!("{name}{LOCK}");
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | flags;
    let fd = rustix::fs::openat(dir, &path, flags, Mode::from_raw_mode(0o600))?;
    match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    let held = rustix::fs::fstat(&fd)?;
    let there = rustix::fs::statat(dir, &path, AtFlags::SYMLINK_NOFOLLOW);
    let is_it = there.is_ok_and(|there| there.st_ino == held.st_ino);
    Ok(is_it.then(|| File::from(fd)))
}

/// Makes the directories. A command sees the upper one's mode as that of the workspace itself, so it
/// has that; nobody else comes to it, since the one around it is closed.
fn make(dir: BorrowedFd<'_>, name: &str, workspace: &Workspace) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(0o700);
    let upper = format!("{name}/upper");
    for path in [name, &upper, &format!("{name}/work")] {
        rustix::fs::mkdirat(dir, path, mode)?;
    }
    let shown = rustix::fs::fstat(workspace.root())?.st_mode & 0o7777;
    layer::set_mode(dir, upper.as_bytes(), |_| shown)
}

/// The present moment by the clock that stamps the workspace's files: that of its own file system.
fn marked(dir: BorrowedFd<'_>, name: &str, workspace: &Workspace) -> Result<Mark, Errno> {
    let here = rustix::fs::fstat(dir)?;
    if here.st_dev == rustix::fs::fstat(workspace.root())?.st_dev {
        return mark_in(dir, &format!("{name}/mark"));
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = format!(".cairn-mark-{}-{count}", std::process::id());
    let own = super::stage::own_directory(workspace)?;
    mark_in(own.as_fd(), &path)
}

fn mark_in(dir: BorrowedFd<'_>, path: &str) -> Result<Mark, Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, path, flags, Mode::from_raw_mode(0o600))?;
    let mark = Mark::of(&rustix::fs::fstat(&file)?);
    rustix::fs::unlinkat(dir, path, AtFlags::empty())?;
    Ok(mark)
}

/// Removes a scratch, and then its lock.
fn forget(dir: BorrowedFd<'_>, name: &str) {
    if clear(dir, name.as_bytes()).is_ok() {
        let _ = rustix::fs::unlinkat(dir, format!("{name}{LOCK}"), AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn place() -> (tempfile::TempDir, Workspace, PathBuf) {
        let holder = tempfile::tempdir().unwrap();
        let place = holder.path().join("scratch");
        std::fs::create_dir(&place).unwrap();
        let workspace = Workspace::open(holder.path()).unwrap();
        (holder, workspace, place)
    }

    fn left(place: &Path) -> Vec<String> {
        let found = std::fs::read_dir(place).unwrap().flatten();
        found.map(|item| item.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_scratch_is_gone_with_its_value_however_deep_and_closed_it_is() {
        let (_holder, workspace, place) = place();
        let scratch = Scratch::new(&place, &workspace).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&scratch.path), mode(&scratch.work())), (0o700, 0o700));
        let name = "n".repeat(200);
        let mut here = opened(&scratch.upper()).unwrap();
        for _ in 0..100 {
            rustix::fs::mkdirat(&here, &name, Mode::from_raw_mode(0o700)).unwrap();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let next = rustix::fs::openat(&here, &name, flags, Mode::empty()).unwrap();
            rustix::fs::mkdirat(&here, "1.up", Mode::from_raw_mode(0)).unwrap();
            here = next;
        }
        std::fs::create_dir(scratch.work().join("work")).unwrap();
        let closed = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(scratch.work().join("work"), closed).unwrap();
        drop(scratch);
        assert_eq!(left(&place), Vec::<String>::new());
    }

    #[test]
    fn what_the_dead_left_is_cleared_and_what_is_in_use_is_not() {
        let (_holder, workspace, place) = place();
        let scratch = Scratch::new(&place, &workspace).unwrap();
        std::fs::create_dir_all(place.join("1-7/upper/a/b")).unwrap();
        std::fs::write(place.join("1-7.lock"), "").unwrap();
        Scratch::clear_stale(&place);
        assert!(scratch.upper().is_dir());
        assert_eq!(left(&place).len(), 2);
        drop(scratch);
        assert_eq!(left(&place), Vec::<String>::new());
    }
}
