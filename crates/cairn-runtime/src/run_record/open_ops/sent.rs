//! What commands that a person sent to the background would change, each from its end on until the op that it becomes is
//! settled.

use cairn_engine::Engine;
use cairn_types::{Body, Coord, Outcome, Status};
use cairn_world::{Performed, Prepared};
use std::collections::BTreeMap;

/// What is told of changes that nobody has any more.
const LOST: &str = "what it changed is lost with the program that held it";

/// What commands that were sent to the background would change and that are over, by the op that started each.
#[derive(Debug, Default)]
pub(crate) struct SentEffects {
    ended: BTreeMap<Coord, Prepared>,
}

impl SentEffects {
    pub(crate) fn keep(&mut self, row: Coord, prepared: Prepared) {
        self.ended.insert(row, prepared);
    }

    pub(crate) fn get(&self, row: Coord) -> Option<&Prepared> {
        self.ended.get(&row)
    }

    /// What such a command would change; that it is lost, where it is not kept.
    pub(crate) fn get_or_lost(&self, row: Coord) -> Prepared {
        self.get(row).cloned().unwrap_or_else(|| Prepared {
            settled: Some(Performed::told(Status::GONE, LOST)),
            ..Prepared::default()
        })
    }

    /// Forgets what these facts settle, which are about to be recorded.
    pub(crate) fn forget_settled(&mut self, facts: &[Body], engine: &Engine) {
        for (n, fact) in facts.iter().enumerate() {
            let Body::Outcome(Outcome { at, .. }) = fact else { continue };
            let asked = facts[..n].iter().rev().find_map(|fact| match fact {
                Body::Intent(intent) if intent.at == *at => Some(intent),
                _ => None,
            });
            let asked = asked.or_else(|| engine.op(*at).map(|op| &op.intent));
            if let Some(row) = asked.and_then(|intent| intent.of) {
                self.ended.remove(&row);
            }
        }
    }

    /// Forgets all of them, and returns the commands whose changes are lost by that.
    pub(crate) fn forget_all(&mut self) -> Vec<Coord> {
        let ended = std::mem::take(&mut self.ended).into_iter();
        ended.filter(|(_, prepared)| !prepared.changes.is_empty()).map(|(row, _)| row).collect()
    }
}
