//! What one run, or a person, says to another run: the one way besides a shared entry. Plain data.

use crate::{ContentRef, Coord, Intent, OpName, Outcome, Post, RunId, Settled};
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

impl Intent {
    /// Whether it says something to whoever listens.
    #[must_use]
    pub fn is_for_everyone(&self) -> bool {
        self.op == Some(OpName::Send) && self.target == Post::EVERYONE
    }
}

impl Outcome {
    /// Whether what was said to whoever listens was the last word. One that was skipped has the status of one, too.
    #[must_use]
    pub fn is_last_word(&self) -> bool {
        self.settled == Settled::Performed && self.status.ends_work()
    }
}
