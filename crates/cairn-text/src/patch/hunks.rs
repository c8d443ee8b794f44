//! Hunks of diffs and sections: lines kept, removed and added, found in the file by what they keep
//! and remove. They stand in the file's order and do not overlap.

use super::PatchProblem;
use crate::edit::{self, EditProblem, Edited, Found, How, Piece, Work};
use std::ops::Range;

/// What a line of a hunk does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Old,
    New,
}

/// The lines a hunk says it is about, as a diff's header counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) first: usize,
    pub(super) old: usize,
    pub(super) new: usize,
}

/// One hunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hunk {
    pub(super) lines: Vec<(Side, String)>,
    pub(super) numbers: Option<Numbers>,
    /// Lines above it that lead to it, one within the other.
    pub(super) anchors: Vec<String>,
    /// It ends where the file ends.
    pub(super) at_the_end: bool,
    /// Lines without context are added at the end of the file.
    pub(super) may_append: bool,
    /// The old, the new text ends the file without a line end.
    pub(super) open: (bool, bool),
}

impl Hunk {
    fn text(&self, without: Side) -> String {
        let lines = self.lines.iter().filter(|(side, _)| *side != without);
        lines.map(|(_, line)| format!("{line}\n")).collect()
    }

    fn changes(&self) -> bool {
        self.lines.iter().any(|(side, _)| *side != Side::Both) || self.open.0 != self.open.1
    }

    /// Whether its header counts its lines rightly.
    pub(super) fn is_counted(&self) -> bool {
        let count = |without| self.lines.iter().filter(|(side, _)| *side != without).count();
        self.numbers.is_some_and(|n| n.old == count(Side::New) && n.new == count(Side::Old))
    }
}

/// A content after all hunks, and what was tolerated.
pub(super) fn apply(content: &str, hunks: &[Hunk]) -> Result<Edited, PatchProblem> {
    super::refuse_too_much(hunks.len(), content.len())?;
    let exact = by_numbers(content, hunks);
    let (mut pieces, mut notes): (Vec<Piece>, Vec<String>) = (Vec::new(), Vec::new());
    let mut cursor = 0;
    for (index, hunk) in hunks.iter().enumerate().filter(|(_, hunk)| hunk.changes()) {
        let range = exact.as_ref().map(|ranges| ranges[index].clone());
        let mut found = located(content, hunk, cursor, (index + 1, range))?;
        if let Some(last) = found.pieces.last_mut() {
            end_of_file(content, hunk, last, index + 1)?;
        }
        for piece in found.pieces {
            if piece.at.start < cursor {
                let line = content[..piece.at.start].matches('\n').count() + 1;
                return Err(PatchProblem::Order { part: index + 1, line });
            }
            cursor = piece.at.end;
            pieces.push(piece);
        }
        for note in found.notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    let mut work = Work::on(content);
    work.exchange(&pieces);
    Ok(work.done(notes))
}

/// Where each hunk stands if all headers are right to the line: then their numbers can be trusted
/// where the same lines stand elsewhere too.
fn by_numbers(content: &str, hunks: &[Hunk]) -> Option<Vec<Range<usize>>> {
    let mut starts = vec![0];
    for line in content.split_inclusive('\n') {
        starts.push(starts.last().copied().unwrap_or_default() + line.len());
    }
    let bare = content.replace("\r\n", "\n");
    let bare: Vec<&str> = bare.split('\n').collect();
    let range = |hunk: &Hunk| {
        let first = hunk.numbers.filter(|_| hunk.is_counted())?.first.checked_sub(1)?;
        let old: Vec<&str> =
            hunk.lines.iter().filter(|l| l.0 != Side::New).map(|l| &*l.1).collect();
        let stands = !old.is_empty() && bare.get(first..first + old.len())? == old;
        let end = *starts.get(first + old.len())?;
        stands.then(|| starts[first]..end)
    };
    hunks.iter().map(range).collect()
}

/// Where a hunk belongs and what comes there. Its lines are looked for in `exact`, if that is known,
/// else after its anchors, else everywhere.
fn located(
    content: &str,
    hunk: &Hunk,
    cursor: usize,
    (part, exact): (usize, Option<Range<usize>>),
) -> Result<Found, PatchProblem> {
    let (old, new) = (hunk.text(Side::New), hunk.text(Side::Old));
    let anchored = match hunk.anchors.is_empty() {
        true => None,
        false => Some(anchored(content, hunk, cursor, part)?),
    };
    if old.is_empty() {
        return inserted(content, hunk, anchored, part, new);
    }
    let tail = || {
        let lines = hunk.lines.iter().filter(|(side, _)| *side != Side::New).count();
        last_lines(content, lines)
    };
    let narrow = match (exact, anchored) {
        (Some(range), _) => Some(range),
        (None, Some(range)) => Some(range),
        (None, None) if hunk.at_the_end => Some(tail()),
        (None, None) => None,
    };
    let find = |range: Range<usize>| {
        let slice = &content[range.clone()];
        // A hunk may change nothing but the last line end.
        let mut found = match hunk.open.0 == hunk.open.1 {
            true => edit::find(slice, &old, &new, How::Lines)?,
            false => edit::find_also_unchanged(slice, &old, &new, How::Lines)?,
        };
        for piece in &mut found.pieces {
            piece.at = piece.at.start + range.start..piece.at.end + range.start;
        }
        Ok::<Found, EditProblem>(found)
    };
    let near = narrow.and_then(|range| find(range).ok());
    let found = near.map_or_else(|| find(0..content.len()), Ok);
    found.map_err(|problem| PatchProblem::Edit { part, problem })
}

/// Lines that say nothing about their place but what leads to them.
fn inserted(
    content: &str,
    hunk: &Hunk,
    anchored: Option<Range<usize>>,
    part: usize,
    new: String,
) -> Result<Found, PatchProblem> {
    let end = |at: usize| content[at..].find('\n').map_or(content.len(), |line| at + line + 1);
    let at = match anchored {
        Some(range) => end(range.start),
        None if content.is_empty() || hunk.may_append => content.len(),
        None => return Err(PatchProblem::NoPlace { part }),
    };
    let crlf = content.contains("\r\n");
    let text = if crlf { new.replace('\n', "\r\n") } else { new };
    let open = at > 0 && !content[..at].ends_with('\n');
    let start = if !open {
        ""
    } else if crlf {
        "\r\n"
    } else {
        "\n"
    };
    let text = match open {
        // The file keeps its missing line end.
        true => format!("{start}{}", text.trim_end_matches(['\r', '\n'])),
        false => text,
    };
    Ok(Found { pieces: vec![Piece { at: at..at, text }], notes: Vec::new() })
}

/// From the line a hunk's anchors lead to, to the end of the block that line opens.
fn anchored(
    content: &str,
    hunk: &Hunk,
    cursor: usize,
    part: usize,
) -> Result<Range<usize>, PatchProblem> {
    let mut range = cursor..content.len();
    for anchor in &hunk.anchors {
        let places = lines_like(content, &range, anchor);
        let [at] = places.as_slice() else {
            let (anchor, count) = (anchor.clone(), places.len());
            return Err(PatchProblem::Anchor { part, anchor, count });
        };
        range = *at..block_end(content, *at);
    }
    Ok(range)
}

/// Where lines stand that are this one, blanks around it aside.
fn lines_like(content: &str, range: &Range<usize>, wanted: &str) -> Vec<usize> {
    let mut at = range.start;
    let mut found = Vec::new();
    for line in content[range.clone()].split_inclusive('\n') {
        if line.trim() == wanted.trim() {
            found.push(at);
        }
        at += line.len();
    }
    found
}

/// The end of the block that a line opens: what is indented deeper, and the line that closes it.
fn block_end(content: &str, at: usize) -> usize {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines = content[at..].split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let mut end = at + first.len();
    for line in lines {
        let closes =
            line.trim_start().starts_with(['}', ')', ']']) || line.trim_start().starts_with("end");
        if !line.trim().is_empty() && depth(line) <= depth(first) {
            return if closes { end + line.len() } else { end };
        }
        end += line.len();
    }
    end
}

fn last_lines(content: &str, count: usize) -> Range<usize> {
    let starts: Vec<usize> = content
        .split_inclusive('\n')
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let from = starts.len().saturating_sub(count);
    starts.get(from).copied().unwrap_or(content.len())..content.len()
}

/// Adds or takes away the last line end where the hunk says so.
fn end_of_file(
    content: &str,
    hunk: &Hunk,
    piece: &mut Piece,
    part: usize,
) -> Result<(), PatchProblem> {
    let (was, is) = hunk.open;
    let ended = piece.at.end == content.len();
    if (was || is) && !ended {
        return Err(PatchProblem::NoPlace { part });
    }
    if is {
        let bare = piece.text.trim_end_matches('\n').trim_end_matches('\r').len();
        let one = piece.text.len() - bare;
        piece.text.truncate(if one <= 2 { bare } else { piece.text.len() - 1 });
    } else if was && !piece.text.ends_with('\n') && !piece.text.is_empty() {
        piece.text.push_str(if content.contains("\r\n") { "\r\n" } else { "\n" });
    }
    Ok(())
}
