//! Streams of the run: ending one, and opening or reading on in a feed.

use super::allowed_op::AllowedOp;
use crate::{Driver, RunError};
use cairn_types::{Read, Uri};

/// An op that ends what runs in the background, by the address of its row.
pub(super) struct StreamEnd {
    pub(super) op: Box<AllowedOp>,
    pub(super) path: String,
}

impl StreamEnd {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let StreamEnd { op, path } = self;
        op.begin(driver).await?;
        let ended = driver.streams.end(&mut driver.run, &path, None).await?;
        op.settle(driver, ended).await
    }
}

/// An op that reads a feed.
pub(super) struct FeedRead {
    pub(super) op: Box<AllowedOp>,
    pub(super) uri: Uri,
    pub(super) read: Read,
}

impl FeedRead {
    pub(super) async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        let FeedRead { op, uri, read } = self;
        op.begin(driver).await?;
        let performed = driver.read_feed(op.at, &uri, &read).await?;
        op.settle(driver, performed).await
    }
}
