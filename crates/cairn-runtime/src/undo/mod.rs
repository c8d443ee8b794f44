//! Taking back what ops changed, and taking that back. Plans are worked out from the log and the
//! disk alone; they are carried out as an op of the session's client run.

mod asides;
mod history;
mod plan;
mod standing;

pub use asides::{Asides, asides};
pub use history::{Changed, Command as UncoveredCommand, History, Span, open_runs};
pub use plan::{Conflict, Plan};
pub use standing::{Undone, needed, standing};
