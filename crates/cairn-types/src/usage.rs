//! What a model call took: tokens and money. Money is an integer, never a float.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::AddAssign;

/// Tokens of one or more model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, cached ones included.
    pub input: u64,
    /// Tokens received, reasoning included.
    pub output: u64,
    /// Of `input`, how many came from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Of `input`, how many the provider's cache took in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// Of `output`, how many were reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a provider claims may be anything: sums stop at the largest number.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// 10⁻¹² US dollars: a price of $0.01 per million tokens is 10,000 of these per token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PicoUsd(pub u64);

impl AddAssign for PicoUsd {
    fn add_assign(&mut self, other: PicoUsd) {
        // A sum that wrapped would be a small one, and below every cap.
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for PicoUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micro = self.0 / 1_000_000;
        write!(f, "${}.{:06}", micro / 1_000_000, micro % 1_000_000)
    }
}
