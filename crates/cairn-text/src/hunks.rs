//! A text's change as hunks that are taken or left one by one. Which hunks there are follows from the
//! two texts alone and is what `diff::unified` shows; whose word takes them is not known here.

use crate::diff::{self, CONTEXT, comparable, compare, lines, split};
use similar::DiffTag;
use std::ops::Range;

/// What begins the first line of a hunk in a diff. Lines of a text stand behind a space, `+`, `-` or
/// `\`, so none of them begins so.
const HEAD: &str = "@@ ";

/// Changed places that are shown and chosen together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First and last line of it as numbered in the new text from 1. Where lines only went away, the
    /// line that now stands there.
    pub lines: (usize, usize),
    /// How many lines are added.
    pub added: usize,
    /// How many are removed.
    pub removed: usize,
    /// The lines that go and those that come instead, place by place, counted from 0.
    places: Vec<(Range<usize>, Range<usize>)>,
}

impl Hunk {
    fn of(places: Vec<(Range<usize>, Range<usize>)>) -> Option<Hunk> {
        let first = places.first()?.1.start + 1;
        let last = first.max(places.last()?.1.end);
        let (removed, added) = places.iter().fold((0, 0), |(removed, added), (gone, come)| {
            (removed + gone.len(), added + come.len())
        });
        Some(Hunk { lines: (first, last), added, removed, places })
    }
}

/// The hunks of a change, in order; none when nothing changes. Texts above the size limits of a diff
/// are one hunk.
#[must_use]
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    if before == after {
        return Vec::new();
    }
    let Some((old, new)) = comparable(before, after) else {
        let (added, removed) = diff::counted(before, after);
        let places = vec![(0..lines(before), 0..lines(after))];
        let lines = (1, lines(after).max(1));
        return vec![Hunk { lines, added, removed, places }];
    };
    let groups = compare(&old, &new).grouped_ops(CONTEXT);
    let changed = groups.iter().map(|ops| {
        let ops = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
        ops.map(|op| (op.old_range(), op.new_range())).collect()
    });
    changed.filter_map(Hunk::of).collect()
}

/// The text that stands when of all hunks only these are taken, named by their place among `hunks`.
#[must_use]
pub fn choose(before: &str, after: &str, accepted: &[usize]) -> String {
    let (old, new) = (split(before), split(after));
    let mut chosen = String::with_capacity(before.len().max(after.len()));
    let mut at = 0;
    for (n, hunk) in hunks(before, after).iter().enumerate() {
        let is_taken = accepted.contains(&n);
        for (gone, come) in &hunk.places {
            chosen.extend(old[at..gone.start].iter().copied());
            match is_taken {
                true => chosen.extend(new[come.clone()].iter().copied()),
                false => chosen.extend(old[gone.clone()].iter().copied()),
            }
            at = gone.end;
        }
    }
    chosen.extend(old[at..].iter().copied());
    chosen
}

/// One file's diff with a number behind the first line of each hunk: one for each, or the last of
/// them for all that follow. The file's name in it must be one line.
#[must_use]
pub fn numbered(diff: &str, numbers: &[u32]) -> String {
    let mut heads = 0;
    let mut marked = String::with_capacity(diff.len());
    for line in diff.split_inclusive('\n') {
        let number = numbers.get(heads).or(numbers.last()).filter(|_| line.starts_with(HEAD));
        match number {
            Some(number) => {
                heads += 1;
                marked.push_str(&format!("{}{}\n", line.trim_end_matches('\n'), mark(*number)));
            }
            None => marked.push_str(line),
        }
    }
    marked
}

fn mark(number: u32) -> String {
    format!(" item {number}")
}

/// The lines that `numbered` marked with a number, without the names of files; empty when there are
/// none.
#[must_use]
pub fn piece(shown: &str, number: u32) -> String {
    let mut found = String::new();
    let all: Vec<&str> = shown.lines().collect();
    let heads: Vec<usize> = (0..all.len()).filter(|n| all[*n].starts_with(HEAD)).collect();
    for (n, head) in heads.iter().enumerate() {
        if !all[*head].ends_with(&mark(number)) {
            continue;
        }
        let end = heads.get(n + 1).copied().unwrap_or(all.len());
        // A hunk before another one of the same file ends with lines that stay as they are, so two
        // such lines are the names of the next file.
        let lines = match &all[*head..end] {
            [hunk @ .., from, to]
                if end < all.len() && from.starts_with("--- ") && to.starts_with("+++ ") =>
            {
                hunk
            }
            hunk => hunk,
        };
        found.extend(lines.iter().flat_map(|line| [*line, "\n"]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::unified;
    use proptest::prelude::*;

    fn numbers(lines: std::ops::RangeInclusive<u32>) -> String {
        lines.map(|n| format!("{n}\n")).collect()
    }

    #[test]
    fn hunks_say_where_they_are_and_how_much_they_change() {
        let before = numbers(1..=30);
        let after = before.replace("\n3\n", "\nthree\nand\n").replace("\n20\n", "\n");
        let found: Vec<_> =
            hunks(&before, &after).iter().map(|h| (h.lines, h.added, h.removed)).collect();
        assert_eq!(found, [((3, 4), 2, 1), ((21, 21), 0, 1)]);
        assert!(hunks("a", "a").is_empty());
        let (long, other) = ("a\n".repeat(5000), "b\n".repeat(6000));
        let one = hunks(&long, &other);
        assert_eq!((one.len(), one[0].lines, one[0].added), (1, (1, 6000), 6000));
        assert_eq!(choose(&long, &other, &[0]), other);
        assert_eq!(choose(&long, &other, &[]), long);
    }

    #[test]
    fn line_ends_and_a_missing_last_one_stay_as_they_were() {
        let check = |before: &str, after: &str, accepted: &[usize], expected: &str| {
            assert_eq!(choose(before, after, accepted), expected, "{before:?} {accepted:?}");
        };
        let far = "1\n2\n3\n4\n5\n6\n7\n8\n";
        check(&format!("a\r\n{far}z"), &format!("b\r\n{far}y\n"), &[0], &format!("b\r\n{far}z"));
        check(&format!("a\r\n{far}z"), &format!("b\r\n{far}y\n"), &[1], &format!("a\r\n{far}y\n"));
        check("z", "z\nmore", &[], "z");
        check("z", "z\nmore", &[0], "z\nmore");
        check("", "new", &[0], "new");
        check("gone\n", "", &[0], "");
    }

    #[test]
    fn a_piece_of_a_diff_is_found_by_its_number_whatever_the_texts_say() {
        let before = numbers(1..=20);
        let after = before.replace("\n2\n", "\n@@ -1 +1 @@ item 3\n").replace("\n18\n", "\n");
        let one = unified("a/x", "b/x", &before, &after);
        let two = unified("a/y", "b/y", "-- a/z\n", "++ b/z\n");
        let shown = format!("{}{}", numbered(&one, &[1, 2]), numbered(&two, &[3]));
        assert_eq!(
            piece(&shown, 1),
            "@@ -1,5 +1,5 @@ item 1\n 1\n-2\n+@@ -1 +1 @@ item 3\n 3\n 4\n 5\n"
        );
        assert_eq!(piece(&shown, 2), "@@ -15,6 +15,5 @@ item 2\n 15\n 16\n 17\n-18\n 19\n 20\n");
        assert_eq!(piece(&shown, 3), "@@ -1 +1 @@ item 3\n--- a/z\n+++ b/z\n");
        assert_eq!(piece(&shown, 4), "");
        assert_eq!(numbered(&one, &[7]).matches(" @@ item 7\n").count(), 2);
    }

    /// The same by other means: each hunk is put into the text by itself, the others' places moved.
    fn one_by_one(before: &str, after: &str, order: &[usize]) -> String {
        let all = hunks(before, after);
        let new = split(after);
        let mut text: Vec<String> = split(before).iter().map(|line| (*line).to_owned()).collect();
        let mut done: Vec<usize> = Vec::new();
        for n in order {
            for (gone, come) in all[*n].places.iter().rev() {
                let earlier = done.iter().filter(|d| *d < n).flat_map(|d| &all[*d].places);
                let shift: isize = earlier.map(|(g, c)| c.len() as isize - g.len() as isize).sum();
                let at = gone.start.checked_add_signed(shift).unwrap();
                let come = new[come.clone()].iter().map(|line| (*line).to_owned());
                text.splice(at..at + gone.len(), come);
            }
            done.push(*n);
        }
        text.concat()
    }

    proptest! {
        #[test]
        fn all_hunks_are_the_new_text_none_the_old_and_one_after_another_their_union(
            before in "([aé日😀]\r?\n){0,40}[aé日😀]?", edits in prop::collection::vec((0usize..40, "([xé日😀]\n){0,2}"), 0..5),
            bits in any::<[bool; 8]>(), cut in 0usize..8,
        ) {
            let mut lines: Vec<String> = split(&before).iter().map(|l| (*l).to_owned()).collect();
            for (at, with) in &edits {
                if let Some(line) = lines.get_mut(*at) {
                    line.clone_from(with);
                }
            }
            let after = lines.concat();
            let all: Vec<usize> = (0..hunks(&before, &after).len()).collect();
            prop_assert_eq!(choose(&before, &after, &all), after.clone());
            prop_assert_eq!(choose(&before, &after, &[]), before.clone());
            let some: Vec<usize> = all.iter().copied().filter(|n| bits[*n % 8]).collect();
            let (first, then) = some.split_at(cut.min(some.len()));
            let order = [then, first].concat();
            prop_assert_eq!(choose(&before, &after, &some), one_by_one(&before, &after, &order));
            let heads = unified("a", "b", &before, &after).lines().filter(|l| l.starts_with("@@")).count();
            prop_assert_eq!(heads, all.len());
        }

        #[test]
        fn any_two_texts_have_hunks(before in "[aé日😀\n]{0,30}", after in "[aé日😀\n]{0,30}", n in 0usize..3) {
            let all: Vec<usize> = (0..hunks(&before, &after).len()).collect();
            prop_assert_eq!(choose(&before, &after, &all), after.clone());
            prop_assert_eq!(choose(&before, &after, &[]), before.clone());
            let _ = choose(&before, &after, &[n]);
        }
    }
}
