//! Messages to another run or to a stream of this one.

use super::allowed_op::AllowedOp;
use crate::{Driver, RunError};
use cairn_types::{Post, Settled};

/// An op that says something.
pub(super) struct SentMessage {
    pub(super) op: Box<AllowedOp>,
    pub(super) post: Post,
}

impl SentMessage {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let SentMessage { op, post } = self;
        match driver.say(op.at, &post).await? {
            Ok(said) => driver.run.settle_op(op.at, said, Settled::Performed),
            Err(unsaid) => driver.run.settle_op(op.at, unsaid, op.unperformed),
        }
    }
}
