//! The surfaces as their users see them: tables of texts and what they say, and what holds for all texts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers here are part of the tests"
)]

mod actions;
mod any;
mod brief;
mod calls;
mod clock;
mod documents;
mod envelope;
mod envelope_calls;
mod envelope_forms;
mod envelope_hold;
mod envelope_taught;
mod gbnf;
mod heredoc;
mod heredoc_holds;
mod heredoc_taught;
mod injuries;
mod messages;
mod nameless;
mod one_error;
mod set_bodies;
mod tags;
