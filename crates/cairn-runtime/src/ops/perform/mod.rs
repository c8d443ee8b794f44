//! Performing an op that is allowed: right before its effect it is compared with what was decided (`allowed_op`), and
//! then performed by the one type that is for its kind.

mod allowed_op;
mod commands;
mod entries;
mod files;
mod messages;
mod outside_call;
mod streams;

pub(crate) use allowed_op::Beginning;

use crate::background::open_feed;
use crate::run_record::rows;
use crate::{Driver, RunError};
use allowed_op::{AllowedOp, Compared};
use cairn_types::{Action, Change, Coord};
use commands::{BackgroundCommand, DirectCommand, OverlayCommand};
use entries::EntryChange;
use files::FileChange;
use messages::SentMessage;
use outside_call::OutsideCall;
use streams::{FeedRead, StreamEnd};

/// An op that has its effect now, by its kind.
enum Performance {
    Overlay(OverlayCommand),
    Direct(DirectCommand),
    Background(BackgroundCommand),
    Message(SentMessage),
    Entries(EntryChange),
    StreamEnd(StreamEnd),
    Feed(FeedRead),
    Files(FileChange),
    Outside(OutsideCall),
}

impl Performance {
    /// How an op is performed, by its action and what was prepared of it.
    fn of(op: Box<AllowedOp>) -> Performance {
        if let Some(ran) = op.prepared.ran.clone() {
            return Performance::Overlay(OverlayCommand { ran: Box::new(ran), op });
        }
        let action = op.action.clone();
        match &*action {
            Action::Send(post) => Performance::Message(SentMessage { post: post.clone(), op }),
            _ if op.prepared.changes.iter().any(Change::is_stored) => {
                Performance::Entries(EntryChange { op })
            }
            Action::Exec(exec) if exec.background => {
                Performance::Background(BackgroundCommand { op })
            }
            Action::Exec(_) => Performance::Direct(DirectCommand { op }),
            Action::Call(call) => Performance::Outside(OutsideCall { call: call.clone(), op }),
            Action::Kill { path } if rows::is_row(path) => {
                Performance::StreamEnd(StreamEnd { path: path.clone(), op })
            }
            Action::Read(read) => match open_feed::named(&read.path) {
                Some(uri) => Performance::Feed(FeedRead { uri, read: read.clone(), op }),
                None => Performance::Files(FileChange { op }),
            },
            _ => Performance::Files(FileChange { op }),
        }
    }

    async fn perform(self, driver: &mut Driver) -> Result<(), RunError> {
        match self {
            Performance::Overlay(command) => command.perform(driver).await,
            Performance::Direct(command) => command.perform(driver).await,
            Performance::Background(command) => command.perform(driver).await,
            Performance::Message(message) => message.perform(driver).await,
            Performance::Entries(change) => change.perform(driver).await,
            Performance::StreamEnd(end) => end.perform(driver).await,
            Performance::Feed(read) => read.perform(driver).await,
            Performance::Files(change) => change.perform(driver).await,
            Performance::Outside(call) => call.perform(driver).await,
        }
    }
}

impl Driver {
    /// Performs one effect: compares it with what was decided, records that it begins, makes that durable, then acts.
    pub(crate) async fn act(&mut self, at: Coord, again: bool) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "Driver::act");
        match self.compare_with_decision(at, again).await? {
            Compared::AsDecided(op) => Performance::of(op).perform(self).await,
            Compared::Settled(done, settled) => self.run.settle_without_acting(at, *done, settled),
            Compared::Otherwise(recording) => self.run.record(recording),
        }
    }
}
