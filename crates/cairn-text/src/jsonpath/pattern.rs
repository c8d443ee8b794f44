//! I-Regexp (RFC 9485), written anew for the linear `regex` crate.

use super::ast::Extent;
use crate::effort::Effort;
use crate::form;
use regex::{Regex, RegexBuilder};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::OnceLock;

/// How large a compiled pattern is, in bytes.
const SIZE: usize = 1 << 18;
/// How many states it has at most; with more it would be larger than that whatever they are.
const STATES: usize = SIZE / 16;
/// The general categories of Unicode that may be named, by their first letter.
const CATEGORIES: [(char, &str); 7] = [
    ('L', "lmotu"),
    ('M', "cen"),
    ('N', "dlo"),
    ('P', "cdefios"),
    ('Z', "lps"),
    ('S', "ckmo"),
    ('C', "cfno"),
];

/// A pattern that was understood. It is built when it is first looked for: a query may be read and never used.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    regex: String,
    built: OnceLock<Option<Regex>>,
    states: usize,
}

impl Pattern {
    /// Reads a pattern that describes a text to this extent, or says why it is none.
    pub(super) fn new(text: &str, extent: Extent) -> Result<Pattern, String> {
        if text.len() > form::LONGEST {
            return Err(format!("the pattern is longer than {} bytes", form::LONGEST));
        }
        let regex = translated(text)?;
        let regex = match extent {
            Extent::Whole => format!(r"\A(?:{regex})\z"),
            Extent::Part => regex,
        };
        form::check(&regex).map_err(
            |_| "the pattern counts or nests more than is read, or its ranges go backwards",
        )?;
        let states = Effort::of(&regex).states;
        match states > STATES {
            true => Err("the pattern is too large when compiled".to_owned()),
            false => Ok(Pattern { regex, built: OnceLock::new(), states }),
        }
    }

    fn built(&self) -> Option<&Regex> {
        let build = || {
            let mut builder = RegexBuilder::new(&self.regex);
            builder.size_limit(SIZE).dfa_size_limit(4 * SIZE).build().ok()
        };
        self.built.get_or_init(build).as_ref()
    }

    /// How much looking for it in a text takes at worst: for one that is too large when compiled, more than there is.
    pub(super) fn cost(&self, text: &str) -> usize {
        self.built().map_or(usize::MAX, |_| text.len().saturating_mul(self.states))
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.built().is_some_and(|regex| regex.is_match(text))
    }
}

type Letters<'t> = Peekable<Chars<'t>>;

fn translated(text: &str) -> Result<String, String> {
    let mut letters = text.chars().peekable();
    let mut out = String::with_capacity(text.len() + 8);
    let mut depth = 0usize;
    // Whether something stands here that can be repeated.
    let mut is_atom = false;
    while let Some(c) = letters.next() {
        let repeats = matches!(c, '*' | '+' | '?' | '{');
        if repeats && !is_atom {
            return Err(format!("in the pattern {c} follows nothing that it could repeat"));
        }
        is_atom = !repeats && !matches!(c, '(' | '|' | '^' | '$');
        match c {
            '.' => out.push_str(r"[^\n\r]"),
            '[' => class(&mut letters, &mut out)?,
            '\\' => out.push_str(&escaped(&mut letters)?),
            '{' => count(&mut letters, &mut out)?,
            '}' | ']' => return Err(format!("in the pattern {c} is written \\{c}")),
            '(' => {
                depth += 1;
                out.push_str("(?:");
            }
            ')' => {
                depth = depth.checked_sub(1).ok_or("in the pattern ) closes nothing")?;
                out.push(')');
            }
            '*' | '+' | '?' | '|' | '^' | '$' => out.push(c),
            plain => push_plain(&mut out, plain),
        }
    }
    match depth {
        0 => Ok(out),
        _ => Err("in the pattern ( is not closed".to_owned()),
    }
}

fn push_plain(out: &mut String, c: char) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

/// What stands after a backslash, as a regular expression for one character.
fn escaped(letters: &mut Letters<'_>) -> Result<String, String> {
    match letters.next() {
        Some(c @ ('p' | 'P')) => category(letters).map(|category| format!("\\{c}{{{category}}}")),
        Some(c) => single(c).map(|c| {
            let mut out = String::new();
            push_plain(&mut out, c);
            out
        }),
        None => Err("the pattern ends in a backslash".to_owned()),
    }
}

/// The character that an escaped letter is.
fn single(c: char) -> Result<char, String> {
    match c {
        '(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^' | '{' | '|' | '}' => Ok(c),
        'n' => Ok('\n'),
        'r' => Ok('\r'),
        't' => Ok('\t'),
        'd' => Err("I-Regexp has no \\d; write [0-9]".to_owned()),
        'w' => Err("I-Regexp has no \\w; write [0-9A-Za-z_]".to_owned()),
        's' => Err("I-Regexp has no \\s; write [ \\t\\r\\n]".to_owned()),
        '$' => Err("I-Regexp has no \\$; write [$]".to_owned()),
        other => Err(format!("I-Regexp has no \\{other}")),
    }
}

fn category(letters: &mut Letters<'_>) -> Result<String, String> {
    let bad = || "after \\p comes a category such as {L} or {Lu}".to_owned();
    let braced = letters.next_if_eq(&'{').is_some();
    let major = letters.next().ok_or_else(bad)?;
    let (_, minors) = CATEGORIES.iter().find(|(known, _)| *known == major).ok_or_else(bad)?;
    let minor = letters.next_if(|c| minors.contains(*c));
    let closed = letters.next_if_eq(&'}').is_some();
    match braced && closed {
        true => Ok(std::iter::once(major).chain(minor).collect()),
        false => Err(bad()),
    }
}

fn count(letters: &mut Letters<'_>, out: &mut String) -> Result<(), String> {
    let bad = || "in the pattern a count is written {2}, {2,} or {2,4}".to_owned();
    let mut digits = || {
        let mut digits = String::new();
        while let Some(digit) = letters.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        let sign = letters.next();
        (digits, sign)
    };
    let (least, sign) = digits();
    let (comma, most, sign) = match sign {
        Some(',') => {
            let (most, sign) = digits();
            (",", most, sign)
        }
        sign => ("", String::new(), sign),
    };
    if least.is_empty() || sign != Some('}') {
        return Err(bad());
    }
    out.push_str(&format!("{{{least}{comma}{most}}}"));
    Ok(())
}

fn class(letters: &mut Letters<'_>, out: &mut String) -> Result<(), String> {
    out.push('[');
    if letters.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut is_first = true;
    loop {
        let Some(c) = letters.next() else {
            return Err("in the pattern [ is not closed".to_owned());
        };
        match c {
            ']' if is_first => return Err("in the pattern [] has no characters".to_owned()),
            ']' => break,
            '-' if is_first || letters.peek() == Some(&']') => out.push_str("\\-"),
            '\\' if matches!(letters.peek(), Some('p' | 'P')) => out.push_str(&escaped(letters)?),
            c => {
                push_plain(out, in_class(c, letters)?);
                // A dash before the bracket is itself; any other makes a range.
                let mut ahead = letters.clone();
                if ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']') {
                    *letters = ahead;
                    out.push('-');
                    let end = letters.next().unwrap_or(']');
                    push_plain(out, in_class(end, letters)?);
                }
            }
        }
        is_first = false;
    }
    out.push(']');
    Ok(())
}

/// The character of a class that begins with this one.
fn in_class(c: char, letters: &mut Letters<'_>) -> Result<char, String> {
    match c {
        '\\' => single(letters.next().unwrap_or(' ')),
        '-' | '[' | ']' => Err(format!("in a class of the pattern {c} is written \\{c}")),
        plain => Ok(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_are_i_regexps_and_nothing_more() {
        let check = |pattern: &str, text: &str, expected: Option<bool>| {
            let found = Pattern::new(pattern, Extent::Whole).ok().map(|p| p.is_in(text));
            assert_eq!(found, expected, "{pattern} {text}");
        };
        check("a{2,3}", "aaa", Some(true));
        check("a{2,}", "a", Some(false));
        check("(a|b)*c?", "abab", Some(true));
        check("a|bc", "abc", Some(false));
        check("[a-c-]+", "a-c", Some(true));
        check("[-a]", "-", Some(true));
        check("[^a&&b]", "c", Some(true));
        check("[^a&&b]", "&", Some(false));
        check("[a~~b]", "~", Some(true));
        check("[\\]\\[\\-]{3}", "[]-", Some(true));
        check("\\p{L}\\P{L}", "é1", Some(true));
        check("[\\p{Nd}x]", "x", Some(true));
        check("#", "#", Some(true));
        check("", "", Some(true));
        for bad in [
            "\\d",
            "\\w",
            "[\\s]",
            "a**",
            "a*?",
            "(?:a)",
            "(?i)a",
            "*a",
            "(|*)",
            "a{",
            "a{,2}",
            "a{1",
            "[]",
            "[",
            "[a--]b",
            "[b-a]",
            "(",
            ")",
            "]",
            "}",
            "a\\",
            "\\p{Xx}",
            "\\pL",
            "\\p{L",
            "a{99999999999999999999}",
            "(((a{99}){99}){99}){99}",
            "[\\",
            "[a-\\p{L}]",
            "\\b",
            "\\$",
        ] {
            check(bad, "a", None);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_or_is_refused(text in "[]\\[(){}*+?|^$\\\\a-cp,LuN0-9.é日😀-]{0,16}") {
            let _ = Pattern::new(&text, Extent::Part).map(|pattern| pattern.is_in(&text));
        }
    }
}
