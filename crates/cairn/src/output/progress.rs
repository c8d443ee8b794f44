//! Says on standard error how far a long piece of work has come, at most once a second.

use std::io::Write;
use std::time::{Duration, Instant};

/// How far something has come.
pub struct Progress {
    /// What is counted.
    what: &'static str,
    /// When something was said last, or the work began.
    said: Instant,
}

impl Progress {
    /// Begins; nothing is said within the first second.
    #[must_use]
    pub fn new(what: &'static str) -> Progress {
        Progress { what, said: Instant::now() }
    }

    /// Notes that so many of all are done.
    pub fn tell(&mut self, done: u64, all: u64) {
        if self.said.elapsed() < Duration::from_secs(1) {
            return;
        }
        self.said = Instant::now();
        let _ = writeln!(std::io::stderr().lock(), "{}: {done} of {all}", self.what);
    }
}
