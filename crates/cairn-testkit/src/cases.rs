//! How many cases a long check tries: few by default, many when `make prove` says so.

/// The number in this environment variable, or the default.
#[allow(clippy::disallowed_methods, reason = "a test is told its size by its caller")]
#[must_use]
pub fn cases(variable: &str, default: u32) -> u32 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
