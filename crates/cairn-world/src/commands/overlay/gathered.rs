//! What is gathered while an upper directory is read: changes with the bytes behind them, and what is
//! not among them and why. Decides nothing.

use super::sides::Side;
use crate::folders::path;
use cairn_types::{Aside, Change, FileKind, FileState, Hash, is_guarded};
use std::collections::{HashMap, HashSet};

/// So many paths in a directory are judged besides its own.
const PRECIOUS: usize = 20;

/// Files, and bytes in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

impl Count {
    pub(super) fn add(&mut self, other: Count) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

/// One change, and what is to be known for showing it.
#[derive(Debug)]
pub(super) struct Piece {
    /// Beneath the root.
    pub(super) path: String,
    pub(super) change: Change,
    /// The outermost ignored path it is in or is.
    pub(super) ignored: Option<String>,
    /// What is there now, and what would be.
    pub(super) counts: (Count, Count),
    /// What is in it that is asked about by its name, by paths beneath the root.
    pub(super) precious: Vec<String>,
}

impl Piece {
    pub(super) fn kinds(&self) -> (Option<FileKind>, Option<FileKind>) {
        let kind = |state: &Option<FileState>| state.as_ref().map(|state| state.kind);
        (kind(&self.change.before), kind(&self.change.after))
    }

    /// The outermost ignored path it is in or is, as it is shown.
    pub(super) fn shown_top(&self) -> Option<String> {
        let top = self.ignored.as_ref()?;
        let (before, after) = self.kinds();
        let is_directory = *top != self.path || after.or(before) == Some(FileKind::Directory);
        Some(format!("{}{}", path::shown(top.as_bytes()), if is_directory { "/" } else { "" }))
    }
}

/// The bytes behind states, each once.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    pub(super) all: Vec<Vec<u8>>,
    at: HashMap<Hash, usize>,
}

impl Bytes {
    fn keep(&mut self, hash: Hash, bytes: Vec<u8>) {
        let Bytes { all, at } = self;
        at.entry(hash).or_insert_with(|| {
            all.push(bytes);
            all.len() - 1
        });
    }

    /// The bytes behind a state, where they are kept.
    pub(super) fn of(&self, state: Option<&FileState>) -> Option<&[u8]> {
        self.at.get(&state?.hash?).map(|at| self.all[*at].as_slice())
    }
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) pieces: Vec<Piece>,
    pub(super) bytes: Bytes,
    /// Ordinary paths that somebody changed outside meanwhile.
    pub(super) conflicts: Vec<String>,
    /// The same of ignored ones.
    pub(super) passed_over: Vec<String>,
    /// What is not committed, and what it is.
    pub(super) left_out: Vec<(String, String)>,
    /// Files that have other names besides.
    pub(super) hard_links: Vec<String>,
    /// Where the files of the project's worktree are, if this is a repository's own directory.
    pub(super) repository: Option<String>,
    /// How many things are moved aside, from before and for after.
    asides: (u32, u32),
}

/// Where changes are told and kept.
pub(super) struct Told<'a> {
    /// The path as it is told.
    pub(super) path: String,
    /// Where things are kept aside.
    pub(super) trash: &'a str,
}

/// What is asked about in either, what goes first: that cannot be had again.
fn either(
    (before, after): (Option<&Side>, Option<&Side>),
    what: fn(&Side) -> &Vec<String>,
) -> Vec<String> {
    let sorted = |side: Option<&Side>| {
        let mut paths = side.map(what).cloned().unwrap_or_default();
        paths.sort();
        paths
    };
    let mut all = sorted(before);
    let known: HashSet<String> = all.iter().cloned().collect();
    all.extend(sorted(after).into_iter().filter(|path| !known.contains(path)));
    all
}

impl Gathered {
    /// Nothing yet, of a directory that is a repository's own, or is not.
    pub(super) fn of(repository: Option<String>) -> Gathered {
        Gathered { repository, ..Gathered::default() }
    }

    /// Takes in one path's change.
    pub(super) fn push(
        &mut self,
        path: &str,
        told: &Told<'_>,
        ignored: Option<String>,
        (before, after): (Option<Side>, Option<Side>),
    ) {
        let sides = (before.as_ref(), after.as_ref());
        // What rules name is judged, however much else there is.
        let mut precious = either(sides, |side| &side.ruled);
        let ruled = precious.len();
        let others = either(sides, |side| &side.precious);
        precious
            .extend(others.into_iter().filter(|path| !precious.contains(path)).collect::<Vec<_>>());
        if precious.len() > ruled + PRECIOUS {
            // Not all are named; those that only a person lets pass are.
            precious[ruled..].sort_by_key(|path| !is_guarded(path));
        }
        let count = |side: &Option<Side>| side.as_ref().map(|s| s.count).unwrap_or_default();
        let counts = (count(&before), count(&after));
        let (n_before, n_after) = &mut self.asides;
        let before = before.map(|side| self.bytes.state(side, told.trash, ("before", n_before)));
        let after = after.map(|side| self.bytes.state(side, told.trash, ("after", n_after)));
        let mut change = Change::between(told.path.clone(), before, after);
        let inside = precious.iter().filter_map(|inner| inner.strip_prefix(path));
        change.precious =
            inside.take(ruled + PRECIOUS).map(|rest| format!("{}{rest}", told.path)).collect();
        self.pieces.push(Piece { path: path.to_owned(), change, ignored, counts, precious });
    }

    /// The directories that something else in the list lies in.
    pub(super) fn parents(&self) -> HashSet<&str> {
        let mut found = HashSet::new();
        for piece in &self.pieces {
            let mut directory = path::split(&piece.path).0;
            while directory != "." && found.insert(directory) {
                directory = path::split(directory).0;
            }
        }
        found
    }

    /// Says that a path was changed outside.
    pub(super) fn conflict(&mut self, path: &str, ignored: Option<&String>) {
        match ignored {
            None => self.conflicts.push(path.to_owned()),
            Some(_) => self.passed_over.push(path.to_owned()),
        }
    }

    pub(super) fn leave_out(&mut self, path: &str, why: &str) {
        self.left_out.push((path::shown(path.as_bytes()), why.to_owned()));
    }
}

impl Bytes {
    /// A side's state, once its bytes are kept or its place aside is known.
    fn state(&mut self, side: Side, trash: &str, (which, n): (&str, &mut u32)) -> FileState {
        let mut state = side.state;
        if let (Some(hash), Some(bytes)) = (state.hash, side.bytes) {
            self.keep(hash, bytes);
        }
        if let Some(inode) = side.aside {
            *n += 1;
            state.aside = Some(Aside { path: format!("{trash}/{which}/{n}"), inode });
        }
        state
    }
}
