//! Ops of a run, from a call to an outcome: what one would do, preparing and performing it, and how it settles.
//! Whether one may run is the engine's to decide.

pub(crate) mod act;
mod choice;
mod earlier;
pub(crate) mod outside_tools;
pub(crate) mod perform;
pub(crate) mod preview;
mod progress;
mod rehearse;
pub(crate) mod settled_op;
