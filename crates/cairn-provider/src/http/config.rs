//! How to reach a model over HTTP. Plain values: whoever makes them reads files and environment.

use super::Wire;
use crate::config::Secrets;
use crate::{Abilities, Limits, Price, Secret};
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
    pub headers: Vec<(String, String)>,
    /// Further query parameters, such as Azure's `api-version`, whose values but for that one are
    /// kept out of messages, too.
    pub query: Vec<(String, String)>,
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
        }
    }

    /// What must not be seen outside a request.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        if let Some(key) = &self.key {
            secrets.add(key.expose());
            let encoded: String = form_encoded(key.expose());
            if encoded != key.expose() {
                secrets.add(&encoded);
            }
        }
        for (_, value) in &self.headers {
            secrets.add(value);
            secrets.add(value.strip_prefix("Bearer ").unwrap_or(""));
        }
        for (name, value) in &self.query {
            // A version is no secret, and errors are about it.
            if name != "api-version" {
                secrets.add(value);
            }
        }
        if let Some(proxy) = &self.network.proxy {
            secrets.add(proxy.expose());
            let url = reqwest::Url::parse(proxy.expose()).ok();
            secrets.add(url.as_ref().and_then(|url| url.password()).unwrap_or(""));
        }
        secrets
    }
}

/// A key as it stands in a query.
fn form_encoded(text: &str) -> String {
    let mut url = reqwest::Url::parse("http://host").ok();
    if let Some(url) = &mut url {
        url.query_pairs_mut().append_key_only(text);
    }
    url.and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
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
            .field("base_url", &self.secrets().redact(&self.base_url))
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
