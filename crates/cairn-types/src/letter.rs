//! What one run, or a person, says to another run: the one way besides a shared entry. Plain data.

use crate::{ContentRef, Coord, RunId};
use serde::{Deserialize, Serialize};

/// Something that was said to a run. It waits until that run hears it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// The run.
    pub to: RunId,
    /// The op of it whose stream is meant; the run itself when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Coord>,
    /// What is meant: 200 words, 499 that the stream shall end.
    pub status: u16,
    /// The words.
    pub text: ContentRef,
}

/// Where words come from that another run said, or a person from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The run.
    pub run: RunId,
    /// Its row.
    pub row: Coord,
}
