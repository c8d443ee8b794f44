//! What a search does in a directory: which names it wants, in which order they come. Decides where
//! to look; who looks, and what becomes of it, is `search`'s.

use super::look::Seen;
use super::order::Piece;
use super::pattern::{LineMatcher, Paths};
use crate::folders::path;
use crate::folders::root_directory::entry;
use crate::folders::walk::{Name, names};
use crate::folders::workspace::Workspace;
use crate::membership::{Ground, Judge, Judged, Stands};
use rustix::fs::OFlags;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// How deep directories are entered.
const MAX_DEPTH: usize = 128;
/// How many files are looked into at a time.
const BATCH: usize = 16;

/// What is looked for, and where.
pub(crate) struct Plan<'a> {
    pub(crate) paths: Option<Paths>,
    pub(crate) lines: Option<LineMatcher>,
    /// The path, beneath the root, of the only thing looked at; empty for all.
    pub(crate) under: Vec<u8>,
    /// Which paths are members.
    pub(crate) judge: Judge<'a>,
    pub(crate) context: usize,
    pub(crate) cancel: &'a CancellationToken,
    /// When nothing more is searched.
    pub(crate) until: Instant,
    pub(crate) workspace: &'a Workspace,
}

/// A directory that was entered.
pub(crate) struct Folder {
    pub(crate) fd: OwnedFd,
    /// What leads to it from the root, with a slash at its end.
    pub(crate) path: Arc<[u8]>,
    ground: Ground,
    depth: usize,
}

/// Something to do.
pub(crate) enum Task {
    /// A directory to enter.
    Enter { parent: Arc<Folder>, name: Name, judged: Judged },
    /// Files of a directory to look into.
    Look { folder: Arc<Folder>, files: Vec<Name> },
}

/// What came of it. It may wait for long, so it holds no directory open.
pub(crate) enum Found {
    /// A directory that could not be entered.
    Closed,
    /// Files that are looked for.
    Paths { folder: Arc<[u8]>, files: Vec<Name> },
    /// A directory that was not searched any more, or not all of it, since the time was up.
    Late { folder: Vec<u8> },
    /// Files in which something was seen.
    Lines { folder: Arc<[u8]>, files: Vec<(Name, Seen)> },
}

/// Things to do, and what is done already.
pub(crate) type Pieces = Vec<Piece<Task, Found>>;

impl Plan<'_> {
    /// Whether nothing more is searched.
    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// What there is to do in a directory that is entered.
    pub(crate) fn enter(&self, parent: &Folder, name: &[u8], judged: &Judged) -> Pieces {
        let opened = entry(parent.fd.as_fd(), name, OFlags::RDONLY | OFlags::DIRECTORY);
        match opened {
            Ok(fd) if parent.depth < MAX_DEPTH => {
                let path = [&parent.path, name, b"/"].concat();
                self.list(fd, path, Some((parent, judged)))
            }
            _ => vec![Piece::Done(Found::Closed)],
        }
    }

    /// What there is to do in the root.
    pub(crate) fn begin(&self, root: OwnedFd) -> Pieces {
        self.list(root, Vec::new(), None)
    }

    /// What there is to do in a directory, in order; it has a parent unless it is the root.
    fn list(&self, fd: OwnedFd, path: Vec<u8>, parent: Option<(&Folder, &Judged)>) -> Pieces {
        let Ok(mut names) = names(&fd) else { return vec![Piece::Done(Found::Closed)] };
        let mut full = [&self.judge.lead, &path[..]].concat();
        let length = full.len();
        let ground = match parent {
            None => self.judge.root(fd.as_fd(), &names),
            Some((parent, judged)) => {
                self.judge.inside(&parent.ground, judged, (fd.as_fd(), &names), length)
            }
        };
        names.retain(|name| {
            full.truncate(length);
            full.extend_from_slice(&name.sort_key);
            self.wants(&full, name)
                && (!name.is_file()
                    || self.judge.judge(&ground, &full, false).stands == Stands::Member)
        });
        full.truncate(length);
        names.sort_unstable();
        let depth = parent.map_or(0, |(parent, _)| parent.depth + 1);
        self.pieces(&Arc::new(Folder { fd, path: path.into(), ground, depth }), names, full)
    }

    /// The work that names are; `full` leads to their directory.
    fn pieces(&self, folder: &Arc<Folder>, names: Vec<Name>, mut full: Vec<u8>) -> Pieces {
        let mut pieces = Vec::new();
        let mut files = Vec::new();
        let length = full.len();
        for name in names {
            if name.is_file() {
                files.push(name);
                continue;
            }
            full.truncate(length);
            full.extend_from_slice(name.bare());
            let judged = self.judge.judge(&folder.ground, &full, true);
            if judged.stands == Stands::Not {
                continue;
            }
            self.add_files(&mut pieces, folder, &mut files);
            pieces.push(Piece::Open(Task::Enter { parent: Arc::clone(folder), name, judged }));
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
        let batches = batches(std::mem::take(files), BATCH);
        pieces.extend(batches.map(|files| {
            let folder = Arc::clone(folder);
            Piece::Open(Task::Look { folder, files })
        }));
    }

    /// Whether a name is a file that is looked for, or a directory in which one could be, if it is a member.
    /// `full` leads to it from where rules begin.
    fn wants(&self, full: &[u8], name: &Name) -> bool {
        let is_directory = name.directory().is_some();
        let path = &full[self.judge.lead.len()..];
        let directory = &path[..path.len() - name.sort_key.len()];
        if path::is_hidden(directory, name.bare()) || !(is_directory || name.is_file()) {
            return false;
        }
        let Workspace { unread, .. } = self.workspace;
        !unread.passes_over(self.workspace.root.path_prefix(), path)
            && self.is_in_place(path, is_directory)
            && self.is_asked_for(path, is_directory)
    }

    fn is_asked_for(&self, path: &[u8], is_directory: bool) -> bool {
        self.paths.as_ref().is_none_or(|paths| {
            if is_directory { paths.may_be_in(path) } else { paths.matches(path) }
        })
    }

    /// Whether it is the only thing looked at, leads to it, or lies in it.
    fn is_in_place(&self, path: &[u8], is_directory: bool) -> bool {
        let under = self.under.as_slice();
        let is_at = |longer: &[u8], shorter: &[u8]| {
            longer.strip_prefix(shorter).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
        };
        let bare = if is_directory { path.strip_suffix(b"/").unwrap_or(path) } else { path };
        under.is_empty() || is_at(bare, under) || (is_directory && is_at(under, bare))
    }
}

/// These, in their order, at most so many at a time. Each batch has memory for itself alone, since many of them
/// wait at once.
fn batches<T>(all: Vec<T>, most: usize) -> impl Iterator<Item = Vec<T>> {
    let mut left = all.into_iter();
    std::iter::from_fn(move || {
        let batch: Vec<T> = left.by_ref().take(most).collect();
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // keeps: find-memory
    #[test]
    fn batches_hold_together_no_more_than_what_is_in_them() {
        for count in [0, 1, 15, 16, 17, 20_000] {
            let batches: Vec<Vec<usize>> = batches((0..count).collect(), BATCH).collect();
            let held: usize = batches.iter().map(Vec::capacity).sum();
            assert!(held <= count + BATCH, "{count} files: room for {held}");
            assert_eq!(batches.concat(), (0..count).collect::<Vec<_>>());
        }
    }
}
