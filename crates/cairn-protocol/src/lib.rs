//! The wire: events out, commands in. Names live here once; the command line speaks them today and a
//! daemon will speak the same. Knows no other crate: wire types are not domain types.

mod command;
mod event;

pub use command::{Command, CommandError, Mode, Remember, Text, Verdict};
pub use event::{Change, Choice, Envelope, Event, Item, Problem, RunResult, Usage};
