//! What this process does on a signal, as far as that takes system calls that Rust does not wrap. Who reacts
//! to a signal, and how, is decided elsewhere.

#![expect(unsafe_code, reason = "sigaction says and sets what a signal does")]

use libc::{SIG_IGN, c_int, sigaction};

/// Returns whether this process ignores the signal now. Asked before a handler is installed it says whether
/// whoever started the process wanted the signal ignored (`nohup`, a background job of a script).
#[must_use]
pub fn is_signal_ignored(signal: c_int) -> bool {
    // SAFETY: nothing is changed without a new action; `now` is plain data for which zeros are valid.
    unsafe {
        let mut now: sigaction = std::mem::zeroed();
        let asked = libc::sigaction(signal, std::ptr::null(), &raw mut now);
        asked == 0 && now.sa_sigaction == SIG_IGN
    }
}
