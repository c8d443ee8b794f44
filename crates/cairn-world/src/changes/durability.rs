//! When changes are made safe against a power cut: a few of them one by one, many of them together, by syncing the
//! file systems they are on. So the number of syncs does not grow with the number of files.

use crate::changes::swap::Problem;
use crate::folders::path;
use crate::folders::roots::Roots;
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};

/// From so many changes on they are synced together.
const TOGETHER_FROM: usize = 20;

/// How changes are made safe against a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Each by itself, as soon as it is made.
    OneByOne,
    /// All of them by `sync_file_systems`: their bytes before any of them takes its place, and then their places.
    Together,
}

impl Durability {
    /// How a list of so many changes is made safe.
    pub(crate) fn of_list(changes: usize) -> Durability {
        if changes < TOGETHER_FROM { Durability::OneByOne } else { Durability::Together }
    }

    /// Syncs a file that was written, unless all are synced together.
    pub(crate) fn sync_file(self, file: impl AsFd) -> Result<(), Errno> {
        match self {
            Durability::OneByOne => rustix::fs::fsync(file),
            Durability::Together => Ok(()),
        }
    }

    /// Syncs what came into a directory, or went from it, unless all are synced together.
    pub(crate) fn sync_directory(self, dir: &OwnedFd) -> Result<(), Problem> {
        match self {
            Durability::OneByOne => sync_directory(dir),
            Durability::Together => Ok(()),
        }
    }
}

/// Makes what came into a directory, or went from it, safe against a power cut.
pub(crate) fn sync_directory(dir: &OwnedFd) -> Result<(), Problem> {
    match rustix::fs::fsync(dir) {
        // A file system that knows no such thing for directories.
        Ok(()) | Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        Err(e) => Err(Problem::NotDurable(e)),
    }
}

/// Syncs every file system that one of these paths is on, each once. A directory that is gone is on that of the one
/// it was in.
pub(crate) fn sync_file_systems<'a>(
    roots: &Roots,
    paths: impl Iterator<Item = &'a str>,
) -> Result<(), Problem> {
    let (mut directories, mut devices) = (HashSet::new(), HashSet::new());
    for path in paths {
        let mut directory = path::split(path).0;
        while directories.insert(directory) {
            let opened = match roots.root_of(path).open_directory(directory) {
                Ok(opened) => opened,
                Err(_) if directory == "." => break,
                Err(_) => {
                    directory = path::split(directory).0;
                    continue;
                }
            };
            if devices.insert(rustix::fs::fstat(&opened)?.st_dev) {
                rustix::fs::syncfs(&opened).map_err(Problem::NotDurable)?;
            }
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_changes_are_synced_one_by_one_and_many_together() {
        assert_eq!(Durability::of_list(19), Durability::OneByOne);
        assert_eq!(Durability::of_list(20), Durability::Together);
    }
}
