//! The pattern of a rule on commands: reading it as a person writes it, and comparing single words.
//! What a rule allows and what it denies are elsewhere.

use super::word;

/// Which commands a rule is about: `cargo test *`.
///
/// Words stand as they would in a shell, quotes included. A last word `*` is any further words, also
/// none; a `*` between others is exactly one word; a `*` within a word is any characters of it. Nothing
/// else is special. A `*` alone is every command, even one that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub(super) words: Vec<Glob>,
    /// Whether any further words may follow.
    pub(super) more: bool,
}

/// One word of a pattern: the literal parts between its `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    parts: Vec<String>,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is no word in it.
    #[error(
        "the pattern is empty; write a command such as \"cargo test *\", or \"*\" for every one"
    )]
    Empty,
    /// A quote has no end, or a backslash nothing after it.
    #[error("a quote or backslash in the pattern {pattern:?} has no end; close it")]
    Open {
        /// The pattern.
        pattern: String,
    },
    /// The shell would do something with a character that a pattern cannot.
    #[error(
        "{found:?} is special to the shell, and the pattern {pattern:?} is one command; \
         quote it if it is meant as it stands"
    )]
    Special {
        /// The pattern.
        pattern: String,
        /// The character.
        found: char,
    },
    /// It begins with an assignment.
    #[error("the pattern {pattern:?} begins with a variable; begin it with the command")]
    Assignment {
        /// The pattern.
        pattern: String,
    },
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it has no word, a quote without end, or something that only the shell can do.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        let mut words = Vec::new();
        let mut chars = text.chars().peekable();
        loop {
            while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
            if chars.peek().is_none() {
                break;
            }
            words.push(read_word(&mut chars).map_err(|problem| problem.of(text))?);
        }
        let more = words.last().is_some_and(Glob::is_any);
        if more {
            words.pop();
        }
        if words.is_empty() && !more {
            return Err(PatternError::Empty);
        }
        if words.first().is_some_and(Glob::is_assignment) {
            return Err(PatternError::Assignment { pattern: text.to_owned() });
        }
        Ok(Pattern { words, more })
    }

    /// Whether it is `*` alone: every command, even one that cannot be read.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether it says which command it is about, with no `*` in the name.
    #[must_use]
    pub fn names_its_command(&self) -> bool {
        self.words.first().is_some_and(|name| name.literal().is_some())
    }
}

/// What is wrong with a pattern, before it is told with its text.
enum Problem {
    Open,
    Special(char),
}

impl Problem {
    fn of(self, pattern: &str) -> PatternError {
        let pattern = pattern.to_owned();
        match self {
            Problem::Open => PatternError::Open { pattern },
            Problem::Special(found) => PatternError::Special { pattern, found },
        }
    }
}

fn read_word(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Glob, Problem> {
    let mut parts = vec![String::new()];
    let mut first = true;
    while let Some(c) = chars.next_if(|c| !matches!(c, ' ' | '\t')) {
        let mut push = |c| parts.last_mut().map_or((), |part| part.push(c));
        match c {
            '*' => parts.push(String::new()),
            '\\' => push(chars.next().ok_or(Problem::Open)?),
            '\'' | '"' => loop {
                match chars.next().ok_or(Problem::Open)? {
                    end if end == c => break,
                    '\\' if c == '"' => match chars.next().ok_or(Problem::Open)? {
                        it @ ('$' | '`' | '"' | '\\') => push(it),
                        it => {
                            push('\\');
                            push(it);
                        }
                    },
                    it @ ('$' | '`') if c == '"' => return Err(Problem::Special(it)),
                    it => push(it),
                }
            },
            '~' | '#' if first => return Err(Problem::Special(c)),
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '\n' => {
                return Err(Problem::Special(c));
            }
            c => push(c),
        }
        first = false;
    }
    Ok(Glob { parts })
}

impl Glob {
    /// Whether it is `*`.
    pub fn is_any(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().all(String::is_empty)
    }

    /// Its text, if no `*` is in it.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [text] => Some(text),
            _ => None,
        }
    }

    /// How often its literal parts have a text in them.
    pub fn count(&self, text: &str) -> usize {
        self.parts.iter().map(|part| part.matches(text).count()).sum()
    }

    fn is_assignment(&self) -> bool {
        let first = self.parts.first();
        first.and_then(|part| part.split_once('=')).is_some_and(|(name, _)| word::is_name(name))
    }

    /// Whether a text matches, `*` being any characters.
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.parts.as_slice() else {
            return self.literal() == Some(text);
        };
        let Some(rest) = text.strip_prefix(first.as_str()) else { return false };
        let Some(mut rest) = rest.strip_suffix(last.as_str()) else { return false };
        // The leftmost place of each part leaves the most for those after it.
        for part in middle {
            match rest.find(part.as_str()) {
                Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        true
    }
}
