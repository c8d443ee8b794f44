//! Whether a text that was found with tolerance might as well stand in another place. A tolerance is
//! sure of its place only if the loosest comparison finds no other. Decides nothing about new texts.

use super::problem::EditProblem;
use super::rows::{Rows, meant_lines, places};
use super::typography::plain;
use super::{Found, occurrences};

/// What was found, unless `old` stands elsewhere as well, most loosely compared.
pub(super) fn refused(content: &str, old: &str, found: Found) -> Result<Found, EditProblem> {
    let (text, wanted) = (folded(content), folded(old));
    let all = Rows::of(&text);
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
    let rows = Rows::of(content);
    let known = |start: &usize| {
        found.pieces.iter().any(|piece| {
            let first = rows.index_of(piece.at.start);
            [first, first + head].contains(start)
        })
    };
    if starts.iter().all(known) {
        return Ok(found);
    }
    Err(EditProblem::Several { lines: starts.iter().map(|start| start + 1).collect() })
}

/// A text with plain characters and bare line feeds, so that its lines are counted as before.
fn folded(text: &str) -> String {
    text.chars().map(plain).collect::<String>().replace("\r\n", "\n")
}
