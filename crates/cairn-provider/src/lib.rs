//! Model APIs behind one trait: what is asked, what is answered, and why a model could not be had.
//! Knows nothing of runs, tools or the log; those turn into a `Request` elsewhere.

mod anthropic;
pub mod catalogue;
mod chat;
mod config;
mod fallback;
mod fault;
mod gemini;
pub mod http;
mod message;
mod read;
mod responses;
pub mod scripted;
mod write;

pub use cairn_types::Secret;
pub use config::{Abilities, Constraint, Limits, Price};
pub use fallback::Fallback;
pub use fault::{Fault, FaultClass};
pub use message::{Answer, CallText, Delta, Effort, Message, Part, Request, Thought};

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

    /// How it is asked, as far as that decides the bytes it is sent (`http::render_as`); `None` when
    /// nothing is sent anywhere.
    fn form(&self) -> Option<String> {
        None
    }
}
