//! Lines as they are shown: numbered, and cut to the places that matter.

use std::borrow::Cow;
use std::fmt::{Display, Write};

/// A span longer than this is shown by its first and last lines only.
const LONG_SPAN: usize = 60;
/// How many lines of a long span are shown at each end.
const SPAN_END: usize = 20;
/// Where a shown line is cut, in characters.
pub(crate) const LINE_CHARS: usize = 500;

/// Each line with its number and a tab, the first being number `first`. Line ends are not shown,
/// and none follows the last line.
#[must_use]
pub fn numbered(text: &str, first: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for (line, number) in text.lines().zip(first..) {
        push_line(&mut out, number, line);
    }
    out
}

fn push_line(out: &mut String, label: impl Display, line: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = write!(out, "{label}\t{line}");
}

/// These spans of a text (first and last line, from 1), numbered, with `context` lines around
/// each and `…` between those that do not touch. Long spans are shown by their ends, long lines by
/// their beginnings.
#[must_use]
pub fn excerpt(text: &str, spans: &[(usize, usize)], context: usize) -> String {
    excerpt_labelled(text, spans, context, |number| number)
}

/// The same with something else than its number before each line.
pub(crate) fn excerpt_labelled<L: Display>(
    text: &str,
    spans: &[(usize, usize)],
    context: usize,
    label: impl Fn(usize) -> L,
) -> String {
    let ranges = widened(spans, context, text.lines().count());
    let mut left = ranges.as_slice();
    let mut out = String::new();
    let mut shown = 0;
    for (number, line) in (1..).zip(text.lines()) {
        while let Some((_, rest)) = left.split_first().filter(|((_, last), _)| *last < number) {
            left = rest;
        }
        match left.first() {
            None => break,
            Some((first, _)) if number < *first => continue,
            Some(_) => {}
        }
        if number > shown + 1 && shown > 0 {
            out.push_str("\n…");
        }
        push_line(&mut out, label(number), &cut(line));
        shown = number;
    }
    out
}

/// A line as far as it is shown.
pub(crate) fn cut(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(LINE_CHARS) {
        None => Cow::Borrowed(line),
        Some((at, _)) => Cow::Owned(format!("{}{}", &line[..at], more(line.len() - at))),
    }
}

/// What follows the shown part of a line that has so many bytes more.
pub(crate) fn more(bytes: usize) -> String {
    format!("… ({bytes} more bytes in this line)")
}

/// The ranges to show, within the text, in order.
fn widened(spans: &[(usize, usize)], context: usize, total: usize) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    for &(first, last) in spans {
        let from = first.saturating_sub(context).max(1);
        let to = last.max(first).saturating_add(context).min(total);
        if to.saturating_sub(from) >= LONG_SPAN {
            ranges.push((from, from + SPAN_END - 1));
            ranges.push((to - SPAN_END + 1, to));
        } else {
            ranges.push((from, to));
        }
    }
    ranges.sort_unstable();
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_carry_their_numbers() {
        assert_eq!(numbered("a\r\nb\n", 9), "9\ta\n10\tb");
        assert_eq!(numbered("", 1), "");
    }

    #[test]
    fn an_excerpt_shows_spans_with_context_and_marks_gaps() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let check = |spans: &[(usize, usize)], context, expected: &str| {
            let rows: Vec<String> = excerpt(text, spans, context)
                .lines()
                .map(|l| l.split('\t').next().unwrap_or(l).to_owned())
                .collect();
            assert_eq!(rows.join(" "), expected, "{spans:?}");
        };
        check(&[(1, 1)], 2, "1 2 3");
        check(&[(9, 9)], 2, "7 8 9");
        check(&[(2, 2), (8, 8)], 1, "1 2 3 … 7 8 9");
        check(&[(2, 2), (4, 4)], 1, "1 2 3 4 5");
        check(&[(2, 2), (6, 6)], 1, "1 2 3 … 5 6 7");
        check(&[(12, 14)], 2, "");
        check(&[], 2, "");
    }

    #[test]
    fn a_long_span_is_shown_by_its_ends() {
        let text: String = (1..=500).map(|n| format!("{n}\n")).collect();
        let shown = excerpt(&text, &[(1, 500)], 2);
        assert_eq!(shown.lines().count(), 2 * SPAN_END + 1);
        assert!(shown.contains("\n20\t20\n…\n481\t481\n"));
    }

    #[test]
    fn a_long_line_is_shown_by_its_beginning() {
        let shown = excerpt(&"é".repeat(10_000), &[(1, 1)], 2);
        assert_eq!(shown, format!("1\t{}… (19000 more bytes in this line)", "é".repeat(500)));
    }

    proptest! {
        #[test]
        fn an_excerpt_only_holds_lines_of_the_text(
            text in "[aé日😀\n]{0,60}",
            spans in proptest::collection::vec((0usize..30, 0usize..30), 0..4),
            context in 0usize..4,
        ) {
            let all: Vec<&str> = text.lines().collect();
            for row in excerpt(&text, &spans, context).lines().filter(|r| *r != "…") {
                let (number, line) = row.split_once('\t').unwrap();
                prop_assert_eq!(all[number.parse::<usize>().unwrap() - 1], line);
            }
        }
    }
}
