//! Changes of files as they are made on disk: all of a list or none, safe against a power cut, and known after
//! a crash. What is to change is worked out elsewhere (`edits`, `entries`, `commands`).

pub(crate) mod apply;
pub(crate) mod aside;
pub(crate) mod attributes;
pub(crate) mod durability;
mod leftovers;
pub(crate) mod removed;
pub(crate) mod state;
mod swap;
mod temporary;
pub(crate) mod trash;
mod write;
