//! A model whose answers are kept short, whatever a request allows.

use crate::{Answer, Delta, Fault, Price, Provider, Request};
use async_trait::async_trait;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A model, and how many tokens its answers may have.
#[derive(Clone)]
pub struct Capped {
    /// The model.
    pub model: Arc<dyn Provider>,
    /// Its longest answer, thinking included.
    pub most: u64,
}

#[async_trait]
impl Provider for Capped {
    async fn ask(
        &self,
        request: &Request,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Answer, Fault> {
        let most = request.max_output.map_or(self.most, |allowed| allowed.min(self.most));
        let request = Request { max_output: Some(most), ..request.clone() };
        self.model.ask(&request, on_delta, cancel).await
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn form(&self) -> Option<String> {
        self.model.form()
    }
}
