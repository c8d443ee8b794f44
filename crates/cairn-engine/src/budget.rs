//! What is left of a run's budgets, counted from facts: calls of a tool, money. What a refused call
//! says is here; that it is refused is a gate's word.

use crate::admit::Recording;
use crate::op_in_run::OpInRun;
use crate::state::Engine;
use crate::words;
use cairn_surface::native;
use cairn_types::{Body, Budgets, End, Exceeded, Intent, Outcome, PicoUsd, Rail, Settled, Status};

/// One tool's budget at the moment of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBudget {
    /// How often it may be called.
    pub most: u64,
    /// How often it was.
    pub made: u64,
    /// What the model is told once that is as often.
    pub told: String,
}

impl CallBudget {
    /// Whether no call is left.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.made >= self.most
    }
}

/// The tool's own name, however the model writes it.
fn tool_of(intent: &Intent) -> &str {
    native::name_of(&intent.tool).unwrap_or(&intent.tool)
}

impl Engine {
    /// An op has its outcome: if it was performed, or tried, that was a call.
    pub(crate) fn count_call(&mut self, outcome: &Outcome) {
        let Some(op) = self.lap.as_ref().and_then(|lap| lap.op(outcome.at)) else { return };
        if outcome.settled != Settled::NotPerformed && op.intent.of.is_none() {
            let tool = tool_of(&op.intent).to_owned();
            self.totals.count_call(&tool);
        }
    }

    /// What the running loop may still cost, where it has a cap.
    #[must_use]
    pub fn money_left(&self) -> Option<PicoUsd> {
        let cap = self.driving.drive.as_ref()?.caps.cost?;
        let cost = self.lap.as_ref()?.spent().cost.unwrap_or_default();
        Some(PicoUsd(cap.0.saturating_sub(cost.0)))
    }

    /// The model is not asked, because it may cost more than there is.
    #[must_use]
    pub fn unaffordable(&self, why: &str) -> Recording {
        let Some(lap) = &self.lap else { return Recording::default() };
        let (status, rail, why) = (Status::LIMIT, Some(Rail::Cost), why.to_owned());
        Recording::of(Body::End(End { lap: lap.lap, status, rail, why }))
    }

    /// For how many milliseconds the running loop may still be worked on, where that is limited. `now` is the
    /// present in milliseconds since 1970.
    #[must_use]
    pub fn time_left(&self, now: u64) -> Option<u64> {
        let minutes = self.driving.drive.as_ref()?.budgets.minutes?;
        let worked = self.lap.as_ref()?.spent().worked_ms;
        let since = now.saturating_sub(self.now);
        Some(minutes.saturating_mul(60_000).saturating_sub(worked.saturating_add(since)))
    }

    /// The model is not waited for any longer, because the loop's time is up.
    #[must_use]
    pub fn timed_out(&self, now: u64) -> Recording {
        let Some(lap) = &self.lap else { return Recording::default() };
        let worked = lap.spent().worked_ms.saturating_add(now.saturating_sub(self.now));
        let (status, rail, why) = (Status::LIMIT, Some(Rail::Time), self.out_of_time(worked));
        Recording::of(Body::End(End { lap: lap.lap, status, rail, why }))
    }

    /// That the loop was worked on for as long as it may.
    pub(crate) fn out_of_time(&self, worked_ms: u64) -> String {
        let cap =
            self.driving.drive.as_ref().and_then(|drive| drive.budgets.minutes).unwrap_or_default();
        format!("the loop was worked on for {} minutes; its cap is {cap}", worked_ms / 60_000)
    }

    fn made(&self, tool: &str) -> u64 {
        self.totals.calls_of(tool)
    }

    /// What may still be called, in words.
    fn left(&self, budgets: &Budgets) -> String {
        let left: Vec<String> = budgets
            .calls
            .iter()
            .map(|(tool, most)| (tool, most.saturating_sub(self.made(tool))))
            .filter(|(_, left)| *left > 0)
            .map(|(tool, left)| format!("{tool} {left} times"))
            .collect();
        match left[..] {
            [] => "tools without a number can still be called".to_owned(),
            _ => format!("left are {}, and tools without a number", left.join(", ")),
        }
    }
}

impl OpInRun<'_> {
    /// The budget of the op's tool, where it has one.
    pub(crate) fn call_budget(&self) -> Option<CallBudget> {
        let budgets =
            &self.run.driving.drive.as_ref().filter(|_| self.op.intent.of.is_none())?.budgets;
        let tool = tool_of(&self.op.intent);
        let most = *budgets.calls.get(tool)?;
        // Reads are let through side by side: those before this one count as made.
        let earlier = self
            .run
            .lap
            .as_ref()?
            .ops
            .iter()
            .take_while(|other| other.intent.at < self.op.intent.at);
        let open =
            earlier.filter(|other| other.status().is_none() && tool_of(&other.intent) == tool);
        let made = self.run.made(tool) + open.count() as u64;
        let told = match budgets.on_exceeded {
            Exceeded::Block => words::no_calls_left(tool, most),
            Exceeded::Steer => {
                format!("{}; {}", words::no_calls_left(tool, most), self.run.left(budgets))
            }
        };
        Some(CallBudget { most, made, told })
    }
}
