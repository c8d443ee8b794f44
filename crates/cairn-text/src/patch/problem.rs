//! Why a patch was refused, in words its writer can act on. Decides nothing.

use super::Format;
use crate::edit::EditProblem;

/// Why a patch could not be read or applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchProblem {
    /// There is nothing in it.
    #[error("the patch says nothing")]
    Empty,
    /// It has the marks of no known format.
    #[error(
        "the patch is in no known format; known are SEARCH/REPLACE blocks (<<<<<<< SEARCH), \
         <<SEARCH labels, unified diffs (--- and +++, @@), *** Begin Patch, and sed commands \
         (s/a/b/)"
    )]
    Unknown,
    /// It has the marks of two formats.
    #[error(
        "line {line} of the patch looks like {second}, but the patch began as {first}; use one format"
    )]
    Mixed {
        /// The format it began in.
        first: Format,
        /// The other one.
        second: Format,
        /// Where the other one begins, in the patch.
        line: usize,
    },
    /// It breaks the rules of its format.
    #[error("line {line} of the patch: {why}")]
    Malformed {
        /// Where, in the patch.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// It speaks of several files where one is meant.
    #[error("the patch speaks of {files} files, not of one")]
    SeveralFiles {
        /// How many.
        files: usize,
    },
    /// It changes a file that is not there.
    #[error("the patch changes a file that does not exist")]
    NoFile,
    /// It creates a file that is there.
    #[error("the patch creates a file that exists already")]
    Exists,
    /// It deletes a file, but not all of its lines.
    #[error("the patch deletes the file, but {lines} lines of it are not in the patch")]
    Leftover {
        /// How many lines would be left.
        lines: usize,
    },
    /// One of its parts does not fit the file.
    #[error("part {part} of the patch: {problem}")]
    Edit {
        /// Which hunk, block or label, from 1.
        part: usize,
        /// What is wrong with it.
        problem: EditProblem,
    },
    /// One of its parts stands before the one above it, or in it.
    #[error(
        "part {part} of the patch stands at line {line}, before the end of the part above it; put the parts in the file's order"
    )]
    Order {
        /// Which hunk, from 1.
        part: usize,
        /// Where it was found, in the file.
        line: usize,
    },
    /// One of its parts says nothing about where it belongs.
    #[error("part {part} of the patch has no line that stands in the file, so it has no place")]
    NoPlace {
        /// Which hunk, from 1.
        part: usize,
    },
    /// A line that shall lead to a part is not there, or not once.
    #[error(
        "part {part} of the patch: the line {anchor:?} stands in the file {count} times after the part above it, not once"
    )]
    Anchor {
        /// Which hunk, from 1.
        part: usize,
        /// The line looked for.
        anchor: String,
        /// How often it stands there.
        count: usize,
    },
    /// A scope names lines that are not there or were just changed.
    #[error(
        "part {part} of the patch: lines {first}-{last} are not in the file, or an earlier part changed them"
    )]
    Scope {
        /// Which label, from 1.
        part: usize,
        /// The first line of the scope.
        first: usize,
        /// The last line of the scope.
        last: usize,
    },
    /// A command's pattern or address matches nothing.
    #[error("command {part} of the script, {command}, matches nothing in the file")]
    NoMatch {
        /// Which command, from 1.
        part: usize,
        /// The command.
        command: String,
    },
    /// The content would become too large.
    #[error("the patch makes the file larger than {limit} bytes")]
    TooLarge {
        /// The most it may have.
        limit: usize,
    },
    /// A line would become too long.
    #[error("the script makes a line longer than {most} bytes")]
    LongLine {
        /// The most it may have.
        most: usize,
    },
    /// It has more parts than a file of this size can be searched for.
    #[error(
        "the patch has {parts} parts, too many for a file of {bytes} bytes; write fewer or the file whole"
    )]
    TooMuch {
        /// How many parts it has.
        parts: usize,
        /// How large the file is.
        bytes: usize,
    },
    /// Nothing would change.
    #[error("the patch changes nothing")]
    Unchanged,
}

impl PatchProblem {
    pub(super) fn malformed(line: usize, why: impl Into<String>) -> PatchProblem {
        PatchProblem::Malformed { line: line + 1, why: why.into() }
    }
}
