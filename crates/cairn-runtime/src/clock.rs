//! The only wall clock and the only randomness of a run. Both become facts.

use cairn_types::{RunId, SessionId};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this is the door")]
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A new run's name.
#[must_use]
pub fn new_run_id() -> RunId {
    RunId::new(now_ms(), random())
}

/// A new session's name.
#[must_use]
pub fn new_session_id() -> SessionId {
    SessionId::new(now_ms(), random())
}

/// What a reply must repeat to count; nobody knows it before it is asked for.
#[must_use]
pub fn new_nonce() -> String {
    format!("{:08x}", random())
}

fn random() -> u32 {
    // Without randomness the process id still keeps two processes apart; the store refuses a
    // name that is taken.
    getrandom::u32().unwrap_or_else(|_| std::process::id())
}
