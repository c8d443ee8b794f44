//! What the model has been told and shown in a run.

use crate::view::Item;
use cairn_types::{Coord, Hash};
use std::collections::HashMap;

/// The messages of a run, and what the model can still see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) items: Vec<Item>,
    /// The files the model has seen, as it saw them last.
    pub(crate) seen: HashMap<String, Hash>,
    /// Results of reads that the model can still see, and the row that holds each.
    pub(crate) in_view: HashMap<Hash, Coord>,
    /// How often rows were folded or opened.
    pub(crate) folds: u64,
}
