//! Performs the engine's steps: asks the model, prepares and performs ops, commits facts, tells
//! clients. It decides nothing about what happens next; that is the engine's.

mod background;
mod changes;
mod client;
mod clock;
mod driver;
mod error;
mod event;
mod journal;
mod model;
mod ops;
mod reach;
mod run_record;
pub mod schemes;
pub mod undo;

pub use background::sent::Sending;
pub use cairn_surface::{NewTool, ToolProblem};
pub use changes::note::SYSTEM_RUN;
pub use client::op::Answer;
pub use client::{CLIENT_RUN, Client, ClientDone, ClientOp, client_run};
pub use clock::{new_run_id, new_session_id, now_ms};
pub use driver::fork::{find_fork_point, make_fork};
pub use driver::start::{Folders, Place, Start, Task, folders_of, holder, session_here};
pub use driver::{Command, DecisionReply, Driver, Manner, Pause, Settings};
pub use error::RunError;
pub use event::{Event, Sink};
pub use journal::Written;
pub use model::messages::Messages;
pub use model::money::Longest;
pub use model::system::{Own, Surroundings};
pub use model::transcript::{Asked, request_at};
pub use ops::outside_tools::{OutsideTools, ToolAnswer, ToolFuture, ToolHandler};
