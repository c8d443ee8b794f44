//! The client against a real HTTP server, in every wire format: what it sends, what it makes of
//! every kind of answer, and of servers that fail in the middle of one.

#![allow(clippy::unwrap_used, reason = "the helpers here are part of the tests")]

mod answers;
mod bodies;
mod cut;
mod faults;
mod grows;
mod kit;
mod network;
mod retries;
mod secrets;
mod thoughts;
mod tls;
