//! Reads a scope from text. Numbers take a minus sign whenever one stands before them, so `-3--1` is
//! from -3 to -1.

use super::{Anchor, LineHash, Place, Scope};

/// Why a text is no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Nothing is there.
    #[error("the scope is empty; write N, N-M, SL,SC,EL,EC, @hash or @hash-@hash")]
    Empty,
    /// One angle bracket stands there without the other.
    #[error("the scope has one angle bracket; write both or none")]
    Bracket,
    /// Something else stands where a number or an anchor must.
    #[error(
        "no number or anchor stands at {found:?}; write N, N-M, SL,SC,EL,EC, @hash or @hash-@hash"
    )]
    Number {
        /// What stands there, by its beginning.
        found: String,
    },
    /// Something else stands between or after numbers.
    #[error("{found:?} is not understood; numbers are separated by - or ,")]
    Separator {
        /// What stands there, by its beginning.
        found: String,
    },
    /// A number does not fit.
    #[error("the number {found} is too large")]
    TooLarge {
        /// Its beginning.
        found: String,
    },
    /// A hash is not five hex digits.
    #[error("{found:?} is not a line's hash; it has five hex digits, as reads print them")]
    Hash {
        /// What stands there, by its beginning.
        found: String,
    },
    /// Neither one, two nor four numbers.
    #[error("a scope has one, two or four numbers, not {0}")]
    Count(usize),
    /// Four numbers that are not separated by commas.
    #[error("the four numbers of a span are separated by commas: SL,SC,EL,EC")]
    Commas,
    /// A number and an anchor together.
    #[error("a scope goes from a number to a number or from an anchor to an anchor")]
    Mixed,
}

/// How much of a text an error repeats, in characters.
const REPEATED: usize = 20;
/// The most ends that are read before a scope is given up.
const MOST: usize = 8;

/// One of the things that separators stand between.
#[derive(Clone, Copy)]
enum End {
    Number(i64),
    Anchor(Anchor),
}

pub(super) fn scope(text: &str) -> Result<Scope, ScopeError> {
    let text = text.trim();
    let inner = match (text.strip_prefix('<'), text.strip_suffix('>')) {
        (None, None) => text,
        (Some(rest), Some(_)) => rest.strip_suffix('>').ok_or(ScopeError::Bracket)?.trim(),
        _ => return Err(ScopeError::Bracket),
    };
    if inner.is_empty() {
        return Err(ScopeError::Empty);
    }
    let (ends, commas) = ends(inner)?;
    match *ends.as_slice() {
        [End::Number(at)] => Ok(Scope::At(at)),
        [End::Number(first), End::Number(last)] => Ok(Scope::Range(first, last)),
        [End::Number(a), End::Number(b), End::Number(c), End::Number(d)] if commas == 3 => {
            Ok(Scope::Span(Place { line: a, column: b }, Place { line: c, column: d }))
        }
        [End::Anchor(at)] => Ok(Scope::Anchor(at)),
        [End::Anchor(first), End::Anchor(last)] => Ok(Scope::Anchors(first, last)),
        _ if ends.iter().any(|end| matches!(end, End::Anchor(_))) => Err(ScopeError::Mixed),
        _ if ends.len() == 4 => Err(ScopeError::Commas),
        _ => Err(ScopeError::Count(ends.len())),
    }
}

/// The ends of a scope, and how many commas separate them.
fn ends(text: &str) -> Result<(Vec<End>, usize), ScopeError> {
    let (mut ends, mut commas) = (Vec::new(), 0);
    let mut rest = text;
    loop {
        let (end, after) = end(rest.trim_start())?;
        ends.push(end);
        let after = after.trim_start();
        if after.is_empty() || ends.len() == MOST {
            return Ok((ends, commas));
        }
        commas += usize::from(after.starts_with(','));
        rest = after
            .strip_prefix([',', '-'])
            .ok_or_else(|| ScopeError::Separator { found: beginning(after) })?;
    }
}

/// The number or anchor that a text begins with, and what follows.
fn end(text: &str) -> Result<(End, &str), ScopeError> {
    if let Some(rest) = text.strip_prefix('@') {
        let (line, rest) = match digits(rest) {
            (number, rest) if !number.is_empty() && rest.starts_with(':') => {
                (Some(parsed(number)?), &rest[1..])
            }
            _ => (None, rest),
        };
        return anchor(line, rest);
    }
    let (number, rest) = digits(text.strip_prefix('-').unwrap_or(text));
    if number.is_empty() {
        return Err(ScopeError::Number { found: beginning(text) });
    }
    match rest.strip_prefix(':') {
        // A line and a hash, or two lines with the wrong mark between them.
        Some(after) if is_short_number(after) => {
            Err(ScopeError::Separator { found: beginning(rest) })
        }
        Some(rest) if !text.starts_with('-') => anchor(Some(parsed(number)?), rest),
        _ => Ok((End::Number(parsed(&text[..text.len() - rest.len()])?), rest)),
    }
}

/// Whether a text is a number of fewer digits than a hash has.
fn is_short_number(text: &str) -> bool {
    let (number, rest) = digits(text);
    (1..LineHash::DIGITS).contains(&number.len()) && !rest.starts_with(char::is_alphanumeric)
}

fn anchor(line: Option<u64>, text: &str) -> Result<(End, &str), ScopeError> {
    let text = text.strip_prefix('@').unwrap_or(text);
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let wrong = || ScopeError::Hash { found: beginning(word) };
    let is_hash =
        word.len() == LineHash::DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = u32::from_str_radix(word, 16).ok().filter(|_| is_hash).ok_or_else(wrong)?;
    Ok((End::Anchor(Anchor { line, hash: LineHash(hash) }), rest))
}

/// The digits a text begins with, and what follows.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The value of digits, with a sign or without.
fn parsed<N: std::str::FromStr>(digits: &str) -> Result<N, ScopeError> {
    digits.parse().map_err(|_| ScopeError::TooLarge { found: beginning(digits) })
}

fn beginning(text: &str) -> String {
    text.chars().take(REPEATED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_is_read_and_printed_in_one_way() {
        let check = |text: &str, printed: &str| {
            let scope = Scope::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(scope.to_string(), printed, "{text}");
        };
        check("7", "7");
        check("<7>", "7");
        check(" < 7 > ", "7");
        check("007", "7");
        check("0", "0");
        check("-0", "0");
        check("-1", "-1");
        check("-5", "-5");
        check("3-9", "3-9");
        check("3,9", "3-9");
        check("<3, 9>", "3-9");
        check("3 - 9", "3-9");
        check("9-3", "9-3");
        check("1,-1", "1--1");
        check("1--1", "1--1");
        check("-3--1", "-3--1");
        check("-3,-1", "-3--1");
        check("0--5", "0--5");
        check("1,2,3,4", "1,2,3,4");
        check("1, 2, 3, 4", "1,2,3,4");
        check("1,2,-1,4", "1,2,-1,4");
        check("@aB3dE", "@ab3de");
        check("@12345", "@12345");
        check("<@aB3dE-@f00ba>", "@ab3de-@f00ba");
        check("@aB3dE, @f00ba", "@ab3de-@f00ba");
        check("12:aB3dE", "12:ab3de");
        check("12:@aB3dE", "12:ab3de");
        check("@12:aB3dE", "12:ab3de");
        check("12:aB3dE-14:f00ba", "12:ab3de-14:f00ba");
        check("12:aB3dE-@f00ba", "12:ab3de-@f00ba");
    }

    #[test]
    fn what_is_no_scope_says_why() {
        let check = |text: &str, why: &str| {
            let error = Scope::parse(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        };
        check("", "is empty");
        check("<>", "is empty");
        check("<", "one angle bracket");
        check("<7", "one angle bracket");
        check("7>", "one angle bracket");
        check("x", "at \"x\"");
        check("é", "at \"é\"");
        check("+5", "at \"+5\"");
        check("5-", "at \"\"");
        check("-", "at \"-\"");
        check("--5", "at \"--5\"");
        check("5 6", "\"6\" is not understood");
        check("1–5", "\"–5\" is not understood");
        check("0.7,1,20", "\".7,1,20\" is not understood");
        check("1,2,3", "not 3");
        check("1,2,3,4,5", "not 5");
        check("1-2-3", "not 3");
        check("1,2-3,4", "separated by commas");
        check("99999999999999999999", "too large");
        check("99999999999999999999:aB3dE", "too large");
        check("@", "\"\" is not a line's hash");
        check("10:20", "\":20\" is not understood; numbers are separated by - or ,");
        check("10:20-30:40", "\":20-30:40\" is not understood");
        check("10:20a", "\"20a\" is not a line's hash");
        check("@aB3d", "\"aB3d\" is not");
        check("@aB3dE0", "\"aB3dE0\" is not");
        check("@xyzzy", "\"xyzzy\" is not");
        check("12:", "\"\" is not");
        check("-2:aB3dE", "\":aB3dE\" is not understood");
        check("@aB3dE-5", "from an anchor to an anchor");
        check("5-@aB3dE", "from an anchor to an anchor");
        check("@aB3dE-@f00ba-@f00ba", "from an anchor to an anchor");
    }

    proptest! {
        #[test]
        fn any_text_is_a_scope_or_none(
            text in prop_oneof!["\\PC{0,12}", "[-0-9@:, <>a-fé日😀]{0,16}"],
        ) {
            if let Ok(scope) = Scope::parse(&text) {
                prop_assert_eq!(Scope::parse(&scope.to_string()), Ok(scope));
            }
        }
    }
}
