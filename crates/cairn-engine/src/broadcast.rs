//! Words for whoever listens: that of 200 or 499 is the last of its loop.

use crate::state::Engine;
use cairn_types::{OpName, Outcome, Post, Status};

impl Engine {
    /// An op has its outcome: if it said the last word, the loop ends with the turn.
    pub(crate) fn took_word(&mut self, outcome: &Outcome) {
        let is_word = |op: &crate::OpState| {
            op.intent.op == Some(OpName::Send) && op.intent.target == Post::EVERYONE
        };
        if self.op(outcome.at).is_some_and(is_word)
            && matches!(outcome.status, Status::OK | Status::CANCELLED)
        {
            let status = outcome.status;
            self.in_lap(|lap| lap.last_word = Some(status));
        }
    }
}
