//! What a run knows of what is around it: up to where it has looked, and what only it can have done.

use crate::op::OpState;
use crate::state::{Engine, Lap};
use cairn_types::OpName;

impl Lap {
    /// Whether a command of the newest reply that was waited for worked on the files themselves, so that nobody
    /// knows what of it changed them.
    #[must_use]
    pub fn worked_directly(&self) -> bool {
        let is_direct = |op: &OpState| {
            let begun = op.begin();
            op.intent.op == Some(OpName::Exec)
                && !op.intent.subject.as_ref().is_some_and(|subject| subject.beside)
                && begun.is_some_and(|begin| begin.ran.is_none() && begin.changes.is_empty())
        };
        self.ops.iter().any(is_direct)
    }
}

impl Engine {
    /// Whether the model was never asked anything.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.totals.turns() == 0 && self.driving.drives() <= 1
    }

    /// The number of the next loop.
    #[must_use]
    pub fn next_lap(&self) -> u32 {
        self.laps.saturating_add(1)
    }
}
