//! Puts a file's new content in its place, whole or not at all, and says after a crash which.

use crate::edit::{self, MAX_FILE};
use crate::path;
use crate::settled::{Probe, Refusal};
use crate::workspace::{Workspace, entry, refusal};
use cairn_types::{Change, FileKind, FileState, Hash, Status};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Writes what `change` says, next to the file and then over it. `was` is the file as it was just
/// read; if another stands there by now, nothing is written. Returns the state it now has.
pub(crate) fn write(
    workspace: &Workspace,
    change: &Change,
    bytes: &[u8],
    was: Option<&Stat>,
) -> Result<FileState, Refusal> {
    let (directory, name) = path::split(&change.path);
    let refuse = |e: Errno| refusal(&change.path, e);
    let dir = directory_made(workspace, directory).map_err(refuse)?;
    let temporary = temporary(change);
    let mode = change.after.as_ref().map_or(0o644, |state| state.mode);
    let written = fill(dir.as_fd(), &temporary, bytes, (mode, was)).map_err(refuse);
    let placed = written.and_then(|file| {
        place(dir.as_fd(), &temporary, name, was).map_err(|e| match e {
            Errno::EXIST | Errno::STALE => changed_since(&change.path),
            e => refuse(e),
        })?;
        Ok(file)
    });
    let file = match placed {
        Ok(file) => file,
        Err(problem) => {
            let _ = rustix::fs::unlinkat(&dir, &temporary, AtFlags::empty());
            return Err(problem);
        }
    };
    // It is in its place: whatever fails from here on, that is what happened.
    let _ = rustix::fs::fsync(&dir);
    match rustix::fs::fstat(&file) {
        Ok(stat) => Ok(state_of(&stat, Some(Hash::of(bytes)))),
        Err(_) => Ok(change.after.clone().unwrap_or(FileState {
            kind: FileKind::File,
            hash: Some(Hash::of(bytes)),
            bytes: Some(bytes.len() as u64),
            mode,
            mtime_ns: None,
            link: None,
        })),
    }
}

/// The fact that a file is not as it was.
pub(crate) fn changed_since(path: &str) -> Refusal {
    let text = format!("{path} changed since it was looked at; nothing was written");
    Refusal::new(Status::CONFLICT, text)
}

/// The state of a regular file.
pub(crate) fn state_of(stat: &Stat, hash: Option<Hash>) -> FileState {
    let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    FileState {
        kind: FileKind::File,
        hash,
        bytes: u64::try_from(stat.st_size).ok(),
        mode: stat.st_mode & 0o7777,
        mtime_ns: stat.st_mtime.checked_mul(1_000_000_000).and_then(|s| s.checked_add(nanos)),
        link: None,
    }
}

/// The directory, made if it is missing. Links are not followed: the path is a real one.
fn directory_made(workspace: &Workspace, directory: &str) -> Result<OwnedFd, Errno> {
    match workspace.directory(directory) {
        Err(Errno::NOENT) => {}
        opened => return opened,
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut here = workspace.directory(".")?;
    for part in directory.split('/') {
        match rustix::fs::mkdirat(&here, part, Mode::from_raw_mode(0o755)) {
            Ok(()) => rustix::fs::fsync(&here)?,
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e),
        }
        here = entry(here.as_fd(), part.as_bytes(), flags)?;
    }
    Ok(here)
}

/// The name of the file written first. It follows from the change, so that it can be found again.
fn temporary(change: &Change) -> String {
    let after = change.after.as_ref().and_then(|s| s.hash).map(|h| h.to_string());
    let key = format!("{}\0{}", change.path, after.unwrap_or_default());
    format!(".cairn-{}.tmp", Hash::of(key.as_bytes()).short())
}

fn fill(
    dir: BorrowedFd<'_>,
    name: &str,
    bytes: &[u8],
    (mode, was): (u32, Option<&Stat>),
) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let private = Mode::from_raw_mode(0o600);
    let made = match rustix::fs::openat(dir, name, flags, private) {
        Err(Errno::EXIST) => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
            rustix::fs::openat(dir, name, flags, private)?
        }
        made => made?,
    };
    if let Some(was) = was {
        // The owner stays where we may give files away; where not, the file becomes ours.
        let owner = rustix::fs::Uid::from_raw(was.st_uid);
        let _ = rustix::fs::fchown(&made, Some(owner), Some(rustix::fs::Gid::from_raw(was.st_gid)));
    }
    let mut file = File::from(made);
    let io = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
    file.write_all(bytes).map_err(io)?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    rustix::fs::fsync(&file)?;
    Ok(file)
}

/// Renames over the file if it is still the one that was read; `STALE` if it is not.
fn place(
    dir: BorrowedFd<'_>,
    temporary: &str,
    name: &str,
    was: Option<&Stat>,
) -> Result<(), Errno> {
    let Some(was) = was else {
        return match rustix::fs::renameat_with(dir, temporary, dir, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::renameat(dir, temporary, dir, name),
            renamed => renamed,
        };
    };
    let same = |is: &Stat| {
        (is.st_dev, is.st_ino, is.st_size, is.st_mtime, is.st_mtime_nsec)
            == (was.st_dev, was.st_ino, was.st_size, was.st_mtime, was.st_mtime_nsec)
    };
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(is) if same(&is) => rustix::fs::renameat(dir, temporary, dir, name),
        Ok(_) | Err(Errno::NOENT) => Err(Errno::STALE),
        Err(e) => Err(e),
    }
}

/// Whether these changes happened, by what is on disk.
pub(crate) fn probe(workspace: &Workspace, expected: &[Change]) -> Probe {
    let mut found: Option<Probe> = None;
    for change in expected {
        clear(workspace, change);
        let now = hash_now(workspace, &change.path);
        let is = |state: Option<&FileState>| now.as_ref() == Ok(&state.and_then(|s| s.hash));
        let this = match (is(change.after.as_ref()), is(change.before.as_ref())) {
            (true, _) => Probe::Done,
            (false, true) => Probe::NotDone,
            (false, false) => Probe::Neither,
        };
        found = Some(match found {
            Some(before) if before != this => Probe::Neither,
            _ => this,
        });
    }
    found.unwrap_or(Probe::Neither)
}

/// The hash of the file at a path; `None` when there is none, an error when it cannot be told.
fn hash_now(workspace: &Workspace, path: &str) -> Result<Option<Hash>, Refusal> {
    match workspace.open_existing(path) {
        Ok(opened) if opened.path == path && !opened.is_directory() => {
            Ok(Some(Hash::of(&edit::read_all(path, opened.fd, MAX_FILE)?)))
        }
        Ok(_) => Err(changed_since(path)),
        Err(refusal) if refusal.status == Status::NOT_FOUND => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// Removes what an unfinished write of this change left behind, and makes durable what is there:
/// whoever was cut off may not have come to it.
fn clear(workspace: &Workspace, change: &Change) {
    if let Ok(dir) = workspace.directory(path::split(&change.path).0) {
        let _ = rustix::fs::unlinkat(&dir, temporary(change), AtFlags::empty());
        let _ = rustix::fs::fsync(&dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_types::ChangeKind;

    #[test]
    fn a_file_that_changed_between_reading_and_placing_is_left_as_it_is() {
        let holder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(holder.path()).unwrap();
        let file = holder.path().join("f");
        std::fs::write(&file, "read\n").unwrap();
        let was = workspace.open_existing("f").unwrap().stat;
        let (path, kind) = ("f".to_owned(), ChangeKind::Modified);
        let change = Change { path, kind, before: None, after: None };
        std::fs::write(&file, "someone else's\n").unwrap();
        for was in [Some(&was), None] {
            let refused = write(&workspace, &change, b"ours\n", was).unwrap_err();
            assert_eq!(refused, changed_since("f"));
            assert_eq!(std::fs::read(&file).unwrap(), b"someone else's\n");
            assert_eq!(std::fs::read_dir(holder.path()).unwrap().count(), 1);
        }
    }
}
