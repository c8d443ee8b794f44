//! Model APIs behind one trait: what is asked, what is answered, and why a model could not be had.
//! Knows nothing of runs, tools or the log; those turn into a `Request` elsewhere.

pub mod catalogue;
pub mod chat;
mod config;
mod fault;
mod message;
mod record;
mod retry;
pub mod scripted;

pub use config::{Limits, Price, Secret};
pub use fault::{Fault, FaultClass};
pub use message::{Answer, CallText, Delta, Message, Request};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// A model that can be asked.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Asks once and ends exactly once: with a complete answer, or with a fault after the retries
    /// that the fault deserved. An answer that was cut is never an `Answer`.
    async fn ask(
        &self,
        request: &Request,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Answer, Fault>;

    /// What a token costs; `None` when nobody has said.
    fn price(&self) -> Option<Price>;
}
