//! What becomes of an edit of which a person took some parts, or for which they gave other texts: what is
//! written then, and what the model is told of it. Writes nothing; `apply` does.

use crate::settled::{Performed, Prepared};
use cairn_text::{diff, hunks};
use cairn_types::{Change, ChangeKind, FileState, Hash, Status};
use std::collections::{HashMap, HashSet};

/// How many lines of difference the model is told of a file.
const MOST_TOLD: usize = 200;

/// What a person chose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The parts that are left out, by their number from 1.
    pub left: Vec<u32>,
    /// The texts that shall stand in files in place of what was proposed.
    pub texts: Vec<(String, String)>,
}

/// What becomes of one path.
enum Fate {
    /// It is as proposed.
    Proposed,
    /// It stays as it was.
    Stays,
    /// Another text stands there, for this reason.
    Other(String, String),
}

/// What is really to be done of what was prepared. Settled already when that is nothing.
pub(crate) fn chosen(prepared: &Prepared, choice: &Choice) -> Prepared {
    let contents: HashMap<Hash, &[u8]> =
        prepared.contents.iter().map(|bytes| (Hash::of(bytes), bytes.as_slice())).collect();
    let text = |state: &Option<FileState>| -> Option<&str> {
        std::str::from_utf8(contents.get(&state.as_ref()?.hash?)?).ok()
    };
    let (mut kept, mut texts, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for change in prepared.changes.iter().filter(|change| !change.makes_directory()) {
        let proposed = text(&change.after).unwrap_or_default();
        match fate(change, (text(&change.before), proposed), prepared, choice) {
            Fate::Proposed => {
                let said = prepared.told_of.iter().filter(|(path, _)| *path == change.path);
                told.extend(said.map(|(_, said)| said.clone()));
                kept.push(change.clone());
            }
            Fate::Stays => told.push(stays(change)),
            Fate::Other(text, why) => {
                told.push(said(change, &why, &difference(&change.path, proposed, &text)));
                kept.push(with_text(change, &text));
                texts.push(text.into_bytes());
            }
        }
    }
    let is_new = kept.iter().all(|change| change.before.is_none());
    let status = if is_new { Status::CREATED } else { Status::OK };
    let told = told.join("\n");
    let settled = kept.is_empty().then(|| Performed::told(Status::UNCHANGED, told.clone()));
    let changes = with_directories(&prepared.changes, kept);
    let states = changes.iter().flat_map(|change| [&change.before, &change.after]).flatten();
    let named: HashSet<Hash> = states.filter_map(|state| state.hash).collect();
    let images = prepared.contents.iter().filter(|bytes| named.contains(&Hash::of(bytes)));
    let contents = images.cloned().chain(texts).collect();
    Prepared { changes, contents, told: Some((status, told)), settled, ..prepared.clone() }
}

fn fate(
    change: &Change,
    (before, proposed): (Option<&str>, &str),
    prepared: &Prepared,
    choice: &Choice,
) -> Fate {
    let path = &change.path;
    let (text, why) = match choice.texts.iter().find(|(of, _)| of == path) {
        Some((_, text)) => (text.clone(), "with a text that the person changed".to_owned()),
        None => {
            let is_of = |n: &usize| {
                let part = &prepared.parts[*n];
                part.path == *path || part.from.as_ref() == Some(path)
            };
            let parts: Vec<usize> = (0..prepared.parts.len()).filter(is_of).collect();
            let is_left = |n: &usize| choice.left.iter().any(|left| *left as usize == n + 1);
            let taken: Vec<usize> = parts.iter().copied().filter(|n| !is_left(n)).collect();
            let left = parts.len() - taken.len();
            let Some(before) = before.filter(|_| left > 0 && !taken.is_empty()) else {
                return if left > 0 { Fate::Stays } else { Fate::Proposed };
            };
            let taken: Vec<usize> = taken.iter().filter_map(|n| prepared.parts[*n].hunk).collect();
            let why = format!("in part: the person left out {left} of {} hunks", parts.len());
            (hunks::choose(before, proposed, &taken), why)
        }
    };
    match text {
        text if text == proposed => Fate::Proposed,
        text if Some(text.as_str()) == before => Fate::Stays,
        text => Fate::Other(text, why),
    }
}

/// The change of a path to this text instead.
fn with_text(change: &Change, text: &str) -> Change {
    let after = change.after.clone().map(|after| FileState {
        hash: Some(Hash::of(text.as_bytes())),
        bytes: Some(text.len() as u64),
        ..after
    });
    Change { after, ..change.clone() }
}

/// These changes, with those directories that are made for them.
fn with_directories(proposed: &[Change], kept: Vec<Change>) -> Vec<Change> {
    let is_needed = |made: &&Change| {
        let inside = format!("{}/", made.path);
        made.makes_directory() && kept.iter().any(|change| change.path.starts_with(&inside))
    };
    let mut changes: Vec<Change> = proposed.iter().filter(is_needed).cloned().collect();
    changes.extend(kept);
    changes
}

fn stays(change: &Change) -> String {
    let path = &change.path;
    let is = match change.kind {
        ChangeKind::Created => "was not created",
        ChangeKind::Modified => "is as it was",
        ChangeKind::Deleted => "was not removed",
    };
    format!("{path} {is}: the person left this out")
}

fn said(change: &Change, why: &str, difference: &str) -> String {
    let did = if change.before.is_none() { "created" } else { "updated" };
    let path = &change.path;
    format!("{did} {path} {why}. From what was proposed to what stands there now:\n{difference}")
}

/// From what was proposed to what stands there now, not too long.
fn difference(path: &str, proposed: &str, text: &str) -> String {
    let all = diff::unified(&format!("proposed/{path}"), path, proposed, text);
    let lines: Vec<&str> = all.lines().collect();
    let shown = lines[..lines.len().min(MOST_TOLD)].join("\n");
    match lines.len() - lines.len().min(MOST_TOLD) {
        0 => shown,
        1 => format!("{shown}\n… 1 more line"),
        more => format!("{shown}\n… {more} more lines"),
    }
}
