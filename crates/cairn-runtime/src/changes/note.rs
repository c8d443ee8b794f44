//! The run in which a session notes what nobody's op changed, so that other runs hear of it as of any
//! run's rows. Who looks, and what was found, is not decided here.

use crate::RunError;
use crate::client::{Client, ClientOp};
use cairn_store::Store;
use cairn_types::{
    Body, By, Change, Gate, OpName, Outcome, Policy, SessionId, Settled, Status, Writer,
};
use cairn_world::World;
use std::sync::Arc;

/// The name of the run in which a session notes what nobody's op changed.
pub const SYSTEM_RUN: &str = "@system";

impl Client {
    /// The run in which the session notes what nobody's op changed.
    pub(crate) async fn system(
        store: Store,
        world: Arc<World>,
        session: &SessionId,
    ) -> Result<Client, RunError> {
        Client::take_named(store, world, session, (SYSTEM_RUN, Policy::default())).await
    }

    /// Notes what was changed by nobody's op, as a row that says so. Gives its receipt.
    pub(crate) async fn note(
        &mut self,
        changes: Vec<Change>,
        told: String,
        contents: Vec<Vec<u8>>,
    ) -> Result<Option<String>, RunError> {
        let target = match changes.as_slice() {
            [one] => one.path.clone(),
            many => format!("{} files", many.len()),
        };
        let (input, by) = ("{}".to_owned(), By::Gate(Gate::System));
        let op = ClientOp { tool: "note", input, target, changes, by };
        let (mut recording, at) = self.begin_op(&op, OpName::Edit, Writer::System);
        recording.contents.extend(contents);
        let result = recording.keep(told);
        let noted = Outcome::told(at, (Status::OK, result), Settled::FoundDone);
        recording.facts.push(Body::Outcome(Outcome { changes: op.changes, ..noted }));
        self.journal.record(recording);
        self.journal.record_what_follows();
        self.commit().await
    }
}
