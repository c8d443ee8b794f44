//! How a command ended: status word, exit code, cost line.

use super::Shown;
use crate::output::{money, to_wire};
use cairn_protocol::RunResult;
use cairn_runtime::{Driver, Event, Pause, RunError};
use cairn_types::{Body, By, Coord, Status, Verdict};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What must be remembered of the events to say how it went.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// The model's last words.
    pub answer: String,
    /// The newest anchor.
    pub anchor: Option<String>,
    /// Something was refused for want of a person.
    pub wanted_approval: bool,
    /// A loop ended while this command ran.
    pub ended: bool,
    /// Ops that say something to whoever listens.
    said: HashSet<Coord>,
}

/// Remembers what `outcome::of` needs.
#[derive(Debug, Default)]
pub struct Watch {
    seen: Mutex<Seen>,
    /// The running loop was told to stop.
    pub(super) stopping: Arc<AtomicBool>,
}

impl Watch {
    /// Looks at one event.
    pub fn look(&self, event: &Event) {
        let Event::Fact { fact, text, anchor, .. } = event else { return };
        let Ok(mut seen) = self.seen.lock() else { return };
        match &fact.body {
            // What is left of what could not be read as a whole is no answer.
            Body::Reply(reply) if reply.problems.is_some() => seen.answer.clear(),
            Body::Reply(_) => seen.answer = text.clone().unwrap_or_default(),
            Body::Intent(intent) if intent.is_for_everyone() => drop(seen.said.insert(intent.at)),
            Body::Outcome(done) if seen.said.remove(&done.at) && done.is_last_word() => {
                seen.answer = text.clone().unwrap_or_default();
            }
            Body::Decision(decision) => {
                seen.wanted_approval |=
                    decision.by == By::Nobody && decision.verdict == Verdict::Refuse;
            }
            Body::End(_) => {
                self.stopping.store(false, Ordering::Relaxed);
                seen.ended = true;
                seen.anchor.clone_from(anchor);
            }
            _ => {}
        }
    }

    /// What was seen.
    pub fn seen(&self) -> Seen {
        self.seen.lock().map(|seen| seen.clone()).unwrap_or_default()
    }
}

/// How it went when it could not go on.
pub fn stopped(driver: &Driver, why: &RunError, took: Duration) -> RunResult {
    let engine = driver.engine();
    RunResult {
        status: "failed".to_owned(),
        turns: engine.totals().turns(),
        usage: to_wire::usage(engine.totals().usage()),
        cost: engine.totals().cost().map(|cost| cost.0),
        cost_shown: engine.totals().cost().map(money::shown),
        loop_cost: engine.lap_cost().map(|cost| cost.0),
        unpriced_turns: engine.totals().unpriced_turns(),
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        exit_code: 1,
        answer: String::new(),
        why: why.to_string(),
        anchor: None,
    }
}

/// How it went.
pub fn of(driver: &Driver, pause: Pause, took: Duration, shown: &Shown) -> RunResult {
    let seen = match shown {
        Shown::Screen(screen) => screen.watch.seen(),
        Shown::Json(json) => json.watch.seen(),
    };
    let engine = driver.engine();
    let ended = engine.ended().filter(|_| seen.ended);
    let by_rail = ended.is_some_and(|end| end.rail.is_some());
    let (status, exit_code) = match (pause, ended.map(|end| end.status)) {
        (Pause::Steps, _) | (_, None) => ("paused", 4),
        (_, Some(Status::CANCELLED)) if by_rail => ("stopped", 1),
        (_, Some(Status::CANCELLED)) => ("cancelled", 3),
        (_, Some(Status::LIMIT)) => ("limit", 4),
        (_, Some(status)) if !status.is_success() => ("failed", 1),
        (_, Some(_)) if seen.wanted_approval => ("approval-needed", 5),
        (_, Some(_)) => ("done", 0),
    };
    RunResult {
        status: status.to_owned(),
        turns: engine.totals().turns(),
        usage: to_wire::usage(engine.totals().usage()),
        cost: engine.totals().cost().map(|cost| cost.0),
        cost_shown: engine.totals().cost().map(money::shown),
        loop_cost: engine.lap_cost().map(|cost| cost.0),
        unpriced_turns: engine.totals().unpriced_turns(),
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        exit_code,
        answer: seen.answer,
        why: ended.map(|end| end.why.clone()).unwrap_or_default(),
        anchor: seen.anchor,
    }
}
