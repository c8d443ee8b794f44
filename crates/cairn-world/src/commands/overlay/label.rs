//! A command's changes in one line, for lists.

use super::gathered::{Gathered, Piece};
use super::git::{self, Groups};
use super::renames::Renames;
use crate::folders::path;
use cairn_text::shown::clean;
use cairn_types::{ChangeKind, FileKind};
use std::collections::BTreeSet;

/// How many ignored paths are named.
const NAMED: usize = 3;

/// The line.
pub(super) fn of(gathered: &Gathered, groups: &Groups, renames: &Renames) -> String {
    let ordinary: Vec<&Piece> = gathered
        .pieces
        .iter()
        .filter(|piece| piece.ignored.is_none() && !git::is_grouped(gathered, &piece.path))
        .filter(|piece| !renames.to.contains_key(&piece.path))
        .collect();
    let parents = gathered.parents();
    let is_own = |piece: &&&Piece| match piece.kinds() {
        (None, Some(FileKind::Directory)) | (Some(FileKind::Directory), None) => {
            !parents.contains(piece.path.as_str())
        }
        _ => true,
    };
    let of = |kind: ChangeKind, renamed: bool| -> Vec<&Piece> {
        let is_it = |piece: &&&Piece| {
            piece.change.kind == kind && renames.from.contains_key(&piece.path) == renamed
        };
        ordinary.iter().filter(is_it).filter(is_own).copied().collect()
    };
    let mut parts = Vec::new();
    let mut noun = true;
    for (verb, pieces) in [
        ("creates", of(ChangeKind::Created, false)),
        ("changes", of(ChangeKind::Modified, false)),
        ("renames", of(ChangeKind::Created, true)),
        ("removes", of(ChangeKind::Deleted, false)),
    ] {
        match pieces.as_slice() {
            [] => continue,
            [one] => parts.push(format!("{verb} {}", path::shown(one.path.as_bytes()))),
            some if noun => parts.push(format!("{verb} {} files", some.len())),
            some => parts.push(format!("{verb} {}", some.len())),
        }
        noun &= pieces.len() == 1;
    }
    parts.extend(groups.labels.iter().cloned());
    let label = parts.join(", ");
    let ignored = ignored(gathered);
    let and = if label.is_empty() || ignored.is_empty() { "" } else { ", and " };
    clean(&format!("{label}{and}{ignored}")).replace('\n', " ")
}

fn ignored(gathered: &Gathered) -> String {
    let (mut made, mut removed) = (BTreeSet::new(), BTreeSet::new());
    for piece in &gathered.pieces {
        let Some(top) = piece.shown_top() else { continue };
        match piece.change.after.is_none() {
            true => removed.insert(top),
            false => made.insert(top),
        };
    }
    removed.retain(|top| !made.contains(top));
    let told = |tops: BTreeSet<String>, verb: &str| match tops.len() {
        0 => None,
        1..=NAMED => Some(format!("{verb}{}", tops.into_iter().collect::<Vec<_>>().join(", "))),
        n => Some(format!("{verb}{n} ignored paths")),
    };
    let parts = [told(made, ""), told(removed, "removes ")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
