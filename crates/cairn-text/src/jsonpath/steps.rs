//! How much work a query may take over a document.

use std::cell::Cell;

/// Most queries over a document of a million values take fewer.
const STEPS: usize = 10_000_000;
/// This many bytes of text, or names of an object, are looked at in one step.
const TOGETHER: usize = 16;

/// A query took more steps over a document than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the query takes more than {limit} steps over this document; ask for less of it")]
pub struct TooMuch {
    /// How many it may take.
    pub limit: usize,
}

/// The steps that are left.
#[derive(Debug)]
pub(super) struct Steps(Cell<usize>);

impl Steps {
    pub(super) fn new() -> Self {
        Self(Cell::new(STEPS))
    }

    /// Takes this many steps.
    pub(super) fn take(&self, count: usize) -> Result<(), TooMuch> {
        let left = self.0.get().checked_sub(count).ok_or(TooMuch { limit: STEPS })?;
        self.0.set(left);
        Ok(())
    }

    /// Takes the steps that looking through this many small things needs.
    pub(super) fn look_through(&self, count: usize) -> Result<(), TooMuch> {
        self.take(1 + count / TOGETHER)
    }
}
