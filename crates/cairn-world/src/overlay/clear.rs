//! Removes a directory with all that is in it, however deep that is and whatever modes it has. Only for
//! directories of Cairn's own.

use super::layer;
use crate::walk::names;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

fn inner(dir: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

/// Removes a directory. One in it is emptied by bringing its own directories up, so that no path grows
/// and few handles are open.
pub(super) fn clear(dir: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    let top = match inner(dir, name) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    let mut brought_up = 0_u64;
    loop {
        let found = names(&inner(dir, name)?)?;
        if found.is_empty() {
            return rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR);
        }
        for item in found {
            match item.directory() {
                None => rustix::fs::unlinkat(&top, item.bare(), AtFlags::empty())?,
                Some(inside) => empty(top.as_fd(), inside, &mut brought_up)?,
            }
        }
    }
}

/// Empties a directory of `top` and removes it.
fn empty(top: BorrowedFd<'_>, name: &[u8], brought_up: &mut u64) -> Result<(), Errno> {
    layer::set_mode(top, name, |_| 0o700)?;
    let here = inner(top, name)?;
    for item in names(&here)? {
        let Some(inside) = item.directory() else {
            rustix::fs::unlinkat(&here, item.bare(), AtFlags::empty())?;
            continue;
        };
        layer::set_mode(here.as_fd(), inside, |_| 0o700)?;
        loop {
            *brought_up += 1;
            let to = format!("{brought_up}.up");
            match rustix::fs::renameat_with(&here, inside, top, &to, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                moved => break moved?,
            }
        }
    }
    rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)
}
