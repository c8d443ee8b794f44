//! A directory of our own for as long as something needs it: made private, held by a lock beside it, gone when
//! dropped. What a process that is gone left is cleared by the next. Knows nothing of what is in one.

mod clear;

pub use clear::clear;

use rustix::fs::{AtFlags, FlockOperation, IFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How the lock of a directory is called, after its own name.
const LOCK: &str = ".lock";
/// How often a name is tried that somebody clears away at that moment.
const TRIES: usize = 64;

/// A directory of our own.
#[derive(Debug)]
pub struct Own {
    path: PathBuf,
    /// Held while we live.
    _lock: File,
}

impl Own {
    /// Makes one in this place, which is made if it is not there. What nobody holds any longer is cleared
    /// there, once in a process.
    pub fn make(place: &Path) -> io::Result<Own> {
        static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        let is_first = {
            let mut cleared = CLEARED.lock().unwrap_or_else(PoisonError::into_inner);
            cleared.insert(place.to_owned())
        };
        if is_first {
            Own::clear_stale(place);
            // Where it cannot be had, things are only slower.
            let _ = spread(place);
        }
        let dir = opened(place)?;
        let (name, lock) = locked(dir.as_fd())?;
        if let Err(e) = rustix::fs::mkdirat(&dir, &name, Mode::from_raw_mode(0o700)) {
            forget(dir.as_fd(), &name);
            return Err(e.into());
        }
        Ok(Own { path: place.join(name), _lock: lock })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what processes that are gone left in a place.
    pub fn clear_stale(place: &Path) {
        let Ok(dir) = opened(place) else { return };
        let found = std::fs::read_dir(place).into_iter().flatten().flatten();
        for found in found.map(|found| found.file_name()) {
            let Some(name) = found.to_str().and_then(|name| name.strip_suffix(LOCK)) else {
                continue;
            };
            if let Ok(Some(_lock)) = lock(dir.as_fd(), name, OFlags::empty()) {
                forget(dir.as_fd(), name);
            }
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let name = self.path.file_name().and_then(std::ffi::OsStr::to_str);
        if let (Some(Ok(dir)), Some(name)) = (self.path.parent().map(opened), name) {
            // What cannot be removed now is removed by whoever comes next.
            forget(dir.as_fd(), name);
        }
    }
}

/// Has the file system put directories that are made here far from each other. Ext4 gives a new file no number of one
/// that was removed a short while ago, and looks through those one by one: where much comes and goes in one
/// corner, making a file takes a hundred times as long. Other file systems have no such wish.
fn spread(place: &Path) -> Result<(), Errno> {
    let dir = opened(place)?;
    let flags = rustix::fs::ioctl_getflags(&dir)?;
    rustix::fs::ioctl_setflags(&dir, flags | IFlags::TOPDIR)
}

fn opened(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// A name that nobody else has, and its lock. The directory is made once the lock is held, so that nobody
/// finds one that nobody holds.
fn locked(dir: BorrowedFd<'_>) -> Result<(String, File), Errno> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
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

/// The lock of a name, unless somebody holds it or has just removed it: whoever looks for what is left may
/// come between its making and its locking.
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

/// Removes a directory, and then its lock.
fn forget(dir: BorrowedFd<'_>, name: &str) {
    if clear(dir, name.as_bytes()).is_ok() {
        let _ = rustix::fs::unlinkat(dir, format!("{name}{LOCK}"), AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::AtomicBool;

    fn left(place: &Path) -> Vec<String> {
        let found = std::fs::read_dir(place).unwrap().flatten();
        found.map(|item| item.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn one_is_gone_with_its_value_however_deep_and_closed_it_is() {
        let place = tempfile::tempdir().unwrap();
        let own = Own::make(place.path()).unwrap();
        assert_eq!(std::fs::metadata(own.path()).unwrap().permissions().mode() & 0o777, 0o700);
        let name = "n".repeat(200);
        let mut here = opened(own.path()).unwrap();
        for _ in 0..100 {
            rustix::fs::mkdirat(&here, &name, Mode::from_raw_mode(0o700)).unwrap();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let next = rustix::fs::openat(&here, &name, flags, Mode::empty()).unwrap();
            rustix::fs::mkdirat(&here, "1.up", Mode::from_raw_mode(0)).unwrap();
            here = next;
        }
        std::fs::create_dir_all(own.path().join("work/work")).unwrap();
        let closed = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(own.path().join("work/work"), closed).unwrap();
        drop(own);
        assert_eq!(left(place.path()), Vec::<String>::new());
    }

    #[test]
    fn what_the_dead_left_is_cleared_and_what_is_in_use_is_not() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("1-7/upper/a/b")).unwrap();
        std::fs::write(place.path().join("1-7.lock"), "").unwrap();
        let own = Own::make(place.path()).unwrap();
        assert_eq!(left(place.path()).len(), 2);
        Own::clear_stale(place.path());
        assert!(own.path().is_dir());
        drop(own);
        assert_eq!(left(place.path()), Vec::<String>::new());
    }

    #[test]
    fn nobody_clears_one_that_is_just_being_made() {
        let place = tempfile::tempdir().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                // A lock is held by whoever opened it, so threads are to each other as processes are.
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        Own::clear_stale(place.path());
                    }
                });
            }
            let make = || {
                for n in 0..200 {
                    let own = Own::make(place.path()).unwrap();
                    std::fs::write(own.path().join("f"), n.to_string()).unwrap();
                    std::thread::yield_now();
                    let found = std::fs::read_to_string(own.path().join("f")).unwrap();
                    assert_eq!(found, n.to_string());
                    // Without it nobody would clear this one after a crash.
                    assert!(own.path().with_extension("lock").exists());
                }
            };
            let makers = [scope.spawn(make), scope.spawn(make)];
            let made = makers.map(|maker| maker.join());
            is_over.store(true, Ordering::Relaxed);
            assert!(made.iter().all(Result::is_ok));
        });
        assert_eq!(left(place.path()), Vec::<String>::new());
    }
}
