//! What the world answers: what would happen, what happened, what is found after a crash.

use crate::commands::rehearse::Rehearsed;
use crate::edits::parts::Part;
use cairn_sandbox::Spooled;
use cairn_types::{Change, CommandOutput, HostAccess, Letter, Removed, SandboxLayer, Seen, Status};
use std::sync::Arc;

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
    /// What the model is told once it is done, where that is known beforehand.
    pub told: Option<(Status, String)>,
    /// The same file by file, of an edit.
    pub told_of: Vec<(String, String)>,
    /// The parts of an edit that can be taken or left by themselves, as they are shown.
    pub parts: Vec<Part>,
    /// The files it would edit as they now are, for a model that has not seen them so.
    pub fresh: Vec<String>,
    /// How much it would remove, without what git ignores.
    pub removed: Removed,
    /// How the command ended whose changes these are.
    pub ran: Option<Performed>,
    /// The hosts that it was let reach.
    pub reached_by: Vec<HostAccess>,
    /// Those that it wanted to reach besides.
    pub wanted: Vec<String>,
    /// Where those changes are until they are made.
    pub rehearsed: Option<Arc<Rehearsed>>,
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
    /// Pictures and documents that the model is shown with it.
    pub media: Vec<Shown>,
    /// A command's output.
    pub output: Option<CommandOutput>,
    /// What changed, as it now is.
    pub changes: Vec<Change>,
    /// The files the text shows, as they were.
    pub seen: Vec<Seen>,
    /// What held a command's processes.
    pub layers: Vec<SandboxLayer>,
    /// The hosts that a command wanted to reach and could not.
    pub wanted: Vec<String>,
    /// The bytes behind `output.kept`, unless they are spooled.
    pub contents: Vec<Vec<u8>>,
    /// The file behind `output.kept`, when there was too much for memory.
    pub spooled: Option<Spooled>,
    /// The address of the stream that it opened and that goes on.
    pub stream: Option<String>,
    /// What it said to another run.
    pub letter: Option<Letter>,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// It panicked while it acted: how far it came is not known.
    pub panicked: bool,
}

/// A picture or document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its type.
    pub mime: &'static str,
    /// Its path.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What is found on disk after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Every path is as it should be afterwards.
    Done,
    /// Every path is as it was before.
    NotDone,
    /// Some paths are as they should be, the others as they were before.
    Partly,
    /// Something else, or it cannot be seen from files.
    Neither,
}

/// Why something was not done, as a status and a fact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// What kind of reason it is.
    pub status: Status,
    /// The fact behind it.
    pub text: String,
}

impl Refusal {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl Performed {
    /// An outcome that is all said by a status and a text.
    #[must_use]
    pub fn told(status: Status, text: impl Into<String>) -> Self {
        Self {
            status,
            exit: None,
            text: text.into(),
            media: Vec::new(),
            output: None,
            changes: Vec::new(),
            seen: Vec::new(),
            layers: Vec::new(),
            wanted: Vec::new(),
            contents: Vec::new(),
            spooled: None,
            stream: None,
            letter: None,
            ms: 0,
            panicked: false,
        }
    }
}

impl From<Refusal> for Performed {
    fn from(refusal: Refusal) -> Self {
        Performed::told(refusal.status, refusal.text)
    }
}
