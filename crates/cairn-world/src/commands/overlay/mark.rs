//! The moment at which an overlay was made, by the clock that stamps files, and whether something was
//! left alone since. Compares; never changes a file.

use rustix::fs::{FileType, Stat};
use rustix::time::{ClockId, Timespec};
use std::collections::HashSet;

/// How far a file system on another device may be behind in what it writes down: vfat counts in twos.
const COARSEST: i64 = 2;
/// How often the clocks are compared, of which the closest comparison counts.
const COMPARISONS: usize = 8;

/// Seconds and nanoseconds since 1970.
pub(super) type Time = (i64, i64);

/// When an inode was changed last.
pub(super) fn changed(stat: &Stat) -> Time {
    (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0))
}

/// A moment, as the file system saw it.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    device: u64,
    at: Time,
    clock: Clock,
}

/// Whether something was changed before or after a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// Surely before.
    Before,
    /// Within one tick of it.
    Doubtful,
    /// After.
    After,
}

impl Mark {
    /// The moment at which the file with this stat was made, which must be just now.
    pub(super) fn of(stat: &Stat) -> Mark {
        Mark { device: stat.st_dev, at: changed(stat), clock: Clock::now() }
    }

    /// When something was changed last.
    pub(super) fn age(&self, stat: &Stat) -> Age {
        let at = changed(stat);
        let sure = if stat.st_dev == self.device { at } else { (at.0 + COARSEST, at.1) };
        match (sure < self.at, at > self.at) {
            (true, _) => Age::Before,
            (false, true) => Age::After,
            (false, false) => Age::Doubtful,
        }
    }

    /// Whether it is surely later than this time on its own device.
    pub(super) fn is_after(&self, time: Time) -> bool {
        time < self.at
    }

    /// Whether the clock was set back since, so that nothing can be said of what was changed when.
    pub(super) fn is_in_doubt(&self) -> bool {
        Clock::now().is_behind(&self.clock)
    }
}

/// How far the clock that people set is ahead of the one that nobody can, as it was read: between
/// these two, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    least: i128,
    most: i128,
}

impl Clock {
    pub(super) fn now() -> Clock {
        let ns = |t: Timespec| i128::from(t.tv_sec) * 1_000_000_000 + i128::from(t.tv_nsec);
        let read = |id| ns(rustix::time::clock_gettime(id));
        let compared = || {
            let begun = read(ClockId::Boottime);
            let real = read(ClockId::Realtime);
            Clock { least: real - read(ClockId::Boottime), most: real - begun }
        };
        let rest = (1..COMPARISONS).map(|_| compared());
        rest.fold(compared(), |best, next| {
            if next.most - next.least < best.most - best.least { next } else { best }
        })
    }

    /// Whether the clock was set back between that and this.
    pub(super) fn is_behind(&self, then: &Clock) -> bool {
        self.most < then.least
    }
}

/// A file as it was right after Cairn itself wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Written {
    inode: u64,
    changed: Time,
    bytes: i64,
}

impl Written {
    pub(super) fn of(stat: &Stat) -> Option<Written> {
        let is_directory = FileType::from_raw_mode(stat.st_mode).is_dir();
        let (inode, changed, bytes) = (stat.st_ino, changed(stat), stat.st_size);
        (!is_directory).then_some(Written { inode, changed, bytes })
    }
}

/// What Cairn wrote last. A file in this list that is still the same was not changed by anybody,
/// although the clock is too coarse to tell.
#[derive(Debug, Clone, Default)]
pub struct Own(HashSet<Written>);

impl Own {
    /// Takes in what was just written.
    pub fn extend(&mut self, written: impl IntoIterator<Item = Written>) {
        self.0.extend(written);
    }

    /// Forgets all of it, once every clock has moved on.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn has(&self, stat: &Stat) -> bool {
        Written::of(stat).is_some_and(|written| self.0.contains(&written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_the_same_tick_is_doubtful_and_another_devices_clock_is_coarse() {
        let holder = tempfile::tempdir().unwrap();
        let mut stat = rustix::fs::stat(holder.path()).unwrap();
        let mark = Mark { device: stat.st_dev, at: (100, 500), clock: Clock::now() };
        let mut check = |device: u64, (seconds, ns): (i64, u32), expected: Age| {
            (stat.st_dev, stat.st_ctime, stat.st_ctime_nsec) = (device, seconds, ns.into());
            assert_eq!(mark.age(&stat), expected, "{device} {seconds} {ns}");
        };
        let (same, other) = (mark.device, mark.device + 1);
        check(same, (100, 499), Age::Before);
        check(same, (100, 500), Age::Doubtful);
        check(same, (100, 501), Age::After);
        check(other, (98, 499), Age::Before);
        check(other, (99, 0), Age::Doubtful);
        check(other, (101, 0), Age::After);
    }

    #[test]
    fn a_clock_that_was_set_back_is_noticed_and_one_that_goes_on_is_not() {
        let then = Clock::now();
        assert!(!Clock::now().is_behind(&then));
        let ahead = Clock { least: then.least + 1_000_000_000, most: then.most + 1_000_000_000 };
        assert!(Clock::now().is_behind(&ahead));
    }
}
