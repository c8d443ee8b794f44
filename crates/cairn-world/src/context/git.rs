//! A few facts of a git repository, read from its files without git. Whatever the files are like,
//! this takes bounded time and memory, follows no link, and tells nothing that git would not write.

use super::index::{self, Index};
use crate::folders::root_directory::{RootDirectory, entry};
use memchr::memmem;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

/// A larger HEAD, ref or `.git` file is none.
const SMALL: u64 = 4096;
/// A larger packed-refs is not looked through.
const MOST_PACKED: u64 = 4 << 20;
/// The longest name of a branch that is told.
const LONGEST_NAME: usize = 200;

/// A repository, as its files say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its root: the directory with the `.git`.
    pub root: PathBuf,
    /// What is checked out.
    pub head: Head,
    /// Its index. Absent when it cannot be read, and in a linked worktree, whose index is elsewhere.
    pub index: Option<Index>,
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch.
    Branch {
        /// Its name, without `refs/heads/`.
        name: String,
        /// Its commit, in hex, where it can be found cheaply.
        commit: Option<String>,
    },
    /// A branch without a commit.
    Unborn {
        /// Its name.
        name: String,
    },
    /// A commit, and no branch.
    Detached {
        /// The commit, in hex.
        commit: String,
    },
    /// HEAD is not as git writes it.
    Unreadable,
}

impl Repository {
    /// The repository whose root this is; absent when there is no `.git`.
    pub(super) fn at(directory: &RootDirectory, uid: u32) -> Option<Repository> {
        let root = directory.path().to_owned();
        let stat =
            rustix::fs::statat(directory.handle(), ".git", AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let unknown = Repository { root: root.clone(), head: Head::Unreadable, index: None };
        if kind.is_file() {
            let head = elsewhere(directory.handle(), uid)
                .map_or(Head::Unreadable, |git| head(git.as_fd(), |_| None));
            return Some(Repository { head, ..unknown });
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let Ok(git) = entry(directory.handle(), b".git", flags) else { return Some(unknown) };
        let head = head(git.as_fd(), |name| commit(git.as_fd(), name));
        let hash_bytes = match &head {
            Head::Branch { commit: Some(commit), .. } | Head::Detached { commit } => {
                commit.len() / 2
            }
            _ => index::SHA1,
        };
        let index = file(git.as_fd(), "index").and_then(|file| index::read(file, hash_bytes));
        Some(Repository { root, head, index })
    }
}

/// What git says of a branch's commit.
enum Found {
    Commit(String),
    NoneYet,
}

/// The directory that a `.git` file points to. Only this user's or root's is opened.
fn elsewhere(directory: BorrowedFd<'_>, uid: u32) -> Option<OwnedFd> {
    let text = small(directory, ".git")?;
    let path = text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let git = rustix::fs::openat(directory, path, flags, Mode::empty()).ok()?;
    let owner = rustix::fs::fstat(&git).ok()?.st_uid;
    (owner == uid || owner == 0).then_some(git)
}

fn head(git: BorrowedFd<'_>, commit: impl FnOnce(&str) -> Option<Found>) -> Head {
    let Some(text) = small(git, "HEAD") else { return Head::Unreadable };
    let text = text.trim_end_matches('\n');
    if is_commit(text) {
        return Head::Detached { commit: text.to_owned() };
    }
    let Some(full) = text.strip_prefix("ref: ").filter(|full| is_ref(full)) else {
        return Head::Unreadable;
    };
    let name = full.strip_prefix("refs/heads/").unwrap_or(full).to_owned();
    match commit(full) {
        Some(Found::Commit(commit)) => Head::Branch { name, commit: Some(commit) },
        Some(Found::NoneYet) => Head::Unborn { name },
        None => Head::Branch { name, commit: None },
    }
}

/// A ref's commit: its own file, else its line among the packed ones.
fn commit(git: BorrowedFd<'_>, full: &str) -> Option<Found> {
    let is_missing = |path: &str| {
        let stat = rustix::fs::statat(git, path, AtFlags::SYMLINK_NOFOLLOW);
        matches!(stat, Err(Errno::NOENT | Errno::NOTDIR))
    };
    if !is_missing(full) {
        let text = small(git, full)?;
        let text = text.trim_end_matches('\n');
        return is_commit(text).then(|| Found::Commit(text.to_owned()));
    }
    if is_missing("packed-refs") {
        return Some(Found::NoneYet);
    }
    let packed = file(git, "packed-refs")?;
    let mut bytes = Vec::new();
    packed.take(MOST_PACKED + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MOST_PACKED {
        return None;
    }
    let line_end = format!(" {full}\n");
    let Some(end) = memmem::find(&bytes, line_end.as_bytes()) else { return Some(Found::NoneYet) };
    let start = memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |at| at + 1);
    let text = std::str::from_utf8(&bytes[start..end]).ok().filter(|text| is_commit(text))?;
    Some(Found::Commit(text.to_owned()))
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether git could have given a ref this name, and it can be shown as one word.
fn is_ref(name: &str) -> bool {
    let good = |c: char| {
        !c.is_control()
            && !c.is_whitespace()
            && !matches!(c, '~' | '^' | ':' | '?' | '*' | '[' | '\\')
    };
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.starts_with("refs/")
        && name.len() <= LONGEST_NAME
        && name.chars().all(good)
        && cairn_text::shown::clean(name) == name
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(part)
}

/// The text of a small file, whole.
fn small(directory: BorrowedFd<'_>, path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    file(directory, path)?.take(SMALL + 1).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= SMALL)
}

/// Opens a regular file; a link on the way, a pipe or a device is none.
fn file(directory: BorrowedFd<'_>, path: &str) -> Option<File> {
    let fd = entry(directory, path.as_bytes(), OFlags::RDONLY).ok()?;
    let stat = rustix::fs::fstat(&fd).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| File::from(fd))
}
