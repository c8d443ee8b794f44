//! What a reply says, whatever surface it is written in: ops in their order, the repairs made in reading
//! them, the places that make no sense, and what is left as prose. Plain data.

use crate::native::{self, Tool};
use crate::{Parsed, Position};
use serde_json::{Map, Value};

/// A reply, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The ops, in the order they were written.
    pub ops: Vec<Written>,
    /// What was repaired.
    pub repairs: Vec<Repair>,
    /// What could not be read.
    pub problems: Vec<Trouble>,
    /// What is neither op nor thought.
    pub text: String,
    /// What the model thought aloud, if it marked it as that.
    pub reasoning: String,
    /// How the work stands, where the reply says that it is over.
    pub terminal: Option<u16>,
}

/// One op as it was written: the call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The tool's own name.
    pub tool: &'static str,
    /// Its arguments, as the tool takes them.
    pub args: Map<String, Value>,
    /// What it means.
    pub parsed: Parsed,
    /// Where it begins.
    pub at: Position,
    /// Its end was not written: it was taken to be where the next op, or nothing more, begins.
    pub is_unclosed: bool,
    /// A statement before it was not understood.
    pub follows_misread: bool,
}

impl Written {
    /// A call of this tool.
    #[must_use]
    pub fn new(tool: &'static Tool, args: Map<String, Value>, at: Position) -> Written {
        let parsed = native::parse_call(tool, args.clone());
        Written { tool: tool.name, args, parsed, at, is_unclosed: false, follows_misread: false }
    }
}

/// A repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// Its kind, a stable word.
    pub kind: &'static str,
    /// Where.
    pub at: Position,
    /// What was done, a short phrase.
    pub note: String,
}

/// A place that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Its kind, a stable word.
    pub kind: &'static str,
    /// Where.
    pub at: Position,
    /// What is wrong there, a fact in a short phrase.
    pub note: String,
    /// The lines around it, numbered.
    pub snippet: String,
}
