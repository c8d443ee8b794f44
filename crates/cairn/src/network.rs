//! What lies between here and a provider, told by the environment: the usual variables for proxies.

use cairn_provider::Secret;
use cairn_provider::http::Network;

/// The proxy for this address. Each variable counts in small letters first, as elsewhere.
pub fn network(base_url: &str, env: &dyn Fn(&str) -> Option<String>) -> Network {
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
            let network = network(url, &env);
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
