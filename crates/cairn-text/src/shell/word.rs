//! One word of a command line: quotes, backslashes and what of it the shell would still change. Knows
//! nothing of what stands around it.

use super::Why;
use super::lex::Cursor;

/// A word as it was read, before it is known what it is for.
#[derive(Debug, Default)]
pub(super) struct Raw {
    /// The text after quotes are removed.
    pub text: String,
    /// Whether any of it was quoted, so that it is no reserved word and no number of a descriptor.
    pub quoted: bool,
    /// Whether a backslash at a line end stands in it.
    pub joined: bool,
    /// Whether a glob or a `~` stands in it unquoted.
    pub open: bool,
    /// Whether it begins as an assignment does, and how.
    pub assigns: Assigns,
    /// How many bytes at its beginning could be the name of a variable.
    name: usize,
    /// Whether a `{` stands in it unquoted.
    brace: bool,
    /// Whether a `[` stands in it unquoted.
    bracket: bool,
}

/// How a word begins, before anything in it is quoted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Assigns {
    /// Not as an assignment.
    #[default]
    Nothing,
    /// `NAME=`, the name being so long.
    Name(usize),
    /// `NAME+=` or `NAME[`, which bash takes as assignments and other shells as words.
    BashOnly,
}

impl Raw {
    /// Whether it is a number that stands before a redirect.
    pub fn is_number(&self) -> bool {
        !self.quoted && !self.text.is_empty() && self.text.bytes().all(|b| b.is_ascii_digit())
    }

    fn push(&mut self, c: char) {
        let fits = c == '_' || c.is_ascii_alphabetic() || (self.name > 0 && c.is_ascii_digit());
        self.name += usize::from(fits && self.name == self.text.len());
        self.text.push(c);
    }

    /// Takes a character that stands outside quotes.
    fn push_bare(&mut self, c: char) {
        match c {
            '*' | '?' => self.open = true,
            '[' => {
                self.bracket = true;
                self.note(Assigns::BashOnly, self.name == self.text.len());
            }
            '{' => self.brace = true,
            '~' if self.may_be_home() => self.open = true,
            '=' => {
                let appends = self.text.ends_with('+') && self.name + 1 == self.text.len();
                self.note(Assigns::BashOnly, appends);
                self.note(Assigns::Name(self.name), self.name == self.text.len());
            }
            _ => {}
        }
        self.push(c);
    }

    fn note(&mut self, assigns: Assigns, holds: bool) {
        if holds && self.name > 0 && !self.quoted && self.assigns == Assigns::Nothing {
            self.assigns = assigns;
        }
    }

    /// A `~` is a home directory at the beginning, and in bash also after `=` and `:`.
    fn may_be_home(&self) -> bool {
        (self.text.is_empty() && !self.quoted) || self.text.ends_with(['=', ':'])
    }
}

/// Whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a character ends a word when it is not quoted.
pub(super) fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// Reads the word that begins here. The cursor stands on a character that begins one.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Raw, Why> {
    let mut raw = Raw::default();
    while let Some(c) = cursor.peek() {
        match c {
            '(' | ')' => return Err("a parenthesis"),
            c if ends_word(c) => break,
            '\\' => backslash(cursor, &mut raw)?,
            '\'' => single(cursor, &mut raw)?,
            '"' => double(cursor, &mut raw)?,
            '`' => return Err("a command substitution"),
            '$' => dollar(cursor, &mut raw, |c| matches!(c, ' ' | '\t' | '\n'))?,
            c if !c.is_ascii() && c.is_whitespace() => {
                return Err("a blank that is none to the shell");
            }
            c => {
                cursor.bump();
                raw.push_bare(c);
            }
        }
    }
    // Without its end a bracket is itself, as in the command `[`.
    raw.open |= raw.bracket && raw.text.contains(']');
    // Which braces expand is not worth knowing exactly: these may.
    if raw.brace && (raw.text.contains(',') || raw.text.contains("..")) {
        return Err("a brace expansion");
    }
    if raw.brace && matches!(cursor.peek(), Some('<' | '>')) {
        return Err("a redirect to a variable");
    }
    Ok(raw)
}

/// A backslash outside quotes.
fn backslash(cursor: &mut Cursor<'_>, raw: &mut Raw) -> Result<(), Why> {
    cursor.bump();
    match cursor.bump() {
        None => Err("a backslash at the end"),
        Some('\n') => {
            raw.joined = true;
            cursor.crossed_line()
        }
        Some(c) => {
            raw.quoted = true;
            raw.push(c);
            Ok(())
        }
    }
}

/// `'…'`, in which nothing is special.
fn single(cursor: &mut Cursor<'_>, raw: &mut Raw) -> Result<(), Why> {
    cursor.bump();
    raw.quoted = true;
    while let Some(c) = cursor.bump() {
        match c {
            '\'' => return Ok(()),
            '\n' => cursor.crossed_line()?,
            _ => {}
        }
        raw.push(c);
    }
    Err("a quote without end")
}

/// `"…"`, in which expansions are, and a backslash before some characters.
fn double(cursor: &mut Cursor<'_>, raw: &mut Raw) -> Result<(), Why> {
    cursor.bump();
    raw.quoted = true;
    while let Some(c) = cursor.peek() {
        match c {
            '`' => return Err("a command substitution"),
            '$' => {
                dollar(cursor, raw, |c| matches!(c, '"' | ' ' | '|' | '/' | ')' | '.' | ','))?;
                continue;
            }
            '\n' => cursor.crossed_line()?,
            _ => {}
        }
        cursor.bump();
        match c {
            '"' => return Ok(()),
            '\\' => match cursor.peek() {
                Some('\n') => {
                    cursor.bump();
                    cursor.crossed_line()?;
                }
                Some(c @ ('$' | '`' | '"' | '\\')) => {
                    cursor.bump();
                    raw.push(c);
                }
                _ => raw.push('\\'),
            },
            c => raw.push(c),
        }
    }
    Err("a quote without end")
}

/// A `$` is itself before a few characters only; before the others it may be an expansion.
fn dollar(cursor: &mut Cursor<'_>, raw: &mut Raw, plain: fn(char) -> bool) -> Result<(), Why> {
    cursor.bump();
    match cursor.peek() {
        Some(c) if !plain(c) => Err("an expansion"),
        _ => {
            raw.push('$');
            Ok(())
        }
    }
}
