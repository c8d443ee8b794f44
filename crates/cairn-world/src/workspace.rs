//! The one door to workspace files: everything is opened beneath a directory handle, links that
//! lead outside are refused by the kernel, and so is whatever is neither a file nor a directory.

use crate::git_dir;
use crate::ignored::IgnoreState;
use crate::members::Members;
use crate::path;
use crate::private::FolderPrivacy;
use crate::ruled::Ruled;
use crate::settled::Refusal;
use crate::spelled;
use crate::unread::Unread;
use cairn_types::{PrivatePlaces, Status};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// A directory and everything beneath it.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
    given: PathBuf,
    path: PathBuf,
    umask: u32,
    /// What the paths in it begin with when they are told; the project's own are told bare.
    lead: Option<String>,
    /// What is kept from being read.
    pub(crate) unread: Unread,
    /// What rules on changes name.
    pub(crate) ruled: Ruled,
    /// What is a member.
    pub(crate) members: Members,
    /// What no op sees.
    pub(crate) private: FolderPrivacy,
    /// What is known of what git ignores.
    pub(crate) ignored: Arc<IgnoreState>,
    /// It is a repository's own directory, which only git looks into: where in it the files of the project's
    /// worktree are.
    pub(crate) repository: Option<String>,
}

/// Something that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Where it really is beneath the root.
    pub(crate) path: String,
    pub(crate) fd: OwnedFd,
    pub(crate) stat: Stat,
}

impl Opened {
    pub(crate) fn is_directory(&self) -> bool {
        FileType::from_raw_mode(self.stat.st_mode).is_dir()
    }

    pub(crate) fn bytes(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or(0)
    }
}

impl Workspace {
    /// Opens a directory as a workspace.
    pub fn open(root: &Path) -> Result<Workspace, WorldError> {
        let path = root.to_owned();
        let refused = |e: Errno| WorldError::Open { path: path.clone(), source: e.into() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(root, flags, Mode::empty()).map_err(refused)?;
        let real = link_of(&handle).map_err(refused)?;
        beneath(handle.as_fd(), ".", OFlags::PATH, ResolveFlags::BENEATH)
            .map_err(|e| WorldError::Kernel { path: path.clone(), source: e.into() })?;
        Ok(Workspace {
            root: handle,
            given: path,
            path: real,
            umask: umask(),
            lead: None,
            unread: Unread::default(),
            ruled: Ruled::default(),
            members: Members::default(),
            private: FolderPrivacy::default(),
            ignored: Arc::default(),
            repository: None,
        })
    }

    /// Keeps these places out of sight.
    pub(crate) fn keep_private(&mut self, places: &Arc<PrivatePlaces>) {
        self.private = FolderPrivacy::new(places, self.root.as_fd(), &self.path);
    }

    /// Opens a directory besides the project's: paths in it are absolute.
    pub(crate) fn open_besides(root: &Path) -> Result<Workspace, WorldError> {
        Ok(Workspace::open(root)?.told_absolute())
    }

    /// The same, with absolute paths.
    pub(crate) fn told_absolute(self) -> Workspace {
        let lead = self.path.to_str().map(|path| path.trim_end_matches('/').to_owned());
        Workspace { lead, ..self }
    }

    /// What the paths in it begin with when they are told, unless they are told bare.
    pub(crate) fn lead(&self) -> Option<&str> {
        self.lead.as_deref()
    }

    /// Whether an absolute path lies in it, as its text reads.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.path) || path.starts_with(&self.given)
    }

    /// A path as it is told, from what it is beneath the root.
    pub(crate) fn told(&self, inner: &str) -> String {
        match (&self.lead, inner) {
            (None, "" | ".") => ".".to_owned(),
            (None, inner) => inner.to_owned(),
            (Some(lead), "" | ".") => lead.clone(),
            (Some(lead), inner) => format!("{lead}/{inner}"),
        }
    }

    /// What a told path is beneath the root.
    pub(crate) fn inner<'a>(&self, told: &'a str) -> &'a str {
        let inner = match &self.lead {
            None => told,
            Some(lead) => told.strip_prefix(lead.as_str()).unwrap_or(told).trim_start_matches('/'),
        };
        if inner.is_empty() { "." } else { inner }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
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
            match self.directory(directory) {
                Ok(handle) => return rustix::fs::fstat(&handle).map_or(0, |s| s.st_mode & 0o2000),
                Err(Errno::NOENT) if directory != "." => directory = path::split(directory).0,
                Err(_) => return 0,
            }
        }
    }

    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The path beneath the root that a model's path means.
    pub(crate) fn relative(&self, given: &str) -> Result<String, Refusal> {
        if self.repository.is_some() {
            let text = format!("{given} is inside a repository's own directory");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        path::relative(given, &[&self.given, &self.path])
    }

    /// Opens a file or directory for reading, following links that stay beneath the root.
    pub(crate) fn open_existing(&self, given: &str) -> Result<Opened, Refusal> {
        let relative = self.relative(given)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = self.beneath(&relative, flags).map_err(|e| refusal(given, e))?;
        let stat = rustix::fs::fstat(&fd).map_err(|e| refusal(given, e))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::Directory => {}
            _ => return Err(not_a_file(given)),
        }
        let path = self.real_path(given, &fd)?;
        Ok(Opened { path, fd, stat })
    }

    /// Where something is, once its directories' links are followed; it itself may be a link.
    pub(crate) fn place_of(&self, given: &str) -> Result<String, Refusal> {
        let relative = self.relative(given)?;
        let (directory, name) = path::split(&relative);
        if name == "." || name == ".." {
            let text = format!("{given} does not name something inside the workspace");
            return Err(Refusal::new(Status::BAD_REQUEST, text));
        }
        let handle = self
            .beneath(directory, OFlags::PATH | OFlags::DIRECTORY)
            .map_err(|e| refusal(given, e))?;
        let real = self.real_path(given, &handle)?;
        let real = self.inner(&real);
        let inner = path::joined(real, name);
        // What is not there is not spelled otherwise either.
        let inner = spelled::as_written(self.root(), &inner).unwrap_or(inner);
        path::refuse_hidden(given, &inner.split('/').collect::<Vec<_>>())?;
        self.refuse_private(given, &inner)?;
        Ok(self.told(&inner))
    }

    /// Where a file that does not exist yet would be, once its directories' links are followed.
    pub(crate) fn place_of_new(&self, given: &str) -> Result<String, Refusal> {
        let relative = self.relative(given)?;
        let outside = || Refusal::new(Status::REFUSED, format!("{given} is outside the workspace"));
        let parts = path::without_parents(&relative).ok_or_else(outside)?;
        for known in (0..parts.len()).rev() {
            let directory = if known == 0 { ".".to_owned() } else { parts[..known].join("/") };
            let handle = match self.beneath(&directory, OFlags::PATH | OFlags::DIRECTORY) {
                Ok(handle) => handle,
                Err(Errno::NOENT) => continue,
                Err(Errno::NOTDIR) => {
                    let text = format!("{directory} is not a directory");
                    return Err(Refusal::new(Status::CONFLICT, text));
                }
                Err(e) => return Err(refusal(given, e)),
            };
            let next = parts[known];
            if let Ok(there) = rustix::fs::statat(&handle, next, AtFlags::SYMLINK_NOFOLLOW) {
                return Err(not_new(given, next, &there));
            }
            let real = self.real_path(given, &handle)?;
            let place = path::joined(&real, &parts[known..].join("/"));
            self.refuse_private(given, self.inner(&place))?;
            return Ok(place);
        }
        Err(Refusal::new(Status::CONFLICT, format!("{given} is a directory")))
    }

    /// Opens a directory by its real path: no link on the way is followed.
    pub(crate) fn directory(&self, real: &str) -> Result<OwnedFd, Errno> {
        within(self.root(), self.inner(real))
    }

    /// Whether a file, given by its real path, has other names (hard links).
    pub(crate) fn has_other_names(&self, real: &str) -> bool {
        let (directory, name) = path::split(real);
        let stat = self
            .directory(directory)
            .and_then(|dir| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW));
        stat.is_ok_and(|s| FileType::from_raw_mode(s.st_mode).is_file() && s.st_nlink > 1)
    }

    fn beneath(&self, relative: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        beneath(self.root(), relative, flags, resolve)
    }

    /// Where a handle really is beneath the root.
    fn real_path(&self, given: &str, fd: &OwnedFd) -> Result<String, Refusal> {
        let real = link_of(fd).map_err(|e| refusal(given, e))?;
        let root = link_of(&self.root).map_err(|e| refusal(given, e))?;
        let outside = || Refusal::new(Status::REFUSED, format!("{given} is outside the workspace"));
        let inner = real.strip_prefix(&root).map_err(|_| outside())?;
        let not_utf8 =
            || Refusal::new(Status::NOT_TEXT, format!("{given} leads to a path that is not UTF-8"));
        let inner = inner.to_str().ok_or_else(not_utf8)?;
        let inner = &spelled::as_written(self.root(), inner).map_err(|e| refusal(given, e))?;
        let parts: Vec<&str> = inner.split('/').collect();
        path::refuse_hidden(given, &parts)?;
        self.refuse_private(given, inner)?;
        if git_dir::named(self.root(), inner).iter().any(|own| real.starts_with(own)) {
            let text = format!("{given} is inside a repository's own directory");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        Ok(self.told(inner))
    }

    /// The repositories' own directories that must not go with what is at a real path, given as they
    /// are told.
    pub(crate) fn own_directories(&self, path: &str) -> Vec<String> {
        let Ok(root) = link_of(&self.root) else { return Vec::new() };
        let told = |own: &PathBuf| Some(self.told(own.strip_prefix(&root).ok()?.to_str()?));
        git_dir::named(self.root(), self.inner(path)).iter().filter_map(told).collect()
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

pub(crate) fn link_of(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = rustix::fs::readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(link.as_bytes())))
}

/// The fact behind an error of the system.
pub(crate) fn refusal(given: &str, error: Errno) -> Refusal {
    let (status, fact) = match error {
        Errno::NOENT | Errno::NOTDIR => (Status::NOT_FOUND, "does not exist"),
        Errno::XDEV => (Status::REFUSED, "leads outside the workspace"),
        Errno::LOOP => (Status::REFUSED, "leads through a link that cannot be followed"),
        Errno::ACCESS | Errno::PERM => (Status::REFUSED, "may not be accessed: permission denied"),
        Errno::NXIO | Errno::NODEV => return not_a_file(given),
        Errno::NAMETOOLONG => (Status::BAD_REQUEST, "has a name that is too long"),
        _ => (Status::FAILED, ""),
    };
    if fact.is_empty() {
        return Refusal::new(status, format!("{given}: {}", io::Error::from(error)));
    }
    Refusal::new(status, format!("{given} {fact}"))
}

/// Why a path that leads nowhere cannot be made, although something of its name is there.
fn not_new(given: &str, name: &str, there: &Stat) -> Refusal {
    if FileType::from_raw_mode(there.st_mode).is_symlink() {
        let text = format!("{name} in {given} is a link to something that does not exist");
        return Refusal::new(Status::CONFLICT, text);
    }
    // Only `..` out of something that is not there leads to it.
    let text = format!("{given} leads through a directory that does not exist");
    Refusal::new(Status::NOT_FOUND, text)
}

fn not_a_file(given: &str) -> Refusal {
    Refusal::new(Status::NOT_TEXT, format!("{given} is neither a file nor a directory"))
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
