//! What changed between two texts, by lines: as a unified diff, as counts, as spans. Work is
//! bounded by size alone, never by a clock, so that the same texts always give the same diff.

use similar::{DiffTag, TextDiff};

/// Texts larger than this together are not compared line by line.
const MAX_BYTES: usize = 4 << 20;
/// Nor are those whose differing middles have more pairs of lines than this.
const MAX_PAIRS: usize = 16_000_000;
/// Unchanged lines around each hunk.
pub(crate) const CONTEXT: usize = 3;

/// The unified diff between two texts; empty when they are equal. Above the size limits it says
/// only how many lines there were and are.
#[must_use]
pub fn unified(path_before: &str, path_after: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let Some((old, new)) = comparable(before, after) else {
        let (from, to) = (lines(before), lines(after));
        return format!(
            "--- {path_before}\n+++ {path_after}\n@@ too large to compare: {from} lines → {to} lines @@\n"
        );
    };
    compare(&old, &new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(path_before, path_after)
        .to_string()
}

/// How many lines were added and removed. Above the size limits every differing line counts as
/// both.
#[must_use]
pub fn counted(before: &str, after: &str) -> (usize, usize) {
    let (_, before, after) = differing(before, after);
    let Some((old, new)) = comparable(before, after) else {
        return (lines(after), lines(before));
    };
    let diff = compare(&old, &new);
    let changed = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    changed.fold((0, 0), |(added, removed), op| {
        (added + op.new_range().len(), removed + op.old_range().len())
    })
}

/// First and last line of each changed place, as numbered in `after` from 1. A place where lines
/// only went away is the line that now stands there. Above the size limits it is one span.
#[must_use]
pub fn spans(before: &str, after: &str) -> Vec<(usize, usize)> {
    let (skipped, before, after) = differing(before, after);
    if before.is_empty() && after.is_empty() {
        return Vec::new();
    }
    let Some((old, new)) = comparable(before, after) else {
        return vec![(skipped + 1, skipped + lines(after).max(1))];
    };
    let diff = compare(&old, &new);
    let changed = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    changed
        .map(|op| {
            let range = op.new_range();
            let first = skipped + range.start + 1;
            (first, first.max(skipped + range.end))
        })
        .collect()
}

pub(crate) fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

pub(crate) fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().newline_terminated(true).diff_slices(old, new)
}

/// Both by lines, unless they are too large. The size comes first: lines take more room than text.
pub(crate) fn comparable<'a>(
    before: &'a str,
    after: &'a str,
) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    if before.len() + after.len() > MAX_BYTES {
        return None;
    }
    let (_, old, new) = differing(before, after);
    let fits = lines(old).saturating_mul(lines(new)) <= MAX_PAIRS;
    fits.then(|| (split(before), split(after)))
}

pub(crate) fn lines(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// Both without the whole lines they begin and end with in common, and how many lines of their
/// beginning that is.
fn differing<'a>(before: &'a str, after: &'a str) -> (usize, &'a str, &'a str) {
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let head = match head {
        // One is the beginning of the other, and may end within a line of it.
        _ if old == new => head,
        _ => old[..head].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1),
    };
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let begins = |text: &[u8]| tail == text.len() || text[text.len() - tail - 1] == b'\n';
    let tail = match begins(old) && begins(new) {
        true => tail,
        false => {
            let common = &old[old.len() - tail..];
            common.iter().position(|b| *b == b'\n').map_or(0, |at| tail - at - 1)
        }
    };
    (lines(&before[..head]), &before[head..before.len() - tail], &after[head..after.len() - tail])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(before: &str, after: &str, expected: &str) {
        assert_eq!(unified("a", "b", before, after), expected, "{before:?} -> {after:?}");
    }

    #[test]
    fn a_diff_shows_three_lines_of_context_and_missing_line_ends() {
        check("x\n", "x\n", "");
        check("", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
        check("x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
        check("x", "x\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
        check(
            "1\n2\n3\n4\n5\n6\n7\n8\n",
            "1\n2\n3\n4\nV\n6\n7\n8\n",
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n 8\n",
        );
    }

    #[test]
    fn counts_and_spans_name_what_changed() {
        let check = |before: &str, after: &str, counts, places: &[(usize, usize)]| {
            assert_eq!(counted(before, after), counts, "{before:?} -> {after:?}");
            assert_eq!(spans(before, after), places, "{before:?} -> {after:?}");
        };
        check("a\nb\nc\n", "a\nx\ny\nc\n", (2, 1), &[(2, 3)]);
        check("a\nb\nc\n", "a\nc\n", (0, 1), &[(2, 2)]);
        check("a\nb\nc\nd\n", "x\nb\nc\ny\n", (2, 2), &[(1, 1), (4, 4)]);
        check("", "a\n", (1, 0), &[(1, 1)]);
        check("a\n", "a\n", (0, 0), &[]);
    }

    #[test]
    fn texts_too_large_to_compare_are_counted() {
        let before: String = (0..5000).map(|n| format!("a{n}\n")).collect();
        let after: String = (0..6000).map(|n| format!("b{n}\n")).collect();
        check(
            &before,
            &after,
            "--- a\n+++ b\n@@ too large to compare: 5000 lines → 6000 lines @@\n",
        );
        assert_eq!(counted(&before, &after), (6000, 5000));
        assert_eq!(spans(&before, &after), [(1, 6000)]);
        let edited = before.replacen("a7\n", "b7\n", 1);
        assert!(unified("a", "b", &before, &edited).contains("-a7\n+b7\n"));
    }

    proptest! {
        #[test]
        fn a_diff_carries_every_line_of_both_sides(
            before in "([aé日😀]\n){0,8}[aé日😀]?", after in "([aé日😀]\n){0,8}[aé日😀]?"
        ) {
            let diff = unified("a", "b", &before, &after);
            let (added, removed) = counted(&before, &after);
            let count = |sign| diff.lines().skip(2).filter(|l| l.starts_with(sign)).count();
            prop_assert_eq!((count('+'), count('-')), (added, removed));
            let grown = split(&after).len() as isize - split(&before).len() as isize;
            prop_assert_eq!(grown, added as isize - removed as isize);
        }
    }
}
