//! What stands at a path right now, and whether that is what somebody expected. Follows no link.

use crate::changes::attributes;
use crate::folders::path;
use crate::folders::root_directory::{RootDirectory, entry};
use crate::folders::workspace::refusal;
use crate::settled::Refusal;
use cairn_types::{Change, FileAttribute, FileKind, FileState, Hash, Status};
use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};

/// Something that was seen.
pub(crate) type Seen = (FileState, Stat);

/// Something at a path, or nothing.
pub(crate) type Standing = Option<Seen>;

/// What stands at a real path.
pub(crate) fn at(root: &RootDirectory, path: &str) -> Result<Standing, Refusal> {
    among(root, path, &[])
}

/// What stands at the path of a change, as far as the change knows it.
pub(crate) fn of_change(root: &RootDirectory, change: &Change) -> Result<Standing, Refusal> {
    let known: Vec<&FileState> = [&change.before, &change.after].into_iter().flatten().collect();
    among(root, &change.path, &known)
}

/// What stands at a real path. Something that is moved and not written is told as the one of these
/// that it is, and is not read.
pub(crate) fn among(
    root: &RootDirectory,
    path: &str,
    known: &[&FileState],
) -> Result<Standing, Refusal> {
    let (directory, name) = path::split(path);
    let dir = match root.open_directory(directory) {
        Ok(dir) => dir,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(e) => return Err(refusal(path, e)),
    };
    let known: Vec<&FileState> = known.iter().copied().filter(|s| s.aside.is_some()).collect();
    if known.is_empty() {
        return named(dir.as_fd(), name, path);
    }
    let stat = match stat_of(dir.as_fd(), name, path)? {
        Some(stat) => stat,
        None => return Ok(None),
    };
    match known.iter().find(|state| is_moved_one(state, &stat)) {
        Some(state) => {
            let now = of(&stat, state.kind);
            let bytes = state.bytes.and(u64::try_from(stat.st_size).ok());
            Ok(Some((FileState { bytes, aside: state.aside.clone(), ..now }, stat)))
        }
        None => named(dir.as_fd(), name, path),
    }
}

/// Whether something is what a state that is moved and not written knows by its number.
pub(crate) fn is_moved_one(state: &FileState, stat: &Stat) -> bool {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        _ => return false,
    };
    state.kind == kind && state.aside.as_ref().is_some_and(|aside| aside.inode == stat.st_ino)
}

/// Whether something that is moved and not written is as it was when its state was taken, by its size
/// and time: its bytes are nowhere else. What is written is known by its content.
pub(crate) fn is_untouched(was: Option<&FileState>, now: Option<&FileState>) -> bool {
    match (was.filter(|was| was.aside.is_some()), now) {
        (Some(was), Some(now)) => {
            was.bytes == now.bytes && (was.mtime_ns.is_none() || was.mtime_ns == now.mtime_ns)
        }
        (None, _) | (_, None) => true,
    }
}

/// Whether a file that was moved into its place was written to since, by its size and time. What is written by an op
/// is known by its content instead.
#[must_use]
pub fn is_edited_since(was: Option<&FileState>, now: Option<&FileState>) -> bool {
    now.is_some_and(|now| now.kind == FileKind::File) && !is_untouched(was, now)
}

fn stat_of(dir: BorrowedFd<'_>, name: &str, path: &str) -> Result<Option<Stat>, Refusal> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(refusal(path, e)),
    }
}

/// What kind of thing stands at a real path, if it is one that ops know. Nothing of it is read.
pub(crate) fn kind_at(root: &RootDirectory, path: &str) -> Option<FileKind> {
    let (directory, name) = path::split(path);
    let dir = root.open_directory(directory).ok()?;
    match FileType::from_raw_mode(stat_of(dir.as_fd(), name, path).ok()??.st_mode) {
        FileType::RegularFile => Some(FileKind::File),
        FileType::Directory => Some(FileKind::Directory),
        FileType::Symlink => Some(FileKind::Symlink),
        _ => None,
    }
}

/// What stands under a name in a directory; `path` is for sentences.
pub(crate) fn named(dir: BorrowedFd<'_>, name: &str, path: &str) -> Result<Standing, Refusal> {
    let refuse = |e: Errno| refusal(path, e);
    let Some(stat) = stat_of(dir, name, path)? else { return Ok(None) };
    let state = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let file = File::from(entry(dir, name.as_bytes(), OFlags::RDONLY).map_err(refuse)?);
            let attributes = attributes::of(&file).map_err(refuse)?;
            FileState { attributes, ..of_file(&stat, hash(file).map_err(|e| unread(path, &e))?) }
        }
        FileType::Directory => {
            let attributes = of_directory(dir, name).map_err(refuse)?;
            FileState { attributes, ..of(&stat, FileKind::Directory) }
        }
        FileType::Symlink => {
            let link = rustix::fs::readlinkat(dir, name, Vec::new()).map_err(refuse)?;
            let link = link.into_string().map_err(|_| {
                Refusal::new(Status::NOT_TEXT, format!("{path} links to a path that is not UTF-8"))
            })?;
            FileState { link: Some(link), ..of(&stat, FileKind::Symlink) }
        }
        _ => {
            let text = format!("{path} is neither a file, a directory nor a link");
            return Err(Refusal::new(Status::NOT_TEXT, text));
        }
    };
    Ok(Some((state, stat)))
}

/// The attributes of a directory; nothing is said of one that may not be opened.
pub(crate) fn of_directory(
    dir: BorrowedFd<'_>,
    name: &str,
) -> Result<Option<Vec<FileAttribute>>, Errno> {
    match entry(dir, name.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY) {
        Err(Errno::ACCESS | Errno::PERM) => Ok(None),
        opened => attributes::of(opened?),
    }
}

/// The bytes of the file at a real path.
pub(crate) fn bytes_at(root: &RootDirectory, path: &str) -> Result<Vec<u8>, Refusal> {
    let (directory, name) = path::split(path);
    let opened = root
        .open_directory(directory)
        .and_then(|dir| entry(dir.as_fd(), name.as_bytes(), OFlags::RDONLY));
    let mut bytes = Vec::new();
    File::from(opened.map_err(|e| refusal(path, e))?)
        .read_to_end(&mut bytes)
        .map_err(|e| unread(path, &e))?;
    Ok(bytes)
}

pub(crate) fn unread(path: &str, error: &std::io::Error) -> Refusal {
    Refusal::new(Status::FAILED, format!("{path} could not be read: {error}"))
}

fn hash(mut file: File) -> std::io::Result<Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Hash(*hasher.finalize().as_bytes())),
            n => drop(hasher.update(&buffer[..n])),
        }
    }
}

/// The state of a regular file with this content.
pub(crate) fn of_file(stat: &Stat, hash: Hash) -> FileState {
    let bytes = u64::try_from(stat.st_size).ok();
    FileState { hash: Some(hash), bytes, ..of(stat, FileKind::File) }
}

/// The state of what a stat is of, without its content or target.
pub(crate) fn of(stat: &Stat, kind: FileKind) -> FileState {
    let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    let mtime_ns = stat.st_mtime.checked_mul(1_000_000_000).and_then(|s| s.checked_add(nanos));
    let mode = stat.st_mode & 0o7777;
    let (uid, gid) = (Some(stat.st_uid), Some(stat.st_gid));
    FileState {
        kind,
        hash: None,
        bytes: None,
        mode,
        mtime_ns,
        link: None,
        uid,
        gid,
        aside: None,
        attributes: None,
        entry: None,
    }
}

/// Whether two states are the same but for their times and owners. A link's mode means nothing. Of
/// what is moved and not written only its kind and its number are looked at. Attributes that one of
/// them says nothing of make no difference.
#[must_use]
pub fn same(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    let mode = |s: &FileState| if s.kind == FileKind::Symlink { 0 } else { s.mode };
    let key = |s: &FileState| match &s.aside {
        Some(aside) => (s.kind, Some(aside.inode), None, 0, None),
        None => (s.kind, None, s.hash, mode(s), s.link.clone()),
    };
    one.map(key) == other.map(key) && have_same_attributes(one, other)
}

fn have_same_attributes(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) if one.aside.is_none() && other.aside.is_none() => {
            match (&one.attributes, &other.attributes) {
                (Some(one), Some(other)) => one == other,
                (None, _) | (_, None) => true,
            }
        }
        _ => true,
    }
}

/// Whether two states are the same as far as rows can tell. What was moved into its place and is then
/// edited is read, and known by its content from there on: its size and time say that it is the one.
#[must_use]
pub fn alike(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    let looks = |s: &FileState| Some((s.kind, s.mode, s.bytes?, s.mtime_ns?));
    match (one, other) {
        (Some(one), Some(other)) if one.aside.is_some() != other.aside.is_some() => {
            let (one, other) = (looks(one), looks(other));
            one.is_some_and(|(kind, ..)| kind == FileKind::File) && one == other
        }
        (one, other) => same(one, other),
    }
}
