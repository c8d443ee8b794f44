//! Commands: over an overlay, on the files themselves, and in the background.

use super::allowed_op::AllowedOp;
use crate::background::sent::Foreground;
use crate::{Driver, RunError};
use cairn_types::Settled;
use cairn_world::Performed;

/// A command that ran over an overlay, whose changes are made now.
pub(super) struct OverlayCommand {
    pub(super) op: Box<AllowedOp>,
    /// How it ran.
    pub(super) ran: Box<Performed>,
}

impl OverlayCommand {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let OverlayCommand { mut op, ran } = self;
        if op.prepared.changes.is_empty() {
            return driver.run.settle_op(op.at, *ran, Settled::Performed);
        }
        if let Err(refusal) = driver.world.stage(&mut op.prepared) {
            return driver.run.settle_op(op.at, refusal.into(), op.unperformed);
        }
        if op.prepared.changes.is_empty() {
            // Everything it changed was left out; the result says so.
            let (status, text) = op.prepared.told.take().unwrap_or((ran.status, ran.text.clone()));
            let done = Performed { status, text, ..*ran };
            return driver.run.settle_op(op.at, done, Settled::Performed);
        }
        op.begin(driver).await?;
        let performed = op.act_on_world(driver, None).await?;
        op.settle(driver, performed).await
    }
}

/// A command that works on the files themselves.
pub(super) struct DirectCommand {
    pub(super) op: Box<AllowedOp>,
}

impl DirectCommand {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let DirectCommand { op } = self;
        driver.change_watch.look_before_command(&driver.run.journal, &driver.world).await?;
        op.begin(driver).await?;
        let performed = op.act_on_world(driver, Some(Foreground::Direct(op.at))).await?;
        op.settle(driver, performed).await
    }
}

/// A command that is started and not waited for.
pub(super) struct BackgroundCommand {
    pub(super) op: Box<AllowedOp>,
}

impl BackgroundCommand {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let BackgroundCommand { op } = self;
        op.begin(driver).await?;
        let started = driver.streams.start(&driver.run, &driver.world, op.at, &op.action).await;
        op.settle(driver, started).await
    }
}
