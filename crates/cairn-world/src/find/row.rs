//! A line of a file as one row: its number, and as much of it as shows what was found in it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The most characters of a line that are told.
const MAX_CHARS: usize = 200;
/// How many bytes before what was found are told of a longer line.
const BEFORE: usize = 60;
/// The most bytes of a character.
const CHAR: usize = 4;

/// A line without what ends it.
pub(crate) fn bare(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a line might have to be cut.
pub(crate) fn is_long(line: &[u8]) -> bool {
    line.len() > MAX_CHARS
}

/// The line, or the part of it around `at`.
pub(crate) fn cut(line: &[u8], at: usize) -> Cow<'_, str> {
    if !is_long(line) {
        return String::from_utf8_lossy(line);
    }
    let start = back(line, at.min(line.len()));
    let end = line.len().min(start + (MAX_CHARS + 1) * CHAR);
    let part = String::from_utf8_lossy(&line[start..end]);
    let shown = part.char_indices().nth(MAX_CHARS).map_or(part.len(), |(at, _)| at);
    let before = if start > 0 { "…" } else { "" };
    let after = if shown < part.len() || end < line.len() { "…" } else { "" };
    Cow::Owned(format!("{before}{}{after}", &part[..shown]))
}

/// Where a part that shows `at` begins: a little before it, at the beginning of a character. The
/// line's own beginning when that still shows `at`.
fn back(line: &[u8], at: usize) -> usize {
    if at <= MAX_CHARS - BEFORE {
        return 0;
    }
    let near = at - BEFORE;
    let inside = line[near..at].iter().take(CHAR - 1).take_while(|byte| **byte & 0xc0 == 0x80);
    near + inside.count()
}

/// Appends a row.
pub(crate) fn push(rows: &mut String, number: Option<u64>, mark: char, line: &str) {
    if !rows.is_empty() {
        rows.push('\n');
    }
    let _ = write!(rows, "{}{mark}\t{line}", number.unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_line_is_cut_so_that_what_was_found_is_seen() {
        let check = |line: &str, at: usize, expected: &str| {
            assert_eq!(cut(line.as_bytes(), at), expected, "{at}");
        };
        let (a, b, e) = ("a".repeat(300), "b".repeat(300), "é".repeat(300));
        check("short", 2, "short");
        check(&"é".repeat(200), 0, &"é".repeat(200));
        check(&a, 0, &format!("{}…", &a[..200]));
        check(&format!("{}X{b}", &a[..100]), 100, &format!("{}X{}…", &a[..100], &b[..99]));
        check(&format!("{a}X{b}"), 300, &format!("…{}X{}…", &a[..60], &b[..139]));
        check(&format!("{a}X"), 300, &format!("…{}X", &a[..60]));
        let accents = format!("…{}X{}…", "é".repeat(30), "é".repeat(169));
        check(&format!("{e}X{e}"), 600, &accents);
    }

    proptest! {
        #[test]
        fn a_cut_line_is_short_and_shows_the_place(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'a'), Just(0xc3), Just(0xa9), any::<u8>()], 0..900
            ),
            at in 0usize..900,
        ) {
            let mut line = bytes;
            let at = at.min(line.len());
            line.splice(at..at, *b"NEEDLE");
            let shown = cut(&line, at);
            prop_assert!(shown.chars().count() <= MAX_CHARS + 2);
            prop_assert!(shown.contains("NEEDLE"));
        }
    }
}
