//! The connection to one endpoint: its URL, where the key goes, proxy and certificates. Builds
//! requests; what they hold and what comes back is `exchange`'s.

use super::peer::Peer;
use super::{Auth, Config};
use crate::{Fault, FaultClass, Secret};
use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, RequestBuilder, Url};
use std::net::IpAddr;

/// A client for one endpoint.
pub(crate) struct Client {
    inner: reqwest::Client,
    /// The endpoint with its query, which may hold the key.
    url: Url,
    headers: HeaderMap,
    pub(crate) peer: Peer,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Client {
    pub(crate) fn new(config: &Config) -> Result<Self, Fault> {
        let shown = endpoint(config)?;
        let headers = headers(config)?;
        let mut url = shown.clone();
        add_query(&mut url, config);
        let inner = inner(&shown, config)?;
        let peer = Peer {
            provider: config.provider.clone(),
            model: config.model.clone(),
            api: config.wire.api(),
            is_local: is_loopback(&shown),
            has_key: config.key.is_some(),
            url: shown,
            finder: config.finder(),
        };
        Ok(Self { inner, url, headers, peer })
    }

    pub(crate) fn request(&self, body: Bytes) -> RequestBuilder {
        self.inner.post(self.url.clone()).headers(self.headers.clone()).body(body)
    }
}

/// The one URL that is ever asked, as messages may show it. A user or a query in it could hide a
/// key that the URL's many appearances in messages would then show.
fn endpoint(config: &Config) -> Result<Url, Fault> {
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
    let path = config.wire.path(url.path(), &config.model);
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

fn add_query(url: &mut Url, config: &Config) {
    let fixed = config.wire.query();
    let key = match (&config.auth, &config.key) {
        (Auth::Query(name), Some(key)) => Some((name.as_str(), key.expose())),
        _ => None,
    };
    if fixed.is_empty() && config.query.is_empty() && key.is_none() {
        return;
    }
    let mut query = url.query_pairs_mut();
    query.extend_pairs(fixed);
    query.extend_pairs(config.query.iter().map(|(name, value)| (name, value.expose())));
    query.extend_pairs(key);
}

fn headers(config: &Config) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    for (name, value) in config.wire.headers() {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let key = match (&config.auth, &config.key) {
        (_, None) | (Auth::Query(_), _) => None,
        (Auth::Bearer, Some(key)) => {
            Some(("authorization", Secret::new(format!("Bearer {}", key.expose()))))
        }
        (Auth::Header(name), Some(key)) => Some((name.as_str(), key.clone())),
    };
    if let Some((name, value)) = key {
        let what = format!("the key for {}", config.provider);
        headers.insert(header_name(name, config)?, secret_value(value.expose(), &what)?);
    }
    for (name, value) in &config.headers {
        let what = format!("the header {name:?} for {}", config.provider);
        headers.insert(header_name(name, config)?, secret_value(value.expose(), &what)?);
    }
    Ok(headers)
}

fn header_name(name: &str, config: &Config) -> Result<HeaderName, Fault> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        let message = format!(
            "{name:?} cannot be the name of a header for {}; use letters, digits and dashes",
            config.provider
        );
        Fault::new(FaultClass::BadRequest, message)
    })
}

fn secret_value(value: &str, what: &str) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        let message = format!(
            "{what} holds a character that no header can carry; look for a stray line end in it"
        );
        Fault::new(FaultClass::Auth, message)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn inner(url: &Url, config: &Config) -> Result<reqwest::Client, Fault> {
    // Fails only when a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(config.limits.connect)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .http1_only()
        .tcp_nodelay(true);
    let proxy = proxy(url, config)?;
    let secure = url.scheme() == "https" || proxy.as_ref().is_some_and(|(_, secure)| *secure);
    let builder = match proxy {
        Some((proxy, _)) => builder.proxy(proxy),
        None => builder,
    };
    let builder = match secure {
        true => with_certificates(builder, config)?,
        // No roots: reading the system's takes longer than the whole start of the program.
        false => builder.tls_certs_only([]),
    };
    builder.build().map_err(|e| {
        let message = format!(
            "cannot prepare a connection to {}: {e}; check this system's CA certificates",
            config.provider
        );
        Fault::new(FaultClass::Unreachable, message).caused_by(e.without_url())
    })
}

/// The proxy for this URL, and whether it is itself reached over TLS.
fn proxy(url: &Url, config: &Config) -> Result<Option<(Proxy, bool)>, Fault> {
    let network = &config.network;
    let Some(address) = &network.proxy else { return Ok(None) };
    if is_loopback(url) && !network.proxy_loopback {
        return Ok(None);
    }
    let refuse = || {
        let message = format!(
            "the proxy for {} is not a URL that can be used; write it like http://proxy.example.com:3128",
            config.provider
        );
        Fault::new(FaultClass::Unreachable, message)
    };
    let address = address.expose().trim();
    let secure = match address.split_once("://") {
        None | Some(("http", _)) => false,
        Some(("https", _)) => true,
        Some(_) => return Err(refuse()),
    };
    // What lies beneath such an error may repeat the address, and with it a password.
    let proxy = Proxy::all(address).map_err(|_| refuse())?;
    Ok(Some((proxy.no_proxy(NoProxy::from_string(&network.no_proxy)), secure)))
}

fn with_certificates(builder: ClientBuilder, config: &Config) -> Result<ClientBuilder, Fault> {
    let Some(pem) = &config.network.ca_pem else { return Ok(builder) };
    let refuse = |why: String| {
        let message = format!(
            "the CA certificates for {} cannot be used: {why}; give a file in PEM format",
            config.provider
        );
        Fault::new(FaultClass::Unreachable, message)
    };
    let certificates = Certificate::from_pem_bundle(pem).map_err(|e| refuse(e.to_string()))?;
    if certificates.is_empty() {
        return Err(refuse("there is none in it".to_owned()));
    }
    Ok(builder.tls_certs_merge(certificates))
}

/// Whether this is a server of this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Wire;

    #[test]
    fn each_format_stands_where_its_api_puts_it() {
        let check = |wire, base: &str, expected: &str| {
            let config = Config::new("p", wire, base, "m-1");
            let mut url = endpoint(&config).unwrap();
            add_query(&mut url, &config);
            assert_eq!(url.as_str(), expected);
        };
        check(Wire::Chat, "http://h/v1/", "http://h/v1/chat/completions");
        check(Wire::Responses, "http://h/v1", "http://h/v1/responses");
        check(Wire::Anthropic, "http://h", "http://h/v1/messages");
        check(Wire::Anthropic, "http://h/v1", "http://h/v1/messages");
        let gemini = "http://h/v1beta/models/m-1:streamGenerateContent?alt=sse";
        check(Wire::Gemini, "http://h", gemini);
        check(Wire::Gemini, "http://h/v1beta/", gemini);
        let vertex = "http://h/v1/projects/p/locations/l/publishers/google";
        let asked = format!("{vertex}/models/m-1:streamGenerateContent?alt=sse");
        check(Wire::Gemini, vertex, &asked);
    }

    #[test]
    fn this_machines_own_servers_are_known() {
        let local =
            ["http://localhost:1/v1", "http://127.0.0.9", "http://[::1]:80", "http://a.localhost"];
        for url in local {
            assert!(is_loopback(&Url::parse(url).unwrap()), "{url}");
        }
        for url in ["http://localhost.example.com", "http://10.0.0.1", "http://[::2]"] {
            assert!(!is_loopback(&Url::parse(url).unwrap()), "{url}");
        }
    }
}
