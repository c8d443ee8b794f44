//! Globs over whole lines: `*` any text, `?` any character, `[a-z]` one of these, `[!a-z]` none of these,
//! and a backslash takes the meaning from what follows it. Braces are themselves, as in most code.

use super::linear::Linear;
use std::iter::Peekable;
use std::str::Chars;

/// Whether a text has metacharacters.
pub(super) fn is_one(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Reads a glob over a whole line, or says why it is none.
pub(super) fn read(text: &str) -> Result<Linear, String> {
    Linear::new(&expression(text)?).map_err(|_| "it is too large".to_owned())
}

/// The glob as a regular expression over a whole line, or why it is none.
pub(super) fn expression(text: &str) -> Result<String, String> {
    let mut out = String::from(r"(?s)\A");
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            // Several are no more than one.
            '*' if out.ends_with(".*") => {}
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            '[' => class(&mut letters, &mut out)?,
            '\\' => push_plain(&mut out, letters.next().ok_or("a backslash ends it")?),
            plain => push_plain(&mut out, plain),
        }
    }
    out.push_str(r"\z");
    Ok(out)
}

fn push_plain(out: &mut String, c: char) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

fn class(letters: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    out.push('[');
    if letters.next_if(|c| matches!(c, '!' | '^')).is_some() {
        out.push('^');
    }
    let mut is_first = true;
    loop {
        let start = match letters.next() {
            Some(']') if !is_first => break,
            other => in_class(other, letters)?,
        };
        is_first = false;
        push_plain(out, start);
        let mut ahead = letters.clone();
        if ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']') {
            *letters = ahead;
            let last = letters.next();
            let end = in_class(last, letters)?;
            if end < start {
                return Err(format!("[{start}-{end}] goes backwards"));
            }
            out.push('-');
            push_plain(out, end);
        }
    }
    out.push(']');
    Ok(())
}

/// A character of a class, which this one begins.
fn in_class(c: Option<char>, letters: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let c = if c == Some('\\') { letters.next() } else { c };
    c.ok_or_else(|| "[ is not closed; a bracket itself is written [[]".to_owned())
}
