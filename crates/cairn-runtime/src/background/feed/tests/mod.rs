//! Real servers on loopback: what is kept of them, what must not reach them, and what is bounded.

mod bounds;
mod guards;
mod kit;
mod told;
