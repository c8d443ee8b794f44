//! What a file has besides its bytes, mode, owner and times: `user.*` extended attributes and POSIX access control
//! lists. Nothing that gives a file rights or says who vouches for it (`security.*`, `trusted.*`), and not the
//! overlay's own.

use cairn_types::FileAttribute;
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::AsFd;

/// What every attribute begins with that anybody may set on their own file.
const USER: &str = "user.";
/// What the overlay's own begin with.
const OVERLAY: &str = "user.overlay.";
/// The access control lists of a file and of what is made in a directory.
const LISTS: [&str; 2] = ["system.posix_acl_access", "system.posix_acl_default"];
/// How much room the names, and one value, are first given.
const ROOM: usize = 1 << 10;
/// How many bytes all names, or one value, may have; the kernel allows no more either.
const MOST: usize = 64 << 10;

/// Whether an attribute is kept when a file is replaced.
fn is_kept(name: &str) -> bool {
    (name.starts_with(USER) && !name.starts_with(OVERLAY)) || LISTS.contains(&name)
}

/// Returns the attributes of an open file or directory, by name; `None` where the file system has none.
pub(crate) fn of(file: impl AsFd) -> Result<Option<Vec<FileAttribute>>, Errno> {
    Ok(values(&file)?.map(|found| {
        let attribute = |(name, value): (String, Vec<u8>)| FileAttribute::new(name, &value);
        found.into_iter().map(attribute).collect()
    }))
}

/// Gives a file or directory just these attributes, of those that are kept. Says which could not be set.
pub(crate) fn set(file: impl AsFd, wanted: &[FileAttribute]) -> Result<(), (String, Errno)> {
    let unread = |e| ("its extended attributes".to_owned(), e);
    let mut had = values(&file).map_err(unread)?.unwrap_or_default();
    for attribute in wanted {
        let name = attribute.name.as_str();
        let failed = |e| (name.to_owned(), e);
        let value = attribute.bytes().filter(|_| is_kept(name)).ok_or(failed(Errno::INVAL))?;
        if had.remove(name).as_deref() != Some(value.as_slice()) {
            rustix::fs::fsetxattr(&file, name, &value, XattrFlags::empty()).map_err(failed)?;
        }
    }
    for name in had.keys() {
        match rustix::fs::fremovexattr(&file, name.as_str()) {
            Ok(()) | Err(Errno::NODATA) => {}
            Err(e) => return Err((name.clone(), e)),
        }
    }
    Ok(())
}

/// The kept attributes by name; `None` where the file system has none.
fn values(file: &impl AsFd) -> Result<Option<BTreeMap<String, Vec<u8>>>, Errno> {
    let names = match read(|room| rustix::fs::flistxattr(file, room)) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
        names => names?,
    };
    let mut found = BTreeMap::new();
    for name in names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok()) {
        if is_kept(name) {
            match read(|room| rustix::fs::fgetxattr(file, name, room)) {
                Err(Errno::NODATA) => {}
                value => drop(found.insert(name.to_owned(), value?)),
            }
        }
    }
    Ok(Some(found))
}

/// Reads into as much room as it takes.
fn read(mut get: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut room = vec![0; ROOM];
    let read = match get(&mut room) {
        Err(Errno::RANGE) => {
            room.resize(MOST, 0);
            get(&mut room)?
        }
        read => read?,
    };
    room.truncate(read);
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_attributes_that_anybody_may_set_are_kept() {
        for (name, expected) in [
            ("user.note", true),
            ("user.overlay.origin", false),
            ("system.posix_acl_access", true),
            ("system.posix_acl_default", true),
            ("security.capability", false),
            ("security.selinux", false),
            ("trusted.overlay.opaque", false),
        ] {
            assert_eq!(is_kept(name), expected, "{name}");
        }
    }
}
