//! Budgets as plain data: what a run may use up besides its loops' caps. Who counts is the engine,
//! and for money the store.

use crate::PicoUsd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What may be used up while one driver drives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// Calls per run, by the tool's name; a tool without a number has no limit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, u64>,
    /// What a model is told that calls once more.
    #[serde(default, skip_serializing_if = "Exceeded::is_block")]
    pub on_exceeded: Exceeded,
    /// Minutes of work per loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// Money for all runs of the session together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<PicoUsd>,
}

impl Budgets {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Budgets::default()
    }
}

/// What a model is told that calls a tool more often than it may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exceeded {
    /// That it may not.
    #[default]
    Block,
    /// Also what it may still call.
    Steer,
}

impl Exceeded {
    fn is_block(&self) -> bool {
        *self == Exceeded::Block
    }
}
