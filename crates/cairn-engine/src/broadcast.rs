//! Words for whoever listens: that of 200 or 499 is the last of its loop, unless the model has something to hear.

use crate::state::Lap;
use cairn_types::Outcome;

impl Lap {
    /// An op has its outcome: if it said the last word, the loop ends with the turn.
    pub(crate) fn took_word(&mut self, outcome: &Outcome) {
        let is_word = self.op(outcome.at).is_some_and(|op| op.intent.is_for_everyone());
        if is_word && outcome.is_last_word() {
            self.last_word = Some(outcome.status);
        }
    }
}
