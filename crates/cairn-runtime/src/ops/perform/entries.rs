//! Changes of entries that the store keeps. They are made with the outcome, and no other run changes one meanwhile.

use super::allowed_op::AllowedOp;
use crate::{Driver, RunError};
use cairn_types::{Change, Settled, Status};
use cairn_world::Performed;

/// An op that changes entries. One that also changes files begins like any.
pub(super) struct EntryChange {
    pub(super) op: Box<AllowedOp>,
}

impl EntryChange {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let EntryChange { op } = self;
        let _alone = driver.run.journal.lock_entries().await?;
        if let Some(address) = driver.world.stale(&op.prepared.changes) {
            let text = format!("{address} was changed by another run meanwhile");
            let refused = Performed::told(Status::CONFLICT, text);
            return driver.run.settle_op(op.at, refused, Settled::NotPerformed);
        }
        match op.prepared.changes.iter().all(Change::is_stored) {
            true => {
                op.prepared.contents.iter().for_each(|one| driver.run.journal.keep(one.clone()))
            }
            false => op.begin(driver).await?,
        }
        let performed = op.act_on_world(driver, None).await?;
        op.settle(driver, performed).await?;
        driver.run.flush().await
    }
}
