//! The runtime as a library: many runs in one process and in two, and one very long run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it counted"
)]

mod any_path;
mod background;
mod bodies;
mod catalog;
mod context;
mod cut;
mod delta;
mod endurance;
mod feeds;
mod flood;
mod fold;
mod gate_counts;
mod hooks;
mod hostile;
mod kit;
mod letters;
mod local_model;
mod one_reply;
mod ops;
mod ops_model;
mod ops_random;
mod outside_tools;
mod own_rows;
mod own_scheme;
mod pieces;
mod same_facts;
mod sent;
mod streams;
mod surfaces;
mod swarm;
mod time_cap;
mod undo;
mod web;
mod wires;
