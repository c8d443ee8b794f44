//! Telling how far an op has come that changes many files: not for every file, and nothing of a few.

use crate::{Event, Sink};
use cairn_types::Coord;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Progress is reported after this many changes,
const EVERY: usize = 1_000;
/// and when nothing was reported for this long.
const AT_LEAST: Duration = Duration::from_secs(1);

/// Tells of one op.
pub(crate) struct Progress {
    at: Coord,
    sink: Arc<dyn Sink>,
    told: Instant,
}

impl Progress {
    pub(crate) fn new(at: Coord, sink: Arc<dyn Sink>) -> Progress {
        Progress { at, sink, told: Instant::now() }
    }

    /// Reports how many of all changes are made.
    pub(crate) fn tell(&mut self, done: usize, total: usize) {
        if !done.is_multiple_of(EVERY) && self.told.elapsed() < AT_LEAST {
            return;
        }
        self.told = Instant::now();
        let (at, done, total) = (self.at, done as u64, total as u64);
        self.sink.event(&Event::Progress { at, done, total });
    }
}
