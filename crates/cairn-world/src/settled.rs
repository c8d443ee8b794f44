//! What the world answers: what would happen, what happened, what is found after a crash.

use cairn_types::{Change, CommandOutput, Status};

/// What an action would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// The changes, with the state before and after each.
    pub changes: Vec<Change>,
    /// What a person is shown: a unified diff, or a command with its directory and limit. Raw; the
    /// one who draws it cleans it.
    pub shown: String,
    /// One line for lists.
    pub label: String,
    /// The bytes behind the states: before-images and after-images.
    pub contents: Vec<Vec<u8>>,
    /// Set when it cannot or need not act: this is already its outcome.
    pub settled: Option<Performed>,
}

/// What an action did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performed {
    /// What became of it.
    pub status: Status,
    /// A command's exit code, when it ended by itself.
    pub exit: Option<i32>,
    /// What the model is told: facts, the same for the same world.
    pub text: String,
    /// A command's output.
    pub output: Option<CommandOutput>,
    /// What changed, as it now is.
    pub changes: Vec<Change>,
    /// What held a command's processes.
    pub layers: Vec<String>,
    /// The bytes behind `output.kept`.
    pub contents: Vec<Vec<u8>>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What is found on disk after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Every path is as it should be afterwards.
    Done,
    /// Every path is as it was before.
    NotDone,
    /// Something else, or it cannot be seen from files.
    Neither,
}

/// Why something was not done, as a status and a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: Status,
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl Performed {
    /// An outcome that is all said by a status and a text.
    pub(crate) fn told(status: Status, text: impl Into<String>) -> Self {
        Self {
            status,
            exit: None,
            text: text.into(),
            output: None,
            changes: Vec::new(),
            layers: Vec::new(),
            contents: Vec::new(),
            ms: 0,
        }
    }
}

impl From<Refusal> for Performed {
    fn from(refusal: Refusal) -> Self {
        Performed::told(refusal.status, refusal.text)
    }
}
