//! What a run has used up so far: tokens, money, turns and calls.

use crate::lap_spending::Spent;
use crate::state::Lap;
use cairn_types::{PicoUsd, Reply, Usage};
use std::collections::{BTreeMap, HashMap};

/// What a run has used up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTotals {
    usage: Usage,
    cost: Option<PicoUsd>,
    unpriced: u64,
    turns: u64,
    pub(crate) ended_cost: Option<PicoUsd>,
    /// How often each tool was called.
    calls: HashMap<String, u64>,
    /// What each loop that ended used up.
    spent: BTreeMap<u32, Spent>,
}

impl RunTotals {
    /// Tokens of all turns.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Money of all turns whose price is known; absent when none is.
    #[must_use]
    pub fn cost(&self) -> Option<PicoUsd> {
        self.cost
    }

    /// How many replies there were of which the cost is not known.
    #[must_use]
    pub fn unpriced_turns(&self) -> u64 {
        self.unpriced
    }

    /// How many replies there were.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    pub(crate) fn count_reply(&mut self, reply: &Reply) {
        self.turns += 1;
        self.usage += reply.usage.unwrap_or_default();
        match reply.cost {
            Some(cost) => *self.cost.get_or_insert_default() += cost,
            None => self.unpriced += 1,
        }
    }

    pub(crate) fn count_call(&mut self, tool: &str) {
        *self.calls.entry(tool.to_owned()).or_default() += 1;
    }

    /// How often a tool was called.
    pub(crate) fn calls_of(&self, tool: &str) -> u64 {
        self.calls.get(tool).copied().unwrap_or(0)
    }

    /// A fork has calls of its own.
    pub(crate) fn forget_calls(&mut self) {
        self.calls.clear();
    }

    pub(crate) fn count_loop(&mut self, lap: &Lap) {
        self.ended_cost = lap.spending.cost();
        self.spent.insert(lap.lap, lap.spent());
    }

    /// What a loop that ended used up; nothing of one that did not.
    pub(crate) fn spent_in(&self, lap: u32) -> Spent {
        self.spent.get(&lap).copied().unwrap_or_default()
    }
}
