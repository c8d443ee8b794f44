//! Edits that leave out a middle: a line that is only `...`, also as a comment, in old and new at
//! corresponding places. What it stands for is never touched. A part that the edit changes must
//! stand in the file once; one that it keeps only has to stand where it is said to.

use super::parts::{Part, parts};
use super::problem::Doubt;
use super::rows::{TextLines, places};
use super::whole::{Wanted, joined};
use super::{Found, Look, Piece};
use std::ops::Range;

/// How many lines an elision may stand for.
const MAX_LEFT_OUT: usize = 400;
/// How many marks an edit may have.
const MAX_MARKS: usize = 8;
/// How long a line is that still only says that something is left out.
const MAX_MARK: usize = 80;

/// What comments begin and end with, around an elision.
const COMMENTS: [(&str, &str); 9] = [
    ("{/*", "*/}"),
    ("/*", "*/"),
    ("<!--", "-->"),
    ("//", ""),
    ("#", ""),
    ("--", ""),
    (";", ""),
    ("%", ""),
    ("[", "]"),
];

/// Whether a line only says that lines are left out.
pub(super) fn is_mark(line: &str) -> bool {
    let line = line.trim();
    if line == "..." || line == "…" {
        return true;
    }
    let inner = COMMENTS
        .iter()
        .find_map(|(open, close)| line.strip_prefix(open)?.strip_suffix(close).map(str::trim));
    inner.is_some_and(|text| {
        (text.starts_with("...") || text.starts_with('…')) && line.len() <= MAX_MARK
    })
}

/// The lines between the marks.
fn segments<'a, 'b>(lines: &'b [&'a str]) -> Vec<&'b [&'a str]> {
    lines.split(|line| is_mark(line)).collect()
}

/// Looks for the parts around the marks of an edit.
pub(super) fn look(rows: &TextLines<'_>, wanted: &Wanted<'_>) -> Look {
    let (old, new) = (segments(&wanted.old), segments(&wanted.new));
    if old.len() < 2 || old.len() > MAX_MARKS + 1 {
        return Look::Miss;
    }
    let all = rows.lines(0..rows.len());
    let found: Vec<Vec<usize>> =
        old.iter().map(|part| places(&all, part, |line| line.trim_end())).collect();
    if !(0..old.len()).any(|at| says_something(old[at]) && !found[at].is_empty()) {
        return Look::Miss;
    }
    let nearest = found.iter().flatten().next().map_or(0..0, |at| *at..*at + wanted.old.len());
    // A part to be changed might be meant elsewhere with other blanks before it.
    let loose = |at: usize| places(&all, old[at], str::trim).len() > 1;
    if (0..old.len().min(new.len())).any(|at| old[at] != new[at] && loose(at)) {
        return Look::Doubt(Doubt::Elision, nearest);
    }
    match located(&old, &new, &found) {
        None => Look::Doubt(Doubt::Elision, nearest),
        Some(regions) => {
            let changed = (0..old.len()).filter(|at| old[*at] != new[*at]);
            let pieces = changed.map(|at| piece(rows, &all, (old[at], new[at]), &regions[at]));
            let notes = vec!["the lines left out of old were kept".to_owned()];
            Look::Found(Found { pieces: pieces.collect(), notes })
        }
    }
}

fn says_something(lines: &[&str]) -> bool {
    lines.iter().any(|line| !line.trim().is_empty())
}

/// Where each part stands, if that is certain and in order.
fn located(old: &[&[&str]], new: &[&[&str]], found: &[Vec<usize>]) -> Option<Vec<Range<usize>>> {
    let ends = |at: usize| at == 0 || at + 1 == old.len();
    let sound = old.len() == new.len()
        && (0..old.len()).all(|at| match says_something(old[at]) {
            true => old[at] == new[at] || found[at].len() == 1,
            false => ends(at) && old[at] == new[at],
        });
    if !sound {
        return None;
    }
    let first = (0..old.len()).find(|at| old[*at] != new[*at])?;
    let mut regions = vec![0..0; old.len()];
    let start = *found[first].first()?;
    regions[first] = start..start + old[first].len();
    let mut cursor = regions[first].end;
    for at in first + 1..old.len() {
        if says_something(old[at]) {
            let after = cursor + 1..=cursor + MAX_LEFT_OUT;
            let place = *found[at].iter().find(|place| after.contains(place))?;
            regions[at] = place..place + old[at].len();
            cursor = regions[at].end;
        }
    }
    let mut cursor = start;
    for at in (0..first).rev().filter(|at| says_something(old[*at])) {
        let end = |place: &&usize| **place + old[at].len();
        let place = *found[at].iter().rev().find(|place| end(place) < cursor)?;
        if cursor - place > MAX_LEFT_OUT + old[at].len() {
            return None;
        }
        cursor = place;
    }
    Some(regions)
}

fn piece(
    rows: &TextLines<'_>,
    all: &[&str],
    (old, new): (&[&str], &[&str]),
    region: &Range<usize>,
) -> Piece {
    let mut lines: Vec<&str> = Vec::with_capacity(new.len());
    let parts = parts(old, new);
    for part in &parts {
        match part {
            Part::Kept(range) => lines.extend(&all[region.clone()][range.clone()]),
            Part::Changed(_, range) => lines.extend(&new[range.clone()]),
        }
    }
    Piece { at: rows.bytes(region.clone()), text: joined(rows, region.clone(), &lines, &parts) }
}
