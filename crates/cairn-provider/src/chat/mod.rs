//! OpenAI Chat Completions at any base URL: the client, its retries and its deadline. What one
//! request looks like is `body`, how one answer is read is `exchange`.

mod body;
mod exchange;
mod peer;
mod reply;
mod sse;

pub use body::render;

use crate::record::Recorder;
use crate::{Answer, Delta, Fault, FaultClass, Limits, Price, Provider, Request, Secret, retry};
use async_trait::async_trait;
use bytes::Bytes;
use exchange::{Exchange, within};
use peer::Peer;
use reqwest::header::HeaderValue;
use reqwest::{Client, Url};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How to reach a model.
#[derive(Debug, Clone)]
pub struct ChatConfig {
    /// Where the API stands; `/chat/completions` is added to it.
    pub base_url: String,
    /// The key, where one is needed.
    pub key: Option<Secret>,
    /// The model's name on the wire.
    pub model: String,
    /// The provider's name, for messages.
    pub provider: String,
    /// How long and how often it may be tried.
    pub limits: Limits,
    /// A folder to record the traffic in.
    pub record: Option<PathBuf>,
    /// What a token costs.
    pub price: Option<Price>,
}

/// A model behind the Chat Completions API.
#[derive(Debug)]
pub struct Chat {
    client: Client,
    peer: Peer,
    auth: Option<HeaderValue>,
    limits: Limits,
    recorder: Option<Recorder>,
    price: Option<Price>,
}

impl Chat {
    /// Prepares a client. Connects to nothing; for `http` it loads no certificates either.
    pub fn new(config: ChatConfig) -> Result<Chat, Fault> {
        let url = endpoint(&config)?;
        let auth = config.key.as_ref().map(|key| bearer(key, &config.provider)).transpose()?;
        let client = client(&url, &config)?;
        let recorder =
            config.record.map(|folder| Recorder::new(folder, config.key.clone())).transpose()?;
        let peer = Peer { provider: config.provider, model: config.model, url, key: config.key };
        Ok(Chat { client, peer, auth, limits: config.limits, recorder, price: config.price })
    }

    async fn attempts(
        &self,
        body: Bytes,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        made: &mut u32,
    ) -> Result<Answer, Fault> {
        let (started, deadline) = (Instant::now(), within(self.limits.deadline));
        let exchange = Exchange {
            client: &self.client,
            peer: &self.peer,
            auth: self.auth.as_ref(),
            limits: &self.limits,
            recorder: self.recorder.as_ref(),
        };
        loop {
            *made += 1;
            let attempt = exchange.run(body.clone(), on_delta);
            let fault = match tokio::time::timeout_at(deadline, attempt).await {
                Ok(Ok(reply)) => return Ok(reply.into_answer(*made)),
                Ok(Err(fault)) => fault,
                Err(_) => self.peer.timeout("did not finish", self.limits.deadline),
            };
            match retry::wait(&fault, *made, started.elapsed(), &self.limits) {
                Some(wait) => pause(wait, *made + 1, fault, on_delta).await,
                None => return Err(fault.after(*made)),
            }
        }
    }
}

async fn pause(
    wait: Duration,
    attempt: u32,
    fault: Fault,
    on_delta: &mut (dyn FnMut(Delta) + Send),
) {
    on_delta(Delta::Retrying { attempt, wait, why: fault.message });
    tokio::time::sleep(wait).await;
}

#[async_trait]
impl Provider for Chat {
    async fn ask(
        &self,
        request: &Request,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Answer, Fault> {
        let body = render(&self.peer.model, request).map_err(|error| {
            let message = format!(
                "the tool list is not a JSON array: {error}; nothing was sent to the model"
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
        ended.unwrap_or_else(|| Err(self.peer.cancelled().after(made)))
    }

    fn price(&self) -> Option<Price> {
        self.price
    }
}

/// The one URL that is ever asked. A user or a query in it could hide a key that the URL's many
/// appearances in messages would then show.
fn endpoint(config: &ChatConfig) -> Result<Url, Fault> {
    let refuse = |why: &str| {
        let message = format!(
            "the base_url of {} {why}; write it like https://api.example.com/v1",
            config.provider
        );
        Fault::new(FaultClass::NotFound, message)
    };
    let mut url = Url::parse(config.base_url.trim())
        .map_err(|e| refuse("is not a URL").caused_by(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refuse("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(refuse("holds a user or a query, and a key belongs in its own setting"));
    }
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

fn bearer(key: &Secret, provider: &str) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
        let message = format!(
            "the key for {provider} holds a character that no header can carry; look for a stray line end in it"
        );
        Fault::new(FaultClass::Auth, message)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn client(url: &Url, config: &ChatConfig) -> Result<Client, Fault> {
    // Fails only when a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(config.limits.connect)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .http1_only()
        .tcp_nodelay(true);
    let builder = match url.scheme() {
        "https" => builder,
        // No roots: reading the system's takes longer than the whole start of the program.
        _ => builder.tls_certs_only([]),
    };
    builder.build().map_err(|e| {
        let message = format!(
            "cannot prepare a connection to {}: {e}; check this system's CA certificates",
            config.provider
        );
        Fault::new(FaultClass::Unreachable, message).caused_by(e.without_url())
    })
}
