//! How long something takes, counted by what this thread worked: others on the same machine do not matter.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

fn worked() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap()
}

/// Whether work on four times the text takes nearer to four times the time than to sixteen. Asked more than once, as
/// caches are shared.
pub fn is_linear(work: impl Fn(&str), small: &str, large: &str) -> bool {
    let took = |text: &str| {
        let began = worked();
        work(text);
        worked() - began
    };
    (0..4).any(|_| took(large) <= took(small) * 8 + Duration::from_millis(2))
}
