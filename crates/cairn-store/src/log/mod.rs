//! The logs of runs: facts, appended by one writer under a lease in the order that `cairn-types` allows, and read.
//! What a fact means is not known here.

pub(crate) mod append;
pub(crate) mod batch;
pub(crate) mod fact;
pub(crate) mod lease;
pub(crate) mod op;
pub(crate) mod read;
pub(crate) mod run;
pub(crate) mod writer;
