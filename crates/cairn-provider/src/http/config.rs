//! How to reach a model over HTTP. Plain values: whoever makes them reads files and environment.

use super::Wire;
use crate::{Abilities, Limits, Price, Secret};
use cairn_text::scrub::{Known, Scrubber};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// How to reach a model.
#[derive(Clone)]
pub struct Config {
    /// The provider's name, for messages.
    pub provider: String,
    /// The format it speaks.
    pub wire: Wire,
    /// Where the API stands; the format's own path is added to it.
    pub base_url: String,
    /// The model's name on the wire.
    pub model: String,
    /// The key, where one is needed.
    pub key: Option<Secret>,
    /// Where the key goes.
    pub auth: Auth,
    /// Further headers. Their values are kept out of messages as if they were keys.
    pub headers: Vec<(String, Secret)>,
    /// Further query parameters, such as Azure's `api-version`, whose values but for that one are
    /// kept out of messages, too.
    pub query: Vec<(String, Secret)>,
    /// How long and how often it may be tried.
    pub limits: Limits,
    /// What a token costs.
    pub price: Option<Price>,
    /// What the model can do.
    pub abilities: Abilities,
    /// What lies between here and there.
    pub network: Network,
    /// A folder to record the traffic in.
    pub record: Option<PathBuf>,
    /// What must be in no message and no recording, besides the secrets in here.
    pub scrubber: Scrubber,
}

/// Where a key goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of this name, which holds the key alone.
    Header(String),
    /// A query parameter of this name.
    Query(String),
}

/// What lies between here and a provider.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// A proxy's URL, which may hold a user and a password.
    pub proxy: Option<Secret>,
    /// Hosts that are reached without it, as in the variable `NO_PROXY`.
    pub no_proxy: String,
    /// Whether it is also used for this machine's own servers.
    pub proxy_loopback: bool,
    /// Certificates to trust besides the system's, PEM.
    pub ca_pem: Option<Arc<[u8]>>,
}

impl Config {
    /// A model at this address with nothing special about it: the format's own place for the key,
    /// no key, default limits, no price, unknown abilities, no proxy, no recording.
    #[must_use]
    pub fn new(
        provider: impl Into<String>,
        wire: Wire,
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            provider: provider.into(),
            wire,
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            auth: wire.auth(),
            headers: Vec::new(),
            query: Vec::new(),
            limits: Limits::default(),
            price: None,
            abilities: Abilities::default(),
            network: Network::default(),
            record: None,
            scrubber: Scrubber::default(),
        }
    }

    /// Finds what must not be seen outside a request: servers have been seen to repeat it in their
    /// errors.
    pub(crate) fn finder(&self) -> Scrubber {
        let mut known: Vec<Known> =
            self.key.iter().map(|key| Known::new(&self.provider, key)).collect();
        for (name, value) in &self.headers {
            known.push(Known::new(name, value));
            if let Some(token) = value.expose().strip_prefix("Bearer ") {
                known.push(Known::new(name, &Secret::new(token)));
            }
        }
        // A version is no secret, and errors are about it.
        let query = self.query.iter().filter(|(name, _)| name != "api-version");
        known.extend(query.map(|(name, value)| Known::new(name, value)));
        if let Some(proxy) = &self.network.proxy {
            known.push(Known::new("proxy", proxy));
            let url = reqwest::Url::parse(proxy.expose()).ok();
            let password = url.as_ref().and_then(|url| url.password());
            known.extend(password.map(|password| Known::new("proxy", &Secret::new(password))));
        }
        self.scrubber.and(known)
    }
}

/// How this model's thoughts name it.
pub(crate) fn origin(config: &Config) -> String {
    format!("{}:{}", config.wire.word(), config.model)
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Config")
            .field("provider", &self.provider)
            .field("wire", &self.wire)
            .field("base_url", &self.finder().text(&self.base_url))
            .field("model", &self.model)
            .field("key", &self.key)
            .field("auth", &self.auth)
            .field("headers", &names)
            .field("limits", &self.limits)
            .field("price", &self.price)
            .field("abilities", &self.abilities)
            .field("network", &self.network)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}
