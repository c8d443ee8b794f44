//! When another attempt follows, how long that takes, and who is asked when the model cannot be had.

use crate::kit::{ask, ask_and_listen, http, once, script, server, server_of};
use cairn_provider::http::{Config, Http, Wire};
use cairn_provider::{Delta, Fallback, FaultClass, Limits};
use cairn_testkit::{Fault as Inject, ModelServer, Options};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn told(deltas: &[Delta]) -> Vec<(u32, Duration)> {
    let retry = |d: &Delta| match d {
        Delta::Retrying { attempt, wait, .. } => Some((*attempt, *wait)),
        Delta::Text(_) | Delta::Reasoning(_) => None,
    };
    deltas.iter().filter_map(retry).collect()
}

fn status(code: u16, retry_after: &str) -> Inject {
    Inject::Status { code, body: String::new(), retry_after: Some(retry_after.into()) }
}

#[tokio::test]
async fn a_transient_fault_is_retried_after_the_wait_the_provider_asked_for() {
    let server = server();
    server.fault(0, status(429, "1"));
    server.fault(1, Inject::CutClose(400));
    let (ended, deltas) = ask_and_listen(&http(&server, Wire::Chat, Limits::default())).await;
    assert_eq!(ended.unwrap().attempts, 3);
    let retries = told(&deltas);
    assert_eq!(retries[0], (2, Duration::from_secs(1)));
    assert_eq!((retries.len(), retries[1].0), (2, 3));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn the_wait_is_taken_from_wherever_the_provider_put_it() {
    let check = async |head: &str, body: &str, wait: Duration| {
        let response = format!("HTTP/1.1 429 Busy\r\n{head}\r\n{body}");
        let fault = ask(&http(&server_of(response), Wire::Gemini, once())).await.unwrap_err();
        assert_eq!(fault.retry_after, Some(wait), "{head} {body}");
    };
    let secs = Duration::from_secs;
    let dates =
        "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\r\n";
    check(dates, "", secs(60)).await;
    check("Retry-After: 7\r\n", "", secs(7)).await;
    check("retry-after-ms: 1500\r\n", "", Duration::from_millis(1500)).await;
    let reset = "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 1m30s\r\n";
    check(reset, "", secs(90)).await;
    let info = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12s"}]}}"#;
    check("", info, secs(12)).await;
}

#[tokio::test]
async fn attempts_and_deadlines_end_the_retries() {
    let patient = server();
    patient.fault_always(status(503, "0"));
    let three = Limits { attempts: 3, ..Limits::default() };
    let fault = ask(&http(&patient, Wire::Chat, three)).await.unwrap_err();
    assert_eq!((fault.class, fault.attempts), (FaultClass::Overloaded, 3));
    assert_eq!(patient.requests().len(), 3);

    let check = async |inject: Inject, limits: Limits, class| {
        let server = server();
        server.fault_always(inject);
        let started = Instant::now();
        let fault = ask(&http(&server, Wire::Chat, limits)).await.unwrap_err();
        assert_eq!((fault.class, fault.attempts), (class, 1));
        assert!(started.elapsed() < Duration::from_secs(5), "a wait past the deadline was begun");
    };
    let short = Limits { deadline: Duration::from_secs(20), ..Limits::default() };
    check(status(429, "30"), short, FaultClass::RateLimited).await;
    // A gateway and a server are waited for less long than a rate limit.
    check(status(502, "30"), Limits::default(), FaultClass::Overloaded).await;
    check(status(503, "60"), Limits::default(), FaultClass::Overloaded).await;
}

#[tokio::test]
async fn a_local_server_that_is_still_starting_is_waited_for() {
    // Free, and outside the range from which the system gives ports to everybody else here.
    let from = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = (from..32_000).find(is_free).unwrap();
    let client = {
        let url = format!("http://127.0.0.1:{port}/v1");
        Http::new(Config::new("demo", Wire::Chat, url, "demo-1")).unwrap()
    };
    let starting = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let options = Options { port, log: None };
        let server = ModelServer::listen(script(), &options).unwrap();
        let loading =
            r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
        server.fault(0, Inject::status(503, loading));
        server
    };
    let (answer, server) = tokio::join!(ask(&client), starting);
    // Refused at least once, then told to wait, then answered.
    assert_eq!(server.requests().len(), 2);
    assert!(answer.unwrap().attempts >= 3);
}

fn fallback(first: &ModelServer, then: &ModelServer) -> Fallback {
    let two = Limits { attempts: 2, ..Limits::default() };
    Fallback {
        first: Arc::new(http(first, Wire::Anthropic, two.clone())),
        then: Arc::new(http(then, Wire::Gemini, two)),
        then_name: "demo/second".into(),
    }
}

#[tokio::test]
async fn another_model_answers_when_the_first_cannot_be_had() {
    for inject in [status(429, "0"), status(529, "0"), Inject::status(404, "")] {
        let (first, then) = (server(), server());
        first.fault_always(inject.clone());
        then.fault(0, status(500, "0"));
        let (ended, deltas) = ask_and_listen(&fallback(&first, &then)).await;
        let answer = ended.unwrap();
        let asked = first.requests().len();
        assert_eq!(answer.model.as_deref(), Some("demo/second"), "{inject:?}");
        assert_eq!(answer.attempts as usize, asked + 2, "{inject:?}");
        let attempts: Vec<u32> = told(&deltas).iter().map(|(attempt, _)| *attempt).collect();
        assert_eq!(attempts, (2..=answer.attempts).collect::<Vec<_>>(), "{inject:?}");
        let says = |d: &Delta| matches!(d, Delta::Retrying { why, .. } if why.ends_with("; demo/second is asked instead"));
        assert_eq!(deltas.iter().filter(|d| says(d)).count(), 1, "{deltas:?}");
    }
}

#[tokio::test]
async fn another_model_is_not_asked_for_what_it_could_not_do_better() {
    let (first, then) = (server(), server());
    let answer = ask(&fallback(&first, &then)).await.unwrap();
    assert_eq!((answer.model, then.requests().len()), (None, 0));
    for (code, class) in [(400, FaultClass::BadRequest), (401, FaultClass::Auth)] {
        first.fault_always(Inject::status(code, ""));
        let fault = ask(&fallback(&first, &then)).await.unwrap_err();
        assert_eq!((fault.class, then.requests().len()), (class, 0));
    }
    first.fault_always(status(429, "0"));
    then.fault_always(Inject::status(401, ""));
    let fault = ask(&fallback(&first, &then)).await.unwrap_err();
    assert_eq!((fault.class, fault.attempts), (FaultClass::Auth, 3));
}
