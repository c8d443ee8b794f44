//! Replaces parts of a text. All scopes mean the text as it was before.
//!
//! The rules of line ends: a body put in place of lines is lines, whether or not it ends with a line
//! end. New lines end as the replaced ones did, or as the text's first line does, or with a line feed;
//! where the replaced lines end in several ways the body's ends are kept. A text whose last line has no
//! end keeps it so when that line is replaced or lines are appended. No line that stays changes, but for
//! the end it needs when lines are appended to it. Within a span only the kind of line end follows the
//! text.

use super::problem::{OutOfScope, SpliceProblem};
use super::{Found, Scope, TextLines};
use crate::moves::Moves;

/// A text with a part of it replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spliced {
    /// The new text.
    pub text: String,
    /// The first of the new lines, from 1, as numbered in the new text.
    pub first: usize,
    /// The last one; one less than the first when there are none.
    pub last: usize,
    /// Where the parts that stayed were moved.
    pub moves: Moves,
}

/// A text with several parts of it replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplicedAll {
    /// The new text.
    pub text: String,
    /// The first and last new line of each part, in the order the parts were given; the last is one less
    /// than the first where there are no new lines.
    pub spans: Vec<(usize, usize)>,
}

/// Replaces the part of a text that a scope selects. Before the first line and after the last one the
/// body is inserted; without a body, or with an empty one, the part is deleted.
///
/// # Errors
///
/// When the scope lies outside the text, or is anchored to a line that is not there.
pub fn splice(text: &str, scope: &Scope, body: Option<&str>) -> Result<Spliced, OutOfScope> {
    let rows = TextLines::of(text);
    let cut = Cut { found: Found::of(&rows, text, scope)?, body: body.unwrap_or_default() };
    let (new, spans) = put_together(text, &rows, &[&cut]);
    let (first, last) = spans.first().copied().unwrap_or((1, 0));
    let moves = Moves::of_part(text, &new, cut.found.at);
    Ok(Spliced { text: new, first, last, moves })
}

/// Replaces several parts of a text, each as it stands in the text before. Their order does not matter.
///
/// # Errors
///
/// When a scope lies outside the text, is anchored to a line that is not there, or overlaps another.
pub fn splice_all(
    text: &str,
    splices: &[(Scope, Option<&str>)],
) -> Result<SplicedAll, SpliceProblem> {
    let rows = TextLines::of(text);
    let mut cuts = Vec::with_capacity(splices.len());
    for (index, (scope, body)) in splices.iter().enumerate() {
        let found = Found::of(&rows, text, scope)
            .map_err(|source| SpliceProblem::OutOfScope { index, source })?;
        cuts.push((index, Cut { found, body: body.unwrap_or_default() }));
    }
    cuts.sort_by_key(|(index, cut)| (cut.found.at.start, cut.found.at.end, *index));
    for pair in cuts.windows(2) {
        let [(a, one), (b, two)] = pair else { continue };
        let (one, two) = (&one.found.at, &two.found.at);
        if two.start < one.end || one == two {
            let (a, b) = (*a.min(b), *a.max(b));
            let scopes = (splices[a].0, splices[b].0);
            return Err(SpliceProblem::Overlap { indexes: (a, b), scopes });
        }
    }
    let sorted: Vec<&Cut<'_>> = cuts.iter().map(|(_, cut)| cut).collect();
    let (text, places) = put_together(text, &rows, &sorted);
    let mut spans = vec![(1, 0); cuts.len()];
    for ((index, _), place) in cuts.iter().zip(places) {
        spans[*index] = place;
    }
    Ok(SplicedAll { text, spans })
}

/// A part to replace, and by what.
struct Cut<'a> {
    found: Found,
    body: &'a str,
}

/// The text with these parts replaced, which stand in its order, and the new lines of each.
fn put_together(
    text: &str,
    rows: &TextLines<'_>,
    cuts: &[&Cut<'_>],
) -> (String, Vec<(usize, usize)>) {
    let mut new = New { out: String::with_capacity(text.len()), feeds: 0 };
    let mut spans = Vec::with_capacity(cuts.len());
    let mut from = 0;
    for (index, cut) in cuts.iter().enumerate() {
        new.push(&text[from..cut.found.at.start]);
        from = cut.found.at.end;
        let is_last = index + 1 == cuts.len() && from == text.len();
        let stays_open = is_last && !text.is_empty() && !text.ends_with('\n');
        let end = End::of(rows, cut);
        if cut.found.is_whole {
            spans.push(new.push_lines(cut.body, end, stays_open));
        } else {
            let first = new.feeds + 1;
            new.push_span(cut.body, end);
            spans.push((first, new.feeds + 1));
        }
    }
    new.push(&text[from..]);
    // A span may end behind the last line end, where no line is.
    let lines = new.feeds + usize::from(!new.out.is_empty() && !new.out.ends_with('\n'));
    let spans = spans.into_iter().map(|(first, last)| (first, last.min(lines))).collect();
    (new.out, spans)
}

/// How new lines end.
#[derive(Clone, Copy)]
enum End<'a> {
    /// All in this way.
    Usual(&'a str),
    /// As they do in the body; in this way where they do not.
    Body(&'a str),
}

impl<'a> End<'a> {
    fn of(rows: &TextLines<'a>, cut: &Cut<'_>) -> End<'a> {
        let lines = cut.found.ends.clone();
        let usual = rows.usual_end(lines.clone());
        let mut ends = lines.map(|index| rows.end(index)).filter(|end| !end.is_empty());
        match ends.all(|end| end == usual) {
            true => End::Usual(usual),
            false => End::Body(usual),
        }
    }

    /// The end of a line whose end in the body is this.
    fn after(self, own: &'a str) -> &'a str {
        match self {
            End::Usual(usual) => usual,
            End::Body(usual) if own.is_empty() => usual,
            End::Body(_) => own,
        }
    }
}

/// The new text as far as it is written.
struct New {
    out: String,
    /// How many line feeds it has.
    feeds: usize,
}

impl New {
    fn push(&mut self, text: &str) {
        self.feeds += text.bytes().filter(|byte| *byte == b'\n').count();
        self.out.push_str(text);
    }

    /// Writes the lines of a body, the last one without its end where the text stays open. Says which
    /// lines they are.
    fn push_lines<'a>(&mut self, body: &'a str, end: End<'a>, stays_open: bool) -> (usize, usize) {
        let lines = TextLines::of(body);
        let is_open = !self.out.is_empty() && !self.out.ends_with('\n');
        let first = self.feeds + 1 + usize::from(is_open);
        if is_open && lines.len() > 0 {
            self.push(end.after(""));
        }
        for index in 0..lines.len() {
            let (line, own) = (lines.line(index), lines.end(index));
            let is_last = index + 1 == lines.len();
            // An empty line without its end would be none.
            if is_last && stays_open && !line.is_empty() {
                self.push(line);
                continue;
            }
            // A line that now gets its end had half of one.
            self.push(line.strip_suffix('\r').filter(|_| own.is_empty()).unwrap_or(line));
            self.push(end.after(own));
        }
        (first, (first + lines.len()).saturating_sub(1))
    }

    /// Writes a body that need not be lines.
    fn push_span<'a>(&mut self, body: &'a str, end: End<'a>) {
        let lines = TextLines::of(body);
        for index in 0..lines.len() {
            let own = lines.end(index);
            self.push(lines.line(index));
            self.push(if own.is_empty() { "" } else { end.after(own) });
        }
    }
}
