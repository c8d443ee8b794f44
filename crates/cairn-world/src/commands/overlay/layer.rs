//! What an upper directory holds, as the kernel wrote it: things, the marks of things that are gone,
//! and of directories that replaced others. Knows nothing of what lies beneath.

use crate::folders::root_directory::entry;
use crate::folders::walk::names;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

const OPAQUE: &str = "user.overlay.opaque";
const ORIGIN: &str = "user.overlay.origin";
/// What all the kernel's own marks begin with.
pub(super) const OWN: &[u8] = b"user.overlay.";
/// What all those begin with that give a file rights, or say who vouches for it.
const SECURITY: &[u8] = b"security.";
const CAPABILITY: &[u8] = b"security.capability";
/// How long the list of something's marks mostly is at most, and ever.
const MARKS: usize = 4 << 10;
const MOST_MARKS: usize = 64 << 10;
/// Where the number of the file stands in a file handle, as ext4 and others write it.
const INODE_AT: usize = 21;
/// Longer handles are not looked at.
const MAX_HANDLE: usize = 256;

/// What stands under a name in an upper directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Nothing any more.
    Gone,
    /// A directory, which shows what lies beneath it.
    Directory,
    /// A directory that shows nothing of what lies beneath.
    Opaque,
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// Neither: a pipe, a socket, a device.
    Special(&'static str),
}

/// What something was copied from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing: it is new.
    New,
    /// Something; the kernel does not say what, as in a user namespace it never does.
    Copied,
    /// The file of this number.
    CopiedFrom(u64),
}

/// Why such a thing is left out.
pub(super) const ACTS: &str = "its setuid or setgid bit";

/// The bits of a mode that let a file act as its owner or its group. On a directory the group's bit
/// only passes the group on, as shared repositories need it.
pub(super) fn acting_bits(stat: &Stat) -> u32 {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => stat.st_mode & 0o4000,
        _ => stat.st_mode & 0o6000,
    }
}

/// Whether it is the kernel's mark of something that is gone.
pub(super) fn is_gone(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

/// One thing in an upper directory.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) name: Vec<u8>,
    pub(super) stat: Stat,
    pub(super) what: What,
    pub(super) origin: Origin,
}

/// What kind of thing a stat is of, if it is one that can be committed.
pub(super) fn special(stat: &Stat) -> Option<&'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile | FileType::Directory | FileType::Symlink => None,
        FileType::Fifo => Some("a pipe"),
        FileType::Socket => Some("a socket"),
        _ => Some("a device"),
    }
}

/// What is in an upper directory, by name.
pub(super) fn items(dir: &OwnedFd) -> Result<Vec<Item>, Errno> {
    let mut found = names(dir)?;
    found.sort();
    found.into_iter().map(|name| item(dir.as_fd(), name.into_bytes())).collect()
}

fn item(dir: BorrowedFd<'_>, name: Vec<u8>) -> Result<Item, Errno> {
    let stat = rustix::fs::statat(dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => What::File,
        FileType::Symlink => What::Link,
        FileType::Directory => match marked(dir, &name, OPAQUE).as_deref() {
            Some(b"y") => What::Opaque,
            _ => What::Directory,
        },
        _ if is_gone(&stat) => What::Gone,
        _ => What::Special(special(&stat).unwrap_or("a device")),
    };
    let origin = match what {
        What::File | What::Directory => origin(dir, &name),
        _ => Origin::New,
    };
    Ok(Item { name, stat, what, origin })
}

fn origin(dir: BorrowedFd<'_>, name: &[u8]) -> Origin {
    let Some(handle) = marked(dir, name, ORIGIN) else { return Origin::New };
    let number = handle.get(INODE_AT..INODE_AT + 4).and_then(|bytes| bytes.try_into().ok());
    match (handle.starts_with(&[0, 0xfb]), handle.get(4), number) {
        // A generation follows the number: the handle is of the kind that has one.
        (true, Some(1), Some(number)) => Origin::CopiedFrom(u64::from(u32::from_le_bytes(number))),
        _ => Origin::Copied,
    }
}

/// Where a name in an open directory is, for calls that take no handle.
pub(super) fn path_of(dir: BorrowedFd<'_>, name: &[u8]) -> Vec<u8> {
    [format!("/proc/self/fd/{}/", dir.as_raw_fd()).as_bytes(), name].concat()
}

fn marked(dir: BorrowedFd<'_>, name: &[u8], mark: &str) -> Option<Vec<u8>> {
    let mut room = [0; MAX_HANDLE];
    let read = rustix::fs::lgetxattr(path_of(dir, name), mark, &mut room[..]).ok()?;
    Some(room[..read].to_vec())
}

/// Takes the kernel's own marks from something, and what would give it rights when it is run.
pub(super) fn unmark(dir: BorrowedFd<'_>, name: &[u8]) {
    let path = path_of(dir, name);
    let mut room = vec![0; MARKS];
    let read = match rustix::fs::llistxattr(path.as_slice(), &mut room[..]) {
        Err(Errno::RANGE) => {
            room.resize(MOST_MARKS, 0);
            rustix::fs::llistxattr(path.as_slice(), &mut room[..])
        }
        read => read,
    };
    let Ok(read) = read else { return };
    let is_taken = |mark: &&[u8]| mark.starts_with(OWN) || mark.starts_with(SECURITY);
    for mark in room[..read].split(|b| *b == 0).filter(is_taken) {
        let removed = rustix::fs::lremovexattr(path.as_slice(), mark);
        if removed.is_err() && mark == CAPABILITY {
            // Its owner may not remove it; giving a file to the one who has it does.
            let _ = rustix::fs::chownat(dir, name, None, None, AtFlags::SYMLINK_NOFOLLOW);
        }
    }
}

/// Opens something in an upper directory for reading, which its owner may always do there: where its
/// mode forbids it, that is changed. Whoever needs the mode has looked at it before.
pub(super) fn open(dir: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    match entry(dir, name, OFlags::RDONLY) {
        Err(Errno::ACCESS) => {
            set_mode(dir, name, |mode| mode | 0o700)?;
            entry(dir, name, OFlags::RDONLY)
        }
        opened => opened,
    }
}

/// Sets a mode without following a link.
pub(super) fn set_mode(
    dir: BorrowedFd<'_>,
    name: &[u8],
    of: impl Fn(u32) -> u32,
) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let mode = rustix::fs::fstat(&handle)?.st_mode & 0o7777;
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(path, Mode::from_raw_mode(of(mode)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::XattrFlags;

    #[test]
    fn what_gives_a_file_rights_is_taken_from_it_and_its_owners_marks_are_not() {
        let holder = tempfile::tempdir().unwrap();
        let file = holder.path().join("f");
        std::fs::write(&file, "f").unwrap();
        let dir = std::fs::File::open(holder.path()).unwrap();
        let set = |mark: &str, value: &[u8]| {
            rustix::fs::lsetxattr(&file, mark, value, XattrFlags::empty())
        };
        set("user.theirs", b"1").unwrap();
        set("user.overlay.origin", b"1").unwrap();
        if rustix::process::geteuid().is_root() {
            // Of the second version, effective: to set the time.
            let rights = [1, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            set("security.capability", &rights).unwrap();
        }
        unmark(dir.as_fd(), b"f");
        let mut room = [0; 512];
        let left = rustix::fs::llistxattr(&file, &mut room[..]).unwrap();
        assert_eq!(&room[..left], b"user.theirs\0");
    }
}
