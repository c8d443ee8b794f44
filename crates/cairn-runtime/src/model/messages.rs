//! A run's log as what the model is sent, by the run's view.

use crate::model::packet::{self, Contents, Packet};
use crate::model::transcript::Transcript;
use cairn_engine::{Engine, Lap};
use cairn_provider::http;
use cairn_provider::{Constraint, Request};
use cairn_store::{Store, StoreError};
use cairn_surface::envelope::Nonce;
use cairn_types::View;
use std::sync::Arc;

/// What a run's model is sent.
#[derive(Default)]
pub struct Messages {
    transcript: Transcript,
    packet: Packet,
}

/// Tells what the answer must follow: what whoever started the run wants of it, or on the envelope the form of a reply. A
/// server of one's own is told the nonce; elsewhere forms are kept, so they are the same in every turn.
pub(crate) fn hold(
    request: &mut Request,
    engine: &Engine,
    (form, schema): (Option<&str>, Option<Arc<str>>),
) {
    let is_plain = engine.lap().is_some_and(Lap::is_plain);
    if !engine.surface().is_text() || is_plain {
        request.schema = schema;
        return;
    }
    let tools = packet::given(engine);
    let turn = packet::turn(engine, &tools);
    let constraint = form.map(http::constraint_of).unwrap_or_default();
    let nonce = match constraint {
        Constraint::JsonSchema => Nonce::Pattern,
        Constraint::Ollama | Constraint::Gbnf => Nonce::Const,
        Constraint::None => return,
    };
    if let Some(wanted) = turn.form(nonce) {
        request.schema = Some(Arc::from(wanted.schema));
        request.grammar = Some(Arc::from(wanted.grammar));
    }
}

fn view(engine: &Engine) -> View {
    engine.run().map_or(View::Transcript, |run| run.view)
}

impl Messages {
    /// Those of a run in this state, its contents read from the store.
    pub fn load(engine: &Engine, store: &Store) -> Result<Messages, StoreError> {
        let mut messages = Messages::default();
        messages.extend(engine, &|hash| store.content(hash))?;
        Ok(messages)
    }

    /// Takes the items that are new since the last call.
    pub(crate) fn extend(
        &mut self,
        engine: &Engine,
        content: Contents<'_>,
    ) -> Result<(), StoreError> {
        match view(engine) {
            View::Transcript => self.transcript.extend(engine, content),
            View::Packet => self.packet.extend(engine, content),
        }
    }

    /// Everything that would be sent if the model were asked now, with what it is told then first.
    pub(crate) fn next(
        &self,
        engine: &Engine,
        content: Contents<'_>,
    ) -> Result<Request, StoreError> {
        match view(engine) {
            View::Transcript => self.transcript.next(engine, content),
            View::Packet => self.packet.request(engine, content),
        }
    }

    /// The request that shows the first `messages` items; a packet shows them all.
    pub(crate) fn request(
        &self,
        engine: &Engine,
        messages: usize,
        content: Contents<'_>,
    ) -> Result<Request, StoreError> {
        match view(engine) {
            View::Transcript => Ok(self.transcript.request(messages)),
            View::Packet => self.packet.request(engine, content),
        }
    }

    /// What the next request shows as it stands, by path.
    pub(crate) fn shows(&self, engine: &Engine) -> Vec<String> {
        match view(engine) {
            View::Transcript => Vec::new(),
            View::Packet => self.packet.shows(),
        }
    }
}
