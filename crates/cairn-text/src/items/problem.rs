//! Why items were not selected or replaced, in words the writer of the scope can act on. Decides nothing.

use super::json::JsonError;
use crate::scope::Scope;
use crate::slice::counted;
use cairn_types::Status;
use std::fmt;

/// Why the items of a document could not be selected or replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemsProblem {
    /// The document is not JSON.
    #[error("the text is not JSON: {0}")]
    Source(JsonError),
    /// What is to be put there is not JSON.
    #[error("the body is not JSON: {0}")]
    Body(JsonError),
    /// The scope names characters.
    #[error("a scope on JSON counts items; it has no columns")]
    Columns,
    /// The scope names lines by their hashes.
    #[error("a scope on JSON counts items; it has no line hashes")]
    Anchors,
    /// The scope names items that are not there, or ends before it begins.
    #[error("{scope} is out of range: the document has {holds}")]
    OutOfRange {
        /// The scope.
        scope: Scope,
        /// What is there.
        holds: Holds,
    },
    /// A document that is neither array nor object would get more or less than one value.
    #[error(
        "the document is one value; 1 replaces it by one other value, and nothing can be added"
    )]
    OneValue,
    /// Pairs of an object would be replaced by something else.
    #[error("the document is an object; put pairs there, as an object")]
    NotPairs,
    /// This key, with its quotes, would stand there twice.
    #[error("the object would have the key {0} twice")]
    Twice(String),
}

/// What a document holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// So many items of an array.
    Items(usize),
    /// So many pairs of an object.
    Pairs(usize),
    /// Neither: it is a single value.
    OneValue,
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holds::Items(count) => f.write_str(&counted(*count, "item")),
            Holds::Pairs(count) => f.write_str(&counted(*count, "pair")),
            Holds::OneValue => f.write_str("one value"),
        }
    }
}

impl ItemsProblem {
    /// The status of an op that is refused for it.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            ItemsProblem::OutOfRange { .. } => Status::OUT_OF_RANGE,
            ItemsProblem::Twice(_) => Status::CONFLICT,
            ItemsProblem::Source(_)
            | ItemsProblem::Body(_)
            | ItemsProblem::Columns
            | ItemsProblem::Anchors
            | ItemsProblem::OneValue
            | ItemsProblem::NotPairs => Status::BAD_REQUEST,
        }
    }
}
