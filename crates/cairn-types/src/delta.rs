//! What changed around a run that it did not change itself, as it was told of it.

use crate::{ChangeKind, ContentRef, Hash};
use serde::{Deserialize, Serialize};

/// `delta`: others changed something since the run last looked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The newest receipt of the session then: it has looked as far as this.
    pub upto: String,
    /// What changed, by whom, in the order in which it was first changed.
    pub noticed: Vec<Change>,
    /// What the model is told of it.
    pub text: ContentRef,
}

/// What one source made of one entry, in sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// A path, or the address of an entry.
    pub path: String,
    /// Who changed it: a run, `client` for a person's own ops, or `file` for whoever writes files by other
    /// means.
    pub source: String,
    /// What kind of change it is, in sum.
    pub kind: ChangeKind,
    /// What it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hash>,
    /// How many rows changed it.
    pub edits: u32,
}
