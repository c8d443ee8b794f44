//! A directory of our own for as long as something needs it: made private, held by a lock, gone when
//! dropped. What a process that is gone left is cleared by the next.

use rustix::fs::{FlockOperation, Mode, flock};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The file whose lock says that a directory is in use.
const LOCK: &str = ".lock";

/// A directory of our own.
#[derive(Debug)]
pub struct Own {
    path: PathBuf,
    /// Held while we live.
    _lock: File,
}

impl Own {
    /// Makes one in this place, clearing what nobody holds any longer.
    pub fn make(place: &Path) -> io::Result<Own> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        if MADE.load(Ordering::Relaxed) == 0 {
            clear(place);
        }
        loop {
            let n = MADE.fetch_add(1, Ordering::Relaxed);
            let path = place.join(format!("{}-{n}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let lock = File::create(path.join(LOCK))?;
                    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
                    return Ok(Own { path, _lock: lock });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // What cannot be removed now is removed by whoever comes next.
        let _ = remove(&self.path);
    }
}

/// Removes the directories that nobody holds.
fn clear(place: &Path) {
    let Ok(found) = fs::read_dir(place) else { return };
    for path in found.flatten().map(|found| found.path()).filter(|path| is_ours(path)) {
        let held = File::open(path.join(LOCK))
            .is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err());
        // One without a lock is being made, or is half gone; a day later it is half gone.
        let is_new = !path.join(LOCK).exists()
            && path
                .metadata()
                .and_then(|m| m.modified())
                .is_ok_and(|made| made.elapsed().is_ok_and(|age| age.as_secs() < 24 * 60 * 60));
        if !held && !is_new {
            let _ = remove(&path);
        }
    }
}

/// Whether a directory is named as ours are.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    name.split_once('-').is_some_and(|(process, n)| is_number(process) && is_number(n))
}

/// Removes a directory with all that is in it, also what is closed to its owner.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        done => done,
    }
}

fn open_up(path: &Path) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    if !found.is_dir() {
        return;
    }
    if found.permissions().mode() & 0o700 != 0o700 {
        let _ = rustix::fs::chmod(path, Mode::from_raw_mode(0o700));
    }
    for inner in fs::read_dir(path).into_iter().flatten().flatten() {
        open_up(&inner.path());
    }
}
