//! How a command in the background came to its end. That it began is its op's outcome, with status
//! 102.

use crate::{CommandOutput, Coord, Origin, SandboxLayer};
use serde::{Deserialize, Serialize};

/// `stream`: a command in the background is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// The op that started it.
    pub at: Coord,
    /// How it came to its end.
    pub state: StreamState,
    /// Its exit code, when it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Its whole output: count and hash, and the parts that were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<CommandOutput>,
    /// The sandbox layers that were in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<SandboxLayer>,
    /// What there is to say beyond the state and the exit code; empty when nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// How long it ran, in milliseconds.
    pub ms: u64,
    /// Who ended it from outside the run, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Origin>,
}

/// How a command in the background came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamState {
    /// By itself, or by a signal that somebody else sent.
    Exited,
    /// It could not be started, or watching it failed.
    Failed,
    /// Its time was up.
    TimedOut,
    /// An op removed it.
    Removed,
    /// Its driver stopped.
    Stopped,
    /// Its driver died; it ended with it, unseen.
    Lost,
}

impl Stream {
    /// A command whose driver died.
    #[must_use]
    pub fn lost(at: Coord) -> Stream {
        let (exit, output, layers, why) = (None, None, Vec::new(), String::new());
        Stream { at, state: StreamState::Lost, exit, output, layers, why, ms: 0, by: None }
    }
}
