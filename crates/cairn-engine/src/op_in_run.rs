//! What one op needs of its run: a view of the op with its loop and its run, on which everything that decides about
//! one op is a method.

use crate::lap_in_run::LapInRun;
use crate::op::OpState;
use crate::state::{Engine, Lap};
use cairn_types::Coord;
use std::ops::Deref;

/// An op of the open turn, with the loop and the run it belongs to: what decides about it.
#[derive(Debug, Clone, Copy)]
pub struct OpInRun<'a> {
    pub(crate) run: &'a Engine,
    pub(crate) lap: &'a Lap,
    pub(crate) op: &'a OpState,
}

/// The newest reply has no such op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no op {0} in the newest reply")]
pub struct NoSuchOp(pub Coord);

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
    /// An op of the newest reply.
    pub fn op_in_run(&self, at: Coord) -> Result<OpInRun<'_>, NoSuchOp> {
        let with_op = |lap| Some(OpInRun { run: self, lap, op: lap.op(at)? });
        self.lap.as_ref().and_then(with_op).ok_or(NoSuchOp(at))
    }
}
