//! How a model writes ops. Reading model output never fails: it gives an op or a problem, and every
//! repair it made. Whether the op may run is decided elsewhere.

pub mod any;
mod asides;
mod brief;
pub mod envelope;
pub mod heredoc;
mod json;
pub mod native;
mod position;
pub mod prose;
mod reading;
mod shown;
pub mod skin;
pub mod tags;
pub mod thinking;
mod toolbox;

pub use position::{Places, Position};
pub use reading::{Reading, Repair, Trouble, Written};
pub use shown::shown;
pub use toolbox::{NewTool, ToolProblem, Toolbox};

use cairn_types::{Action, Effect, Status};

/// What a model's call means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The op, or why there is none.
    pub action: Result<Action, Misread>,
    /// What it may change. A call that makes no sense changes nothing.
    pub effect: Effect,
    /// Whether doing it twice is the same as doing it once.
    pub repeatable: bool,
    /// The repairs made, each a short phrase.
    pub repairs: Vec<String>,
}

/// Why a call makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread {
    /// The status its row gets.
    pub status: Status,
    /// What the model is told.
    pub message: String,
}
