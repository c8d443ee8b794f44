//! Taking back what ops changed, and taking that back. Plans are worked out from the log and the
//! disk alone; they are carried out as an op of the session's client run.

mod asides;
mod history;
mod interrupted;
mod plan;
mod standing;

pub use asides::{Asides, asides};
pub use history::{Changed, Command as UncoveredCommand, History, OpenTurn, Span, open_turns};
pub use interrupted::{InterruptedOp, interrupted_op, settle_interrupted_op};
pub use plan::{Conflict, Plan};
pub use standing::{Undone, needed, standing};
