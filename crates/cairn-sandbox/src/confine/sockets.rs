//! The Unix sockets that exist beneath a directory. Reads names and their kinds alone, and follows no link.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Room for names between two questions to the kernel.
const ROOM: usize = 32 * 1024;

/// Where they are. A directory that cannot be read by us is passed over.
pub(super) fn beneath(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_owned()];
    let mut room = Vec::with_capacity(ROOM);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    while let Some(path) = todo.pop() {
        let Ok(dir) = rustix::fs::open(&path, flags, Mode::empty()) else { continue };
        let mut items = RawDir::new(&dir, room.spare_capacity_mut());
        while let Some(Ok(item)) = items.next() {
            let name = item.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match item.file_type() {
                FileType::Unknown => rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            let inner = || path.join(OsStr::from_bytes(name.to_bytes()));
            match kind {
                FileType::Directory => todo.push(inner()),
                FileType::Socket => found.push(inner()),
                _ => {}
            }
        }
    }
    found
}
