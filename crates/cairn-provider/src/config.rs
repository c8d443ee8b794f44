//! What a provider is told besides the request: its key, its limits, its price. Reads nothing
//! from files or the environment.

use cairn_types::{PicoUsd, Usage};
use std::fmt;
use std::time::Duration;

/// Keys shorter than this are placeholders (`none`, `x`), and replacing them would garble text.
const SHORTEST_REAL_KEY: usize = 8;

/// A key. It prints as `***`, and only this crate can read it.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The text without the key in it: servers have been seen to repeat it in their errors.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_REAL_KEY {
            return text.to_owned();
        }
        text.replace(&self.0, "***")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// How long and how often a provider may be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection stands.
    pub connect: Duration,
    /// From asking until the first byte of the answer.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// The whole ask, with its retries and its waits.
    pub deadline: Duration,
    /// How many requests one ask may make; 0 counts as 1.
    pub attempts: u32,
    /// The longest answer, in bytes on the wire.
    pub max_reply_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            deadline: Duration::from_secs(600),
            attempts: 5,
            max_reply_bytes: 16 << 20,
        }
    }
}

/// What one token costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// A token sent that the provider's cache did not hold.
    pub input: PicoUsd,
    /// A token received.
    pub output: PicoUsd,
    /// A token sent that came from the provider's cache.
    pub cache_read: PicoUsd,
}

impl Price {
    /// What this usage costs.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> PicoUsd {
        let fresh = usage.input.saturating_sub(usage.cache_read);
        let cost = fresh
            .saturating_mul(self.input.0)
            .saturating_add(usage.cache_read.saturating_mul(self.cache_read.0))
            .saturating_add(usage.output.saturating_mul(self.output.0));
        PicoUsd(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_the_cached_price() {
        let price = Price { input: PicoUsd(10), output: PicoUsd(100), cache_read: PicoUsd(1) };
        let usage = Usage { input: 50, output: 2, cache_read: 40, reasoning: 1 };
        assert_eq!(price.of(&usage), PicoUsd(10 * 10 + 40 + 200));
    }

    #[test]
    fn a_secret_prints_as_stars_and_leaves_no_trace_in_text() {
        let key = Secret::new("sk-very-secret");
        assert_eq!(format!("{key} {key:?}"), "*** ***");
        assert_eq!(key.redact("bad key sk-very-secret!"), "bad key ***!");
        assert_eq!(Secret::new("x").redact("an x stays"), "an x stays");
    }
}
