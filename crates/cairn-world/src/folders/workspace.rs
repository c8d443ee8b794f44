//! The one door to workspace files: everything is opened beneath a directory handle, links that
//! lead outside are refused by the kernel, and so is whatever is neither a file nor a directory.

use crate::folders::private::FolderPrivacy;
use crate::folders::root_directory::{RootDirectory, WorldError, link_of};
use crate::folders::ruled::Ruled;
use crate::folders::unread::Unread;
use crate::folders::{path, spelled};
use crate::git::git_dir;
use crate::git::ignored::IgnoreState;
use crate::membership::Members;
use crate::settled::Refusal;
use cairn_types::{PrivatePlaces, Status};
use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

/// A directory and everything beneath it.
#[derive(Debug)]
pub struct Workspace {
    /// Where it is.
    pub(crate) root: RootDirectory,
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
        Ok(Workspace {
            root: RootDirectory::open(root)?,
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
        self.private = FolderPrivacy::new(places, self.root.handle(), self.root.path());
    }

    /// Opens a directory besides the project's: paths in it are absolute.
    pub(crate) fn open_besides(root: &Path) -> Result<Workspace, WorldError> {
        Ok(Workspace::open(root)?.with_absolute_paths())
    }

    /// The same workspace with absolute paths.
    pub(crate) fn with_absolute_paths(self) -> Workspace {
        Workspace { root: self.root.with_absolute_paths(), ..self }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// The path beneath the root that a model's path means.
    pub(crate) fn relative(&self, given: &str) -> Result<String, Refusal> {
        if self.repository.is_some() {
            let text = format!("{given} is inside a repository's own directory");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        path::relative(given, &self.root.spellings())
    }

    /// Opens a file or directory for reading, following links that stay beneath the root.
    pub(crate) fn open_existing(&self, given: &str) -> Result<Opened, Refusal> {
        let relative = self.relative(given)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = self.root.open_beneath(&relative, flags).map_err(|e| refusal(given, e))?;
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
            .root
            .open_beneath(directory, OFlags::PATH | OFlags::DIRECTORY)
            .map_err(|e| refusal(given, e))?;
        let real = self.real_path(given, &handle)?;
        let real = self.root.inner_path(&real);
        let inner = path::joined(real, name);
        // What is not there is not spelled otherwise either.
        let inner = spelled::as_written(self.root.handle(), &inner).unwrap_or(inner);
        path::refuse_hidden(given, &inner.split('/').collect::<Vec<_>>())?;
        self.private.refuse(given, &inner)?;
        Ok(self.root.op_path(&inner))
    }

    /// Where a file that does not exist yet would be, once its directories' links are followed.
    pub(crate) fn place_of_new(&self, given: &str) -> Result<String, Refusal> {
        let relative = self.relative(given)?;
        let outside = || Refusal::new(Status::REFUSED, format!("{given} is outside the workspace"));
        let parts = path::without_parents(&relative).ok_or_else(outside)?;
        for known in (0..parts.len()).rev() {
            let directory = if known == 0 { ".".to_owned() } else { parts[..known].join("/") };
            let handle = match self.root.open_beneath(&directory, OFlags::PATH | OFlags::DIRECTORY)
            {
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
            self.private.refuse(given, self.root.inner_path(&place))?;
            return Ok(place);
        }
        Err(Refusal::new(Status::CONFLICT, format!("{given} is a directory")))
    }

    /// Where a handle really is beneath the root.
    fn real_path(&self, given: &str, fd: &OwnedFd) -> Result<String, Refusal> {
        let real = link_of(fd).map_err(|e| refusal(given, e))?;
        let root = link_of(self.root.handle()).map_err(|e| refusal(given, e))?;
        let outside = || Refusal::new(Status::REFUSED, format!("{given} is outside the workspace"));
        let inner = real.strip_prefix(&root).map_err(|_| outside())?;
        let not_utf8 =
            || Refusal::new(Status::NOT_TEXT, format!("{given} leads to a path that is not UTF-8"));
        let inner = inner.to_str().ok_or_else(not_utf8)?;
        let inner =
            &spelled::as_written(self.root.handle(), inner).map_err(|e| refusal(given, e))?;
        let parts: Vec<&str> = inner.split('/').collect();
        path::refuse_hidden(given, &parts)?;
        self.private.refuse(given, inner)?;
        if git_dir::named(self.root.handle(), inner).iter().any(|own| real.starts_with(own)) {
            let text = format!("{given} is inside a repository's own directory");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        Ok(self.root.op_path(inner))
    }
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
