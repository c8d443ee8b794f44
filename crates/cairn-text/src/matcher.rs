//! Matchers: what is looked for within one text. The first character commits the dialect; a bad
//! expression is an error and never read as another dialect. Which texts are searched is the caller's.

mod backtracking;
mod glob;
mod hits;
mod linear;
mod regex;

#[cfg(test)]
mod tests;

pub use hits::{Hit, listing};

use crate::jsonpath::{BadPath, JsonPath};
use crate::tree;
use backtracking::Backtracking;
use hits::Hits;
use linear::Linear;
use std::fmt::{Display, Formatter};

/// A matcher that was understood.
#[derive(Debug, Clone)]
pub struct Matcher(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// Lines that hold this text.
    Literal(String),
    /// Lines that this expression matches, in linear time.
    Linear(Linear, LineEnd),
    /// Lines that this expression matches, by trying.
    Backtracking(Backtracking, LineEnd),
    /// Nodes of a structured document.
    Path(JsonPath),
}

/// Whether an expression sees the `\r` of a line that ends in `\r\n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    /// It does not, so that `$` is the end of every line.
    Dropped,
    /// It speaks of `\r`, and means it.
    Kept,
}

/// How matchers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `//…`: nodes of XML and HTML.
    XPath,
    /// `/…/flags`: lines by a regular expression.
    Regex,
    /// `$…`: nodes of JSON, YAML, TOML and CSV.
    JsonPath,
    /// `@…`: symbols and who refers to them.
    Graph,
    /// `~…`: texts by meaning.
    Meaning,
    /// With metacharacters: whole lines by a glob.
    Glob,
    /// Anything else: lines that hold it.
    Literal,
}

/// Why a text is no matcher.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMatcher {
    /// Nothing is looked for.
    #[error("the matcher is empty; write what to look for")]
    Empty,
    /// The dialect is known, and there is nothing yet that reads it.
    #[error("{0} matchers are not there yet")]
    NotYet(Dialect),
    /// What is looked for within a line goes over several.
    #[error("the matcher has a line end, and is looked for within one line")]
    SeveralLines,
    /// It begins as a regular expression and is none.
    #[error("read as /regex/flags: {why}")]
    Regex {
        /// What is wrong with it.
        why: String,
    },
    /// It begins as a JSONPath and is none.
    #[error("read as a JSONPath: {0}")]
    Path(#[from] BadPath),
    /// It has the metacharacters of a glob and is none.
    #[error("read as a glob over whole lines: {why}")]
    Glob {
        /// What is wrong with it.
        why: String,
    },
}

/// What a matcher found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matched {
    /// At least one hit, in the order of the text, or for a JSONPath in the order of the RFC.
    Hits(Vec<Hit>),
    /// Nothing.
    None,
    /// The matcher asks for structure, and the text is not of its type, or the type has none.
    Unreadable {
        /// Why it has none, as a sentence's part.
        reason: String,
    },
    /// It would take more work or room than one matcher may.
    TooMuch {
        /// What is too much, as a sentence's part.
        reason: String,
    },
}

impl Dialect {
    /// The dialect that a text is committed to.
    #[must_use]
    pub fn of(text: &str) -> Dialect {
        match text.chars().next() {
            Some('/') if text.starts_with("//") => Self::XPath,
            Some('/') => Self::Regex,
            Some('$') => Self::JsonPath,
            Some('@') => Self::Graph,
            Some('~') => Self::Meaning,
            _ if glob::is_one(text) => Self::Glob,
            _ => Self::Literal,
        }
    }
}

impl Display for Dialect {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::XPath => "XPath (//…)",
            Self::Regex => "regex (/…/)",
            Self::JsonPath => "JSONPath ($…)",
            Self::Graph => "symbol graph (@…)",
            Self::Meaning => "meaning (~…)",
            Self::Glob => "glob",
            Self::Literal => "literal",
        })
    }
}

impl Matcher {
    /// Reads a matcher.
    pub fn parse(text: &str) -> Result<Matcher, BadMatcher> {
        Ok(Matcher(match committed(text)? {
            dialect @ (Dialect::XPath | Dialect::Graph | Dialect::Meaning) => {
                return Err(BadMatcher::NotYet(dialect));
            }
            Dialect::Regex => regex::read(text).map_err(|why| BadMatcher::Regex { why })?,
            Dialect::JsonPath => Kind::Path(JsonPath::parse(text)?),
            Dialect::Glob => {
                let glob = glob::read(text).map_err(|why| BadMatcher::Glob { why })?;
                Kind::Linear(glob, LineEnd::Dropped)
            }
            Dialect::Literal => Kind::Literal(text.to_owned()),
        }))
    }

    /// Says why a text is no matcher, as far as its form tells: in time and room in proportion to it. What is wrong only
    /// when it is built, such as one that is too large then, [`Matcher::parse`] tells.
    pub fn check(text: &str) -> Result<(), BadMatcher> {
        match committed(text)? {
            dialect @ (Dialect::XPath | Dialect::Graph | Dialect::Meaning) => {
                Err(BadMatcher::NotYet(dialect))
            }
            Dialect::Regex => regex::check(text).map_err(|why| BadMatcher::Regex { why }),
            Dialect::JsonPath => Ok(JsonPath::parse(text).map(|_| ())?),
            Dialect::Glob => match glob::expression(text) {
                Ok(_) => Ok(()),
                Err(why) => Err(BadMatcher::Glob { why }),
            },
            Dialect::Literal => Ok(()),
        }
    }

    /// What it finds in a text of this media type. Lines are matched whole, and shown as far as
    /// [`Hit::value`] says.
    #[must_use]
    pub fn over(&self, text: &str, mime: &str) -> Matched {
        match self.found(text, mime) {
            Ok(hits) => hits.into(),
            Err(matched) => matched,
        }
    }

    fn found(&self, text: &str, mime: &str) -> Result<Hits, Matched> {
        let too_much = |reason: String| Matched::TooMuch { reason };
        match &self.0 {
            Kind::Literal(sought) => {
                lines(text, LineEnd::Dropped, |line, _| Ok(line.contains(sought.as_str())))
            }
            Kind::Linear(expression, end) => {
                let regex = expression.over(text).map_err(too_much)?;
                lines(text, *end, |line, _| Ok(regex.is_match(line)))
            }
            Kind::Backtracking(expression, end) => {
                let run = expression.over(text).map_err(too_much)?;
                lines(text, *end, |line, number| run.is_match(line, number).map_err(too_much))
            }
            Kind::Path(path) => {
                let tree = tree::of(text, mime).map_err(|error| match error.is_a_limit() {
                    true => Matched::TooMuch { reason: error.to_string() },
                    false => Matched::Unreadable { reason: error.to_string() },
                })?;
                let root = tree.ok_or_else(|| Matched::Unreadable {
                    reason: format!("{mime} has no structure that a JSONPath could go through"),
                })?;
                let nodes = path.select(&root).map_err(|error| too_much(error.to_string()))?;
                Hits::of_nodes(nodes)
            }
        }
    }
}

/// The dialect that a text is committed to, where it says something.
fn committed(text: &str) -> Result<Dialect, BadMatcher> {
    if text.is_empty() {
        return Err(BadMatcher::Empty);
    }
    let dialect = Dialect::of(text);
    let is_within_a_line = matches!(dialect, Dialect::Glob | Dialect::Literal);
    match is_within_a_line && text.contains('\n') {
        true => Err(BadMatcher::SeveralLines),
        false => Ok(dialect),
    }
}

/// The lines of a text that are like this, with their numbers.
fn lines(
    text: &str,
    end: LineEnd,
    is_like: impl Fn(&str, usize) -> Result<bool, Matched>,
) -> Result<Hits, Matched> {
    let mut hits = Hits::default();
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let shown = line.strip_suffix('\r').unwrap_or(line);
        let matched = if end == LineEnd::Kept { line } else { shown };
        if is_like(matched, number)? {
            hits.push_line(number, shown)?;
        }
    }
    Ok(hits)
}
