//! The state machine of a run: facts in, steps out. No clock, no randomness, no I/O, no contents:
//! only hashes. The state is the fold of recorded facts; what to do next is a function of the state.

mod admit;
mod around;
mod broadcast;
mod budget;
mod choice;
mod client;
mod consult;
mod driving;
mod duplicate;
mod fold;
pub mod gates;
mod hooks;
mod hosts;
mod in_reply;
mod judgements;
mod lap_in_run;
mod lap_spending;
mod letters;
mod model_view;
mod offers;
mod op;
mod op_in_run;
pub mod policy;
mod propose;
mod rails;
mod reach;
mod requested_call;
mod row;
mod ruling;
mod schemes;
mod sent;
mod settle;
mod state;
mod step;
mod streams;
mod surface;
mod totals;
mod view;
mod waiting_words;
mod words;

pub use admit::{Part, Prepared, Recording};
pub use budget::CallBudget;
pub use choice::{LONGEST_TEXT, Misfit, NewText};
pub use driving::Driving;
pub use fold::Folding;
pub use hooks::{Concluded, HookAsk, Misread};
pub use in_reply::{ChangedSinceReply, SinceReply};
pub use lap_in_run::LapInRun;
pub use model_view::ModelView;
pub use op::{Begun, Decided, EndingQuestion, HostsReached, OpStage, OpState};
pub use op_in_run::{NoSuchOp, OpInRun};
pub use propose::{DecideError, Word};
pub use requested_call::ParsedCall;
pub use row::{ChangesRow, Recorded, Row, RowReceipt, Rows};
pub use schemes::effect as effect_of;
pub use settle::{Found, Settlement};
pub use state::{Engine, Lap};
pub use step::Step;
pub use surface::{ENVELOPE_STEPS, Marks};
pub use totals::RunTotals;
pub use view::Item;

/// Recorded with every fact.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests;
