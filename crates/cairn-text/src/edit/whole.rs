//! Finding whole lines that differ from the wanted ones only in blanks, and making the lines that
//! take their place. Kept lines stay as the file has them; line ends are the file's.

use super::indent;
use super::parts::{Part, parts};
use super::problem::Doubt;
use super::rows::{TextLines, meant_lines, places};
use super::{Found, Look, Piece};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// How many characters a text must have to be known without its indentation.
pub(super) const TELLING: usize = 8;

/// What may differ between the wanted lines and the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tolerance {
    /// Only line ends.
    LineEnds,
    /// Also blanks at the ends of lines.
    Trailing,
    /// Also blanks at the beginnings of lines.
    Indentation,
}

/// The lines of an edit that stand for whole lines.
pub(super) struct Wanted<'a> {
    pub(super) old: Vec<&'a str>,
    pub(super) new: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    /// What `old` and `new` mean as whole lines, as close to their meaning as texts as can be: a
    /// last line end in `new` counts only if `old` has none.
    pub(super) fn of(old: &'a str, new: &'a str) -> Wanted<'a> {
        let ended = old.ends_with('\n');
        let mut lines = meant_lines(new);
        if ended && new.is_empty() {
            lines.clear();
        } else if !ended && new.ends_with('\n') {
            lines.push("");
        }
        Wanted { old: meant_lines(old), new: lines }
    }

    /// Whether its lines can be known by what is left of them. Brackets with other blanks around
    /// them stand anywhere, and so do short words.
    fn is_telling(&self, tolerance: Tolerance) -> bool {
        let said = || self.old.iter().flat_map(|line| line.chars()).filter(|c| !c.is_whitespace());
        let words = || said().any(char::is_alphanumeric);
        match tolerance {
            Tolerance::LineEnds => true,
            Tolerance::Trailing => words(),
            Tolerance::Indentation => words() && said().take(TELLING).count() == TELLING,
        }
    }

    pub(super) fn says_something(&self) -> bool {
        self.old.iter().any(|line| !line.trim().is_empty())
    }
}

/// One place where the wanted lines stand, more or less.
pub(super) struct Case<'a> {
    pub(super) old: &'a [&'a str],
    pub(super) new: &'a [&'a str],
    /// As many as `old` has.
    pub(super) file: &'a [&'a str],
    /// All lines of the file.
    pub(super) all: &'a [&'a str],
}

/// The lines that replace a case's, and what was tolerated.
pub(super) struct Adapted<'a> {
    pub(super) lines: Vec<Cow<'a, str>>,
    pub(super) note: Option<String>,
}

/// Looks for the wanted lines, tolerating what is said.
pub(super) fn look(rows: &TextLines<'_>, wanted: &Wanted<'_>, tolerance: Tolerance) -> Look {
    let all = rows.lines(0..rows.len());
    if !wanted.is_telling(tolerance) {
        return Look::Miss;
    }
    let found = places(&all, &wanted.old, |line| key(line, tolerance));
    let at = match found.as_slice() {
        [] => return Look::Miss,
        [at] => *at,
        _ => return Look::Several(found.iter().map(|at| at + 1).collect()),
    };
    let region = at..at + wanted.old.len();
    let file = &all[region.clone()];
    let case = Case { old: &wanted.old, new: &wanted.new, file, all: &all };
    let adapted = match tolerance {
        Tolerance::Trailing if unclear_which_are_kept(&case) || unclear_whose_blanks(&case) => {
            Err(Doubt::TrailingBlanks)
        }
        Tolerance::LineEnds | Tolerance::Trailing => Ok(as_given(&case)),
        Tolerance::Indentation if unclear_which_are_kept(&case) => Err(Doubt::Indentation),
        Tolerance::Indentation => indent::adapt(&case),
    };
    let done = adapted.and_then(|adapted| trailing(&case, adapted));
    match done {
        Err(doubt) => Look::Doubt(doubt, region),
        Ok(adapted) => {
            let mut notes: Vec<String> = adapted.note.into_iter().collect();
            if differ_at_their_ends(&case) {
                notes.push("blanks at line ends differed".to_owned());
            }
            let text = joined(rows, region.clone(), &adapted.lines, &parts(case.old, case.new));
            Look::Found(Found { pieces: vec![Piece { at: rows.bytes(region), text }], notes })
        }
    }
}

/// Lines that are the same in the edit but for blanks at their ends, and differ in the file: which of
/// them stays matters, and only if all of them stay as they are is it known.
pub(super) fn unclear_which_are_kept(case: &Case<'_>) -> bool {
    let (by, differs): (Key, Key) = (str::trim_end, |line| line);
    is_unclear(case, by, differs)
}

/// The same for lines that are alike but for their depth, and end in different blanks in the file:
/// a new one may be any of them, moved.
fn unclear_whose_blanks(case: &Case<'_>) -> bool {
    is_unclear(case, str::trim, blanks_after)
}

type Key = fn(&str) -> &str;

/// Whether lines that are alike by one key differ in the file by another, and do not all stay.
fn is_unclear(case: &Case<'_>, alike: Key, differing: Key) -> bool {
    #[derive(Default)]
    struct Group<'a> {
        file: Vec<&'a str>,
        old: Vec<&'a str>,
        new: Vec<&'a str>,
    }
    let mut groups: HashMap<&str, Group<'_>> = HashMap::new();
    for (old, file) in case.old.iter().zip(case.file) {
        let group = groups.entry(alike(old)).or_default();
        group.file.push(differing(file));
        group.old.push(old);
    }
    for new in case.new {
        if let Some(group) = groups.get_mut(alike(new)) {
            group.new.push(new);
        }
    }
    let differ = |group: &Group<'_>| group.file.iter().any(|line| *line != group.file[0]);
    groups.values().any(|group| differ(group) && group.old != group.new)
}

fn key(line: &str, tolerance: Tolerance) -> &str {
    match tolerance {
        Tolerance::LineEnds => line,
        Tolerance::Trailing => line.trim_end(),
        Tolerance::Indentation => line.trim(),
    }
}

fn as_given<'a>(case: &Case<'a>) -> Adapted<'a> {
    let mut lines = Vec::with_capacity(case.new.len());
    for part in parts(case.old, case.new) {
        let kept = match part {
            Part::Kept(range) => &case.file[range],
            Part::Changed(_, range) => &case.new[range],
        };
        lines.extend(kept.iter().map(|line| Cow::Borrowed(*line)));
    }
    Adapted { lines, note: None }
}

fn blanks_after(line: &str) -> &str {
    &line[line.trim_end().len()..]
}

fn differ_at_their_ends(case: &Case<'_>) -> bool {
    case.old.iter().zip(case.file).any(|(old, file)| blanks_after(old) != blanks_after(file))
}

/// Settles the blanks at the ends of the new lines. Where the wanted lines had blanks that the file
/// has not, those of the new lines are slips too, unless the file has such lines of its own.
fn trailing<'a>(case: &Case<'a>, mut adapted: Adapted<'a>) -> Result<Adapted<'a>, Doubt> {
    if !differ_at_their_ends(case) {
        return Ok(adapted);
    }
    let mut pairs = case.old.iter().zip(case.file);
    let slips =
        pairs.any(|(old, file)| blanks_after(old) != blanks_after(file) && old.ends_with(blank));
    let meant = || case.all.iter().any(|line| line.ends_with(blank));
    let mut at = 0;
    for part in parts(case.old, case.new) {
        let (gone, made) = match part {
            Part::Kept(range) => {
                at += range.len();
                continue;
            }
            Part::Changed(gone, made) => (gone, made),
        };
        let now = &mut adapted.lines[at..at + made.len()];
        at += made.len();
        if loses_a_break(case, gone) && !now.is_empty() && !now.iter().any(|l| l.ends_with("  ")) {
            return Err(Doubt::TrailingBlanks);
        }
        for line in now.iter_mut().filter(|line| slips && line.ends_with(blank)) {
            if meant() {
                return Err(Doubt::TrailingBlanks);
            }
            *line = Cow::Owned(line.trim_end().to_owned());
        }
    }
    Ok(adapted)
}

fn blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// Two blanks after words break a line in Markdown: they may be meant, though the edit left them out.
fn loses_a_break(case: &Case<'_>, gone: Range<usize>) -> bool {
    gone.clone().any(|at| {
        let (old, file) = (case.old[at], case.file[at]);
        blanks_after(file) == "  " && !file.trim().is_empty() && blanks_after(old).is_empty()
    })
}

/// New lines with the line ends of those they keep or replace, by the parts they were made of. The
/// last one ends as the last one did.
pub(super) fn joined<S: AsRef<str>>(
    rows: &TextLines<'_>,
    region: Range<usize>,
    lines: &[S],
    parts: &[Part],
) -> String {
    let usual = rows.usual_end(region.clone());
    let end = |at: usize| Some(rows.end(region.start + at)).filter(|end| !end.is_empty());
    let ends = parts.iter().flat_map(|part| -> Vec<&str> {
        match part {
            Part::Kept(range) => range.clone().map(|at| end(at).unwrap_or(usual)).collect(),
            Part::Changed(gone, made) if gone.len() == made.len() => {
                gone.clone().map(|at| end(at).unwrap_or(usual)).collect()
            }
            Part::Changed(_, made) => vec![usual; made.len()],
        }
    });
    let mut out = String::new();
    let mut last = "";
    for (line, end) in lines.iter().zip(ends) {
        out.push_str(line.as_ref());
        out.push_str(end);
        last = end;
    }
    if !lines.is_empty() && !region.is_empty() {
        out.truncate(out.len() - last.len());
        out.push_str(rows.end(region.end - 1));
    }
    out
}
