//! Removes a directory with all that is in it, however deep that is and whatever modes it has. Only for
//! directories of Cairn's own.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, RenameFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Room for names between two questions to the kernel.
const ROOM: usize = 32 * 1024;

/// A name in a directory, and whether it is a directory's.
type Name = (CString, bool);

/// The names in a directory.
fn names(dir: &OwnedFd) -> Result<Vec<Name>, Errno> {
    let mut found = Vec::new();
    let mut room = Vec::with_capacity(ROOM);
    let mut items = RawDir::new(dir, room.spare_capacity_mut());
    while let Some(item) = items.next() {
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
        found.push((name.to_owned(), kind.is_dir()));
    }
    Ok(found)
}

/// Opens a directory to its owner, without following a link.
fn open_up(dir: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(path, Mode::from_raw_mode(0o700))
}

fn inner(dir: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

/// Removes a directory of this one, if it is there. One in it is emptied by bringing its own directories up, so that no path grows
/// and few handles are open.
pub fn clear(dir: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    let top = match inner(dir, name) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ACCESS) => {
            open_up(dir, name)?;
            inner(dir, name)?
        }
        opened => opened?,
    };
    let mut brought_up = 0_u64;
    loop {
        let found = names(&inner(dir, name)?)?;
        if found.is_empty() {
            return rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR);
        }
        for (name, is_directory) in found {
            match is_directory {
                false => rustix::fs::unlinkat(&top, &name, AtFlags::empty())?,
                true => empty(top.as_fd(), name.as_bytes(), &mut brought_up)?,
            }
        }
    }
}

/// Empties a directory of `top` and removes it.
fn empty(top: BorrowedFd<'_>, name: &[u8], brought_up: &mut u64) -> Result<(), Errno> {
    open_up(top, name)?;
    let here = inner(top, name)?;
    for (inside, is_directory) in names(&here)? {
        if !is_directory {
            rustix::fs::unlinkat(&here, &inside, AtFlags::empty())?;
            continue;
        }
        open_up(here.as_fd(), inside.as_bytes())?;
        loop {
            *brought_up += 1;
            let to = format!("{brought_up}.up");
            match rustix::fs::renameat_with(&here, &inside, top, &to, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                moved => break moved?,
            }
        }
    }
    rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)
}
