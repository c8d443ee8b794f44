//! What was prepared of one op, kept until the op is decided on, so that it is not prepared twice and a command over an
//! overlay runs once.

use cairn_types::{Coord, Hash};
use cairn_world::Prepared;

/// What was prepared of the op that is being decided on, if anything.
#[derive(Default)]
pub(crate) struct PreparedOp {
    kept: Option<KeptPrepared>,
}

struct KeptPrepared {
    at: Coord,
    /// The hash of the arguments that it was prepared from.
    input: Hash,
    prepared: Prepared,
}

impl PreparedOp {
    /// Keeps what was prepared of an op with these arguments. Of an op that is gone nothing is kept.
    pub(crate) fn keep(&mut self, at: Coord, input: Option<Hash>, prepared: Prepared) {
        self.kept = input.map(|input| KeptPrepared { at, input, prepared });
    }

    /// Takes what was prepared of this op with these arguments. What is kept of anything else is forgotten.
    pub(crate) fn take_or_forget(&mut self, at: Coord, input: Option<Hash>) -> Option<Prepared> {
        let kept = self.kept.take()?;
        (kept.at == at && Some(kept.input) == input).then_some(kept.prepared)
    }

    /// Takes what was prepared of this op.
    pub(crate) fn take(&mut self, at: Coord) -> Option<Prepared> {
        self.kept.take_if(|kept| kept.at == at).map(|kept| kept.prepared)
    }

    /// What was prepared of this op.
    pub(crate) fn of(&self, at: Coord) -> Option<&Prepared> {
        self.kept.as_ref().filter(|kept| kept.at == at).map(|kept| &kept.prepared)
    }

    /// The op whose command has run, if that is what was prepared.
    pub(crate) fn op_that_ran(&self) -> Option<Coord> {
        self.kept.as_ref().filter(|kept| kept.prepared.ran.is_some()).map(|kept| kept.at)
    }

    pub(crate) fn forget(&mut self) {
        self.kept = None;
    }
}
