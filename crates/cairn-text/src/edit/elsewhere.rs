//! Whether a text that was found with tolerance might as well stand in another place. A tolerance is
//! sure of its place only if the loosest comparison finds no other, and the new text points to none.

use super::ladder;
use super::problem::{Doubt, EditProblem};
use super::rows::{TextLines, meant_lines, places};
use super::typography::plain;
use super::whole::TELLING;
use super::{Found, occurrences};
use std::collections::HashSet;

/// What was found, unless `old` stands elsewhere as well, most loosely compared.
pub(super) fn refused(content: &str, old: &str, found: Found) -> Result<Found, EditProblem> {
    let (text, wanted) = (folded(content), folded(old));
    let all = TextLines::of(&text);
    // Without blank lines around it, which may be surplus.
    let lines = meant_lines(&wanted);
    let said = |line: &str| !line.trim().is_empty();
    let head = lines.iter().position(|line| said(line)).unwrap_or_default();
    let tail = lines.iter().rposition(|line| said(line)).map_or(lines.len(), |last| last + 1);
    let mut starts = places(&all.lines(0..all.len()), &lines[head..tail], str::trim);
    // Also within lines, where the first and the last one may be parts of longer ones.
    starts.extend(occurrences(&text, &wanted).into_iter().map(|at| all.index_of(at)));
    starts.sort_unstable();
    starts.dedup();
    let rows = TextLines::of(content);
    let known = |start: &usize| {
        found.pieces.iter().any(|piece| {
            let first = rows.index_of(piece.at.start);
            [first, first + head].contains(start)
        })
    };
    if !starts.iter().all(known) {
        return Err(EditProblem::Several { lines: starts.iter().map(|start| start + 1).collect() });
    }
    match found.pieces.iter().find(|piece| comes_from_elsewhere(&all, &lines, &folded(&piece.text)))
    {
        Some(piece) => Err(ladder::doubtful(content, old, Doubt::Place, piece.at.start)),
        None => Ok(found),
    }
}

/// Whether the new text has an old line beside one that is not old, and the file has them side by
/// side too: then the old text may be quoted from there, with a line forgotten.
fn comes_from_elsewhere(all: &TextLines<'_>, old: &[&str], new: &str) -> bool {
    let old: HashSet<&str> = old.iter().map(|line| line.trim()).collect();
    let telling = |line: &str| line.len() >= TELLING && line.contains(char::is_alphanumeric);
    let new: Vec<&str> = new.lines().map(str::trim).collect();
    let beside = new.windows(2).map(|two| (two[0], two[1]));
    let pairs: HashSet<(&str, &str)> = beside
        .filter(|(a, b)| old.contains(a) != old.contains(b) && telling(a) && telling(b))
        .collect();
    let side_by_side = |at: usize| (all.line(at).trim(), all.line(at + 1).trim());
    !pairs.is_empty() && (0..all.len()).any(|at| pairs.contains(&side_by_side(at)))
}

/// A text in plain small characters with bare line feeds, so that its lines are counted as before.
fn folded(text: &str) -> String {
    let plain: String = text.chars().flat_map(|c| plain(c).to_lowercase()).collect();
    plain.replace("\r\n", "\n")
}
