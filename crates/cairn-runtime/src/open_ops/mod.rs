//! What a driver holds of the ops that are open: their parsed calls, and what was prepared of the one that is being decided
//! on. How far each has come is the engine's to say.

mod actions;
mod prepared;

use actions::OpenActions;
use prepared::PreparedOp;

/// What is held of open ops. Nothing of it is needed to go on after a crash.
#[derive(Default)]
pub(crate) struct OpenOps {
    pub(crate) actions: OpenActions,
    pub(crate) prepared: PreparedOp,
}
