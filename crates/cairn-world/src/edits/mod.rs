//! Ops that change files, worked out: edits, patches, removing, moving and copying, and what a person takes of
//! an edit. Changes nothing; `changes` does.

pub(crate) mod choose;
pub(crate) mod earlier;
pub(crate) mod edit;
pub(crate) mod many;
pub(crate) mod parts;
mod patch;
pub(crate) mod rearrange;
