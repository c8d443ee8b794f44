//! The run in which a session notes what nobody's op changed, so that other runs hear of it as of any
//! run's rows. Who looks, and what was found, is not decided here.

use crate::RunError;
use crate::client::Client;
use cairn_store::Store;
use cairn_types::{
    Begin, Body, By, Change, Coord, Decision, Effect, Intent, OpName, Outcome, Policy, SessionId,
    Settled, Status, Surface, Verdict, Writer,
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
        let mut recording = self.engine.prompted(&format!("note {target}"), Writer::System);
        recording.contents.extend(contents);
        let at = Coord { lap: self.engine.next_lap(), turn: 1, seq: 1 };
        let input = recording.keep("{}");
        let result = recording.keep(told);
        recording.facts.push(Body::Intent(Intent {
            at,
            call: String::new(),
            writer: Writer::System,
            surface: Surface::Client,
            tool: "note".to_owned(),
            input,
            op: Some(OpName::Edit),
            target,
            subject: None,
            effect: Effect::World,
            repeatable: false,
            of: None,
            repairs: Vec::new(),
            problem: None,
            unclosed: false,
            says: None,
        }));
        let by = By::Gate("system".to_owned());
        recording.facts.push(Body::Decision(Decision::new(at, Verdict::Allow, by, Vec::new())));
        let (begun, told, ran) = (changes.clone(), None, None);
        recording.facts.push(Body::Begin(Begin { at, changes: begun, again: false, told, ran }));
        let noted = Outcome::told(at, (Status::OK, result), Settled::FoundDone);
        recording.facts.push(Body::Outcome(Outcome { changes, ..noted }));
        self.record(recording);
        self.end();
        self.commit().await
    }
}
