//! What is left of a run's budgets, counted from facts: calls of a tool, money. What a refused call
//! says is here; that it is refused is a gate's word.

use crate::admit::Recording;
use crate::lap_in_run::LapInRun;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::state::Lap;
use crate::totals::RunTotals;
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

impl OpState {
    /// The tool whose calls this outcome of it counts among: it was performed, or tried.
    pub(crate) fn called_tool(&self, outcome: &Outcome) -> Option<&str> {
        let is_call = outcome.settled != Settled::NotPerformed && self.intent.of.is_none();
        is_call.then(|| tool_of(&self.intent))
    }
}

impl RunTotals {
    /// What may still be called, in words.
    fn calls_left(&self, budgets: &Budgets) -> String {
        let left: Vec<String> = budgets
            .calls
            .iter()
            .map(|(tool, most)| (tool, most.saturating_sub(self.calls_of(tool))))
            .filter(|(_, left)| *left > 0)
            .map(|(tool, left)| format!("{tool} {left} times"))
            .collect();
        match left[..] {
            [] => "tools without a number can still be called".to_owned(),
            _ => format!("left are {}, and tools without a number", left.join(", ")),
        }
    }
}

impl Lap {
    /// It is ended, because the next answer may cost more than there is.
    #[must_use]
    pub fn end_unaffordable(&self, why: &str) -> Recording {
        let (status, rail, why) = (Status::LIMIT, Some(Rail::Cost), why.to_owned());
        Recording::of(Body::End(End { lap: self.lap, status, rail, why }))
    }
}

impl LapInRun<'_> {
    /// What it may still cost, where it has a cap.
    #[must_use]
    pub fn money_left(&self) -> Option<PicoUsd> {
        let cap = self.run.driving.drive.as_ref()?.caps.cost?;
        let cost = self.lap.spent().cost.unwrap_or_default();
        Some(PicoUsd(cap.0.saturating_sub(cost.0)))
    }

    /// For how many milliseconds it may still be worked on, where that is limited. `now` is the present in
    /// milliseconds since 1970.
    #[must_use]
    pub fn time_left(&self, now: u64) -> Option<u64> {
        let minutes = self.run.driving.drive.as_ref()?.budgets.minutes?;
        Some(minutes.saturating_mul(60_000).saturating_sub(self.worked_until(now)))
    }

    /// It is ended: the model is not waited for any longer, because its time is up.
    #[must_use]
    pub fn end_out_of_time(&self, now: u64) -> Recording {
        let (status, rail) = (Status::LIMIT, Some(Rail::Time));
        let why = self.time_cap_reason(self.worked_until(now));
        Recording::of(Body::End(End { lap: self.lap.lap, status, rail, why }))
    }

    fn worked_until(&self, now: u64) -> u64 {
        self.lap.spent().worked_ms.saturating_add(now.saturating_sub(self.run.now))
    }

    /// That it was worked on for as long as it may.
    pub(crate) fn time_cap_reason(&self, worked_ms: u64) -> String {
        let drive = self.run.driving.drive.as_ref();
        let cap = drive.and_then(|drive| drive.budgets.minutes).unwrap_or_default();
        format!("the loop was worked on for {} minutes; its cap is {cap}", worked_ms / 60_000)
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
        let made = self.run.totals.calls_of(tool) + open.count() as u64;
        let told = match budgets.on_exceeded {
            Exceeded::Block => words::no_calls_left(tool, most),
            Exceeded::Steer => {
                format!(
                    "{}; {}",
                    words::no_calls_left(tool, most),
                    self.run.totals.calls_left(budgets)
                )
            }
        };
        Some(CallBudget { most, made, told })
    }
}
