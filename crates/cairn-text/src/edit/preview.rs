//! The lines of a file most like a text that was not found in it. Work is bounded: equal lines vote
//! for where the text would begin, and only without them are lines compared by their letters.

use super::rows::TextLines;
use super::typography::plain;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

/// How many lines of the wanted text are looked at.
const WANTED_LINES: usize = 2_000;
/// How many lines of the file are compared letter by letter.
const COMPARED_LINES: usize = 20_000;
/// How often a line may stand in the wanted text and still say where that is.
const VOTES_PER_LINE: usize = 8;
/// What equal lines must have in common to be more than brackets.
const TELLING_BYTES: usize = 12;
/// Lines shown.
const SHOWN_LINES: usize = 12;
/// Characters shown of a line.
const SHOWN_CHARS: usize = 160;
/// Bytes shown in all.
const SHOWN_BYTES: usize = 2_000;
/// Bytes of a line that are compared.
const COMPARED_BYTES: usize = 300;

/// The most similar region, numbered, differing lines marked; empty when nothing is similar.
pub(super) fn nearest(rows: &TextLines<'_>, old: &[&str]) -> String {
    let old = &old[..old.len().min(WANTED_LINES)];
    let voted = by_votes(rows, old);
    let place = match voted {
        Some((at, weight)) if weight >= TELLING_BYTES => Some(at),
        _ => by_letters(rows, old).or(voted.map(|(at, _)| at)),
    };
    place.map_or_else(String::new, |at| shown(rows, old, at))
}

/// The region that begins at this line.
pub(super) fn region(rows: &TextLines<'_>, old: &[&str], at: usize) -> String {
    shown(rows, &old[..old.len().min(WANTED_LINES)], isize::try_from(at).unwrap_or(0))
}

/// Where most equal lines say the text begins, and how many bytes they have.
fn by_votes(rows: &TextLines<'_>, old: &[&str]) -> Option<(isize, usize)> {
    let mut standing: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in old.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let places = standing.entry(line.trim()).or_default();
        if places.len() < VOTES_PER_LINE {
            places.push(index);
        }
    }
    let mut votes: HashMap<isize, usize> = HashMap::new();
    for at in 0..rows.len() {
        let line = rows.line(at).trim();
        for index in standing.get(line).into_iter().flatten() {
            *votes.entry(at.cast_signed() - index.cast_signed()).or_default() += line.len();
        }
    }
    votes.into_iter().max_by_key(|&(at, weight)| (weight, std::cmp::Reverse(at)))
}

/// Where the line most like the longest wanted one says the text begins.
fn by_letters(rows: &TextLines<'_>, old: &[&str]) -> Option<isize> {
    let lines = old.iter().map(|line| line.trim()).enumerate();
    let (index, longest) = lines.max_by_key(|(index, line)| (line.len(), usize::MAX - index))?;
    let wanted = Letters::of(longest);
    let mut best: Option<(usize, usize)> = None;
    for at in 0..rows.len().min(COMPARED_LINES) {
        let score = wanted.likeness(&Letters::of(rows.line(at).trim()));
        if score >= 30 && best.is_none_or(|(top, _)| score > top) {
            best = Some((score, at));
        }
    }
    let begun = || (0..rows.len()).find(|at| begins_alike(rows.line(*at).trim(), longest));
    let at = best.map(|(_, at)| at).or_else(begun)?;
    Some(at.cast_signed() - index.cast_signed())
}

fn begins_alike(line: &str, wanted: &str) -> bool {
    let first = |text: &str| text.chars().next().map(plain);
    first(wanted).is_some() && first(line) == first(wanted)
}

/// The pairs of neighbouring letters of a line, sorted, case and typography ignored.
struct Letters(Vec<[u8; 2]>);

impl Letters {
    fn of(line: &str) -> Letters {
        let line = match line.is_ascii() {
            true => Cow::Borrowed(line),
            false => Cow::Owned(line.chars().take(COMPARED_BYTES).map(plain).collect::<String>()),
        };
        let bytes = &line.as_bytes()[..line.len().min(COMPARED_BYTES)];
        let mut pairs: Vec<[u8; 2]> = match bytes {
            [one] => vec![[one.to_ascii_lowercase(), 0]],
            _ => bytes.windows(2).map(|w| [w[0], w[1]].map(|b| b.to_ascii_lowercase())).collect(),
        };
        pairs.sort_unstable();
        Letters(pairs)
    }

    /// How much two lines have in common, in percent.
    fn likeness(&self, other: &Letters) -> usize {
        let (mut a, mut b, mut common) = (self.0.as_slice(), other.0.as_slice(), 0);
        while let ([first, rest_a @ ..], [second, rest_b @ ..]) = (a, b) {
            match first.cmp(second) {
                std::cmp::Ordering::Less => a = rest_a,
                std::cmp::Ordering::Greater => b = rest_b,
                std::cmp::Ordering::Equal => (a, b, common) = (rest_a, rest_b, common + 1),
            }
        }
        2 * common * 100 / (self.0.len() + other.0.len()).max(1)
    }
}

/// How much two lines have in common, in percent.
pub(super) fn likeness(a: &str, b: &str) -> usize {
    Letters::of(a).likeness(&Letters::of(b))
}

fn shown(rows: &TextLines<'_>, old: &[&str], start: isize) -> String {
    let place = |index: usize| usize::try_from(start + index.cast_signed()).ok();
    let in_file: Vec<(usize, bool)> = old
        .iter()
        .enumerate()
        .filter_map(|(index, line)| place(index).map(|at| (at, *line)))
        .filter(|(at, _)| *at < rows.len())
        .map(|(at, line)| (at, rows.line(at) != line))
        .collect();
    let all = in_file.len() <= SHOWN_LINES;
    let near = |index: usize| {
        let around = index.saturating_sub(1)..(index + 2).min(in_file.len());
        in_file[around].iter().any(|(_, differs)| *differs)
    };
    let mut out = String::new();
    let (mut count, mut last) = (0, None);
    for (index, &(at, differs)) in in_file.iter().enumerate() {
        if !all && !near(index) {
            continue;
        }
        if count == SHOWN_LINES || out.len() > SHOWN_BYTES {
            out.push_str("\n…");
            break;
        }
        let gap = last.is_some_and(|last| at > last + 1);
        let text: String = rows.line(at).chars().take(SHOWN_CHARS).collect();
        let (lead, mark) = (
            if gap {
                "\n…\n"
            } else if count > 0 {
                "\n"
            } else {
                ""
            },
            if differs { "*" } else { "" },
        );
        let _ = write!(out, "{lead}{}{mark}\t{text}", at + 1);
        (count, last) = (count + 1, Some(at));
    }
    out
}
