//! The world as a library: real files, real links, real commands, in one test program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and holds git's own word against ours"
)]

mod aside;
mod aside_cut;
mod binary;
mod choices;
mod edits;
mod files;
mod find;
mod ignored;
mod keeps;
mod members;
mod near;
mod overlay;
mod overlay_census;
mod overlay_guard;
mod overlay_late;
mod overlay_random;
mod overlay_shown;
mod rearrange;
mod survey;
mod trash;
mod unread;
