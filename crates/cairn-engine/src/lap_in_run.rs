//! What one loop needs of its run: a view of the loop with its run, on which everything that decides how the loop
//! goes on is a method.

use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::state::{Engine, Lap};
use std::ops::Deref;

/// The running loop, with the run it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct LapInRun<'a> {
    pub(crate) run: &'a Engine,
    pub(crate) lap: &'a Lap,
}

impl Deref for LapInRun<'_> {
    type Target = Lap;
    fn deref(&self) -> &Lap {
        self.lap
    }
}

impl<'a> LapInRun<'a> {
    /// One of its ops.
    pub(crate) fn with_op(self, op: &'a OpState) -> OpInRun<'a> {
        OpInRun { run: self.run, lap: self.lap, op }
    }
}

impl Engine {
    /// The running loop; none where none runs.
    #[must_use]
    pub fn lap_in_run(&self) -> Option<LapInRun<'_>> {
        Some(LapInRun { run: self, lap: self.lap.as_ref()? })
    }
}
