//! The parts of an edit that a person can take or leave: hunks, or whole files where there are none. And
//! the diff that names them by number. What is taken of them is `choose`'s.

use crate::edits::edit::Worked;
use cairn_text::hunks;
use cairn_text::shown::clean;

/// More hunks than this are not told apart; then each file is one part.
const MOST: usize = 200;

/// A part of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// One line for lists.
    pub label: String,
    /// The file it is of.
    pub path: String,
    /// Which of the file's hunks it is, from 0; absent when it is all of the file's change.
    pub hunk: Option<usize>,
    /// The place that the file leaves, when it is moved.
    pub from: Option<String>,
}

/// The parts of an edit, in the order in which they are shown.
pub(crate) fn of(worked: &[Worked]) -> Vec<Part> {
    let hunks: Vec<Vec<hunks::Hunk>> = worked.iter().map(hunks_of).collect();
    let all: usize = hunks.iter().map(|of_file| of_file.len().max(1)).sum();
    let mut parts = Vec::new();
    for (one, of_file) in worked.iter().zip(hunks) {
        let path = &one.change.path;
        if leaves(one, worked) {
            continue;
        }
        if of_file.is_empty() || all > MOST {
            let from = one.from.clone().filter(|from| is_left(from, worked));
            parts.push(Part { label: clean(&one.label()), path: path.clone(), hunk: None, from });
            continue;
        }
        for (n, hunk) in of_file.iter().enumerate() {
            let ((first, last), added, removed) = (hunk.lines, hunk.added, hunk.removed);
            let label = clean(&format!("{path} lines {first}-{last}, +{added} −{removed}"));
            parts.push(Part { label, path: path.clone(), hunk: Some(n), from: None });
        }
    }
    parts
}

/// The hunks of a text that becomes another; none where a file comes or goes, or was no text.
fn hunks_of(one: &Worked) -> Vec<hunks::Hunk> {
    let before = one.before.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
    match (before, &one.after) {
        (Some(before), Some(after)) => hunks::hunks(before, after),
        _ => Vec::new(),
    }
}

/// Whether this is the place that a moved file leaves.
fn leaves(one: &Worked, worked: &[Worked]) -> bool {
    let is_from = |other: &Worked| other.from.as_ref() == Some(&one.change.path);
    one.after.is_none() && worked.iter().any(is_from)
}

fn is_left(from: &str, worked: &[Worked]) -> bool {
    worked.iter().any(|one| one.change.path == from && one.after.is_none())
}

/// What is shown of one file, with the numbers of its parts where there are several to name.
pub(crate) fn numbered(shown: &str, path: &str, parts: &[Part]) -> String {
    if parts.len() < 2 {
        return shown.to_owned();
    }
    let is_of = |part: &Part| part.path == path || part.from.as_deref() == Some(path);
    let of_file = (1..).zip(parts).filter(|(_, part)| is_of(part));
    let numbers: Vec<u32> = of_file.map(|(number, _)| number).collect();
    match shown.is_empty() {
        // A diff says nothing of a file without a line.
        true => hunks::numbered(&format!("--- {path}\n+++ {path}\n@@ no lines @@\n"), &numbers),
        false => hunks::numbered(shown, &numbers),
    }
}
