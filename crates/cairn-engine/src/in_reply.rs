//! What has happened to files since the newest reply: what the model saw before it, and what ops of it changed.

use crate::state::{Engine, Lap};
use cairn_types::{Coord, Hash, Outcome};
use std::collections::HashMap;

/// What has happened to files since a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SinceReply {
    /// What the model had seen of a file before the reply, where it has seen it otherwise since.
    pub seen_before: HashMap<String, Option<Hash>>,
    /// What ops of the reply changed, in their order.
    pub changed: Vec<ChangedSinceReply>,
}

/// A file or an entry that an op of the newest reply changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSinceReply {
    /// The op.
    pub at: Coord,
    /// The path or address.
    pub path: String,
    /// The hash of what was there before, and of what is there since.
    pub before: Option<Hash>,
    /// See `before`.
    pub after: Option<Hash>,
}

impl SinceReply {
    /// Takes what an op of the reply changed. What a command in the background of an earlier reply changed is among
    /// it: it happened since.
    pub(crate) fn took(&mut self, outcome: &Outcome) {
        self.changed.extend(outcome.changes.iter().map(|change| ChangedSinceReply {
            at: outcome.at,
            path: change.path.clone(),
            before: change.before.as_ref().and_then(|state| state.hash),
            after: change.after.as_ref().and_then(|state| state.hash),
        }));
    }
}

impl Lap {
    /// What has happened to files since the newest reply.
    #[must_use]
    pub fn since_reply(&self) -> &SinceReply {
        &self.since_reply
    }
}

impl Engine {
    /// The model has now seen a file as it is, or no longer knows it.
    pub(crate) fn sees(&mut self, path: &str, hash: Option<Hash>) {
        let before = self.model_view.sees(path, hash);
        if before != hash {
            self.in_lap(|lap| {
                lap.since_reply.seen_before.entry(path.to_owned()).or_insert(before);
            });
        }
    }
}
