//! The order in which tolerances are tried once a text was not found as it is. Each rung is tried
//! only when the stricter ones found nothing, and counts only if it finds exactly one place.

use super::problem::{Doubt, EditProblem};
use super::rows::{TextLines, meant_lines};
use super::whole::{Tolerance, Wanted};
use super::{Found, How, Look, Piece, elided, escapes, in_the_files_line_ends, numbers};
use super::{elsewhere, leaves_its_indentation, newlines, occurrences, preview, typography, whole};

/// One way to read an edit.
struct Form {
    old: String,
    /// The new text read the same way, unless that is uncertain.
    new: Result<String, Doubt>,
    /// What was read otherwise than written.
    note: Option<&'static str>,
    rungs: &'static [Rung],
}

impl Form {
    /// Whether a rung finds this reading as it stands, so that its place is certain: it differs in
    /// nothing but line ends and line numbers. The parts of an elision are certain by themselves.
    fn stands(&self, rung: Rung, content: &str, found: &Found) -> bool {
        let as_written = self.note.is_none_or(|note| note == NUMBERS);
        let last = found.pieces.last().is_some_and(|piece| piece.at.end == content.len());
        let unended = last && self.old.ends_with('\n') && !content.ends_with('\n');
        let ends_only = rung == Rung::Lines(Tolerance::LineEnds) && as_written && !unended;
        rung == Rung::Elision || ends_only
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rung {
    /// As it stands, also within lines. Tried only for edits of texts.
    Exact,
    Lines(Tolerance),
    Typography,
    Elision,
}

impl Rung {
    /// What this rung itself tolerates. Whole lines end as the file's do, without a word.
    fn note(self, how: How) -> Option<&'static str> {
        let ends = self == Rung::Lines(Tolerance::LineEnds) && how == How::Text;
        ends.then_some("line ends differed")
    }
}

const LINES: &[Rung] = &[
    Rung::Lines(Tolerance::LineEnds),
    Rung::Lines(Tolerance::Trailing),
    Rung::Typography,
    Rung::Lines(Tolerance::Indentation),
];
const STRICT: &[Rung] =
    &[Rung::Exact, Rung::Lines(Tolerance::LineEnds), Rung::Lines(Tolerance::Trailing)];
const ELISION: &[Rung] = &[Rung::Elision];

/// Where `old` stands, more or less, and what takes its place.
pub(super) fn find(content: &str, old: &str, new: &str, how: How) -> Result<Found, EditProblem> {
    let rows = TextLines::of(content);
    let forms = forms(&rows, old, new);
    for form in &forms {
        for rung in form.rungs {
            let text = form.new.as_deref().unwrap_or_default();
            match tried(&rows, content, (&form.old, text), *rung, how) {
                Look::Miss => {}
                Look::Several(lines) => return Err(EditProblem::Several { lines }),
                Look::Doubt(doubt, region) => {
                    let doubt = form.new.as_ref().err().copied().unwrap_or(doubt);
                    return Err(doubtful(content, old, doubt, rows.bytes(region).start));
                }
                Look::Found(found) => {
                    let found = match form.stands(*rung, content, &found) {
                        true => found,
                        false => elsewhere::refused(content, &form.old, found)?,
                    };
                    if let Err(doubt) = form.new {
                        let at = found.pieces.first().map_or(0, |piece| piece.at.start);
                        return Err(doubtful(content, old, doubt, at));
                    }
                    return Ok(noted(found, [form.note, rung.note(how)]));
                }
            }
        }
    }
    let read = forms.iter().find(|form| form.note == Some(NUMBERS)).map_or(old, |f| &f.old);
    let preview = preview::nearest(&rows, &meant_lines(read));
    Err(EditProblem::NotFound { preview, doubt: None })
}

const NUMBERS: &str = "line numbers in old were left out";
const BLANKS: &str = "blank lines around old were left out";
const ESCAPES: &str = "backslashes in old were taken as escapes";

/// What to say of a place, by the byte where it begins, whose meaning is not certain.
pub(super) fn doubtful(content: &str, old: &str, doubt: Doubt, at: usize) -> EditProblem {
    let rows = TextLines::of(content);
    let preview = preview::region(&rows, &meant_lines(old), rows.index_of(at));
    EditProblem::NotFound { preview, doubt: Some(doubt) }
}

fn noted(mut found: Found, notes: [Option<&str>; 2]) -> Found {
    found.notes.splice(0..0, notes.into_iter().flatten().map(str::to_owned));
    found
}

fn tried(
    rows: &TextLines<'_>,
    content: &str,
    (old, new): (&str, &str),
    rung: Rung,
    how: How,
) -> Look {
    let wanted = Wanted::of(old, new);
    match rung {
        Rung::Exact if how == How::Lines => Look::Miss,
        Rung::Exact => exact(rows, content, old, new),
        _ if !wanted.says_something() => Look::Miss,
        Rung::Lines(tolerance) => whole::look(rows, &wanted, tolerance),
        Rung::Typography => {
            let (old, new) = in_the_files_line_ends(content, old, new);
            typography::look(rows, content, (&old, &new), how == How::Lines)
        }
        Rung::Elision => elided::look(rows, &wanted),
    }
}

fn exact(rows: &TextLines<'_>, content: &str, old: &str, new: &str) -> Look {
    let (old, text) = in_the_files_line_ends(content, old, new);
    let places = occurrences(content, &old);
    match places.as_slice() {
        [] => Look::Miss,
        [at] if leaves_its_indentation(content, *at, (&old, &text)) => {
            let line = rows.index_of(*at);
            Look::Doubt(Doubt::Indentation, line..line + newlines(&old) + 1)
        }
        [at] => {
            let piece = Piece { at: *at..at + old.len(), text };
            Look::Found(Found { pieces: vec![piece], notes: Vec::new() })
        }
        _ => Look::Several(places.iter().map(|at| rows.index_of(*at) + 1).collect()),
    }
}

/// The ways to read an edit, the plainest first.
fn forms(rows: &TextLines<'_>, old: &str, new: &str) -> Vec<Form> {
    let plain = |rungs| Form { old: old.to_owned(), new: Ok(new.to_owned()), note: None, rungs };
    let mut forms = vec![plain(LINES)];
    if let Some(bare) = numbers::stripped(old) {
        let new = numbers::stripped_new(new, rows);
        forms.push(Form { old: bare, new, note: Some(NUMBERS), rungs: LINES });
    }
    forms.extend(without_blank_edges(old, new));
    for reading in escapes::readings(old) {
        let new = reading.read_new(old, new);
        forms.push(Form { old: reading.old, new, note: Some(ESCAPES), rungs: STRICT });
    }
    forms.push(plain(ELISION));
    forms
}

/// An edit without the blank lines its old text begins and ends with. The new text loses as many.
fn without_blank_edges(old: &str, new: &str) -> Option<Form> {
    let lines = meant_lines(old);
    let (head, tail) = blank_edges(&lines);
    if head + tail == 0 || head == lines.len() {
        return None;
    }
    // A line of blanks may be what is left of a line; only the start of one after the last may not.
    let open = usize::from(!old.ends_with('\n')).min(tail);
    let edges = lines[..head].iter().chain(&lines[lines.len() - tail..lines.len() - open]);
    if edges.into_iter().any(|line| !line.is_empty()) {
        return None;
    }
    let bare = |lines: &[&str]| -> String { lines.iter().map(|l| format!("{l}\n")).collect() };
    let made = if new.is_empty() { Vec::new() } else { meant_lines(new) };
    let (new_head, new_tail) = blank_edges(&made);
    let fits = |wanted: usize, there: usize| there == 0 || there >= wanted;
    let new = match made.len() {
        0 => Ok(String::new()),
        n if n == new_head || !fits(head, new_head) || !fits(tail, new_tail) => {
            Err(Doubt::BlankLines)
        }
        n => Ok(bare(&made[head.min(new_head)..n - tail.min(new_tail)])),
    };
    let old = bare(&lines[head..lines.len() - tail]);
    Some(Form { old, new, note: Some(BLANKS), rungs: LINES })
}

/// How many blank lines these begin and end with.
fn blank_edges(lines: &[&str]) -> (usize, usize) {
    let blank = |line: &&&str| line.trim().is_empty();
    let head = lines.iter().take_while(blank).count();
    (head, lines[head..].iter().rev().take_while(blank).count())
}
