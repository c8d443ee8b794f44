//! Whether and when to try again. Decides only; waiting is the caller's.

use crate::fault::Trouble;
use crate::{Fault, FaultClass, Limits};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::time::Instant;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A larger number of seconds is a moment, not a span.
const LONGEST_SPAN: u64 = 1_000_000_000;

/// How long an ask has been without new data, and in which trouble.
#[derive(Debug)]
pub(crate) struct Clock {
    /// When the newest data of the answer came, or the ask began.
    last_data: Instant,
    /// When the newest request was sent.
    sent: Instant,
    gateway: Option<Instant>,
    server: Option<Instant>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self { last_data: now, sent: now, gateway: None, server: None }
    }

    /// A request is sent now.
    pub(crate) fn send(&mut self) {
        self.sent = Instant::now();
    }

    /// The moment when an answer that has not begun is no longer waited for.
    pub(crate) fn first_byte(&self, limits: &Limits) -> Instant {
        later(self.sent, limits.first_byte)
    }

    /// New data of the answer has come: the deadline counts from here, and earlier trouble is over.
    pub(crate) fn renew(&mut self) {
        self.last_data = Instant::now();
        (self.gateway, self.server) = (None, None);
    }

    /// The moment when the ask is given up, unless new data comes before.
    pub(crate) fn deadline(&self, limits: &Limits) -> Instant {
        later(self.last_data, limits.deadline)
    }

    /// What is left for this trouble, now that it has come (again). Broken connections and broken
    /// servers have a time of their own, from the first of their kind on; whatever was spent on a
    /// long answer before does not count.
    fn left(&mut self, trouble: Trouble, limits: &Limits) -> Duration {
        let now = Instant::now();
        let since = |from: Instant| now.saturating_duration_since(from);
        let overall = limits.deadline.saturating_sub(since(self.last_data));
        let own = match trouble {
            Trouble::WarmUp | Trouble::RateLimit => overall,
            Trouble::Gateway => {
                limits.gateway.saturating_sub(since(*self.gateway.get_or_insert(now)))
            }
            Trouble::Server => limits.server.saturating_sub(since(*self.server.get_or_insert(now))),
        };
        own.min(overall)
    }
}

/// The moment so long after another. A limit of years is none, and must not overflow the clock.
pub(crate) fn later(from: Instant, limit: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    from + limit.min(YEAR)
}

/// How long to wait before the attempt after `attempt`, or `None` when this fault is the end.
/// What the provider asked for is honoured as it is; a wait past the deadline is not begun.
pub(crate) fn wait(
    fault: &Fault,
    attempt: u32,
    clock: &mut Clock,
    limits: &Limits,
) -> Option<Duration> {
    let most = match fault.class {
        FaultClass::Unreachable => limits.attempts.min(limits.unreached),
        _ => limits.attempts,
    };
    if !fault.class.is_transient() || attempt >= most {
        return None;
    }
    let trouble = fault.trouble.unwrap_or(match fault.class {
        FaultClass::RateLimited => Trouble::RateLimit,
        FaultClass::Overloaded => Trouble::Server,
        _ => Trouble::Gateway,
    });
    let left = clock.left(trouble, limits);
    let wait = fault.retry_after.unwrap_or_else(|| jittered(backoff(attempt)));
    (wait < left).then_some(wait)
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
        // A span that no clock can hold is longer than anybody waits.
        let is_span = seconds >= 0.0;
        return is_span.then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let until = http_date(value)?;
    let from = http_date(date?.trim())?;
    Some(Duration::from_secs(until.saturating_sub(from)))
}

/// `Retry-After-Ms`, a number of milliseconds. One that no clock can hold is longer than anybody waits.
pub(crate) fn retry_after_ms(value: &str) -> Option<Duration> {
    let value = value.trim();
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| value.parse().map_or(Duration::MAX, Duration::from_millis))
}

/// When the exhausted limits are full again, told by `x-ratelimit-*` headers: a time span, or a
/// moment in seconds or milliseconds since 1970, which counts from the response's own `Date`.
pub(crate) fn reset<'a>(header: &impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let wait = |kind: &str| {
        let left = header(&format!("x-ratelimit-remaining{kind}"))?;
        let value = header(&format!("x-ratelimit-reset{kind}"))?.trim();
        if left.trim() != "0" {
            return None;
        }
        match value.parse::<u64>().ok().filter(|moment| *moment > LONGEST_SPAN) {
            None => spelled(value),
            Some(moment) => {
                let now = http_date(header("date")?.trim())?;
                let millis = if moment > now * 100 { moment } else { moment * 1000 };
                Some(Duration::from_millis(millis.saturating_sub(now * 1000)))
            }
        }
    };
    ["", "-requests", "-tokens"].into_iter().filter_map(wait).max()
}

/// A time span such as `34.5s`, `6m0s`, `1h2m`, `20ms`, or a bare number of seconds.
pub(crate) fn spelled(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, next) = tail.split_at(end);
        let seconds = match unit {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total += Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        rest = next;
    }
    Some(total)
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
        for huge in ["99999999999999999999999", "1e300", "inf"] {
            assert_eq!(retry_after(huge, None), Some(Duration::MAX), "{huge}");
        }
        assert_eq!(retry_after_ms("99999999999999999999999"), Some(Duration::MAX));
        assert_eq!(retry_after_ms("-1"), None);
    }

    #[test]
    fn resets_are_spans_or_moments_of_limits_that_are_used_up() {
        let check = |headers: &[(&str, &str)], secs: Option<f64>| {
            let find = |name: &str| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
            assert_eq!(reset(&find), secs.map(Duration::from_secs_f64), "{headers:?}");
        };
        let (none, date) =
            (("x-ratelimit-remaining", "0"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT"));
        check(&[none, ("x-ratelimit-reset", "20ms")], Some(0.02));
        check(&[none, ("x-ratelimit-reset", "1h2m")], Some(3720.0));
        check(&[none, ("x-ratelimit-reset", "1784111787"), date], Some(1_000_000_010.0));
        check(&[none, ("x-ratelimit-reset", "784111787"), date], Some(784_111_787.0));
        check(&[none, ("x-ratelimit-reset", "784111779500"), date], Some(2.5));
        check(&[none, ("x-ratelimit-reset", "soon")], None);
        check(&[("x-ratelimit-reset", "9s")], None);
    }

    #[test]
    fn waits_grow_stay_bounded_and_never_pass_the_deadline() {
        let limits = Limits { attempts: 50, ..Limits::default() };
        let busy = || Fault::new(FaultClass::RateLimited, "x");
        let at = |attempt| wait(&busy(), attempt, &mut Clock::start(), &limits).unwrap();
        assert!(at(1) >= Duration::from_millis(375) && at(1) <= Duration::from_millis(630));
        assert!(at(3) >= Duration::from_millis(1500));
        assert!(at(40) <= LONGEST_WAIT.mul_f64(1.26));
        assert_eq!(wait(&busy(), 50, &mut Clock::start(), &limits), None);
        let auth = Fault::new(FaultClass::Auth, "x");
        assert_eq!(wait(&auth, 1, &mut Clock::start(), &limits), None);
        let limits = Limits { unreached: 3, ..limits };
        let nobody = Fault::new(FaultClass::Unreachable, "x");
        assert!(wait(&nobody, 2, &mut Clock::start(), &limits).is_some());
        assert_eq!(wait(&nobody, 3, &mut Clock::start(), &limits), None);
        assert!(wait(&busy(), 3, &mut Clock::start(), &limits).is_some());
    }

    #[test]
    fn each_trouble_has_a_deadline_of_its_own() {
        let limits = Limits { attempts: 50, ..Limits::default() };
        let check = |trouble, secs: u64, waits: bool| {
            let mut fault = Fault::new(FaultClass::Overloaded, "x").within(trouble);
            fault.retry_after = Some(Duration::from_secs(secs));
            let wait = wait(&fault, 1, &mut Clock::start(), &limits);
            assert_eq!(wait.is_some(), waits, "{trouble:?} {secs}");
        };
        check(Trouble::Gateway, 29, true);
        check(Trouble::Gateway, 30, false);
        check(Trouble::Server, 59, true);
        check(Trouble::Server, 60, false);
        check(Trouble::WarmUp, 599, true);
        check(Trouble::RateLimit, 599, true);
        check(Trouble::RateLimit, 600, false);
    }
}
