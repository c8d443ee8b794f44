//! A place in the text of a query: what stands there, blanks, and whole numbers.

use super::BadPath;

/// How deep filters, parentheses and functions lie in each other.
const DEPTH: usize = 32;
/// The greatest whole number that every reader of JSON keeps exact (RFC 7493).
const EXACT: i64 = (1 << 53) - 1;

/// A text and how far it was read.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// What is not yet read.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Goes on by this many bytes, which the caller has seen.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Takes this text if it stands here.
    pub(super) fn took(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        self.at += if is_here { text.len() } else { 0 };
        is_here
    }

    /// Takes this text, which must stand here.
    pub(super) fn expect(&mut self, text: &str) -> Result<(), BadPath> {
        match self.took(text) {
            true => Ok(()),
            false => Err(self.bad(&format!("{text} was expected"))),
        }
    }

    pub(super) fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Takes the characters that are like this.
    pub(super) fn take_while(&mut self, is_like: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = &rest[..rest.len() - rest.trim_start_matches(is_like).len()];
        self.at += taken.len();
        taken
    }

    /// Takes a whole number, if one stands here.
    pub(super) fn whole(&mut self) -> Result<Option<i64>, BadPath> {
        let from = self.at;
        let is_negative = self.took("-");
        let digits = self.take_while(|c| c.is_ascii_digit());
        match digits {
            "" if is_negative => return Err(self.bad("a digit was expected after -")),
            "" => return Ok(None),
            "0" if !is_negative => return Ok(Some(0)),
            _ => {}
        }
        let number: Option<i64> = self.text[from..self.at].parse().ok();
        match number.filter(|n| (-EXACT..=EXACT).contains(n) && !digits.starts_with('0')) {
            Some(number) => Ok(Some(number)),
            None if digits.starts_with('0') => {
                self.at = from;
                Err(self.bad("a whole number does not begin with 0, and there is no -0"))
            }
            None => {
                self.at = from;
                Err(self.bad("a whole number here lies between -(2^53)+1 and (2^53)-1"))
            }
        }
    }

    /// Reads something that may hold others of its kind.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, BadPath>,
    ) -> Result<T, BadPath> {
        if self.depth == DEPTH {
            return Err(self.bad(&format!("the query is more than {DEPTH} deep here")));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    /// Where this is, to come back to or to point to.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    pub(super) fn bad(&self, why: &str) -> BadPath {
        self.bad_at(self.at, why)
    }

    pub(super) fn bad_at(&self, place: usize, why: &str) -> BadPath {
        BadPath { at: self.text[..place].chars().count() + 1, why: why.to_owned() }
    }
}
