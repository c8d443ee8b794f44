//! Performs the engine's steps: asks the model, prepares and performs ops, commits facts, tells
//! clients. It decides nothing about what happens next; that is the engine's.

mod act;
mod ask;
mod background;
mod calls;
mod choice;
mod client;
mod client_op;
mod clock;
mod delta;
mod driver;
mod error;
mod event;
#[cfg_attr(not(test), expect(dead_code, reason = "an op opens one once it is dispatched to it"))]
mod feed;
mod hooks;
mod made;
mod money;
mod nested;
mod note;
mod pending;
mod reach;
mod reconcile;
mod rehearse;
mod rows;
pub mod schemes;
mod scrubbed;
mod sent;
mod start;
mod system;
mod telling;
mod transcript;
pub mod undo;

pub use client::{CLIENT_RUN, Client, ClientDone, ClientOp, client_run};
pub use client_op::Answer;
pub use clock::{new_run_id, new_session_id, now_ms};
pub use driver::{Command, Driver, Heard, Pause, Settings, Written};
pub use error::RunError;
pub use event::{Event, Sink};
pub use note::SYSTEM_RUN;
pub use sent::Sending;
pub use start::{Folders, Place, Start, Task, folders_of, holder, session_here};
pub use system::{Own, Surroundings};
pub use transcript::{Asked, Transcript, request_at};
