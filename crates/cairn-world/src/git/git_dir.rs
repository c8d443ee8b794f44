//! Where a repository keeps its own files when that is not `.git`: a `.git` that is a file, or a
//! link, names another directory, and that is then as much out of reach. Changes nothing.

use crate::folders::root_directory::{entry, link_of};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What is read of a file that names a directory.
const MAX_NAME: u64 = 8 << 10;

/// The real paths of the directories that are named by a `.git` in the root, or in a directory on
/// the way from there to a real path beneath it.
pub(crate) fn named(root: BorrowedFd<'_>, path: &str) -> Vec<PathBuf> {
    let inner = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    let mut directory = PathBuf::from(".");
    let mut found = Vec::from_iter(named_in(root, &directory));
    for part in inner {
        directory.push(part);
        found.extend(named_in(root, &directory));
    }
    found
}

/// The directory that the `.git` of this one names. One that this one lies in itself is left out:
/// nothing would be left in reach.
fn named_in(root: BorrowedFd<'_>, directory: &Path) -> Option<PathBuf> {
    let here = open(root, directory, OFlags::NOFOLLOW)?;
    let own = link_of(&opened(here.as_fd())?).ok()?;
    (!link_of(&here).ok()?.starts_with(&own)).then_some(own)
}

/// The directory that a `.git` in this one names, opened.
pub(crate) fn opened(here: BorrowedFd<'_>) -> Option<OwnedFd> {
    let stat = rustix::fs::statat(here, ".git", AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let name = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => PathBuf::from(".git"),
        FileType::RegularFile => PathBuf::from(text_of(here)?),
        _ => return None,
    };
    open(here, &name, OFlags::empty())
}

/// The own directory of the repository whose `.git` is in this one, and its real path. One that lies
/// elsewhere is looked at only where it is this user's or root's.
pub(crate) fn own(here: BorrowedFd<'_>) -> Option<(OwnedFd, PathBuf)> {
    let stat = rustix::fs::statat(here, ".git", AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if FileType::from_raw_mode(stat.st_mode).is_dir() {
        let git = open(here, Path::new(".git"), OFlags::NOFOLLOW)?;
        let path = link_of(&git).ok()?;
        return Some((git, path));
    }
    let git = opened(here)?;
    let owner = rustix::fs::fstat(&git).ok()?.st_uid;
    let is_trusted = owner == 0 || owner == rustix::process::geteuid().as_raw();
    let path = link_of(&git).ok()?;
    is_trusted.then_some((git, path))
}

/// The directory that all worktrees of that repository have in common.
pub(crate) fn common(here: BorrowedFd<'_>) -> Option<(OwnedFd, PathBuf)> {
    let (git, path) = own(here)?;
    let Some(named) = file_text(git.as_fd(), "commondir") else { return Some((git, path)) };
    let git = open(git.as_fd(), Path::new(named.trim()), OFlags::empty())?;
    let path = link_of(&git).ok()?;
    Some((git, path))
}

/// What the `.git` of a directory makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DotGit {
    /// There is none.
    Absent,
    /// It is none that git would take: it has no `HEAD`, or names a directory that is not there or another user's.
    /// Whether the directory was meant to be a repository is not known.
    NotUnderstood,
    Repository,
}

impl DotGit {
    pub(crate) fn of(here: BorrowedFd<'_>) -> DotGit {
        let is_there =
            |dir, name: &str| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        match own(here) {
            Some((git, _)) if is_there(git.as_fd(), "HEAD") => DotGit::Repository,
            None if !is_there(here, ".git") => DotGit::Absent,
            _ => DotGit::NotUnderstood,
        }
    }
}

fn file_text(dir: BorrowedFd<'_>, name: &str) -> Option<String> {
    let file = entry(dir, name.as_bytes(), OFlags::RDONLY).ok()?;
    let mut text = String::new();
    File::from(file).take(MAX_NAME).read_to_string(&mut text).ok()?;
    Some(text)
}

fn open(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | flags;
    rustix::fs::openat(dir, path, flags, Mode::empty()).ok()
}

/// What the file `.git` of a directory names.
fn text_of(directory: BorrowedFd<'_>) -> Option<String> {
    Some(file_text(directory, ".git")?.strip_prefix("gitdir:")?.trim().to_owned())
}
