//! Scopes: which part of a text is meant, as data; and the short hashes that anchor a scope to a line.
//! Reads and prints them. What a scope selects in a text is [`crate::slice`], in JSON [`crate::items`].

mod parse;

use cairn_types::Hash;
pub use parse::ScopeError;
use std::fmt;
use std::ops::Range;

/// How many bytes of a line its hash covers: as many as a read looks at.
const HASHED: usize = 8000;

/// A part of a text: of its lines, or of a JSON document's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One place from 1. `0` is before the first, `-1` after the last; other negatives are nowhere.
    At(i64),
    /// From one place to another, both included. Negatives count from the end: `-1` is the last.
    Range(i64, i64),
    /// From one character to another, the latter excluded.
    Span(Place, Place),
    /// The line with this hash.
    Anchor(Anchor),
    /// From the line with one hash to the line with another, both included.
    Anchors(Anchor, Anchor),
}

impl Scope {
    /// The lines from one number to another, both from 1 and included.
    pub(crate) fn lines(first: usize, last: usize) -> Scope {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Scope::Range(number(first), number(last))
    }

    /// The first and last line, where it is a range of lines counted from the first.
    pub(crate) fn line_numbers(&self) -> Option<(usize, usize)> {
        let Scope::Range(first, last) = *self else { return None };
        Some((usize::try_from(first).ok()?, usize::try_from(last).ok()?))
    }
}

/// A place between characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1; negatives count from the end.
    pub line: i64,
    /// The character it stands before, from 1, counted in code points.
    pub column: i64,
}

/// A line by its hash, as a read printed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The number it was printed with. With one, no other line is meant.
    pub line: Option<u64>,
    /// Its hash.
    pub hash: LineHash,
}

/// Enough of a line's hash to tell whether it is still the same line: five hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineHash(u32);

impl LineHash {
    /// How many digits it is written with.
    pub(crate) const DIGITS: usize = 5;
}

/// The hash of a line without its end and without a `\r` before that. Of a very long line only the
/// first 8000 bytes count, to a whole character.
#[must_use]
pub fn line_hash(line: &[u8]) -> LineHash {
    let is_inside = |at: usize| line.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    let mut end = line.len().min(HASHED);
    while end > 0 && is_inside(end) {
        end -= 1;
    }
    let [a, b, c, ..] = Hash::of(&line[..end]).0;
    LineHash(u32::from_be_bytes([0, a, b, c]) >> 4)
}

impl Scope {
    /// Reads a scope, with or without angle brackets around it.
    ///
    /// # Errors
    ///
    /// When the text is no scope.
    pub fn parse(text: &str) -> Result<Scope, ScopeError> {
        parse::scope(text)
    }
}

/// Where a place or a range lies among so many things, counted from 0; `None` when it does not. Empty
/// for the places before the first and after the last, and for all of nothing.
pub(crate) fn within(first: i64, last: Option<i64>, total: usize) -> Option<Range<usize>> {
    let count = i64::try_from(total).ok()?;
    let (from, to) = match (first, last) {
        (0, None) => return Some(0..0),
        (-1, None) => return Some(total..total),
        (1, Some(-1)) => return Some(0..total),
        (at, None) => (at, at),
        (first, Some(last)) => (counted(first, count), counted(last, count)),
    };
    if from < 1 || to < from || to > count {
        return None;
    }
    Some(usize::try_from(from - 1).ok()?..usize::try_from(to).ok()?)
}

/// A number of a range, counted from the beginning.
pub(crate) fn counted(number: i64, count: i64) -> i64 {
    if number < 0 { number.saturating_add(count).saturating_add(1) } else { number }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::At(at) => write!(f, "{at}"),
            Scope::Range(first, last) => write!(f, "{first}-{last}"),
            Scope::Span(from, to) => {
                write!(f, "{},{},{},{}", from.line, from.column, to.line, to.column)
            }
            Scope::Anchor(anchor) => write!(f, "{anchor}"),
            Scope::Anchors(first, last) => write!(f, "{first}-{last}"),
        }
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{line}:{}", self.hash),
            None => write!(f, "@{}", self.hash),
        }
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:05x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_hash_is_the_beginning_of_the_hash_of_the_line() {
        for line in ["", "a", "    let x = 1;", "é"] {
            let whole = Hash::of(line.as_bytes()).to_string();
            assert_eq!(line_hash(line.as_bytes()).to_string(), whole[..5], "{line:?}");
        }
    }

    #[test]
    fn a_very_long_line_is_hashed_as_far_as_it_is_read() {
        let line = format!("a{}", "é".repeat(5000));
        assert_eq!(line_hash(line.as_bytes()), line_hash(&line.as_bytes()[..7999]));
        assert_ne!(line_hash(line.as_bytes()), line_hash(&line.as_bytes()[..7997]));
    }

    #[test]
    fn numbers_lie_within_or_do_not() {
        let check = |first, last, total, expected| {
            assert_eq!(within(first, last, total), expected, "{first} {last:?} of {total}");
        };
        check(1, None, 3, Some(0..1));
        check(3, None, 3, Some(2..3));
        check(4, None, 3, None);
        check(0, None, 3, Some(0..0));
        check(-1, None, 3, Some(3..3));
        check(-2, None, 3, None);
        check(i64::MIN, None, 3, None);
        check(i64::MAX, None, 3, None);
        check(1, Some(-1), 3, Some(0..3));
        check(-1, Some(-1), 3, Some(2..3));
        check(-3, Some(-1), 3, Some(0..3));
        check(-4, Some(-1), 3, None);
        check(2, Some(2), 3, Some(1..2));
        check(3, Some(2), 3, None);
        check(2, Some(4), 3, None);
        check(0, Some(2), 3, None);
        check(0, Some(-5), 3, None);
        check(1, Some(0), 3, None);
        check(i64::MIN, Some(i64::MIN), 3, None);
        check(0, None, 0, Some(0..0));
        check(-1, None, 0, Some(0..0));
        check(1, None, 0, None);
        check(1, Some(-1), 0, Some(0..0));
        check(1, Some(1), 0, None);
        check(1, Some(0), 0, None);
        check(-1, Some(-1), 0, None);
    }

    fn any_scope() -> impl Strategy<Value = Scope> {
        let place =
            || (any::<i64>(), any::<i64>()).prop_map(|(line, column)| Place { line, column });
        let anchor = || {
            (proptest::option::of(any::<u64>()), 0u32..1 << 20)
                .prop_map(|(line, hash)| Anchor { line, hash: LineHash(hash) })
        };
        prop_oneof![
            any::<i64>().prop_map(Scope::At),
            (any::<i64>(), any::<i64>()).prop_map(|(a, b)| Scope::Range(a, b)),
            (place(), place()).prop_map(|(a, b)| Scope::Span(a, b)),
            anchor().prop_map(Scope::Anchor),
            (anchor(), anchor()).prop_map(|(a, b)| Scope::Anchors(a, b)),
        ]
    }

    proptest! {
        #[test]
        fn a_printed_scope_is_read_as_it_was(scope in any_scope()) {
            prop_assert_eq!(Scope::parse(&scope.to_string()), Ok(scope));
            prop_assert_eq!(Scope::parse(&format!(" <{scope}> ")), Ok(scope));
        }

        #[test]
        fn what_lies_within_is_within(first: i64, last: Option<i64>, total in 0usize..9) {
            if let Some(range) = within(first, last, total) {
                prop_assert!(range.start <= range.end && range.end <= total);
            }
        }
    }
}
