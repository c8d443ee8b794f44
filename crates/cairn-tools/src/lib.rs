//! What stands around ops: hooks that are asked about them, and which configuration of a project may
//! run. It decides nothing about ops; what an answer means is the engine's.

pub mod hooks;
pub mod trust;
