//! What changed beside a run's own ops, on disk or by other runs: found, recorded, and told to its model.

pub(crate) mod change_watch;
mod delta;
pub(crate) mod note;
pub(crate) mod reconcile;
