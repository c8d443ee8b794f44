//! The steps of blocks and labels, made one after the other, each in what the one before left.

use super::PatchProblem;
use crate::edit::{self, EditProblem, Edited, How, Piece, Work};
use crate::scope::Scope;
use std::ops::Range;

/// Where a step looks for its old text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Where {
    /// Anywhere, also within lines.
    Text,
    /// Whole lines: anywhere, or among these of the file as it was, first and last from 1.
    Lines(Option<(usize, usize)>),
}

/// One step of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// An old text becomes a new one.
    Swap { old: String, new: String, place: Where },
    /// The file has this content.
    Whole(String),
    /// The file goes on with this.
    Append(String),
    /// The file begins with this.
    Prepend(String),
}

impl Step {
    /// Whether it is limited to lines by their numbers.
    pub(super) fn names_lines(&self) -> bool {
        matches!(self, Step::Swap { place: Where::Lines(Some(_)), .. })
    }

    /// Gives the lines it is limited to their numbers as they are now.
    pub(super) fn move_lines<E>(
        &mut self,
        now: impl FnOnce(&Scope) -> Result<Scope, E>,
    ) -> Result<(), E> {
        if let Step::Swap { place: Where::Lines(Some(lines)), .. } = self
            && let Some(moved) = now(&Scope::lines(lines.0, lines.1))?.line_numbers()
        {
            *lines = moved;
        }
        Ok(())
    }
}

/// A content after all steps, and what was tolerated.
pub(super) fn apply(before: Option<&str>, steps: &[Step]) -> Result<Edited, PatchProblem> {
    let original = before.unwrap_or_default();
    let mut work = Work::on(original);
    let mut notes = Vec::new();
    super::refuse_too_much(steps.len(), original.len())?;
    for (index, step) in steps.iter().enumerate() {
        let part = index + 1;
        let found = match step {
            Step::Whole(text) => whole(0..work.content().len(), text.clone()),
            Step::Append(text) => {
                let end = work.content().len();
                let open = end > 0 && !work.content().ends_with('\n');
                let text = like_the_file(&work, text);
                let start = if !open {
                    ""
                } else if text.ends_with("\r\n") {
                    "\r\n"
                } else {
                    "\n"
                };
                whole(end..end, format!("{start}{text}"))
            }
            Step::Prepend(text) => whole(0..0, like_the_file(&work, text)),
            Step::Swap { old, new, .. } if old.is_empty() && work.content().is_empty() => {
                whole(0..0, new.clone())
            }
            Step::Swap { .. } if before.is_none() && work.content().is_empty() => {
                return Err(PatchProblem::NoFile);
            }
            Step::Swap { old, new, place } => swap(&work, original, (old, new, place), part)?,
        };
        work.exchange(&found.pieces);
        for note in found.notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        if work.content().len() > super::MAX_BYTES {
            return Err(PatchProblem::TooLarge { limit: super::MAX_BYTES });
        }
    }
    Ok(work.done(notes))
}

fn whole(at: Range<usize>, text: String) -> edit::Found {
    edit::Found { pieces: vec![Piece { at, text }], notes: Vec::new() }
}

fn like_the_file(work: &Work, text: &str) -> String {
    let crlf = work.content().contains("\r\n");
    if crlf { text.replace('\n', "\r\n") } else { text.to_owned() }
}

fn swap(
    work: &Work,
    original: &str,
    (old, new, place): (&str, &str, &Where),
    part: usize,
) -> Result<edit::Found, PatchProblem> {
    let content = work.content();
    let scope = match place {
        Where::Text | Where::Lines(None) => 0..content.len(),
        Where::Lines(Some((first, last))) => {
            let wrong = || PatchProblem::Scope { part, first: *first, last: *last };
            let range = bytes_of(original, *first, *last).ok_or_else(wrong)?;
            work.now(range).ok_or_else(wrong)?
        }
    };
    if old.is_empty() && matches!(place, Where::Lines(Some(_))) {
        let text = like_the_file(work, new);
        return Ok(whole(scope, text));
    }
    let slice = &content[scope.clone()];
    let found = match place {
        _ if old.is_empty() => Err(EditProblem::Empty),
        _ if old == new => Err(EditProblem::Same),
        Where::Text => edit::find_text(slice, old, new, false),
        Where::Lines(_) => edit::find(slice, old, new, How::Lines),
    };
    let mut found = found.map_err(|problem| {
        let before = content[..scope.start].matches('\n').count();
        PatchProblem::Edit { part, problem: problem.moved_by(before) }
    })?;
    for piece in &mut found.pieces {
        piece.at = piece.at.start + scope.start..piece.at.end + scope.start;
    }
    Ok(found)
}

/// Where these lines stand in a text, their line ends included.
fn bytes_of(text: &str, first: usize, last: usize) -> Option<Range<usize>> {
    let mut ends = Vec::with_capacity(last.min(text.len()) + 1);
    ends.push(0);
    for line in text.split_inclusive('\n').take(last) {
        ends.push(ends.last().copied().unwrap_or_default() + line.len());
    }
    let from = ends.get(first.checked_sub(1)?)?;
    let to = ends.get(last)?;
    (first <= last).then_some(*from..*to)
}
