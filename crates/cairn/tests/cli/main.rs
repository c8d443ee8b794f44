//! The binary as people and programs use it: real processes, real HTTP, real SQLite, real files. Only
//! the model is a script.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it counted"
)]

mod aside;
mod attacks;
mod attributes;
mod bad_ground;
mod bad_input;
mod bench_world;
mod budgets;
mod choose;
mod context;
mod cost;
mod decide;
mod docs;
mod fixture;
mod flags;
mod folders;
mod forged;
mod full_disk;
mod git_settings;
mod hook_events;
mod hooks;
mod hostile;
mod ignored;
mod interactions;
mod interrupted;
mod json;
mod keep;
mod kept_unread;
mod login;
mod machine;
mod members;
mod models;
mod modes_of_files;
mod names;
mod op_crash;
mod outputs;
mod overlay;
mod overlay_crash;
mod overlay_cut;
mod overlay_git;
mod overlay_rm;
mod overlay_ruled;
mod overlay_worktree;
mod places;
mod policy;
mod private_places;
mod probe;
mod ps;
mod rails;
mod reach;
mod restored;
mod resume;
mod run;
mod screen;
mod secrets;
mod sent;
mod sessions;
mod sessions_of_commands;
mod signals;
mod small;
mod small_faults;
mod starved;
mod steered;
mod surfaces;
mod survive;
mod tamper;
mod terminal;
mod tools_inside;
mod undo;
mod undo_direct;
mod undo_later;
mod undo_own_edits;
mod unheard;
mod unreadable;
mod web;
mod wires;
mod world;
mod wrong_clock;
