//! Makes one thing beside its place and brings it there whole, or takes one away. How places are exchanged is
//! `swap`'s, what belongs together is `apply`'s, when it is made safe against a power cut is `durability`'s.

use crate::changes::durability::Durability;
use crate::changes::state::{Seen, Standing};
use crate::changes::swap::{self, Problem};
use crate::changes::temporary::Names;
use crate::changes::{attributes, leftovers};
use crate::folders::path;
use crate::folders::root_directory::{RootDirectory, entry};
use cairn_types::{Change, FileKind, FileState};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// What lets its owner change what is in a directory.
const OPEN: u32 = 0o700;

/// Something that was made beside its place and waits to be brought there.
#[derive(Debug)]
pub(crate) struct Ready {
    names: Names,
}

/// Makes beside its place what the path of a change shall be, as `state` says; `was` is what was just seen there.
pub(crate) fn get_ready(
    root: &RootDirectory,
    change: &Change,
    state: &FileState,
    (bytes, was): (&[u8], &Standing),
    durability: Durability,
) -> Result<Ready, Problem> {
    let dir = root.open_directory(path::split(&change.path).0)?;
    let names = Names::new(change);
    let made = make(dir.as_fd(), &names.making, state, (bytes, was.as_ref()), durability);
    if let Err(problem) = made {
        leftovers::remove(dir.as_fd(), &names.making);
        return Err(problem);
    }
    Ok(Ready { names })
}

/// Brings what is ready to its place, which is as `was` says.
pub(crate) fn put_ready(
    root: &RootDirectory,
    change: &Change,
    (state, ready): (&FileState, &Ready),
    was: &Standing,
    durability: Durability,
) -> Result<(), Problem> {
    let (directory, name) = path::split(&change.path);
    let dir = root.open_directory(directory)?;
    if let Err(problem) = bring(dir.as_fd(), &ready.names, (name, state), was) {
        leftovers::remove(dir.as_fd(), &ready.names.making);
        return Err(problem);
    }
    durability.sync_directory(&dir)
}

/// Removes what was made and is not needed.
pub(crate) fn discard(root: &RootDirectory, change: &Change, ready: &Ready) {
    if let Ok(dir) = root.open_directory(path::split(&change.path).0) {
        leftovers::remove(dir.as_fd(), &ready.names.making);
    }
}

/// Makes the path of a change what `state` says; `was` is what was just seen there. A directory is
/// left open to its owner: `finish` gives it its mode and time once everything is in it.
pub(crate) fn put(
    root: &RootDirectory,
    change: &Change,
    state: &FileState,
    (bytes, was): (&[u8], &Standing),
    durability: Durability,
) -> Result<(), Problem> {
    let is_directory = |state: &FileState| state.kind == FileKind::Directory;
    if !was.as_ref().is_some_and(|(was, _)| is_directory(was) && is_directory(state)) {
        let ready = get_ready(root, change, state, (bytes, was), durability)?;
        return put_ready(root, change, (state, &ready), was, durability);
    }
    let (directory, name) = path::split(&change.path);
    let dir = root.open_directory(directory)?;
    set_mode(dir.as_fd(), name, state.mode | OPEN)?;
    if let Some(wanted) = &state.attributes {
        let made = entry(dir.as_fd(), name.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)?;
        attributes::set(&made, wanted).map_err(Problem::attribute)?;
    }
    durability.sync_directory(&dir)
}

/// Brings what was made to its place.
fn bring(
    dir: BorrowedFd<'_>,
    names: &Names,
    (name, state): (&str, &FileState),
    was: &Standing,
) -> Result<(), Problem> {
    let Some(was) = was else { return swap::place(dir, &names.making, name) };
    // From here on what stands beside the place may be somebody else's, and its name says so.
    rustix::fs::renameat(dir, &names.making, dir, &names.aside)?;
    let stat = rustix::fs::statat(dir, &names.aside, AtFlags::SYMLINK_NOFOLLOW)?;
    swap::replace(dir, (&names.aside, &(state.clone(), stat)), name, was)
}

/// Takes away what was just seen at the path of a change.
pub(crate) fn take_away(
    root: &RootDirectory,
    change: &Change,
    was: &Standing,
    durability: Durability,
) -> Result<(), Problem> {
    let (directory, name) = path::split(&change.path);
    let dir = root.open_directory(directory)?;
    let Some(was) = was else { return Ok(()) };
    swap::take_away(dir.as_fd(), name, &Names::new(change).aside, was)?;
    durability.sync_directory(&dir)
}

/// Gives a directory that is there its mode and its time, where the state names one.
pub(crate) fn finish(
    root: &RootDirectory,
    path: &str,
    state: &FileState,
    durability: Durability,
) -> Result<(), Problem> {
    if state.mode & OPEN == OPEN && state.mtime_ns.is_none() {
        return Ok(());
    }
    let made = root.open_directory(path)?;
    rustix::fs::fchmod(&made, Mode::from_raw_mode(state.mode))?;
    set_time(state, |times| rustix::fs::futimens(&made, times))?;
    durability.sync_directory(&made)
}

/// Opens a directory to its owner, so that what is in it can go.
pub(crate) fn open_up(root: &RootDirectory, path: &str, mode: u32) -> Result<(), Errno> {
    let (directory, name) = path::split(path);
    set_mode(root.open_directory(directory)?.as_fd(), name, mode | OPEN)
}

/// Whether a state is a directory that is made, and not moved with all that is in it.
pub(crate) fn is_written_directory(state: &FileState) -> bool {
    state.kind == FileKind::Directory && state.aside.is_none()
}

/// Whether a directory is as `state` says but for being open to its owner.
pub(crate) fn is_opened(state: Option<&FileState>, now: Option<&FileState>) -> bool {
    let mode = |state: Option<&FileState>| {
        state.filter(|state| is_written_directory(state)).map(|state| state.mode)
    };
    match (mode(state), mode(now)) {
        (Some(mode), Some(now)) => mode & OPEN != OPEN && now == mode | OPEN,
        _ => false,
    }
}

/// Sets the mode of a directory; a link that took its place meanwhile is not followed.
pub(crate) fn set_mode<P: rustix::path::Arg>(
    dir: BorrowedFd<'_>,
    name: P,
    mode: u32,
) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(path, Mode::from_raw_mode(mode))
}

fn make(
    dir: BorrowedFd<'_>,
    name: &str,
    state: &FileState,
    (bytes, was): (&[u8], Option<&Seen>),
    durability: Durability,
) -> Result<(), Problem> {
    let owner = Owner::of(state, was);
    // Where nothing is said of them, what is replaced keeps what it has.
    let wanted = state.attributes.as_ref().or(was.and_then(|(was, _)| was.attributes.as_ref()));
    match state.kind {
        FileKind::Directory => {
            rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(OPEN))?;
            let made = entry(dir, name.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)?;
            owner.give(|uid, gid| rustix::fs::fchown(&made, uid, gid));
            if let Some(wanted) = wanted {
                attributes::set(&made, wanted).map_err(Problem::attribute)?;
            }
            rustix::fs::fchmod(&made, Mode::from_raw_mode(state.mode | OPEN))?;
        }
        FileKind::Symlink => {
            rustix::fs::symlinkat(state.link.as_deref().unwrap_or_default(), dir, name)?;
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            owner.give(|uid, gid| rustix::fs::chownat(dir, name, uid, gid, flags));
            set_time(state, |times| rustix::fs::utimensat(dir, name, times, flags))?;
        }
        FileKind::File => {
            let file = make_file(dir, name, (bytes, &owner))?;
            if let Some(wanted) = wanted {
                attributes::set(&file, wanted).map_err(Problem::attribute)?;
            }
            finish_file(&file, state, &owner)?;
            durability.sync_file(&file)?;
        }
    }
    Ok(())
}

fn make_file(
    dir: BorrowedFd<'_>,
    name: &str,
    (bytes, owner): (&[u8], &Owner),
) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
    owner.give(|uid, gid| rustix::fs::fchown(&made, uid, gid));
    let mut file = File::from(made);
    let io = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
    file.write_all(bytes).map_err(io)?;
    Ok(file)
}

/// Gives a file that is written its mode and time. The mode comes after the access control
/// list, whose mask it is: nobody may do more than the mode says.
fn finish_file(file: &File, state: &FileState, owner: &Owner) -> Result<(), Errno> {
    let stat = rustix::fs::fstat(file)?;
    let mode = owner.mode(state.mode, (stat.st_uid, stat.st_gid));
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
    set_time(state, |times| rustix::fs::futimens(file, times))
}

/// Whose something shall be, where that is known.
struct Owner {
    uid: Option<u32>,
    gid: Option<u32>,
}

impl Owner {
    /// As the state says, or else as what it replaces is. What is new belongs to whom the system
    /// gives it.
    fn of(state: &FileState, was: Option<&Seen>) -> Owner {
        Owner {
            uid: state.uid.or(was.map(|(_, stat)| stat.st_uid)),
            gid: state.gid.or(was.map(|(_, stat)| stat.st_gid)),
        }
    }

    /// Gives it away where we may; where not, it stays ours, in its group if we are of it.
    fn give(&self, chown: impl Fn(Option<Uid>, Option<Gid>) -> Result<(), Errno>) {
        let (uid, gid) = (self.uid.map(Uid::from_raw), self.gid.map(Gid::from_raw));
        if (uid.is_some() || gid.is_some()) && chown(uid, gid).is_err() && gid.is_some() {
            let _ = chown(None, gid);
        }
    }

    /// The mode it may have: a file acts as its owner or group only if they are those it was meant
    /// for, and what root makes for nobody in particular does not act as root.
    fn mode(&self, mode: u32, (uid, gid): (u32, u32)) -> u32 {
        let is_roots = rustix::process::geteuid().is_root();
        let meant = |wanted: Option<u32>, is: u32| wanted.map_or(!is_roots, |wanted| wanted == is);
        let uid_bit = if meant(self.uid, uid) { 0 } else { 0o4000 };
        let gid_bit = if meant(self.gid, gid) { 0 } else { 0o2000 };
        mode & !(uid_bit | gid_bit)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::state;
    use cairn_types::ChangeKind;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_that_changed_between_reading_and_placing_is_left_as_it_is() {
        let holder = tempfile::tempdir().unwrap();
        let directory = RootDirectory::open(holder.path()).unwrap();
        let file = holder.path().join("f");
        std::fs::write(&file, "read\n").unwrap();
        let was = state::at(&directory, "f").unwrap();
        let state = was.clone().unwrap().0;
        let kind = ChangeKind::Modified;
        let change = Change::between("f".to_owned(), None, Some(state.clone()));
        let change = Change { kind, ..change };
        std::fs::write(&file, "someone else's\n").unwrap();
        for was in [was, None] {
            let refused = put(&directory, &change, &state, (b"ours\n", &was), Durability::OneByOne);
            assert_eq!(refused, Err(Problem::Stale));
            assert_eq!(std::fs::read(&file).unwrap(), b"someone else's\n");
            assert_eq!(std::fs::read_dir(holder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_file_whose_attributes_cannot_be_kept_is_left_as_it_is() {
        let holder = tempfile::tempdir().unwrap();
        let directory = RootDirectory::open(holder.path()).unwrap();
        let file = holder.path().join("f");
        std::fs::write(&file, "read\n").unwrap();
        let was = state::at(&directory, "f").unwrap();
        // Larger than any file system takes.
        let too_large = cairn_types::FileAttribute::new("user.note".to_owned(), &[b'x'; 70_000]);
        let state = FileState { attributes: Some(vec![too_large]), ..was.clone().unwrap().0 };
        let change = Change::between("f".to_owned(), Some(was.clone().unwrap().0), Some(state));
        let state = change.after.clone().unwrap();
        let refused = put(&directory, &change, &state, (b"ours\n", &was), Durability::OneByOne);
        assert!(matches!(&refused, Err(Problem::Attribute(name, _)) if name == "user.note"));
        assert_eq!(std::fs::read(&file).unwrap(), b"read\n");
        assert_eq!(std::fs::read_dir(holder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_mode_is_set_on_no_target_of_a_link() {
        let holder = tempfile::tempdir().unwrap();
        let root = holder.path();
        std::fs::create_dir(root.join("target")).unwrap();
        symlink("target", root.join("link")).unwrap();
        let mode = || std::fs::metadata(root.join("target")).unwrap().permissions().mode() & 0o777;
        let before = mode();
        let directory = RootDirectory::open(root).unwrap();
        assert_eq!(open_up(&directory, "link", 0o070), Err(Errno::NOTDIR));
        assert_eq!(mode(), before);
        open_up(&directory, "target", 0o070).unwrap();
        assert_eq!(mode(), 0o770);
    }
}
