//! Reads scripts. A script that is not understood whole is refused.

use super::{Address, Bit, Command, Script, Substitute, Verb};
use crate::patch::PatchProblem;
use regex::{Regex, RegexBuilder};

/// How large a compiled pattern may be.
const MAX_PATTERN: usize = 1 << 20;
/// How many commands a script may have.
const MAX_COMMANDS: usize = 500;
/// How much of a command is quoted.
const SHOWN_CHARS: usize = 60;

/// Whether a line begins as a command does.
pub(in crate::patch) fn looks_like_one(line: &str) -> bool {
    let mut reader = Reader { rest: line.trim_start(), text: line };
    let address = reader.address().is_ok_and(|address| address.is_some());
    let rest = reader.rest;
    let verb = rest.chars().next();
    match verb {
        Some('s') => rest[1..].starts_with(is_delimiter),
        Some('d') if address => rest[1..].trim().is_empty() || rest[1..].starts_with(';'),
        Some('i' | 'a' | 'c') if address => {
            rest.len() == 1 || rest[1..].starts_with(['\\', ' ', '\t'])
        }
        Some(',' | '!') => address,
        _ => false,
    }
}

fn is_delimiter(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && c != '\\'
}

/// A script of at least one command.
pub(in crate::patch) fn parse(text: &str) -> Result<Script, PatchProblem> {
    let mut reader = Reader { text, rest: text };
    let mut commands = Vec::new();
    loop {
        reader.rest = reader.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        if reader.rest.is_empty() {
            break;
        }
        if reader.rest.starts_with('#') {
            reader.rest = reader.rest.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        if commands.len() == MAX_COMMANDS {
            return Err(reader.wrong(format!("a script may have {MAX_COMMANDS} commands, no more")));
        }
        commands.push(reader.command()?);
    }
    match commands.is_empty() {
        true => Err(PatchProblem::Empty),
        false => Ok(Script { commands }),
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn wrong(&self, why: impl Into<String>) -> PatchProblem {
        let read = self.text.len() - self.rest.len();
        PatchProblem::malformed(self.text[..read].matches('\n').count(), why)
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn taken(&mut self, prefix: char) -> bool {
        let there = self.rest.starts_with(prefix);
        if there {
            self.take();
        }
        there
    }

    fn command(&mut self) -> Result<Command, PatchProblem> {
        let start = self.rest;
        let from = self.address()?;
        let to = match from.is_some() && self.taken(',') {
            true => Some(self.address()?.ok_or_else(|| self.wrong("a range has no end"))?),
            false => None,
        };
        let negated = self.taken('!');
        let blanks = self.rest.len() - self.rest.trim_start_matches(' ').len();
        self.rest = &self.rest[blanks..];
        let verb = match self.rest.chars().next() {
            Some('s') => self.substitute()?,
            Some('d') if from.is_some() => {
                self.take();
                Verb::Delete
            }
            Some(verb @ ('i' | 'a' | 'c')) if from.is_some() && blanks == 0 => {
                self.take();
                let text = self.held()?;
                match verb {
                    'i' => Verb::Insert(text),
                    'a' => Verb::Append(text),
                    _ => Verb::Change(text),
                }
            }
            _ => {
                return Err(self.wrong(
                    "this is no sed command; known are s, and d, i, a, c after an address",
                ));
            }
        };
        self.end()?;
        let used = &start[..start.len() - self.rest.len()];
        let shown = used.lines().next().unwrap_or_default().chars().take(SHOWN_CHARS).collect();
        Ok(Command { from, to, negated, verb, shown })
    }

    /// What follows a command: nothing, a line end or a semicolon. Held text ends its line itself.
    fn end(&mut self) -> Result<(), PatchProblem> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let fine = self.rest.is_empty() || self.rest.starts_with(['\n', ';', '#']);
        let held = self.text[..self.text.len() - self.rest.len()].ends_with('\n');
        match fine || held {
            true => Ok(()),
            false => Err(self.wrong("something follows the command on its line")),
        }
    }

    fn address(&mut self) -> Result<Option<Address>, PatchProblem> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let number = self.rest[..digits].parse().ok().filter(|number| *number > 0);
            let number = number.ok_or_else(|| self.wrong("lines are counted from 1"))?;
            self.rest = &self.rest[digits..];
            return Ok(Some(Address::Line(number)));
        }
        if self.taken('$') {
            return Ok(Some(Address::Last));
        }
        if !self.taken('/') {
            return Ok(None);
        }
        let pattern = self.until('/')?;
        let folded = self.taken('I');
        Ok(Some(Address::Pattern(self.compiled(&pattern, folded)?)))
    }

    fn substitute(&mut self) -> Result<Verb, PatchProblem> {
        self.take();
        let delimiter = self.take().filter(|c| is_delimiter(*c));
        let delimiter = delimiter.ok_or_else(|| self.wrong("s needs a delimiter, as in s/a/b/"))?;
        let pattern = self.until(delimiter)?;
        let replacement = self.replacement(delimiter)?;
        let (mut nth, mut all, mut folded) = (1, false, false);
        loop {
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 {
                let number = self.rest[..digits].parse().ok().filter(|number| *number > 0);
                nth = number.ok_or_else(|| self.wrong("matches are counted from 1"))?;
                self.rest = &self.rest[digits..];
            } else if self.taken('g') {
                all = true;
            } else if self.taken('i') || self.taken('I') {
                folded = true;
            } else {
                break;
            }
        }
        let most = replacement.iter().map(|bit| if let Bit::Group(n) = bit { *n } else { 0 }).max();
        let basic = most > Some(0) && pattern.contains("\\(") && !has_plain_group(&pattern);
        let pattern = if basic { from_basic(&pattern) } else { pattern };
        let pattern = self.compiled(&pattern, folded)?;
        if most >= Some(pattern.captures_len()) {
            return Err(self.wrong("the replacement refers to a group that the pattern has not"));
        }
        Ok(Verb::Substitute(Substitute { pattern, replacement, nth, all }))
    }

    /// A pattern up to its delimiter, which may stand in it escaped or in brackets.
    fn until(&mut self, delimiter: char) -> Result<String, PatchProblem> {
        let mut out = String::new();
        let mut bracket = 0;
        while let Some(c) = self.take() {
            match c {
                '\n' => break,
                '\\' => {
                    bracket = if bracket == 1 { 2 } else { bracket };
                    match self.take() {
                        Some(next) if next == delimiter && matches!(next, '<' | '>' | '/') => {
                            out.push(next)
                        }
                        Some(next) => out.extend(['\\', next]),
                        None => break,
                    }
                }
                _ if c == delimiter && bracket == 0 => return Ok(out),
                _ => {
                    bracket = match (c, bracket) {
                        ('[', 0) => 1,
                        // The first sign in brackets is one of their members.
                        ('^', 1) => 1,
                        (']', 2) => 0,
                        (_, 0) => 0,
                        _ => 2,
                    };
                    out.push(c);
                }
            }
        }
        Err(self.wrong(format!("a pattern is not closed with {delimiter}")))
    }

    fn replacement(&mut self, delimiter: char) -> Result<Vec<Bit>, PatchProblem> {
        let mut bits = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.take() {
            let group = match c {
                '\\' => match self.take() {
                    Some(digit @ '0'..='9') => digit.to_digit(10),
                    Some('n') if delimiter != 'n' => {
                        text.push('\n');
                        None
                    }
                    Some('t') => {
                        text.push('\t');
                        None
                    }
                    Some(other) => {
                        text.push(other);
                        None
                    }
                    None => break,
                },
                '&' => Some(0),
                '\n' => break,
                c if c == delimiter => {
                    bits.push(Bit::Text(text));
                    return Ok(bits);
                }
                c => {
                    text.push(c);
                    None
                }
            };
            if let Some(group) = group {
                bits.push(Bit::Text(std::mem::take(&mut text)));
                bits.push(Bit::Group(group as usize));
            }
        }
        Err(self.wrong(format!("a replacement is not closed with {delimiter}")))
    }

    fn compiled(&self, pattern: &str, folded: bool) -> Result<Regex, PatchProblem> {
        if pattern.is_empty() {
            return Err(self.wrong("a pattern is empty"));
        }
        let built =
            RegexBuilder::new(pattern).case_insensitive(folded).size_limit(MAX_PATTERN).build();
        built.map_err(|error| {
            let why = error.to_string();
            let last = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.wrong(format!("the pattern {pattern:?} cannot be read: {last}"))
        })
    }

    /// The text of an insertion: the rest of the line, or the lines below that a backslash joins.
    fn held(&mut self) -> Result<String, PatchProblem> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if self.taken('\\') {
            let blanks = self.rest.trim_start_matches([' ', '\t']);
            if let Some(below) = blanks.strip_prefix('\n') {
                self.rest = below;
            }
        }
        let mut text = String::new();
        loop {
            let (line, rest) = match self.rest.split_once('\n') {
                Some((line, rest)) => (line, rest),
                None => (self.rest, ""),
            };
            let open = line.len() - line.trim_end_matches('\\').len();
            self.rest = rest;
            match line.strip_suffix('\\').filter(|_| open % 2 == 1) {
                Some(line) => text.push_str(line),
                None => {
                    text.push_str(line);
                    return Ok(text);
                }
            }
            text.push('\n');
            if rest.is_empty() {
                return Err(self.wrong("a text goes on after its last line"));
            }
        }
    }
}

fn has_plain_group(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '(' => return true,
            _ => {}
        }
    }
    false
}

/// A basic pattern's escaped signs without their backslashes.
fn from_basic(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some(sign @ ('(' | ')' | '|' | '+' | '?' | '{' | '}'))) => out.push(sign),
            ('\\', Some(other)) => out.extend(['\\', other]),
            (c, _) => out.push(c),
        }
    }
    out
}
