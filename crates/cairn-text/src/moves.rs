//! Where parts of a text stand after edits of it, so that line numbers can mean the text as it was before them.

use crate::edit::Piece;
use crate::edit::rows::TextLines;
use crate::items::{self, ItemsProblem};
use crate::scope::{Place, Scope};
use crate::slice::{self, OutOfScope};
use cairn_types::Status;
use std::ops::Range;

/// What edits moved: which parts of the text before each were replaced, and how long the new parts are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moves {
    steps: Vec<MoveStep>,
    unit: MoveUnit,
}

/// The ranges that one step replaced, in order, each with its new length.
type MoveStep = Vec<(Range<usize>, usize)>;

/// What ranges count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MoveUnit {
    /// Bytes of a text.
    #[default]
    Bytes,
    /// Items of a JSON document.
    Items,
    /// Edits of both kinds were made: where what stayed stands is not known.
    Mixed,
    /// All of the text may have been replaced.
    Everything,
}

/// Why a scope of a text has no place in what edits made of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeProblem {
    /// It had none before them either.
    #[error(transparent)]
    Lines(OutOfScope),
    /// It had none before them either, in a JSON document.
    #[error(transparent)]
    Items(ItemsProblem),
    /// They replaced some of it.
    #[error("{0} overlaps an earlier edit of the same reply; make one edit of them")]
    Overlap(Scope),
    /// They counted bytes where the scope counts items, or the other way round.
    #[error(
        "{0} cannot be placed after an edit of another kind in the same reply; make one edit of them"
    )]
    OtherKind(Scope),
}

impl ScopeProblem {
    /// The status of an op that is refused for it.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            ScopeProblem::Lines(problem) => problem.status(),
            ScopeProblem::Items(problem) => problem.status(),
            ScopeProblem::Overlap(_) | ScopeProblem::OtherKind(_) => Status::CONFLICT,
        }
    }
}

impl Moves {
    /// Those of an edit after which no part of the text is known to be the same.
    #[must_use]
    pub fn everything() -> Moves {
        Moves { steps: Vec::new(), unit: MoveUnit::Everything }
    }

    /// Those of an edit that replaced these items of a JSON document by so many.
    pub(crate) fn of_items(replaced: Range<usize>, count: usize) -> Moves {
        Moves { steps: vec![vec![(replaced, count)]], unit: MoveUnit::Items }
    }

    /// Those of an edit that replaced one part of a text, told by the text before and after and where the part was.
    pub(crate) fn of_part(before: &str, after: &str, replaced: Range<usize>) -> Moves {
        let kept = before.len() - replaced.len();
        Moves {
            steps: vec![vec![(replaced, after.len().saturating_sub(kept))]],
            unit: MoveUnit::Bytes,
        }
    }

    /// Adds a step that puts these pieces, in order and apart, into what the steps before made.
    pub(crate) fn push(&mut self, pieces: &[Piece]) {
        let step = pieces.iter().map(|piece| (piece.at.clone(), piece.text.len()));
        self.steps.push(step.collect());
    }

    /// Adds the moves of a later edit.
    pub fn then(&mut self, later: Moves) {
        if *self == Moves::default() {
            *self = later;
        } else if later.unit == self.unit {
            self.steps.extend(later.steps);
        } else {
            let is_known = |unit| unit != MoveUnit::Everything;
            let both = is_known(self.unit) && is_known(later.unit);
            let unit = if both { MoveUnit::Mixed } else { MoveUnit::Everything };
            *self = Moves { steps: Vec::new(), unit };
        }
    }

    /// Where a range of the text before all steps now stands; none if one of them replaced some of it, or inserted
    /// at the same place.
    pub(crate) fn now(&self, range: Range<usize>) -> Option<Range<usize>> {
        if matches!(self.unit, MoveUnit::Mixed | MoveUnit::Everything) {
            return None;
        }
        self.steps.iter().try_fold(range, |range, step| {
            let touched = |replaced: &Range<usize>| {
                replaced.start < range.end && range.start < replaced.end
                    || replaced.is_empty() && *replaced == range
            };
            if step.iter().any(|(replaced, _)| touched(replaced)) {
                return None;
            }
            let inserted = step.iter().find(|(replaced, _)| {
                replaced.is_empty() && replaced.start == range.start && !range.is_empty()
            });
            // What was inserted where the range begins stands before it.
            let before = inserted.map_or(0, |(_, len)| *len);
            let start = moved_offset(step, range.start) + before;
            Some(start..moved_offset(step, range.end).max(start))
        })
    }

    /// The scope that means the same part of the text as it is now as this one means of the text before. The places
    /// before the first and after the last line stay what they are.
    ///
    /// # Errors
    ///
    /// When the scope means nothing of the text before, or an edit replaced some of what it means.
    pub fn scope_now(
        &self,
        scope: &Scope,
        before: &str,
        now: &str,
        is_json: bool,
    ) -> Result<Scope, ScopeProblem> {
        if *self == Moves::default() || matches!(scope, Scope::At(0 | -1)) {
            return Ok(*scope);
        }
        let unit = if is_json { MoveUnit::Items } else { MoveUnit::Bytes };
        let place = match is_json {
            true => items::place(before, scope).map_err(ScopeProblem::Items)?,
            false => slice::place(before, scope).map_err(ScopeProblem::Lines)?,
        };
        let names_lines = !is_json && !matches!(scope, Scope::Span(..));
        let had_end = names_lines && before[..place.end].ends_with('\n');
        if self.unit != unit && self.unit != MoveUnit::Everything {
            return Err(ScopeProblem::OtherKind(*scope));
        }
        let moved = self.now(place);
        let moved = moved.filter(|place| !names_lines || are_lines(now, place, had_end));
        let place = moved.ok_or(ScopeProblem::Overlap(*scope))?;
        Ok(match (is_json, scope) {
            (true, _) => Scope::lines(place.start + 1, place.end),
            (false, Scope::Span(..)) => {
                Scope::Span(place_of(now, place.start), place_of(now, place.end))
            }
            (false, _) => {
                let rows = TextLines::of(now);
                let first = rows.index_of(place.start) + 1;
                let last = rows.index_of(place.end.saturating_sub(1).max(place.start)) + 1;
                Scope::lines(first, last)
            }
        })
    }
}

/// Whether a range of a text begins and ends with lines, so that no other text stands in its lines. Where the last
/// line of it had no end before edits, the end it has now need not belong to the range.
fn are_lines(text: &str, range: &Range<usize>, had_end: bool) -> bool {
    let is_border = |at: usize| at == 0 || text[..at].ends_with('\n');
    let rest = &text[range.end..];
    let got_end = !had_end && (rest.starts_with('\n') || rest.starts_with("\r\n"));
    is_border(range.start) && (rest.is_empty() || is_border(range.end) || got_end)
}

/// An offset after a step. One within a replaced range goes to the end of what replaced it.
pub(crate) fn moved_offset(step: &[(Range<usize>, usize)], at: usize) -> usize {
    let mut shift: isize = 0;
    for (gone, len) in step {
        if gone.end <= at && gone.start < at {
            shift += len.cast_signed() - gone.len().cast_signed();
        } else if gone.start < at {
            return (gone.start + len).saturating_add_signed(shift);
        }
    }
    at.saturating_add_signed(shift)
}

/// The place of a byte of a text, by its line and column.
fn place_of(text: &str, byte: usize) -> Place {
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    Place { line: number(line), column: number(before[line_start..].chars().count() + 1) }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
