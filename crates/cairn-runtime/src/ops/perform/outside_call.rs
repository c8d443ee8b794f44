//! A call of a tool from outside, performed by the handler that its source registered.

use super::allowed_op::AllowedOp;
use crate::{Driver, RunError};
use cairn_types::ToolCall;
use cairn_world::Performed;
use tokio_util::sync::CancellationToken;

/// A call that changes something, or may.
pub(super) struct OutsideCall {
    pub(super) op: Box<AllowedOp>,
    pub(super) call: ToolCall,
}

impl OutsideCall {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let OutsideCall { op, call } = self;
        op.begin(driver).await?;
        let cancel = CancellationToken::new();
        let mut calling = driver.settings.outside_tools.call(call, &cancel);
        let answer = driver.meanwhile(&mut calling, &cancel).await?;
        op.settle(driver, Performed::told(answer.status, answer.text)).await
    }
}
