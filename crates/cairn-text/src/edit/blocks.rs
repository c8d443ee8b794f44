//! What the brackets and words of lines say about blocks, where an edit's indentation cannot be
//! taken at its word. Reads lines as any language might mean them; indents nothing.

use super::grid::Grid;
use super::indent::{indent_of, like_its_twin, telling};
use super::parts::{Part, parts};
use super::preview::likeness;
use super::whole::Case;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// How much two lines have in common, in percent, if one became the other.
pub(super) const SIMILAR: usize = 50;

/// Whether the edit seems to have lost its inner indentation, so that its new lines say nothing
/// about their depth: nothing is indented otherwise, and new lines open or close what others are in.
pub(super) fn nesting_lost(case: &Case<'_>) -> bool {
    let mut leads = case.old.iter().chain(case.new).filter(|line| !line.trim().is_empty());
    let lead = leads.next().map_or("", |line| indent_of(line));
    if leads.any(|line| indent_of(line) != lead) {
        return false;
    }
    // At the left edge even lists and broken expressions have lost theirs.
    let opens = |line: &str| if lead.is_empty() { opens(line) } else { begins_block(line) };
    let hangs = |line: &str| lead.is_empty() && (goes_on(line) || listed(line));
    let shapes = |line: &str| opens(line) || closes(line) || hangs(line);
    parts(case.old, case.new).into_iter().any(|part| match part {
        Part::Kept(_) => false,
        Part::Changed(gone, made)
            if gone.len() == 1
                && made.len() == 1
                && like_its_twin(case, gone.start, case.new[made.start]).is_some() =>
        {
            false
        }
        Part::Changed(gone, made) => {
            let said = |line: &&&str| !line.trim().is_empty();
            let above = case.new[..made.start].iter().rev().find(said);
            let below = case.new[made.end..].iter().find(said);
            above.is_some_and(|line| opens(line.trim()))
                || !made.is_empty() && below.is_some_and(|line| closes(line.trim()))
                || case.new[made].iter().any(|line| shapes(line.trim()))
                || case.old[gone].iter().any(|line| opens(line.trim()))
        }
    })
}

/// Whether lines that the new text has from `side` may be deeper or less deep than those of `other`
/// on purpose, by levels of so many blanks: it puts them into a block, or takes them out of one, by
/// lines that open or close it.
pub(super) fn may_be_moved(case: &Case<'_>, level: usize, side: &[&str], other: &[&str]) -> bool {
    let (old, new) = (bare(side), bare(case.new));
    let all = parts(&old, &new);
    let by_levels = |more: &str| match more.chars().all(|c| c == ' ') {
        true => !more.is_empty() && more.len().is_multiple_of(level),
        false => true,
    };
    let (mut deeper, mut out) = (false, false);
    for at in all.iter().filter_map(kept).flatten().filter(|at| telling(case, *at)) {
        let (here, there) = (indent_of(old[at]), indent_of(other[at]));
        deeper |= here.strip_prefix(there).is_some_and(by_levels);
        out |= there.strip_prefix(here).is_some_and(by_levels);
    }
    // Some lines stand as in the file, so those that do not slipped one by one.
    let slipped = (0..old.len()).any(|at| !old[at].is_empty() && !telling(case, at));
    all.into_iter().any(|part| match part {
        Part::Kept(_) => false,
        Part::Changed(gone, made) => {
            let (gone, made) = (&old[gone], &new[made]);
            let shapes = |lines: &[&str]| lines.iter().any(|l| is_of_a_block(l.trim()));
            let headed = heads(made) > heads(gone);
            let uneven = is_uneven(gone, made);
            let freed = uneven && shapes(gone) || slipped && heads(gone) > heads(made);
            deeper && (headed || uneven && shapes(made)) || out && freed
        }
    })
}

/// Lines without the blanks at their ends.
fn bare<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().map(|line| line.trim_end()).collect()
}

/// Whether the edit moves lines by more or less than one level: then it may be counted from where
/// they stand in the file.
pub(super) fn leaps(case: &Case<'_>, grid: &Grid<'_>) -> bool {
    let (old, new) = (depths(case.old), depths(case.new));
    case.new.iter().filter(|line| line.contains(char::is_alphanumeric)).any(|line| {
        let step = if indent_of(line).contains('\t') { 1 } else { grid.step };
        let alone = |depths: &HashMap<&str, (usize, usize)>| depths.get(line.trim()).copied();
        match (alone(&old), alone(&new)) {
            (Some((from, 1)), Some((to, 1))) => ![0, step].contains(&from.abs_diff(to)),
            _ => false,
        }
    })
}

/// How deep each text stands at last, and how often.
fn depths<'a>(lines: &[&'a str]) -> HashMap<&'a str, (usize, usize)> {
    let mut depths: HashMap<&str, (usize, usize)> = HashMap::new();
    for line in lines {
        let entry = depths.entry(line.trim()).or_default();
        *entry = (indent_of(line).len(), entry.1 + 1);
    }
    depths
}

/// Whether a line goes back to a depth at which no line above it stands, though one is less deep.
pub(super) fn fits_no_block(lines: &[&str]) -> bool {
    let mut depths: Vec<usize> = Vec::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let depth = indent_of(line).len();
        if indent_of(line).contains(' ') && indent_of(line).contains('\t') {
            return false;
        }
        let below = depths.iter().take_while(|at| **at <= depth).count();
        let back = below < depths.len();
        depths.truncate(below);
        if depths.last() != Some(&depth) {
            if back && !depths.is_empty() {
                return true;
            }
            depths.push(depth);
        }
    }
    false
}

fn kept(part: &Part) -> Option<Range<usize>> {
    match part {
        Part::Kept(range) => Some(range.clone()),
        Part::Changed(..) => None,
    }
}

/// How many lines begin a block that no bracket ends.
fn heads(lines: &[&str]) -> usize {
    lines.iter().filter(|line| line.trim().ends_with(':')).count()
}

fn is_of_a_block(line: &str) -> bool {
    begins_block(line) || closes(line)
}

fn begins_block(line: &str) -> bool {
    line.ends_with(['{', '(', '[', ':'])
}

/// Whether one of these opens or closes more than the other, and leaves it to the lines around.
fn is_uneven(gone: &[&str], made: &[&str]) -> bool {
    let depth = |lines: &[&str]| {
        let chars = lines.iter().flat_map(|line| line.chars());
        chars.fold(0_isize, |depth, c| match c {
            '{' | '(' | '[' => depth + 1,
            '}' | ')' | ']' => depth - 1,
            _ => depth,
        })
    };
    // The last line, if it begins a block that the lines after it are in.
    let head = |lines: &[&'_ str]| -> Option<String> {
        let last = lines.iter().rev().find(|line| !line.trim().is_empty())?.trim();
        begins_block(last).then(|| last.to_owned())
    };
    let other_head = match (head(gone), head(made)) {
        (None, None) => false,
        (Some(gone), Some(made)) => likeness(&gone, &made) < SIMILAR,
        _ => true,
    };
    // A line that closes one block and opens the next, as `) -> Kind {` or `else:` does.
    let turns = |lines: &[&str]| {
        lines.iter().filter(|l| closes(l.trim()) && begins_block(l.trim())).count()
    };
    // A head that goes while something of its block stays.
    let stays = || {
        let gone: HashSet<&str> = gone.iter().map(|line| line.trim()).collect();
        made.iter().any(|line| gone.contains(line.trim()))
    };
    heads(gone) > heads(made) && stays()
        || depth(gone) != depth(made)
        || other_head
        || turns(gone) != turns(made)
}

pub(super) fn opens(line: &str) -> bool {
    let words = [" then", " do", "else", "=>", "->", "begin"];
    line.ends_with(['{', '(', '[', ':', '=', '>', '|', '&', '+', '\\', '"'])
        || words.iter().any(|word| line.ends_with(word))
}

pub(super) fn closes(line: &str) -> bool {
    line.starts_with(['}', ')', ']']) || line.starts_with("end") || line.starts_with("</")
}

fn goes_on(line: &str) -> bool {
    line.starts_with(['.', '?', '|', '&', '+', '=', ':'])
}

fn listed(line: &str) -> bool {
    line.starts_with(['-', '*']) || line.starts_with(|c: char| c.is_ascii_digit())
}
