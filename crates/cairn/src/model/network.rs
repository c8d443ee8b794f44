//! What lies between here and a provider: the configuration's word, or the usual variables for proxies. And what
//! pages may be read.

use crate::config::Config;
use crate::run::Usage;
use cairn_provider::Secret;
use cairn_provider::http::Network;
use cairn_runtime::schemes::Web;
use cairn_sandbox::network::HostPort;
use std::sync::Arc;

/// The way to this address: what the user's file says, else what the environment does.
pub fn network(
    base_url: &str,
    config: &Config,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Network, Usage> {
    let mut network = usual(base_url, env);
    if let Some(proxy) = config.text("network.proxy") {
        network.proxy = Some(Secret::new(proxy));
    }
    if let Some(hosts) = config.text("network.no_proxy") {
        network.no_proxy = hosts.to_owned();
    }
    if let Some(pem) = certificates(config)? {
        network.ca_pem = Some(pem);
    }
    Ok(network)
}

/// What pages may be read, by the user's own configuration. No proxy is used for them: it would resolve names by
/// itself, and what they lead to could not be looked at.
pub fn web(config: &Config) -> Result<Web, Usage> {
    let private = config.list("web.private").iter().map(|host| {
        let bad = |why| Usage(format!("web.private holds {host:?}: {why}"));
        host.parse::<HostPort>().map_err(bad)
    });
    let private = private.collect::<Result<_, _>>()?;
    Ok(Web { private, ca_pem: certificates(config)?, ..Web::default() })
}

fn certificates(config: &Config) -> Result<Option<Arc<[u8]>>, Usage> {
    let Some(path) = config.text("network.ca_file") else { return Ok(None) };
    let pem = std::fs::read(path).map_err(|why| {
        Usage(format!("the certificates in {path} cannot be read ({why}); see network.ca_file"))
    })?;
    Ok(Some(pem.into()))
}

/// The proxy for this address. Each variable counts in small letters first, as elsewhere.
fn usual(base_url: &str, env: &dyn Fn(&str) -> Option<String>) -> Network {
    let either = |name: &str| {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        set(&name.to_ascii_lowercase()).or_else(|| set(name))
    };
    let own = if base_url.starts_with("https") { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    Network {
        proxy: either(own).or_else(|| either("ALL_PROXY")).map(Secret::new),
        no_proxy: either("NO_PROXY").unwrap_or_default(),
        ..Network::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_variables_name_the_proxy() {
        let check = |url: &str, set: &[(&str, &str)], proxied: bool, without: &str| {
            let env = |name: &str| {
                set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
            };
            let network = usual(url, &env);
            assert_eq!(
                (network.proxy.is_some(), &*network.no_proxy),
                (proxied, without),
                "{set:?}"
            );
        };
        let (http, https) = ("http://h/v1", "https://h/v1");
        check(https, &[("HTTPS_PROXY", "http://p"), ("NO_PROXY", "a,b")], true, "a,b");
        check(
            https,
            &[("https_proxy", "http://p"), ("no_proxy", "a"), ("NO_PROXY", "b")],
            true,
            "a",
        );
        check(https, &[("HTTP_PROXY", "http://p")], false, "");
        check(http, &[("http_proxy", "http://p")], true, "");
        check(http, &[("ALL_PROXY", "http://p")], true, "");
        check(http, &[("HTTP_PROXY", " ")], false, "");
    }
}
