//! Proxies and certificates.

use crate::kit::{KEY, ask, once, server};
use cairn_provider::http::{Config, Http, Network, Wire};
use cairn_provider::{FaultClass, Secret};
use cairn_testkit::ModelServer;

/// A model at this address behind a proxy, which is a scripted server that answers itself.
fn behind(proxy: &ModelServer, base_url: &str, network: Network) -> Config {
    let url = proxy.url().replace("http://", "http://user:hush-hush-42@").replace("/v1", "");
    Config {
        key: Some(Secret::new(KEY)),
        limits: once(),
        network: Network { proxy: Some(Secret::new(url)), ..network },
        ..Config::new("demo", Wire::Chat, base_url, "demo-1")
    }
}

#[tokio::test]
async fn requests_go_through_the_proxy_but_for_hosts_that_need_none() {
    let (proxy, direct) = (server(), server());
    let far = "http://model.example.invalid/v1";
    ask(&Http::new(behind(&proxy, far, Network::default())).unwrap()).await.unwrap();
    let head = proxy.heads().pop().unwrap();
    assert!(head.starts_with("POST http://model.example.invalid/v1/chat/completions "), "{head}");
    assert!(head.to_ascii_lowercase().contains("proxy-authorization: basic "), "{head}");

    // This machine's own servers are reached directly, unless that is asked for.
    ask(&Http::new(behind(&proxy, &direct.url(), Network::default())).unwrap()).await.unwrap();
    assert_eq!((proxy.requests().len(), direct.requests().len()), (1, 1));
    let anyway = Network { proxy_loopback: true, ..Network::default() };
    ask(&Http::new(behind(&proxy, &direct.url(), anyway)).unwrap()).await.unwrap();
    assert_eq!((proxy.requests().len(), direct.requests().len()), (2, 1));

    let around = Network { no_proxy: "other.test, .example.invalid".into(), ..Network::default() };
    let fault = ask(&Http::new(behind(&proxy, far, around)).unwrap()).await.unwrap_err();
    assert_eq!((fault.class, proxy.requests().len()), (FaultClass::Unreachable, 2));
}

#[tokio::test]
async fn a_proxy_or_certificate_that_cannot_be_used_is_told_without_its_password() {
    let far = "https://model.example.invalid/v1";
    let told = |network| {
        let config = Config { network, ..Config::new("demo", Wire::Chat, far, "m") };
        let seen = format!("{config:?}");
        let fault = Http::new(config).unwrap_err();
        assert!(!format!("{seen} {fault:?}").contains("hush"), "{seen} {fault:?}");
        fault.message
    };
    let nobody = {
        let gone = server();
        Http::new(behind(&gone, "http://model.example.invalid/v1", Network::default())).unwrap()
    };
    let fault = ask(&nobody).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unreachable);
    assert!(!format!("{fault} {fault:?} {nobody:?}").contains("hush"), "{fault:?}");
    for proxy in ["not a url with hush-hush-42", "socks5://u:hush-hush-42@host:1"] {
        let proxy = Some(Secret::new(proxy));
        let message = told(Network { proxy, ..Network::default() });
        assert!(message.contains("the proxy for demo"), "{message}");
    }
    for pem in ["", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"] {
        let ca_pem = Some(pem.as_bytes().into());
        let message = told(Network { ca_pem, ..Network::default() });
        assert!(message.contains("the CA certificates for demo"), "{message}");
    }
}
