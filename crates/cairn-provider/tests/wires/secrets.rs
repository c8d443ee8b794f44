//! Keys: where they go, and where they never appear.

use crate::kit::{KEY, WIRES, ask, config, once, server};
use cairn_provider::http::{Auth, Config, Http, Wire};
use cairn_provider::{FaultClass, Secret};
use cairn_testkit::{Fault as Inject, TempHome};
use std::fmt::Write;
use std::fs;

// keeps: no-key-in-log
#[tokio::test]
async fn the_key_is_in_no_fault_no_debug_output_and_no_recording() {
    let header = Auth::Header("api-key".into());
    for (wire, auth) in WIRES
        .into_iter()
        .map(|wire| (wire, wire.auth()))
        .chain([(Wire::Chat, header), (Wire::Gemini, Auth::Query("key".into()))])
    {
        let (home, server) = (TempHome::new(), server());
        let wrong = format!(
            r#"{{"error":{{"message":"wrong key {KEY} or hush-hush-42 or hush-hush-43"}}}}"#
        );
        server.fault(0, Inject::status(401, wrong));
        let config = Config {
            auth: auth.clone(),
            headers: vec![("x-extra".into(), Secret::new("hush-hush-42"))],
            query: vec![("token".into(), Secret::new("hush-hush-43"))],
            record: Some(home.path().join("tape")),
            ..config(&server, wire, once())
        };
        let mut seen = format!("{config:?}");
        let client = Http::new(config.clone()).unwrap();
        let fault = ask(&client).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Auth);
        let _ = write!(seen, "{client:?} {fault} {fault:?}");
        let base_url = format!("http://u:{KEY}@host/v1");
        let told = Http::new(Config { base_url, ..config.clone() }).unwrap_err();
        let _ = write!(seen, "{told:?}");
        let bad = Config { key: Some(Secret::new(format!("{KEY}\n"))), ..config.clone() };
        match (Http::new(bad), &auth) {
            (Err(fault), _) => seen.push_str(&format!("{fault:?}")),
            (Ok(_), Auth::Query(_)) => {}
            (Ok(_), _) => panic!("a key that no header can carry was taken"),
        }
        // Another client goes on counting where the first one stopped.
        ask(&Http::new(config).unwrap()).await.unwrap();
        let gone = Config { auth, ..crate::kit::config(&crate::kit::server(), wire, once()) };
        let _ = write!(seen, "{:?}", ask(&Http::new(gone).unwrap()).await.unwrap_err());
        let tape = home.path().join("tape");
        let names =
            ["0001-request.json", "0001-response.txt", "0002-request.json", "0002-response.txt"];
        assert_eq!(fs::read_dir(&tape).unwrap().count(), names.len());
        for name in names {
            seen.push_str(&fs::read_to_string(tape.join(name)).unwrap());
        }
        assert!(!seen.contains(KEY) && !seen.contains("hush-hush"), "{wire:?} {seen}");
        assert_eq!(fs::read(tape.join("0002-request.json")).unwrap(), server.requests()[1]);
        let marked =
            ["wrong key [secret ", " or [secret x-extra ", " or [secret token ", "call_1_2"];
        assert!(marked.iter().all(|words| seen.contains(words)), "{seen}");
        let heads = server.heads().join("\n");
        assert!(heads.contains(KEY) && heads.contains("x-extra: hush-hush-42"), "{heads}");
    }
}

#[tokio::test]
async fn each_format_carries_its_key_as_its_inventor_wants_it() {
    let check = async |config: Config, server: &cairn_testkit::ModelServer, words: &[&str]| {
        ask(&Http::new(config).unwrap()).await.unwrap();
        let head = server.heads().pop().unwrap().to_ascii_lowercase();
        for word in words {
            assert!(head.contains(word), "{head}");
        }
    };
    let server = server();
    let of = |wire| config(&server, wire, once());
    let bearer = format!("authorization: bearer {KEY}");
    check(of(Wire::Chat), &server, &["post /v1/chat/completions ", &bearer]).await;
    check(of(Wire::Responses), &server, &["post /v1/responses ", &bearer]).await;
    let (key, version) = (format!("x-api-key: {KEY}"), "anthropic-version: 2023-06-01");
    check(of(Wire::Anthropic), &server, &["post /v1/messages ", &key, version]).await;
    let key = format!("x-goog-api-key: {KEY}");
    let path = "post /v1/models/demo-1:streamgeneratecontent?alt=sse ";
    check(of(Wire::Gemini), &server, &[path, &key]).await;
    // Azure.
    let azure = Config {
        auth: Auth::Header("api-key".into()),
        query: vec![("api-version".into(), Secret::new("2025-04-01-preview"))],
        ..of(Wire::Responses)
    };
    let (path, key) =
        ("/v1/responses?api-version=2025-04-01-preview ", format!("\napi-key: {KEY}"));
    check(azure, &server, &[path, &key]).await;
    // A user's own header wins.
    let beta = Config {
        headers: vec![("Anthropic-Version".into(), Secret::new("2024-01-01"))],
        ..of(Wire::Anthropic)
    };
    check(beta, &server, &["anthropic-version: 2024-01-01"]).await;
}

#[test]
fn a_base_url_is_taken_or_refused_before_anything_is_asked() {
    for wire in WIRES {
        let made = |url: &str| {
            Http::new(Config { base_url: url.into(), ..config(&server(), wire, once()) })
        };
        for good in ["https://api.example.com/v1", "https://api.example.com/v1/", "http://[::1]:80"]
        {
            assert!(made(good).is_ok(), "{good}");
        }
        for bad in ["", "api.example.com", "ftp://x/v1", "http://u:p@x/v1", "http://x/v1?key=k"] {
            assert_eq!(made(bad).unwrap_err().class, FaultClass::NotFound, "{bad}");
        }
    }
}
