//! Puts one thing in its place, whole or not at all, or takes it away; made durable before it
//! returns. What belongs together is `apply`'s.

use crate::path;
use crate::state::Standing;
use crate::workspace::Workspace;
use cairn_types::{Change, FileKind, FileState, Hash};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

/// Makes the path of a change what `state` says; `was` is what was just seen there. `STALE` when
/// something else is there by now.
pub(crate) fn put(
    workspace: &Workspace,
    change: &Change,
    state: &FileState,
    (bytes, was): (&[u8], &Standing),
) -> Result<(), Errno> {
    let (directory, name) = path::split(&change.path);
    let dir = workspace.directory(directory)?;
    let is_directory = was.as_ref().is_some_and(|(was, _)| was.kind == FileKind::Directory);
    if is_directory && state.kind == FileKind::Directory {
        set_mode(dir.as_fd(), name, state.mode)?;
    } else {
        let temporary = temporary(change);
        let made = make(dir.as_fd(), &temporary, state, (bytes, was));
        // What is of another kind has to go first, but only once the new one is there whole.
        let is_turned = was.as_ref().is_some_and(|(was, _)| was.kind != state.kind);
        let placed = made.and_then(|()| match is_turned {
            true => {
                take_away(workspace, &change.path, was)?;
                place(dir.as_fd(), &temporary, name, &None)
            }
            false => place(dir.as_fd(), &temporary, name, was),
        });
        if let Err(e) = placed {
            clear(dir.as_fd(), &temporary);
            return Err(e);
        }
    }
    // It is in its place: whatever fails from here on, that is what happened.
    let _ = rustix::fs::fsync(&dir);
    Ok(())
}

/// Takes away what was just seen at the path of a change. `STALE` when something else is there by
/// now, `NOTEMPTY` when a directory still holds something.
pub(crate) fn take_away(workspace: &Workspace, path: &str, was: &Standing) -> Result<(), Errno> {
    let (directory, name) = path::split(path);
    let dir = workspace.directory(directory)?;
    let Some((state, stat)) = was else { return Ok(()) };
    let flags = match state.kind {
        FileKind::Directory => AtFlags::REMOVEDIR,
        FileKind::File | FileKind::Symlink => {
            still_there(dir.as_fd(), name, stat)?;
            AtFlags::empty()
        }
    };
    match rustix::fs::unlinkat(&dir, name, flags) {
        Err(Errno::EXIST) => return Err(Errno::NOTEMPTY),
        done => done?,
    }
    let _ = rustix::fs::fsync(&dir);
    Ok(())
}

fn set_mode(dir: BorrowedFd<'_>, name: &str, mode: u32) -> Result<(), Errno> {
    rustix::fs::chmodat(dir, name, Mode::from_raw_mode(mode), AtFlags::empty())
}

/// The name of what is made first. It follows from the change, so that it can be found again.
pub(crate) fn temporary(change: &Change) -> String {
    let after = change.after.as_ref().and_then(|s| s.hash).map(|h| h.to_string());
    let key = format!("{}\0{}", change.path, after.unwrap_or_default());
    format!(".cairn-{}.tmp", Hash::of(key.as_bytes()).short())
}

/// Removes what was made first and not put in its place.
pub(crate) fn clear(dir: BorrowedFd<'_>, temporary: &str) {
    if rustix::fs::unlinkat(dir, temporary, AtFlags::empty()).is_err() {
        let _ = rustix::fs::unlinkat(dir, temporary, AtFlags::REMOVEDIR);
    }
}

fn make(
    dir: BorrowedFd<'_>,
    name: &str,
    state: &FileState,
    (bytes, was): (&[u8], &Standing),
) -> Result<(), Errno> {
    clear(dir, name);
    if state.kind == FileKind::Directory {
        rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700))?;
        return set_mode(dir, name, state.mode);
    }
    if state.kind == FileKind::Symlink {
        rustix::fs::symlinkat(state.link.as_deref().unwrap_or_default(), dir, name)?;
        return set_time(state, |times| {
            rustix::fs::utimensat(dir, name, times, AtFlags::SYMLINK_NOFOLLOW)
        });
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
    if let Some((_, was)) = was {
        // The owner stays where we may give files away; where not, the file becomes ours.
        let owner = rustix::fs::Uid::from_raw(was.st_uid);
        let _ = rustix::fs::fchown(&made, Some(owner), Some(rustix::fs::Gid::from_raw(was.st_gid)));
    }
    let mut file = File::from(made);
    let io = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
    file.write_all(bytes).map_err(io)?;
    // A file that root makes for nobody in particular does not act as root.
    let is_roots = was.is_none() && rustix::process::geteuid().is_root();
    let mode = if is_roots { state.mode & 0o1777 } else { state.mode };
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    set_time(state, |times| rustix::fs::futimens(&file, times))?;
    rustix::fs::fsync(&file)
}

/// Sets the time of modification where the state names one.
fn set_time(
    state: &FileState,
    set: impl FnOnce(&Timestamps) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let Some(ns) = state.mtime_ns else { return Ok(()) };
    let last_modification =
        Timespec { tv_sec: ns.div_euclid(1_000_000_000), tv_nsec: ns.rem_euclid(1_000_000_000) };
    let last_access = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
    set(&Timestamps { last_access, last_modification })
}

/// Renames into place if what is there is still what was seen; `STALE` if it is not.
fn place(dir: BorrowedFd<'_>, temporary: &str, name: &str, was: &Standing) -> Result<(), Errno> {
    let Some((_, was)) = was else {
        return match rustix::fs::renameat_with(dir, temporary, dir, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::renameat(dir, temporary, dir, name),
            Err(Errno::EXIST) => Err(Errno::STALE),
            renamed => renamed,
        };
    };
    still_there(dir, name, was)?;
    rustix::fs::renameat(dir, temporary, dir, name)
}

fn still_there(dir: BorrowedFd<'_>, name: &str, was: &Stat) -> Result<(), Errno> {
    let key = |s: &Stat| (s.st_dev, s.st_ino, s.st_size, s.st_mtime, s.st_mtime_nsec);
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(is) if key(&is) == key(was) => Ok(()),
        Ok(_) | Err(Errno::NOENT) => Err(Errno::STALE),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state;
    use cairn_types::ChangeKind;

    #[test]
    fn a_file_that_changed_between_reading_and_placing_is_left_as_it_is() {
        let holder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(holder.path()).unwrap();
        let file = holder.path().join("f");
        std::fs::write(&file, "read\n").unwrap();
        let was = state::at(&workspace, "f").unwrap();
        let state = was.clone().unwrap().0;
        let (path, kind) = ("f".to_owned(), ChangeKind::Modified);
        let change = Change { path, kind, before: None, after: Some(state.clone()) };
        std::fs::write(&file, "someone else's\n").unwrap();
        for was in [was, None] {
            let refused = put(&workspace, &change, &state, (b"ours\n", &was));
            assert_eq!(refused, Err(Errno::STALE));
            assert_eq!(std::fs::read(&file).unwrap(), b"someone else's\n");
            assert_eq!(std::fs::read_dir(holder.path()).unwrap().count(), 1);
        }
    }
}
