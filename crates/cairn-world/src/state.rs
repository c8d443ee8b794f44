//! What stands at a path right now, and whether that is what somebody expected. Follows no link.

use crate::path;
use crate::settled::Refusal;
use crate::workspace::{Workspace, entry, refusal};
use cairn_types::{FileKind, FileState, Hash, Status};
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
pub(crate) fn at(workspace: &Workspace, path: &str) -> Result<Standing, Refusal> {
    let (directory, name) = path::split(path);
    let dir = match workspace.directory(directory) {
        Ok(dir) => dir,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(e) => return Err(refusal(path, e)),
    };
    named(dir.as_fd(), name, path)
}

/// What stands under a name in a directory; `path` is for sentences.
pub(crate) fn named(dir: BorrowedFd<'_>, name: &str, path: &str) -> Result<Standing, Refusal> {
    let refuse = |e: Errno| refusal(path, e);
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(e) => return Err(refuse(e)),
    };
    let state = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let file = File::from(entry(dir, name.as_bytes(), OFlags::RDONLY).map_err(refuse)?);
            of_file(&stat, hash(file).map_err(|e| unread(path, &e))?)
        }
        FileType::Directory => of(&stat, FileKind::Directory),
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

/// The bytes of the file at a real path.
pub(crate) fn bytes_at(workspace: &Workspace, path: &str) -> Result<Vec<u8>, Refusal> {
    let (directory, name) = path::split(path);
    let opened = workspace
        .directory(directory)
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
    FileState { kind, hash: None, bytes: None, mode, mtime_ns, link: None, uid, gid, aside: None }
}

/// Whether two states are the same but for their times and owners. A link's mode means nothing.
#[must_use]
pub fn same(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    let mode = |s: &FileState| if s.kind == FileKind::Symlink { 0 } else { s.mode };
    let key = |s: Option<&FileState>| s.map(|s| (s.kind, s.hash, mode(s), s.link.clone()));
    key(one) == key(other)
}
