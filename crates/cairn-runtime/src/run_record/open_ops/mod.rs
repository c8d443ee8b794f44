//! What a driver holds of the ops that are open: their parsed calls, what was prepared of the one that is being decided
//! on, and what commands would change that were sent to the background. How far each has come is the engine's to say.

mod actions;
mod prepared;
mod sent;

use actions::OpenActions;
use prepared::PreparedOp;
use sent::SentEffects;

/// What is held of open ops. Nothing of it is needed to go on after a crash.
#[derive(Default)]
pub(crate) struct OpenOps {
    pub(crate) actions: OpenActions,
    pub(crate) prepared: PreparedOp,
    pub(crate) sent: SentEffects,
}
