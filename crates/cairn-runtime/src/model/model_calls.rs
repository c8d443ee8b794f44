//! What a run's model is asked with: who is asked, what it is sent, and what its answers must follow. What a call may cost
//! is `money`'s.

use crate::model::messages::hold;
use crate::run_record::RunRecord;
use crate::{Longest, Settings};
use cairn_engine::Lap;
use cairn_provider::{Effort, Provider, Request};
use cairn_store::StoreError;
use std::sync::Arc;

/// The calls of a run's model.
pub(crate) struct ModelCalls {
    pub(crate) provider: Arc<dyn Provider>,
    /// The model's name, `provider/name`.
    pub(crate) model: String,
    /// How hard the model thinks before it answers.
    effort: Effort,
    /// The JSON Schema that its answers must follow.
    pub(crate) schema: Option<Arc<str>>,
    /// How long its answers may be.
    pub(crate) longest: Longest,
    /// Money is set aside for the next call.
    pub(crate) has_reserved: bool,
}

impl ModelCalls {
    pub(crate) fn new(provider: Arc<dyn Provider>, settings: &Settings) -> ModelCalls {
        let &Settings { effort, longest, .. } = settings;
        let (model, schema) = (settings.model.clone(), settings.schema.clone());
        ModelCalls { provider, model, effort, schema, longest, has_reserved: false }
    }

    /// The schema, for the fact that names it.
    pub(crate) fn schema_content(&self) -> Vec<Vec<u8>> {
        self.schema.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    /// The request that shows the first `messages` items.
    pub(crate) fn request(&self, run: &RunRecord, messages: usize) -> Result<Request, StoreError> {
        tracing::trace!(target: "cairn::turn", "ModelCalls::request");
        let engine = run.engine();
        let mut request = run.messages.request(engine, messages, &|hash| run.content(hash))?;
        request.effort = self.effort;
        let form = self.provider.form();
        hold(&mut request, engine, (form.as_deref(), self.schema.clone()));
        request.max_output = engine.lap().and_then(Lap::max_output);
        Ok(request)
    }
}
