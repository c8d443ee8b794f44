//! The runtime as a library: many runs in one process and in two, and one very long run.

mod cut;
mod endurance;
mod kit;
mod swarm;
