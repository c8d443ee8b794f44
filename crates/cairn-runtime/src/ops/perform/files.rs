//! What the world does as it was prepared: an edit, a copy, a move, a removal, the read of a page.

use super::allowed_op::AllowedOp;
use crate::{Driver, RunError};

/// An op that the world does by itself.
pub(super) struct FileChange {
    pub(super) op: Box<AllowedOp>,
}

impl FileChange {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let FileChange { op } = self;
        op.begin(driver).await?;
        let performed = op.act_on_world(driver, None).await?;
        op.settle(driver, performed).await
    }
}
