//! What a loop has used up of what it may.

use cairn_types::{PicoUsd, Reply};

/// What loops used up of what a loop may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) turns: u32,
    pub(crate) cost: Option<PicoUsd>,
    pub(crate) worked_ms: u64,
}

/// What a running loop has used up, and what it was told of that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LapSpending {
    /// What was used up before by the loop that this one goes on for.
    before: Spent,
    /// What its replies have cost, those of which nobody knows it left out.
    cost: Option<PicoUsd>,
    /// The last turn of which nobody knows what it cost.
    unpriced: Option<u32>,
    /// How long it was worked on.
    worked_ms: u64,
    /// The longest answer in tokens that the model was asked for, where a budget says so.
    pub(crate) max_output: Option<u64>,
    /// The turn for which the model was told how many are left.
    pub(crate) told_left: Option<u32>,
}

impl LapSpending {
    pub(crate) fn going_on_from(before: Spent) -> LapSpending {
        LapSpending { before, ..LapSpending::default() }
    }

    pub(crate) fn pay(&mut self, reply: &Reply) {
        match reply.cost {
            Some(cost) => *self.cost.get_or_insert_default() += cost,
            None => self.unpriced = Some(reply.turn),
        }
    }

    pub(crate) fn work(&mut self, ms: u64) {
        self.worked_ms = self.worked_ms.saturating_add(ms);
    }

    /// What its replies have cost; absent when nobody knows it of any.
    pub(crate) fn cost(&self) -> Option<PicoUsd> {
        self.cost
    }

    /// The last turn of which nobody knows what it cost.
    pub(crate) fn unpriced_turn(&self) -> Option<u32> {
        self.unpriced
    }

    /// What is used up after this many turns, with what was used up before.
    pub(crate) fn spent_after(&self, turns: u32) -> Spent {
        let cost = match (self.before.cost, self.cost) {
            (Some(before), Some(own)) => Some(PicoUsd(before.0.saturating_add(own.0))),
            (before, own) => before.or(own),
        };
        Spent {
            turns: self.before.turns.saturating_add(turns),
            cost,
            worked_ms: self.before.worked_ms.saturating_add(self.worked_ms),
        }
    }
}
