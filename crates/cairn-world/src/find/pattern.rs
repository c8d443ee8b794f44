//! What is looked for: a glob over paths, and a literal or regular expression over lines.

use super::trial::Pace;
use crate::settled::Refusal;
use cairn_types::Status;
use globset::{GlobBuilder, GlobSet};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How large a compiled expression is, in bytes.
const SIZE: usize = 8 << 20;
/// How much memory an engine takes to be fast, in bytes, for each thread.
const CACHE: usize = 8 << 20;

/// A glob over whole paths.
#[derive(Debug)]
pub(crate) struct Paths {
    set: GlobSet,
    is_negated: bool,
    /// The directories that every matching path begins with.
    lead: Vec<u8>,
}

impl Paths {
    /// Reads a glob. Without a slash it matches at any depth; with a `!` before it, it matches what
    /// it otherwise would not.
    pub(crate) fn new(given: &str, root: &Path) -> Result<Self, Refusal> {
        let (glob, is_negated) = given.strip_prefix('!').map_or((given, false), |g| (g, true));
        Self::of(given, (&pattern(glob, root), is_negated))
    }

    fn of(given: &str, (pattern, is_negated): (&str, bool)) -> Result<Self, Refusal> {
        let bad = |e: globset::Error| {
            Refusal::new(Status::BAD_REQUEST, format!("the glob {given}: {}", e.kind()))
        };
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(bad)?;
        let set = GlobSet::builder().add(glob).build().map_err(bad)?;
        let lead = if is_negated { Vec::new() } else { lead(pattern).to_vec() };
        Ok(Self { set, is_negated, lead })
    }

    /// A glob that says where a path begins.
    pub(crate) fn whole(given: &str) -> Result<Self, Refusal> {
        Self::of(given, (given, false))
    }

    /// Whether this path is looked for.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        self.set.is_match(Path::new(OsStr::from_bytes(path))) != self.is_negated
    }

    /// Whether a directory, written with a slash at its end, can hold such a path.
    pub(crate) fn may_be_in(&self, directory: &[u8]) -> bool {
        directory.starts_with(&self.lead) || self.lead.starts_with(directory)
    }
}

/// The glob as one over paths beneath the root.
fn pattern(glob: &str, root: &Path) -> String {
    let root = format!("{}/", root.display());
    let inner = glob.strip_prefix(&root).unwrap_or(glob);
    let inner = inner.strip_prefix("./").unwrap_or(inner);
    let mut pattern = if inner.trim_end_matches('/').contains('/') {
        inner.to_owned()
    } else {
        format!("**/{inner}")
    };
    if pattern.ends_with('/') {
        pattern.push_str("**");
    }
    pattern
}

/// The directories before a glob's first special character.
fn lead(pattern: &str) -> &[u8] {
    let plain = pattern.split(['*', '?', '[', ']', '{', '}', '\\']).next().unwrap_or_default();
    &plain.as_bytes()[..plain.rfind('/').map_or(0, |at| at + 1)]
}

/// What lines are looked for by.
#[derive(Debug)]
pub(crate) struct LineMatcher {
    pub(crate) regex: RegexMatcher,
    pub(crate) pace: Pace,
}

/// A matcher over lines: `/regex/flags`, or the text itself.
pub(crate) fn line_matcher(text: &str) -> Result<LineMatcher, Refusal> {
    let bad = |why: String| Refusal::new(Status::BAD_REQUEST, format!("{text}: {why}"));
    if text.is_empty() || text.contains('\n') {
        return Err(bad("text is looked for within one line, and must not be empty".to_owned()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n')).multi_line(true);
    builder.size_limit(SIZE).dfa_size_limit(CACHE);
    let Some(rest) = text.strip_prefix('/') else {
        let regex = builder.fixed_strings(true).build(text).map_err(|e| bad(e.to_string()))?;
        return Ok(LineMatcher { regex, pace: Pace::of_literal() });
    };
    let (expression, flags) = rest
        .rsplit_once('/')
        .filter(|(expression, _)| !expression.is_empty())
        .ok_or_else(|| bad("a text that begins with / is read as /regex/flags".to_owned()))?;
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            // Lines are matched one by one, so these change nothing.
            'g' | 'm' | 's' | 'u' => &mut builder,
            other => return Err(bad(format!("read as /regex/flags, and {other} is not a flag"))),
        };
    }
    let flagged: String = flags.chars().filter(|flag| matches!(flag, 'i' | 'x')).collect();
    let flagged = match flagged.as_str() {
        "" => expression.to_owned(),
        flags => format!("(?{flags}){expression}"),
    };
    // An end of line is one whichever way the file writes it. An expression that speaks of `\r`
    // itself cannot be read like that, and means what it says.
    let of_ends = match expression.contains('$') {
        true => builder.clone().crlf(true).build(expression).ok(),
        false => None,
    };
    let built = of_ends.map_or_else(|| builder.build(expression), Ok);
    let regex = built.map_err(|e| bad(e.to_string()))?;
    Ok(LineMatcher { regex, pace: Pace::of(&flagged, SIZE, CACHE) })
}
