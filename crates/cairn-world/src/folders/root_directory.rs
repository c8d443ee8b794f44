//! One directory that everything in it is opened beneath: its handle, and how paths in it are written. Knows
//! nothing of what may be read or changed there; `workspace` does.

use crate::folders::path;
use crate::git::git_dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How often an open is tried again while the tree moves under it.
const TRIES: u32 = 16;

/// Why a directory cannot be a workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// It cannot be opened as a directory.
    #[error("{} cannot be opened as a workspace: {source}; name an existing directory", .path.display())]
    Open {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The kernel cannot keep paths beneath a directory.
    #[error("this kernel cannot keep paths beneath {} (openat2: {source}); Linux 5.6 or later is needed", .path.display())]
    Kernel {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

/// An open directory that paths are resolved beneath. Ops name a path in it by its *op path*: relative to the
/// directory if it is the project's, absolute in every other one. Its *inner path* is always relative.
#[derive(Debug)]
pub(crate) struct RootDirectory {
    handle: OwnedFd,
    /// Its path as it was given.
    given: PathBuf,
    /// Its path without links.
    path: PathBuf,
    umask: u32,
    /// What op paths begin with; `None` if they are relative.
    path_prefix: Option<String>,
}

impl RootDirectory {
    /// Opens a directory. Op paths in it are relative.
    pub(crate) fn open(given: &Path) -> Result<RootDirectory, WorldError> {
        let refused = |e: Errno| WorldError::Open { path: given.to_owned(), source: e.into() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(given, flags, Mode::empty()).map_err(refused)?;
        let path = link_of(&handle).map_err(refused)?;
        beneath(handle.as_fd(), ".", OFlags::PATH, ResolveFlags::BENEATH)
            .map_err(|e| WorldError::Kernel { path: given.to_owned(), source: e.into() })?;
        let given = given.to_owned();
        Ok(RootDirectory { handle, given, path, umask: umask(), path_prefix: None })
    }

    /// The same directory with absolute op paths.
    pub(crate) fn with_absolute_paths(self) -> RootDirectory {
        let path_prefix = self.path.to_str().map(|path| path.trim_end_matches('/').to_owned());
        RootDirectory { path_prefix, ..self }
    }

    /// What op paths begin with; `None` if they are relative.
    pub(crate) fn path_prefix(&self) -> Option<&str> {
        self.path_prefix.as_deref()
    }

    /// Its path as it was given, and without links.
    pub(crate) fn spellings(&self) -> [&Path; 2] {
        [&self.given, &self.path]
    }

    /// Whether an absolute path lies in it, as its text reads.
    pub(crate) fn contains_path(&self, path: &Path) -> bool {
        self.spellings().iter().any(|root| path.starts_with(root))
    }

    /// The op path of an inner path.
    pub(crate) fn op_path(&self, inner: &str) -> String {
        match (&self.path_prefix, inner) {
            (None, "" | ".") => ".".to_owned(),
            (None, inner) => inner.to_owned(),
            (Some(prefix), "" | ".") => prefix.clone(),
            (Some(prefix), inner) => format!("{prefix}/{inner}"),
        }
    }

    /// The inner path of an op path; `.` for the directory itself.
    pub(crate) fn inner_path<'a>(&self, op_path: &'a str) -> &'a str {
        let inner = match &self.path_prefix {
            None => op_path,
            Some(prefix) => {
                op_path.strip_prefix(prefix.as_str()).unwrap_or(op_path).trim_start_matches('/')
            }
        };
        if inner.is_empty() { "." } else { inner }
    }

    /// The absolute path of an op path.
    pub(crate) fn absolute_path(&self, op_path: &str) -> PathBuf {
        match self.inner_path(op_path) {
            "." => self.path.clone(),
            inner => self.path.join(inner),
        }
    }

    /// Its path without links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The mode of a new file.
    pub(crate) fn new_file_mode(&self) -> u32 {
        0o666 & !self.umask
    }

    /// The mode of a new directory.
    pub(crate) fn new_directory_mode(&self) -> u32 {
        0o777 & !self.umask
    }

    /// The bit by which a directory made at this real path takes its group from the one it is made
    /// in, as the system gives it: that of the nearest directory there is.
    pub(crate) fn group_bit(&self, mut directory: &str) -> u32 {
        loop {
            match self.open_directory(directory) {
                Ok(handle) => return rustix::fs::fstat(&handle).map_or(0, |s| s.st_mode & 0o2000),
                Err(Errno::NOENT) if directory != "." => directory = path::split(directory).0,
                Err(_) => return 0,
            }
        }
    }

    /// Its handle, for calls of the system that take one.
    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Opens a directory by its real path: no link on the way is followed.
    pub(crate) fn open_directory(&self, real: &str) -> Result<OwnedFd, Errno> {
        within(self.handle(), self.inner_path(real))
    }

    /// Whether a file, given by its real path, has other names (hard links).
    pub(crate) fn has_other_names(&self, real: &str) -> bool {
        let (directory, name) = path::split(real);
        let stat = self
            .open_directory(directory)
            .and_then(|dir| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW));
        stat.is_ok_and(|s| FileType::from_raw_mode(s.st_mode).is_file() && s.st_nlink > 1)
    }

    /// Opens an inner path, following links that stay beneath the directory.
    pub(crate) fn open_beneath(&self, relative: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        beneath(self.handle(), relative, flags, resolve)
    }

    /// The repositories' own directories that must not go with what is at a real path, as op paths.
    pub(crate) fn own_directories(&self, path: &str) -> Vec<String> {
        let Ok(root) = link_of(&self.handle) else { return Vec::new() };
        let op_path = |own: &PathBuf| Some(self.op_path(own.strip_prefix(&root).ok()?.to_str()?));
        git_dir::named(self.handle(), self.inner_path(path)).iter().filter_map(op_path).collect()
    }
}

/// Opens one entry of an open directory without following a link.
pub(crate) fn entry(dir: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    beneath(dir, name, flags | OFlags::NONBLOCK | OFlags::NOCTTY, resolve)
}

/// Opens a directory in another one, to look for something in it. Follows no link.
pub(crate) fn step(dir: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    beneath(dir, path, OFlags::PATH | OFlags::DIRECTORY, resolve)
}

/// Opens a directory in another one, to read its names. Follows no link.
pub(crate) fn within(dir: BorrowedFd<'_>, path: &str) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    beneath(dir, path, OFlags::RDONLY | OFlags::DIRECTORY, resolve)
}

fn beneath<P: rustix::path::Arg + Copy>(
    dir: BorrowedFd<'_>,
    path: P,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let mut tries = TRIES;
    loop {
        let opened =
            rustix::fs::openat2(dir, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
        match opened {
            Err(Errno::AGAIN | Errno::INTR) if tries > 0 => tries -= 1,
            opened => return opened,
        }
    }
}

pub(crate) fn link_of(fd: impl AsFd) -> Result<PathBuf, Errno> {
    let link =
        rustix::fs::readlink(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(link.as_bytes())))
}

/// This process's umask, which can be read without setting it only here.
fn umask() -> u32 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find_map(|l| l.strip_prefix("Umask:"))?.trim().to_owned();
            u32::from_str_radix(&line, 8).ok()
        })
        .unwrap_or(0o022)
}
