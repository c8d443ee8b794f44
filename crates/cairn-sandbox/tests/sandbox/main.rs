//! What the sandbox promises: processes end, nothing is lost, and a confined command reaches nothing but what
//! it is shown.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "a test starts itself again to be killed")]

mod care;
mod confined;
mod context;
mod escape;
mod ground;
mod group;
mod layers;
mod network;
mod pinned;
mod probes;
mod processes;
mod settings;
mod world;
