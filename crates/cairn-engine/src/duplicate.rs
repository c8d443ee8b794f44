//! Calls that were made before: of a tool that reads and changes nothing, the same arguments have the
//! same result, so the model is given that instead of another call.

use crate::op::OpState;
use crate::op_in_run::OpInRun;
use cairn_surface::native;
use cairn_types::{ContentRef, Coord, Effect, Hash, Outcome, Settled};
use std::collections::HashMap;

/// The results of pure calls, by tool and arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PureCalls(HashMap<(String, Hash), Made>);

/// A call that was made, and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) at: Coord,
    pub(crate) result: ContentRef,
}

fn key(op: &OpState) -> Option<(String, Hash)> {
    let is_pure = op.intent.effect == Effect::Pure && !op.is_consult();
    let tool = native::name_of(&op.intent.tool)?;
    (is_pure && op.intent.problem.is_none()).then(|| (tool.to_owned(), op.intent.input.hash))
}

impl PureCalls {
    /// An op has its outcome: if it was a pure call that went well, it need not be made again.
    pub(crate) fn took_outcome(&mut self, op: &OpState, outcome: &Outcome) {
        let went_well = outcome.settled == Settled::Performed && outcome.status.is_success();
        if let Some(key) = key(op).filter(|_| went_well && outcome.media.is_empty()) {
            let made = Made { at: outcome.at, result: outcome.result };
            self.0.entry(key).or_insert(made);
        }
    }
}

impl OpInRun<'_> {
    /// The same call, where it was made before.
    pub(crate) fn made_before(&self) -> Option<Made> {
        self.run.pure.0.get(&key(self.op)?).copied()
    }
}
