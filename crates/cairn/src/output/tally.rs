//! What turns took together: tokens and money, and of how many of them nobody knows it.

use crate::output::money;
use cairn_types::{PicoUsd, Usage};
use serde_json::{Value, json};

/// A sum over turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub turns: u64,
    /// Their tokens.
    pub usage: Usage,
    /// Of how many the provider did not say the tokens.
    pub unmeasured: u64,
    /// What those cost whose price is known; absent when none's is.
    pub cost: Option<PicoUsd>,
    /// Of how many nobody knows the cost.
    pub unpriced: u64,
}

impl Tally {
    /// Takes one more turn.
    pub fn add(&mut self, usage: Option<Usage>, cost: Option<PicoUsd>) {
        self.turns += 1;
        match usage {
            Some(usage) => self.usage += usage,
            None => self.unmeasured += 1,
        }
        match cost {
            Some(PicoUsd(cost)) => {
                let sum = self.cost.get_or_insert_default();
                sum.0 = sum.0.saturating_add(cost);
            }
            None => self.unpriced += 1,
        }
    }

    /// Takes all of another's turns.
    pub fn add_all(&mut self, other: &Tally) {
        self.turns += other.turns;
        self.usage += other.usage;
        self.unmeasured += other.unmeasured;
        self.unpriced += other.unpriced;
        if let Some(PicoUsd(cost)) = other.cost {
            let sum = self.cost.get_or_insert_default();
            sum.0 = sum.0.saturating_add(cost);
        }
    }

    /// What they cost, in words.
    pub fn cost_shown(&self) -> String {
        money::of_turns(self.cost, self.unpriced)
    }

    /// On a line.
    pub fn line(&self) -> String {
        let turns = if self.turns == 1 { "turn" } else { "turns" };
        format!(
            "{} {turns}, {} tokens in, {} out, {}",
            self.turns,
            self.usage.input,
            self.usage.output,
            self.cost_shown()
        )
    }

    /// For programs: money in pico-dollars, null when it is unknown.
    pub fn as_json(&self) -> Value {
        json!({
            "turns": self.turns,
            "usage": self.usage,
            "unmeasured_turns": self.unmeasured,
            "cost": self.cost,
            "cost_shown": self.cost.map(money::shown),
            "unpriced_turns": self.unpriced,
        })
    }
}
