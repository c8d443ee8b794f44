//! How an edit's indentation maps to the file's. Two readings are weighed: the whole edit was
//! written in another indentation (then the new lines are moved as the old ones were), or only its
//! old text was (then the new lines stand as given). Without a sign for one of them it refuses.

use super::blocks;
use super::grid::Grid;
use super::parts::{Part, parts};
use super::problem::Doubt;
use super::whole::{Adapted, Case};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// How many blanks a tab may stand for.
const WIDTHS: [usize; 3] = [2, 4, 8];

/// Whose indentation the new lines are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// That of the edit's old text.
    Edit,
    /// The file's own.
    File,
    /// Nothing tells.
    Unknown,
}

/// One way to turn an indentation of the edit into one of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shift<'a> {
    /// The file has this much more.
    More(&'a str),
    /// The file has this much less.
    Less(&'a str),
    /// The edit indents with `from` of one character where the file has `to` of its own.
    Scale { from: usize, to: usize, blank: char, was: char },
    /// The edit has tabs, with blanks after some, where the file has blanks up to every so many.
    Stops(usize),
    /// Only what was seen is known.
    Seen(HashMap<&'a str, (&'a str, usize)>),
}

/// The new lines as the file would indent them.
pub(super) fn adapt<'a>(case: &Case<'a>) -> Result<Adapted<'a>, Doubt> {
    let shifts = shifts(case);
    let grid = Grid::of(case.all);
    let reading = reading(case, &grid);
    if is_unsure(case, &grid, reading, &shifts) {
        return Err(Doubt::Indentation);
    }
    let mut lines = Vec::with_capacity(case.new.len());
    for part in parts(case.old, case.new) {
        let (gone, made) = match part {
            Part::Kept(range) => {
                if reading != Reading::Edit && range.clone().any(|at| telling(case, at)) {
                    return Err(Doubt::Indentation);
                }
                lines.extend(case.file[range].iter().map(|line| Cow::Borrowed(*line)));
                continue;
            }
            Part::Changed(gone, made) => (gone, made),
        };
        let twin = (gone.len() == 1 && made.len() == 1).then_some(gone.start);
        for line in &case.new[made] {
            if line.trim().is_empty() || reading == Reading::File {
                lines.push(Cow::Borrowed(*line));
                continue;
            }
            let moved = twin
                .and_then(|at| like_its_twin(case, at, line))
                .or_else(|| moved(&shifts, case, &grid, indent_of(line)))
                .ok_or(Doubt::Indentation)?;
            if reading == Reading::Unknown && moved != indent_of(line) {
                return Err(Doubt::Indentation);
            }
            lines.push(Cow::Owned(format!("{moved}{}", line.trim_start())));
        }
    }
    Ok(Adapted { lines, note: Some(note(&shifts, case)) })
}

/// Whether something speaks against the reading, so that another one may be meant.
fn is_unsure(case: &Case<'_>, grid: &Grid<'_>, reading: Reading, shifts: &[Shift<'_>]) -> bool {
    if slipped_apart(shifts, case) || lost_its_first(case) {
        return true;
    }
    if reading == Reading::File {
        return has_lines_of(case, case.old, case.file)
            || blocks::may_be_moved(case, 1, case.file, case.old);
    }
    let even = matches!(shifts, [Shift::More(_) | Shift::Less(_)]);
    // Where depths are scaled, there is no telling what a level is.
    let level = if even { grid.step } else { 1 };
    blocks::fits_no_block(case.new) && !blocks::fits_no_block(case.old)
        || steps_otherwise(shifts, case, grid)
        || is_in_the_files_own(case)
        || has_lines_of(case, case.file, case.old)
        || blocks::nesting_lost(case)
        || blocks::may_be_moved(case, level, case.old, case.file)
        || even && blocks::leaps(case, grid)
}

pub(super) fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Whether this line is indented otherwise in the file than in the edit.
pub(super) fn telling(case: &Case<'_>, at: usize) -> bool {
    !case.old[at].trim().is_empty() && indent_of(case.old[at]) != indent_of(case.file[at])
}

fn reading(case: &Case<'_>, grid: &Grid<'_>) -> Reading {
    match (shares_a_telling_end(case, case.old), shares_a_telling_end(case, case.file)) {
        (true, false) if begins_or_ends_like(case, case.file, case.old) => Reading::Unknown,
        (true, false) => Reading::Edit,
        (false, true) if is_in_the_edits_own(case) => Reading::Unknown,
        (false, true) if begins_or_ends_like(case, case.old, case.file) => Reading::Unknown,
        (false, true) => Reading::File,
        (true, true) => Reading::Unknown,
        (false, false) => by_style(case, grid).unwrap_or_else(|| by_edges(case)),
    }
}

/// Whether the new lines begin or end with lines of `side`, of which one tells the two apart.
fn shares_a_telling_end(case: &Case<'_>, side: &[&str]) -> bool {
    let same = |(a, b): &(&&str, &&str)| a.trim_end() == b.trim_end();
    let head = side.iter().zip(case.new).take_while(same).count();
    let tail = side.iter().rev().zip(case.new.iter().rev()).take_while(same).count();
    // Brackets alone are the same everywhere.
    let words = |at: &usize| side[*at].contains(char::is_alphanumeric);
    (0..head).chain(side.len() - tail..side.len()).filter(words).any(|at| telling(case, at))
}

/// Whether the first or the last new line is indented as in `one`, where `other` has it otherwise.
fn begins_or_ends_like(case: &Case<'_>, one: &[&str], other: &[&str]) -> bool {
    let (Some(old), Some(new)) = (edges(case.old), edges(case.new)) else { return false };
    [(old.0, new.0), (old.1, new.1)].into_iter().any(|(at, new)| {
        let indent = indent_of(case.new[new]);
        telling(case, at) && indent == indent_of(one[at]) && indent != indent_of(other[at])
    })
}

/// The first and the last line that say something.
fn edges(lines: &[&str]) -> Option<(usize, usize)> {
    let first = lines.iter().position(|line| !line.trim().is_empty())?;
    let last = lines.iter().rposition(|line| !line.trim().is_empty())?;
    Some((first, last))
}

/// Whether a new line is indented as some old line is, but none of the file's.
fn is_in_the_edits_own(case: &Case<'_>) -> bool {
    let said = |line: &&&str| !line.trim().is_empty();
    let has = |lines: &[&str], indent: &str| {
        lines.iter().filter(said).any(|line| indent_of(line) == indent)
    };
    let mut new = case.new.iter().filter(said).map(|line| indent_of(line));
    new.any(|indent| has(case.old, indent) && !has(case.file, indent))
}

/// Whether a new line is indented as some line of the file is, but none of the old ones, without
/// being in a block that the line above it opens.
fn is_in_the_files_own(case: &Case<'_>) -> bool {
    let said = |line: &&&str| !line.trim().is_empty();
    let leads = |lines: &[&'_ str]| -> HashSet<String> {
        lines.iter().filter(said).map(|line| indent_of(line).to_owned()).collect()
    };
    let (old, file) = (leads(case.old), leads(case.file));
    let mut above: Option<&str> = None;
    case.new.iter().filter(said).any(|line| {
        let (indent, above) = (indent_of(line), above.replace(line));
        let within =
            |above: &str| indent.len() > indent_of(above).len() && blocks::opens(above.trim());
        file.contains(indent) && !old.contains(indent) && !above.is_some_and(within)
    })
}

/// Where the edit has tabs and the file blanks, or the other way round, the new lines show it.
fn by_style(case: &Case<'_>, grid: &Grid<'_>) -> Option<Reading> {
    let style = |lines: &[&str]| {
        let mut blanks =
            lines.iter().filter(|l| !l.trim().is_empty()).flat_map(|l| indent_of(l).chars());
        let first = blanks.next()?;
        blanks.all(|c| c == first).then_some(first)
    };
    let (old, file, new) = (style(case.old)?, style(case.file)?, style(case.new)?);
    match new {
        _ if old == file => None,
        new if new == old => Some(Reading::Edit),
        new if new == file => {
            let mut said = case.new.iter().filter(|line| !line.trim().is_empty());
            let fits = said.all(|line| grid.has(indent_of(line)));
            Some(if fits { Reading::File } else { Reading::Unknown })
        }
        _ => None,
    }
}

/// A new text whose first and last line are indented as the old ones was written like them.
fn by_edges(case: &Case<'_>) -> Reading {
    let (Some(old), Some(new)) = (edges(case.old), edges(case.new)) else { return Reading::Edit };
    let same = |a: usize, b: usize| indent_of(case.old[a]) == indent_of(case.new[b]);
    let tells = telling(case, old.0) && telling(case, old.1);
    match same(old.0, new.0) && same(old.1, new.1) && tells {
        true => Reading::Edit,
        false => Reading::Unknown,
    }
}

/// Whether only the first old line lost its indentation, and the first new one is another line that
/// may have lost its own.
fn lost_its_first(case: &Case<'_>) -> bool {
    let (Some((old, _)), Some((new, _))) = (edges(case.old), edges(case.new)) else { return false };
    let bare = |line: &str| indent_of(line).is_empty();
    let alone = (0..case.old.len()).all(|at| telling(case, at) == (at == old));
    let same = case.old[old].trim() == case.new[new].trim();
    alone
        && bare(case.old[old])
        && bare(case.new[new])
        && !same
        && like_its_twin(case, old, case.new[new]).is_none()
}

/// Whether a new line stands as in `side` and as nothing does in `other`, where the two differ.
fn has_lines_of(case: &Case<'_>, side: &[&str], other: &[&str]) -> bool {
    let bare = |lines: &[&'_ str]| -> HashSet<String> {
        lines.iter().map(|line| line.trim_end().to_owned()).collect()
    };
    let (new, other) = (bare(case.new), bare(other));
    let words = |at: &usize| side[*at].contains(char::is_alphanumeric);
    (0..side.len()).filter(words).filter(|at| telling(case, *at)).any(|at| {
        let line = side[at].trim_end();
        new.contains(line) && !other.contains(line)
    })
}

/// Every way that explains all lines.
fn shifts<'a>(case: &Case<'a>) -> Vec<Shift<'a>> {
    let pairs: Vec<(&str, &str)> = case
        .old
        .iter()
        .zip(case.file)
        .filter(|(old, _)| !old.trim().is_empty())
        .map(|(old, file)| (indent_of(old), indent_of(file)))
        .collect();
    let mut found: Vec<Shift<'a>> =
        [more(&pairs), less(&pairs), scale(&pairs)].into_iter().flatten().collect();
    if found.is_empty() {
        let several = pairs.iter().any(|(old, _)| *old != pairs[0].0);
        let plain = several && case.all.iter().all(|line| !indent_of(line).contains('\t'));
        let stops = |width| plain && pairs.iter().all(|(old, file)| expanded(old, width) == *file);
        found.extend(WIDTHS.into_iter().filter(|width| stops(*width)).map(Shift::Stops));
    }
    if found.is_empty() {
        found.extend(seen(&pairs));
    }
    found
}

/// An indentation with blanks for its tabs.
fn expanded(indent: &str, width: usize) -> String {
    indent.replace('\t', &" ".repeat(width))
}

fn more<'a>(pairs: &[(&'a str, &'a str)]) -> Option<Shift<'a>> {
    let (old, file) = pairs.first()?;
    let extra = file.strip_suffix(old)?;
    let all = pairs.iter().all(|(old, file)| file.strip_suffix(old) == Some(extra));
    all.then_some(Shift::More(extra))
}

fn less<'a>(pairs: &[(&'a str, &'a str)]) -> Option<Shift<'a>> {
    let (old, file) = pairs.first()?;
    let extra = old.strip_suffix(file)?;
    let all = pairs.iter().all(|(old, file)| old.strip_suffix(file) == Some(extra));
    (all && !extra.is_empty()).then_some(Shift::Less(extra))
}

fn scale<'a>(pairs: &[(&'a str, &'a str)]) -> Option<Shift<'a>> {
    let only = |text: &str| {
        let first = text.chars().next()?;
        text.chars().all(|c| c == first).then_some(first)
    };
    let (old, file) = pairs.iter().find(|(old, file)| !old.is_empty() && !file.is_empty())?;
    let (was, blank) = (only(old)?, only(file)?);
    // One line alone may have slipped by itself.
    let indented = pairs.iter().filter(|(old, _)| !old.is_empty()).count();
    if was == blank && indented < 2 {
        return None;
    }
    let fits = pairs.iter().all(|(o, f)| {
        let plain = o.chars().all(|c| c == was) && f.chars().all(|c| c == blank);
        plain && o.len() * file.len() == f.len() * old.len()
    });
    let common = gcd(old.len(), file.len());
    let (from, to) = (old.len() / common, file.len() / common);
    fits.then_some(Shift::Scale { from, to, blank, was })
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

fn seen<'a>(pairs: &[(&'a str, &'a str)]) -> Option<Shift<'a>> {
    let mut table: HashMap<&str, (&str, usize)> = HashMap::new();
    for (old, file) in pairs {
        let entry = table.entry(*old).or_insert((*file, 0));
        entry.1 += 1;
        if entry.0 != *file {
            return None;
        }
    }
    // Where what is deeper does not stay so, some line slipped by itself, and tells nothing of others.
    let mut depths: Vec<(usize, usize)> = table.iter().map(|(o, f)| (o.len(), f.0.len())).collect();
    depths.sort_unstable();
    depths
        .windows(2)
        .all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
        .then_some(Shift::Seen(table))
}

/// Whether new lines go deeper, by steps that would not become the file's, to where no old line
/// stands: then they may be written in other blanks than those.
fn steps_otherwise<'a>(shifts: &[Shift<'_>], case: &Case<'a>, grid: &Grid<'_>) -> bool {
    let scales = |shift: &&Shift<'_>| matches!(shift, Shift::Scale { .. } | Shift::Stops(_));
    let Some(shift) = shifts.iter().find(scales) else { return false };
    let files = match shift {
        Shift::Scale { blank: '\t', .. } => 1,
        _ => grid.step,
    };
    let said = |lines: &[&'a str]| -> Vec<&'a str> {
        lines.iter().copied().filter(|line| !line.trim().is_empty()).collect()
    };
    let depth = |line: &str| shift.apply(indent_of(line)).map(|indent| indent.len());
    let old = said(case.old);
    let stood: HashSet<(&str, &str)> =
        old.windows(2).map(|two| (indent_of(two[0]), indent_of(two[1]))).collect();
    let Some(mut above) = old.first().copied() else { return false };
    said(case.new).into_iter().any(|line| {
        let above = std::mem::replace(&mut above, line);
        let (Some(from), Some(to)) = (depth(above), depth(line)) else { return true };
        let fits = to == from + files && blocks::opens(above.trim());
        // Blanks after tabs may be deeper than they look.
        let rises = to > from || matches!(shift, Shift::Stops(_));
        let stood = stood.contains(&(indent_of(above), indent_of(line)));
        rises && !fits && !stood
    })
}

/// Whether lines of several depths differ each in its own way, and one of them might be another: it
/// stands in the file more than once.
fn slipped_apart(shifts: &[Shift<'_>], case: &Case<'_>) -> bool {
    let systematic = !matches!(shifts, [] | [Shift::Seen(_)]);
    let said = case.old.iter().filter(|line| !line.trim().is_empty());
    let depths: HashSet<&str> = said.map(|line| indent_of(line)).collect();
    if systematic || depths.len() < 2 {
        return false;
    }
    let mut often: HashMap<&str, usize> = HashMap::new();
    for line in case.all {
        *often.entry(line.trim()).or_default() += 1;
    }
    let mut telling = (0..case.old.len()).filter(|at| telling(case, *at));
    telling.any(|at| often.get(case.old[at].trim()).is_some_and(|count| *count > 1))
}

/// An indentation as the file would have it, if every explanation agrees on it. A scale that leads
/// to where the file has no lines explains nothing.
fn moved(shifts: &[Shift<'_>], case: &Case<'_>, grid: &Grid<'_>, indent: &str) -> Option<String> {
    let all = shifts.iter().map(|shift| (shift, shift.apply(indent)));
    let mut all = all.filter(|(shift, moved)| {
        let scales = matches!(shift, Shift::Scale { .. });
        !scales || moved.as_ref().is_none_or(|to| grid.has(to))
    });
    let first = all.next()?.1.filter(|to| grid.has(to))?;
    let agreed = all.all(|(_, other)| other.as_ref() == Some(&first));
    let mixed = |text: &str| text.contains(' ') && text.contains('\t');
    // Where the file has tabs here and blanks there, what was seen of other lines says nothing.
    let has = |blank: char| case.file.iter().any(|line| indent_of(line).contains(blank));
    let only_seen = shifts.iter().any(|shift| matches!(shift, Shift::Seen(_)));
    let unsure = mixed(&first) || only_seen && has(' ') && has('\t');
    (agreed && !unsure).then_some(first)
}

impl Shift<'_> {
    fn apply(&self, indent: &str) -> Option<String> {
        match self {
            Shift::More(extra) => Some(format!("{extra}{indent}")),
            Shift::Less(extra) => indent.strip_prefix(extra).map(str::to_owned),
            Shift::Scale { from, to, blank, was } => {
                let plain = indent.chars().all(|c| c == *was);
                let levels =
                    (plain && indent.len().is_multiple_of(*from)).then(|| indent.len() / from)?;
                Some(blank.to_string().repeat(levels * to))
            }
            Shift::Stops(width) => Some(expanded(indent, *width)),
            // One line alone may have slipped by itself.
            Shift::Seen(table) => {
                table.get(indent).filter(|seen| seen.1 > 1).map(|seen| seen.0.to_owned())
            }
        }
    }
}

/// A line that replaces one similar line, indented alike in the edit, is indented alike in the file.
pub(super) fn like_its_twin(case: &Case<'_>, at: usize, line: &str) -> Option<String> {
    let alike = indent_of(case.old[at]) == indent_of(line);
    let (a, b) = (case.old[at].trim(), line.trim());
    let block = |line: &str| (line.ends_with(['{', '(', '[', ':']), blocks::closes(line));
    let shape = block(a) == block(b);
    let similar = shape && super::preview::likeness(a, b) >= blocks::SIMILAR;
    (alike && similar).then(|| indent_of(case.file[at]).to_owned())
}

fn note(shifts: &[Shift<'_>], case: &Case<'_>) -> String {
    let tabs = case.file.iter().any(|line| indent_of(line).contains('\t'));
    let what = match shifts.first() {
        Some(Shift::More(extra)) => format!("the file uses {}", counted(extra, "more")),
        Some(Shift::Less(extra)) => format!("the file uses {}", counted(extra, "fewer")),
        Some(Shift::Scale { .. }) if tabs => "the file indents with tabs".to_owned(),
        Some(Shift::Scale { was: '\t', .. }) => "the file indents with spaces".to_owned(),
        Some(Shift::Stops(_)) => "the file indents with spaces".to_owned(),
        Some(Shift::Scale { from, to, .. }) if to > from => "the file indents wider".to_owned(),
        Some(Shift::Scale { .. }) => "the file indents narrower".to_owned(),
        Some(Shift::Seen(_)) | None => "not by the same on every line".to_owned(),
    };
    format!("indentation differed: {what}")
}

fn counted(blanks: &str, than: &str) -> String {
    let (name, names) = match blanks.chars().all(|c| c == '\t') {
        true => ("tab", "tabs"),
        false if blanks.chars().all(|c| c == ' ') => ("space", "spaces"),
        false => ("blank", "blanks"),
    };
    match blanks.chars().count() {
        1 => format!("1 {than} {name}"),
        n => format!("{n} {than} {names}"),
    }
}
