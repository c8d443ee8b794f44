//! Which files only changed their place, for those who look at a list of changes: a file that is gone
//! and a new one with the same bytes. The changes themselves stay two.

use super::gathered::{Gathered, Piece};
use crate::folders::path;
use cairn_types::{FileKind, FileState, Hash};
use std::collections::{BTreeMap, HashMap};

/// Files that changed their place, by their paths beneath the root.
#[derive(Debug, Default)]
pub(super) struct Renames {
    /// From where each came.
    pub(super) from: BTreeMap<String, String>,
    /// Where each went.
    pub(super) to: HashMap<String, String>,
}

/// Finds them.
pub(super) fn of(gathered: &Gathered) -> Renames {
    let key = |state: &Option<FileState>| -> Option<Hash> {
        let state = state.as_ref().filter(|state| state.kind == FileKind::File)?;
        state.hash.filter(|_| state.bytes != Some(0))
    };
    let ordinary = |piece: &&Piece| piece.ignored.is_none();
    let mut gone: HashMap<Hash, Vec<&str>> = HashMap::new();
    for piece in gathered.pieces.iter().filter(ordinary).filter(|p| p.change.after.is_none()) {
        if let Some(hash) = key(&piece.change.before) {
            gone.entry(hash).or_default().push(&piece.path);
        }
    }
    let mut renames = Renames::default();
    for piece in gathered.pieces.iter().filter(ordinary).filter(|p| p.change.before.is_none()) {
        let Some(from) = key(&piece.change.after).and_then(|hash| gone.get_mut(&hash)) else {
            continue;
        };
        let name = path::split(&piece.path).1;
        let same_name = from.iter().position(|path| path::split(path).1 == name);
        if from.is_empty() {
            continue;
        }
        let path = from.remove(same_name.unwrap_or(0));
        renames.from.insert(piece.path.clone(), path.to_owned());
        renames.to.insert(path.to_owned(), piece.path.clone());
    }
    renames
}

impl Renames {
    /// What changed its place, a directory's files together: from, to, and how many files where
    /// there are several.
    pub(super) fn grouped(&self) -> Vec<(String, String, usize)> {
        let mut groups: BTreeMap<(String, String), Vec<(&str, &str)>> = BTreeMap::new();
        for (to, from) in &self.from {
            groups.entry(tops(from, to)).or_default().push((from, to));
        }
        let mut told = Vec::new();
        for ((from, to), files) in groups {
            match files.as_slice() {
                [(from, to)] => {
                    told.push((path::shown(from.as_bytes()), path::shown(to.as_bytes()), 1))
                }
                files => {
                    let shown = |path: &str| format!("{}/", path::shown(path.as_bytes()));
                    told.push((shown(&from), shown(&to), files.len()));
                }
            }
        }
        told
    }
}

/// Two paths without the parts they end with in common.
fn tops(from: &str, to: &str) -> (String, String) {
    let (mut a, mut b) = (from, to);
    while let (Some((a_dir, a_name)), Some((b_dir, b_name))) =
        (a.rsplit_once('/'), b.rsplit_once('/'))
    {
        if a_name != b_name {
            break;
        }
        (a, b) = (a_dir, b_dir);
    }
    match a == from {
        // Another name in another directory: they share nothing.
        true => (from.to_owned(), to.to_owned()),
        false => (a.to_owned(), b.to_owned()),
    }
}
