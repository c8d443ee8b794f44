//! What one op needs of its run: a view of the op with its loop and its run, on which everything that decides about
//! one op is a method.

use crate::lap_in_run::LapInRun;
use crate::op::OpState;
use crate::state::{Engine, Lap};
use cairn_types::Coord;
use std::ops::Deref;

/// An op of the open turn, with the loop and the run it belongs to: what decides about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpInRun<'a> {
    pub(crate) run: &'a Engine,
    pub(crate) lap: &'a Lap,
    pub(crate) op: &'a OpState,
}

impl Deref for OpInRun<'_> {
    type Target = OpState;
    fn deref(&self) -> &OpState {
        self.op
    }
}

impl<'a> OpInRun<'a> {
    /// Its loop.
    pub(crate) fn in_lap(self) -> LapInRun<'a> {
        LapInRun { run: self.run, lap: self.lap }
    }
}

impl Engine {
    /// An op of the newest reply; none where there is no such op.
    pub(crate) fn op_in_run(&self, at: Coord) -> Option<OpInRun<'_>> {
        let lap = self.lap.as_ref()?;
        Some(OpInRun { run: self, lap, op: lap.op(at)? })
    }
}
