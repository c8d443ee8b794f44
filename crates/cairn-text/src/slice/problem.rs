//! Why a scope selects nothing, in words its writer can act on. Decides nothing.

use super::stale::Stale;
use crate::scope::Scope;
use cairn_types::Status;

/// Why a scope selects nothing in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutOfScope {
    /// It names lines that are not there, or ends before it begins.
    #[error("{scope} is out of range: the text has {}", counted(*.lines, "line"))]
    Lines {
        /// The scope.
        scope: Scope,
        /// How many lines there are.
        lines: usize,
    },
    /// It names a character that is not there.
    #[error("{scope} is out of range: line {line} has {}", counted(*.columns, "character"))]
    Columns {
        /// The scope.
        scope: Scope,
        /// The line.
        line: usize,
        /// How many characters the line has; a span may end behind the last.
        columns: usize,
    },
    /// It is anchored to a line that is not there, or not the only one.
    #[error(transparent)]
    Stale(Box<Stale>),
}

/// Why several parts of one text could not be replaced together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpliceProblem {
    /// One of the scopes selects nothing.
    #[error("{source}")]
    OutOfScope {
        /// Which one, from 0.
        index: usize,
        /// Why.
        source: OutOfScope,
    },
    /// Two scopes have something in common, or insert at the same place.
    #[error("{} and {} overlap; make one edit of them", .scopes.0, .scopes.1)]
    Overlap {
        /// Which ones, from 0, the lower first.
        indexes: (usize, usize),
        /// The two scopes.
        scopes: (Scope, Scope),
    },
}

impl OutOfScope {
    /// The status of an op that is refused for it.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            OutOfScope::Lines { .. } | OutOfScope::Columns { .. } => Status::OUT_OF_RANGE,
            OutOfScope::Stale(_) => Status::CONFLICT,
        }
    }
}

impl SpliceProblem {
    /// The status of an op that is refused for it.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            SpliceProblem::OutOfScope { source, .. } => source.status(),
            SpliceProblem::Overlap { .. } => Status::CONFLICT,
        }
    }
}

/// So many of something, in words.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
