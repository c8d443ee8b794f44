//! A model behind an HTTP API: one client, its retries and its deadlines, for every wire format.
//! What a request looks like and how an answer is read belongs to the format's own folder.

mod client;
mod config;
mod exchange;
mod form;
mod peer;
mod record;
mod refusal;
mod retry;
mod sse;
mod wire;

pub use config::{Auth, Config, Network};
pub use form::{constraint_of, render_as};
pub use wire::Wire;

use crate::read::OnDelta;
use crate::write::Target;
use crate::{Answer, Delta, Fault, FaultClass, Price, Provider, Request};
use async_trait::async_trait;
use bytes::Bytes;
use client::Client;
use config::origin;
use exchange::{Exchange, Received};
use record::Recorder;
use retry::Clock;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tokio_util::sync::CancellationToken;

/// A model behind an HTTP API.
#[derive(Debug)]
pub struct Http {
    client: Client,
    config: Config,
    origin: String,
    recorder: Option<Recorder>,
    /// Whether it has ever answered: one that has is not merely starting up.
    answered: AtomicBool,
}

impl Http {
    /// Prepares a client. Connects to nothing; for `http` it loads no certificates either.
    pub fn new(config: Config) -> Result<Http, Fault> {
        let client = Client::new(&config)?;
        let record = |folder: PathBuf| Recorder::new(folder, config.finder());
        let recorder = config.record.clone().map(record).transpose()?;
        let origin = origin(&config);
        Ok(Http { client, config, origin, recorder, answered: AtomicBool::new(false) })
    }

    async fn attempts(
        &self,
        body: Bytes,
        on_delta: OnDelta<'_>,
        made: &mut u32,
    ) -> Result<Answer, Fault> {
        let limits = &self.config.limits;
        let mut clock = Clock::start();
        let exchange = Exchange {
            client: &self.client,
            wire: self.config.wire,
            echo: self.config.abilities.echo_reasoning,
            origin: &self.origin,
            limits,
            recorder: self.recorder.as_ref(),
            answered: &self.answered,
        };
        loop {
            *made += 1;
            let fault = match exchange.run(body.clone(), &mut clock, on_delta).await {
                Ok(Received { reply, is_replaced }) => {
                    let answer = reply.finish().answer(*made);
                    return Ok(self.priced(Answer { is_replaced, ..answer }));
                }
                Err(fault) => fault,
            };
            match retry::wait(&fault, *made, &mut clock, limits) {
                Some(wait) => {
                    let attempt = *made + 1;
                    on_delta(Delta::Retrying { attempt, wait, why: fault.message });
                    tokio::time::sleep(wait).await;
                }
                None => return Err(fault.after(*made)),
            }
        }
    }

    fn priced(&self, answer: Answer) -> Answer {
        let cost = self.config.price.zip(answer.usage).map(|(price, usage)| price.of(&usage));
        Answer { cost, ..answer }
    }
}

#[async_trait]
impl Provider for Http {
    async fn ask(
        &self,
        request: &Request,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Answer, Fault> {
        let body = render(&self.config, request).map_err(|error| {
            let message = format!(
                "the tool list or the schema is not the JSON it should be: {error}; nothing was sent to the model"
            );
            Fault::new(FaultClass::BadRequest, message).caused_by(error)
        })?;
        let mut made = 0;
        // Dropping the attempts drops the connection: that is all that cancelling takes.
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            ended = self.attempts(body.into(), on_delta, &mut made) => Some(ended),
        };
        ended.unwrap_or_else(|| Err(self.client.peer.cancelled().after(made)))
    }

    fn price(&self) -> Option<Price> {
        self.config.price
    }

    fn form(&self) -> Option<String> {
        Some(self.config.form())
    }
}

/// The bytes that a model configured like this is sent. Fails only when the request's tools are not
/// a JSON array of tools, or its schema is not JSON.
pub fn render(config: &Config, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let origin = origin(config);
    let target = Target { model: &config.model, origin: &origin, abilities: &config.abilities };
    config.wire.render(target, request)
}
