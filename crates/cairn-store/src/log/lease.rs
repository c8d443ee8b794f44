//! Leases: a file lock says that a run's driver lives, an epoch fences the writes of one that lost
//! it. Taking a lease writes nothing to the database.

use crate::StoreError;
use crate::home::{Home, make_dir};
use crate::log::batch::LeaseKey;
use cairn_types::RunId;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The second line of a lock file, while a driver works whose user has not been shown how the run ended.
const END_NOT_SHOWN: &str = "the end is not shown yet";
/// So much of a lock file is read at most.
const MAX_LOCK_FILE: u64 = 300;

/// The right to drive a run, as long as it lives. It ends when it is dropped, or with the process.
#[derive(Debug)]
pub struct Lease {
    key: LeaseKey,
    file: File,
    holder: String,
    /// Whether a driver before this one was gone before its user was shown how the run ended.
    was_end_not_shown: bool,
    /// How many leases this process holds in this store.
    held: Arc<AtomicUsize>,
}

impl Lease {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.key.run
    }

    /// The epoch; the run's `drive` fact makes it binding.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.key.epoch
    }

    /// What a batch is written under.
    #[must_use]
    pub fn key(&self) -> LeaseKey {
        self.key.clone()
    }

    /// Takes the run's lock, or says who has it. `epoch` is asked for once the lock is held.
    pub(crate) fn take(
        home: &Home,
        (run, holder): (&RunId, &str),
        held: &Arc<AtomicUsize>,
        epoch: impl FnOnce() -> Result<u64, StoreError>,
    ) -> Result<Lease, StoreError> {
        make_dir(&home.leases())?;
        let path = home.leases().join(format!("{run}.lock"));
        let fail = |e: io::Error| StoreError::io(&path, e);
        let Some(file) = lock(&path).map_err(fail)? else {
            let holder = holder_of(home, run).unwrap_or_else(|| "another process".to_owned());
            return Err(StoreError::Held { run: run.clone(), holder });
        };
        let was_end_not_shown = lines_of(&file).get(1).is_some_and(|line| line == END_NOT_SHOWN);
        write_lock_file(&file, holder, was_end_not_shown).map_err(fail)?;
        let key = LeaseKey { run: run.clone(), epoch: epoch()? };
        held.fetch_add(1, Ordering::Relaxed);
        let holder = holder.to_owned();
        Ok(Lease { key, file, holder, was_end_not_shown, held: Arc::clone(held) })
    }

    /// Whether the driver before this one was gone, killed for instance, before its user was shown how the run
    /// ended. A run of an older version is taken to have been shown.
    #[must_use]
    pub fn was_end_not_shown(&self) -> bool {
        self.was_end_not_shown
    }

    /// Notes in the run's lock file whether the user of this driver was shown how the run ended. It survives the
    /// process; after a power cut it may be as before.
    pub fn note_end_shown(&self, is_shown: bool) -> io::Result<()> {
        write_lock_file(&self.file, &self.holder, !is_shown)
    }
}

fn write_lock_file(file: &File, holder: &str, is_end_not_shown: bool) -> io::Result<()> {
    let text = match is_end_not_shown {
        true => format!("{holder}\n{END_NOT_SHOWN}\n"),
        false => format!("{holder}\n"),
    };
    file.write_all_at(text.as_bytes(), 0)?;
    file.set_len(text.len() as u64)
}

/// The lines of a lock file, without control characters.
fn lines_of(file: &File) -> Vec<String> {
    let mut bytes = Vec::new();
    let mut file = file;
    // What cannot be read says nothing; the lock itself does not depend on it.
    let _ = file.rewind();
    let _ = file.take(MAX_LOCK_FILE).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().map(|line| line.chars().filter(|c| !c.is_control()).collect()).collect()
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
        // Explicit, so that a child between fork and exec cannot keep the lock a moment longer.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Locks the file at a path; `None` when somebody holds it. A moment's lock of one who only looks is
/// waited for, and a file that was removed meanwhile is made again.
fn lock(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..10 {
        let file = open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let there = std::fs::metadata(path).map(|meta| meta.ino()).ok();
                if there == Some(file.metadata()?.ino()) {
                    return Ok(Some(file));
                }
            }
            Err(Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(2)),
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(None)
}

/// Whether somebody drives this run now.
pub(crate) fn is_held(home: &Home, run: &RunId) -> bool {
    let Ok(file) = File::open(home.leases().join(format!("{run}.lock"))) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

/// Removes the lock file of a run that nobody drives. Whether it did.
pub(crate) fn remove_if_free(home: &Home, run: &RunId) -> bool {
    let path = home.leases().join(format!("{run}.lock"));
    let Ok(file) = File::open(&path) else { return false };
    let free = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    free && std::fs::remove_file(&path).is_ok()
}

/// The right to do one kind of thing in a home, for a moment: to make sessions, held while one is looked
/// for and made, so that two processes that start over the same root at once end up in the same
/// session; or to change entries.
#[derive(Debug)]
pub struct HomeLock(File);

impl HomeLock {
    /// Takes it; absent when somebody else has it for the moment.
    pub(crate) fn try_take(home: &Home, what: &str) -> Result<Option<HomeLock>, StoreError> {
        make_dir(&home.leases())?;
        let path = home.leases().join(format!("{what}.lock"));
        let file = open(&path).map_err(|e| StoreError::io(&path, e))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(HomeLock(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(StoreError::io(&path, errno.into())),
        }
    }
}

impl Drop for HomeLock {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// The standard library opens with O_CLOEXEC: no child inherits the lock.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Who wrote their name into a run's lock file last: one line, without control characters.
pub(crate) fn holder_of(home: &Home, run: &RunId) -> Option<String> {
    let file = File::open(home.leases().join(format!("{run}.lock"))).ok()?;
    lines_of(&file).into_iter().next().filter(|name| !name.is_empty())
}
