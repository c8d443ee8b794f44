//! What a search does in a directory: which names it wants, in which order they come. Decides where
//! to look; who looks, and what becomes of it, is `search`'s.

use super::look::Seen;
use super::order::Piece;
use super::pattern::Paths;
use super::rules::{Above, Rules};
use crate::path;
use crate::unread::Unread;
use crate::walk::{Name, names};
use crate::workspace::entry;
use grep_regex::RegexMatcher;
use rustix::fs::OFlags;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How deep directories are entered.
const MAX_DEPTH: usize = 128;
/// How many files are looked into at a time.
const BATCH: usize = 16;

/// What is looked for, and where.
pub(crate) struct Plan<'a> {
    pub(crate) paths: Option<Paths>,
    pub(crate) lines: Option<RegexMatcher>,
    /// The path, beneath the root, of the only thing looked at; empty for all.
    pub(crate) under: Vec<u8>,
    /// Rules above the root; none when no rules count.
    pub(crate) above: Option<Above>,
    pub(crate) context: usize,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) root: BorrowedFd<'a>,
    pub(crate) unread: &'a Unread,
    /// What paths begin with when they are told, unless they are told bare.
    pub(crate) lead: Option<&'a str>,
}

/// A directory that was entered.
pub(crate) struct Folder {
    pub(crate) fd: OwnedFd,
    /// What leads to it from the root, with a slash at its end.
    pub(crate) path: Arc<[u8]>,
    rules: Option<Arc<Rules>>,
    depth: usize,
}

/// Something to do.
pub(crate) enum Task {
    /// A directory to enter.
    Enter { parent: Arc<Folder>, name: Name },
    /// Files of a directory to look into.
    Look { folder: Arc<Folder>, files: Vec<Name> },
}

/// What came of it. It may wait for long, so it holds no directory open.
pub(crate) enum Found {
    /// A directory that could not be entered.
    Closed,
    /// Files that are looked for.
    Paths { folder: Arc<[u8]>, files: Vec<Name> },
    /// Files in which something was seen.
    Lines { folder: Arc<[u8]>, files: Vec<(Name, Seen)> },
}

/// Things to do, and what is done already.
pub(crate) type Pieces = Vec<Piece<Task, Found>>;

impl Plan<'_> {
    /// What there is to do in a directory that is entered.
    pub(crate) fn enter(&self, parent: &Folder, name: &[u8]) -> Pieces {
        let opened = entry(parent.fd.as_fd(), name, OFlags::RDONLY | OFlags::DIRECTORY);
        match opened {
            Ok(fd) if parent.depth < MAX_DEPTH => {
                let path = [&parent.path, name, b"/"].concat();
                self.list(fd, path, parent.rules.as_ref(), parent.depth + 1)
            }
            _ => vec![Piece::Done(Found::Closed)],
        }
    }

    /// What there is to do in the root.
    pub(crate) fn begin(&self, root: OwnedFd) -> Pieces {
        let rules = self.above.as_ref().and_then(|above| above.rules.as_ref());
        self.list(root, Vec::new(), rules, 0)
    }

    /// What there is to do in a directory, in order.
    fn list(&self, fd: OwnedFd, path: Vec<u8>, above: Option<&Arc<Rules>>, depth: usize) -> Pieces {
        let Ok(mut names) = names(&fd) else { return vec![Piece::Done(Found::Closed)] };
        let lead = self.above.as_ref().map_or(&[][..], |above| &above.lead);
        let mut full = [lead, &path].concat();
        let rules = match self.above {
            Some(_) => Rules::inside(above, fd.as_fd(), &names, full.len()),
            None => None,
        };
        let length = full.len();
        names.retain(|name| {
            full.truncate(length);
            full.extend_from_slice(&name.sort_key);
            self.wants(&full, lead.len(), name, rules.as_deref())
        });
        names.sort_unstable();
        self.pieces(&Arc::new(Folder { fd, path: path.into(), rules, depth }), names)
    }

    fn pieces(&self, folder: &Arc<Folder>, names: Vec<Name>) -> Pieces {
        let mut pieces = Vec::new();
        let mut files = Vec::new();
        for name in names {
            if name.is_file() {
                files.push(name);
                continue;
            }
            self.add_files(&mut pieces, folder, &mut files);
            pieces.push(Piece::Open(Task::Enter { parent: Arc::clone(folder), name }));
        }
        self.add_files(&mut pieces, folder, &mut files);
        pieces
    }

    /// The files are results, or are to be looked into.
    fn add_files(&self, pieces: &mut Pieces, folder: &Arc<Folder>, files: &mut Vec<Name>) {
        if files.is_empty() {
            return;
        }
        if self.lines.is_none() {
            let (folder, files) = (Arc::clone(&folder.path), std::mem::take(files));
            return pieces.push(Piece::Done(Found::Paths { folder, files }));
        }
        while !files.is_empty() {
            let rest = files.split_off(files.len().min(BATCH));
            let (folder, files) = (Arc::clone(folder), std::mem::replace(files, rest));
            pieces.push(Piece::Open(Task::Look { folder, files }));
        }
    }

    /// Whether a name is a file that is looked for, or a directory in which one could be. `full` leads
    /// to it from the repository's directory, and all but its first `lead` bytes from the root.
    fn wants(&self, full: &[u8], lead: usize, name: &Name, rules: Option<&Rules>) -> bool {
        let is_directory = name.directory().is_some();
        let path = &full[lead..];
        let directory = &path[..path.len() - name.sort_key.len()];
        if path::is_hidden(directory, name.bare()) || !(is_directory || name.is_file()) {
            return false;
        }
        if self.unread.passes_over(self.lead, path) {
            return false;
        }
        let place = self.place_of(path, is_directory);
        if place == Place::Beside || !self.is_asked_for(path, is_directory) {
            return false;
        }
        // What was named is looked at even where rules leave it out.
        let judged = full.strip_suffix(b"/").unwrap_or(full);
        place == Place::OnTheWay || !rules.is_some_and(|r| r.leave_out(judged, is_directory))
    }

    fn is_asked_for(&self, path: &[u8], is_directory: bool) -> bool {
        self.paths.as_ref().is_none_or(|paths| {
            if is_directory { paths.may_be_in(path) } else { paths.matches(path) }
        })
    }

    fn place_of(&self, path: &[u8], is_directory: bool) -> Place {
        let under = self.under.as_slice();
        let is_at = |longer: &[u8], shorter: &[u8]| {
            longer.strip_prefix(shorter).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
        };
        let bare = if is_directory { path.strip_suffix(b"/").unwrap_or(path) } else { path };
        if is_at(under, bare) && (is_directory || bare == under) {
            Place::OnTheWay
        } else if under.is_empty() || is_at(bare, under) {
            Place::Within
        } else {
            Place::Beside
        }
    }
}

/// Where something lies, seen from the only thing looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is that thing, or leads to it.
    OnTheWay,
    Within,
    Beside,
}
