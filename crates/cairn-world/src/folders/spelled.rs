//! How a directory itself spells a name. Where a file system takes several spellings for one name (letters of
//! either case, accents composed or not, short names), the kernel tells a path as it was asked for; rules are
//! about names as they are.

use crate::folders::root_directory::within;
use crate::folders::walk::names;
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};

/// A path beneath the root, without links in it, as its directories spell it.
pub(crate) fn as_written(root: BorrowedFd<'_>, inner: &str) -> Result<String, Errno> {
    let mut path = String::with_capacity(inner.len());
    for part in inner.split('/').filter(|part| !part.is_empty()) {
        let name = in_directory(root, &path, part)?;
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&name);
    }
    Ok(path)
}

/// A name in a directory beneath the root, as that spells it.
fn in_directory(root: BorrowedFd<'_>, directory: &str, name: &str) -> Result<String, Errno> {
    let path = |name: &str| match directory {
        "" => name.to_owned(),
        directory => format!("{directory}/{name}"),
    };
    if is_simple(name) && !is_folded(root, &path(name), &path(&other_case(name))) {
        return Ok(name.to_owned());
    }
    let stat = rustix::fs::statat(root, path(name), AtFlags::SYMLINK_NOFOLLOW)?;
    let handle = within(root, if directory.is_empty() { "." } else { directory })?;
    let listed = names(&handle)?.into_iter();
    let listed = listed.filter_map(|name| String::from_utf8(name.into_bytes()).ok());
    the_one(name, listed, |listed| is_the_same(&handle, listed, &stat)).ok_or(Errno::NOENT)
}

/// A name that another spelling can differ from only by its letters' case.
fn is_simple(name: &str) -> bool {
    name.is_ascii() && !name.contains(['~', ':']) && !name.ends_with(['.', ' '])
}

/// Whether a name is found by letters of the other case, too.
fn is_folded(root: BorrowedFd<'_>, path: &str, other: &str) -> bool {
    let stat = |path: &str| rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW);
    let place = |stat: &Stat| (stat.st_dev, stat.st_ino);
    // Nearly always there is nothing of the other name.
    path != other
        && stat(other).is_ok_and(|other| stat(path).is_ok_and(|one| place(&one) == place(&other)))
}

fn other_case(name: &str) -> String {
    let other = |c: char| match c.is_ascii_lowercase() {
        true => c.to_ascii_uppercase(),
        false => c.to_ascii_lowercase(),
    };
    name.chars().map(other).collect()
}

fn is_the_same(directory: &OwnedFd, name: &str, stat: &Stat) -> bool {
    let found = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| (found.st_dev, found.st_ino) == (stat.st_dev, stat.st_ino))
}

/// The name that a directory lists for one that was given: that itself, or else the only one that is the
/// same thing.
fn the_one(
    given: &str,
    listed: impl Iterator<Item = String>,
    mut is_same: impl FnMut(&str) -> bool,
) -> Option<String> {
    let listed: Vec<String> = listed.collect();
    if listed.iter().any(|name| name == given) {
        return Some(given.to_owned());
    }
    let mut same = listed.into_iter().filter(|name| is_same(name));
    same.next().filter(|_| same.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::fd::AsFd;

    #[test]
    fn a_name_is_the_one_that_is_listed() {
        let check = |given: &str, listed: &[(&str, u8)], expected: Option<&str>| {
            let folded = |name: &str| name.to_lowercase();
            let number = |name: &str| listed.iter().find(|(n, _)| *n == name).map(|(_, n)| *n);
            let wanted = listed.iter().find(|(n, _)| folded(n) == folded(given)).map(|(_, n)| *n);
            let names = listed.iter().map(|(name, _)| (*name).to_owned());
            let got = the_one(given, names, |name| number(name) == wanted);
            assert_eq!(got.as_deref(), expected, "{given}");
        };
        check(".ENV", &[(".env", 1), ("b", 2)], Some(".env"));
        check("É", &[("é", 1), ("e", 2)], Some("é"));
        check("a", &[("a", 1), ("A", 1)], Some("a"));
        // Two names of one file: which of them is meant cannot be told.
        check("ENV", &[("env", 1), ("other", 1)], None);
        check("gone", &[("env", 1)], None);
    }

    #[test]
    fn names_that_are_kept_apart_are_told_as_they_are() {
        let holder = tempfile::tempdir().unwrap();
        let root = holder.path();
        fs::create_dir_all(root.join("a/B")).unwrap();
        for name in ["a/B/f", "a/B/é", "a/B/e\u{301}", "a/B/x~1", "a/B/dot.", "a/B/12"] {
            fs::write(root.join(name), "").unwrap();
        }
        // One file under both names, as a folding directory would have it.
        fs::hard_link(root.join("a/B/f"), root.join("a/B/F")).unwrap();
        let handle = fs::File::open(root).unwrap();
        for name in ["a/B/f", "a/B/F", "a/B/é", "a/B/e\u{301}", "a/B/x~1", "a/B/dot.", "a/B/12", ""]
        {
            assert_eq!(as_written(handle.as_fd(), name).as_deref(), Ok(name));
        }
        for name in ["a/b/é", "a/B/É", "a/B/x~2"] {
            assert_eq!(as_written(handle.as_fd(), name), Err(Errno::NOENT), "{name}");
        }
    }
}
