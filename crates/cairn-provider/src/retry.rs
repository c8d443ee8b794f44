//! Whether and when to try again. Decides only; waiting is the caller's.

use crate::{Fault, Limits};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long to wait before the attempt after `attempt`, or `None` when this fault is the end.
/// What the provider asked for is honoured as it is; a wait past the deadline is not begun.
pub(crate) fn wait(
    fault: &Fault,
    attempt: u32,
    elapsed: Duration,
    limits: &Limits,
) -> Option<Duration> {
    if !fault.class.is_transient() || attempt >= limits.attempts {
        return None;
    }
    let wait = fault.retry_after.unwrap_or_else(|| jittered(backoff(attempt)));
    (elapsed.saturating_add(wait) < limits.deadline).then_some(wait)
}

fn backoff(attempt: u32) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    FIRST_WAIT.saturating_mul(1 << doublings).min(LONGEST_WAIT)
}

/// Between three and five quarters of the wait, so that many clients do not come back at once.
fn jittered(wait: Duration) -> Duration {
    let percent = 75 + RandomState::new().hash_one(wait) % 51;
    wait.mul_f64(percent as f64 / 100.0)
}

/// `Retry-After`, in seconds or as an HTTP date. A date counts from the response's own `Date`, so
/// that it needs no clock and two clocks that disagree do no harm.
pub(crate) fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = http_date(value)?;
    let from = http_date(date?.trim())?;
    Some(Duration::from_secs(until.saturating_sub(from)))
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, the one form servers may send.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.split_once(", ")?;
    let mut parts = rest.split(' ');
    let day: u64 = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let month = MONTHS.iter().position(|m| *m == name)? as u64 + 1;
    let year: u64 = parts.next()?.parse().ok().filter(|y| (1970..=9999).contains(y))?;
    let mut clock = parts.next()?.split(':').map(|p| p.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if parts.next()? != "GMT" || day > 31 || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Days of the proleptic Gregorian calendar, years counted from March so that leap days are last.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.saturating_sub(1);
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultClass;

    #[test]
    fn http_dates_are_read_and_anything_else_is_not() {
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000));
        for bad in
            ["", "tomorrow", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nox 1994 08:49:37 GMT"]
        {
            assert_eq!(http_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn retry_after_counts_seconds_or_from_the_servers_own_date() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let check = |value, date, secs: Option<f64>| {
            assert_eq!(retry_after(value, date), secs.map(Duration::from_secs_f64), "{value}");
        };
        check("7", None, Some(7.0));
        check("0.25", None, Some(0.25));
        check("Sun, 06 Nov 1994 08:50:07 GMT", date, Some(30.0));
        check("Sun, 06 Nov 1994 08:00:00 GMT", date, Some(0.0));
        check("Sun, 06 Nov 1994 08:50:07 GMT", None, None);
        check("-1", None, None);
        check("soon", date, None);
    }

    #[test]
    fn waits_grow_stay_bounded_and_never_pass_the_deadline() {
        let limits = Limits { attempts: 50, ..Limits::default() };
        let fault = Fault::new(FaultClass::Overloaded, "x");
        let at = |attempt| wait(&fault, attempt, Duration::ZERO, &limits).unwrap();
        assert!(at(1) >= Duration::from_millis(375) && at(1) <= Duration::from_millis(630));
        assert!(at(3) >= Duration::from_millis(1500));
        assert!(at(40) <= LONGEST_WAIT.mul_f64(1.26));
        assert_eq!(wait(&fault, 50, Duration::ZERO, &limits), None);
        assert_eq!(wait(&fault, 1, Duration::from_secs(600), &limits), None);
        assert_eq!(wait(&Fault::new(FaultClass::Auth, "x"), 1, Duration::ZERO, &limits), None);
    }
}
