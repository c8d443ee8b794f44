//! Expressions of the linear engine, over texts that are short enough for them: it takes time for each byte
//! and each state of the expression, and counts may give it many.

use crate::effort::Effort;
use regex::{Regex, RegexBuilder};

/// How large a compiled expression is, in bytes.
const SIZE: usize = 8 << 20;
/// How many states are gone through, over all bytes of a text.
const WORK: usize = 500_000_000;

/// An expression that was understood.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    regex: Regex,
    longest: usize,
}

impl Linear {
    pub(super) fn new(expression: &str) -> Result<Self, regex::Error> {
        let regex = RegexBuilder::new(expression).size_limit(SIZE).build()?;
        Ok(Self { regex, longest: WORK / Effort::of(expression).states })
    }

    /// The expression for a text that is short enough for it, or why it is not.
    pub(super) fn over(&self, text: &str) -> Result<&Regex, String> {
        match text.len() <= self.longest {
            true => Ok(&self.regex),
            false => Err(format!(
                "the expression is too large for a text of {} bytes; with smaller counts it is not",
                text.len()
            )),
        }
    }
}
