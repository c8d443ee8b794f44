//! What can go wrong, in every format: one ending for every ask, of the right class, after no more
//! requests than allowed.

use crate::kit::{WIRES, ask, ask_and_listen, http, once, retries, server, server_of, stream};
use cairn_provider::http::Wire;
use cairn_provider::{Delta, FaultClass, Limits};
use cairn_testkit::{Fault as Inject, ModelServer};
use std::time::{Duration, Instant};

/// Asks a server that always fails like this, twice at most, and checks that it was asked as often
/// as is told, that each new attempt was announced, and how it ended.
async fn check(wire: Wire, inject: Inject, class: FaultClass, attempts: u32) -> String {
    let server = server();
    server.fault_always(inject.clone());
    let client = http(&server, wire, Limits { attempts: 2, ..Limits::default() });
    let (ended, deltas) = ask_and_listen(&client).await;
    let fault = ended.unwrap_err();
    let what = format!("{wire:?} {:?}: {fault}", summary(&inject));
    assert_eq!((fault.class, fault.attempts), (class, attempts), "{what}");
    assert_eq!(server.requests().len(), attempts as usize, "{what}");
    assert_eq!(retries(&deltas), attempts as usize - 1, "{what}");
    fault.message
}

fn summary(inject: &Inject) -> String {
    match inject {
        Inject::Garbage(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into(),
        other => format!("{other:?}"),
    }
}

fn status(code: u16, retry_after: &str) -> Inject {
    Inject::Status { code, body: String::new(), retry_after: Some(retry_after.into()) }
}

/// A response of this body, which ends when the connection does.
fn body(body: impl AsRef<[u8]>) -> Inject {
    Inject::Garbage([b"HTTP/1.1 200 OK\r\n\r\n", body.as_ref()].concat())
}

#[tokio::test]
async fn statuses_that_may_pass_are_tried_again_in_every_format() {
    for wire in WIRES {
        for code in [500, 502, 503, 504, 529] {
            check(wire, status(code, "0"), FaultClass::Overloaded, 2).await;
        }
        check(wire, status(429, "0"), FaultClass::RateLimited, 2).await;
        let dates = "HTTP/1.1 429 Slow\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";
        check(wire, Inject::Garbage(dates.into()), FaultClass::RateLimited, 2).await;
    }
}

/// What each format says when it fails in the middle of a stream.
fn error_event(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => "data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n",
        Wire::Responses => {
            "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"busy\"}}}\n\n"
        }
        Wire::Anthropic => {
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n"
        }
        Wire::Gemini => {
            "data: {\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}\n\n"
        }
    }
}

/// What the last event that matters holds.
fn terminal(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => r#""finish_reason":"tool_calls""#,
        Wire::Responses => "event: response.completed",
        Wire::Anthropic => "event: message_stop",
        Wire::Gemini => r#""finishReason":"STOP""#,
    }
}

#[tokio::test]
async fn an_error_within_a_stream_voids_what_streamed() {
    for wire in WIRES {
        let stream = stream(wire);
        let until = stream.rfind("once.").map(|at| at + stream[at..].find("\n\n").unwrap() + 2);
        let broken = format!("{}{}", &stream[..until.unwrap()], error_event(wire));
        let told = check(wire, body(&broken), FaultClass::Overloaded, 2).await;
        assert!(told.contains("busy"), "{told}");
        let server = server();
        server.fault(0, body(&broken));
        let (ended, deltas) = ask_and_listen(&http(&server, wire, Limits::default())).await;
        assert_eq!(ended.unwrap().attempts, 2, "{wire:?}");
        let retry = deltas.iter().position(|d| matches!(d, Delta::Retrying { .. })).unwrap();
        assert!(deltas[..retry].contains(&Delta::Text("look ".into())), "{deltas:?}");
    }
    let plain =
        "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}\n\n";
    check(Wire::Responses, body(plain), FaultClass::RateLimited, 2).await;
}

#[tokio::test]
async fn a_stream_without_its_end_is_cut_however_it_ends() {
    for wire in WIRES {
        let stream = stream(wire);
        let at = stream.find(terminal(wire)).unwrap();
        let last_event = stream[..at].rfind("\n\n").unwrap() + 2;
        check(wire, body(&stream[..last_event]), FaultClass::Cut, 2).await;
    }
}

#[tokio::test]
async fn what_is_not_the_format_is_not_tried_again() {
    for wire in WIRES {
        let bad = |text: &str| body(text);
        check(wire, bad("data: {]}\n\n"), FaultClass::Garbage, 1).await;
        check(wire, bad("data: nonsense\n\n"), FaultClass::Garbage, 1).await;
        check(wire, bad("<!doctype html><title>Log in</title>"), FaultClass::Garbage, 1).await;
        check(wire, bad("Hello"), FaultClass::Garbage, 1).await;
        check(wire, Inject::Garbage(b"SSH-2.0-x\r\n".to_vec()), FaultClass::Garbage, 1).await;
        let html = Inject::status(404, "<h1>no</h1>");
        let told = check(wire, html, FaultClass::NotFound, 1).await;
        assert!(told.contains("an HTML page"), "{told}");
    }
}

#[tokio::test]
async fn a_line_without_end_is_dropped_at_the_limit() {
    let event = WIRES.map(|wire| (wire, "data: {\""));
    for (wire, begin) in event.into_iter().chain([(Wire::Chat, "{\""), (Wire::Chat, ": ")]) {
        let line = [begin.as_bytes(), &vec![b'x'; 64 << 20]].concat();
        let told = check(wire, body(line), FaultClass::Garbage, 1).await;
        assert!(told.contains("more than 16777216 bytes"), "{wire:?} {told}");
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_is_dropped_as_it_comes() {
    let chunk = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(1 << 20)
    );
    let server = server_of(format!("HTTP/1.1 200 OK\r\n\r\n{}", chunk.repeat(20)));
    let (ended, deltas) = ask_and_listen(&http(&server, Wire::Chat, Limits::default())).await;
    assert_eq!(ended.unwrap_err().class, FaultClass::Garbage);
    let heard: usize =
        deltas.iter().map(|d| if let Delta::Text(t) = d { t.len() } else { 0 }).sum();
    assert!(heard <= 16 << 20, "{heard} bytes");
}

#[tokio::test]
async fn a_server_that_stalls_meets_the_limit_it_exceeds() {
    let soon = Duration::from_millis(150);
    let never = Duration::from_secs(60);
    for wire in WIRES {
        let check = async |byte, limits: Limits, words: &str| {
            let server = server();
            server.fault_always(Inject::Stall(byte, never));
            let (ended, _) = ask_and_listen(&http(&server, wire, limits)).await;
            let fault = ended.unwrap_err();
            assert_eq!((fault.class, fault.attempts), (FaultClass::Timeout, 1), "{fault}");
            assert!(fault.message.contains(words), "{wire:?} {fault}");
            assert_eq!(server.requests().len(), 1);
        };
        check(0, Limits { first_byte: soon, ..once() }, "did not answer").await;
        // The head has come, the body has not.
        check(80, Limits { first_byte: soon, ..once() }, "did not answer").await;
        check(600, Limits { idle: soon, ..once() }, "sent nothing more").await;
        check(600, Limits { deadline: soon, ..Limits::default() }, "did not finish").await;
    }
}

/// A response that ends when the connection does, in these pieces.
fn pieces(body: &[&str], pause: Duration) -> Inject {
    let head = "HTTP/1.1 200 OK\r\n\r\n";
    let pieces = std::iter::once(&head).chain(body).map(|piece| piece.as_bytes().to_vec());
    Inject::Pieces(pieces.collect(), pause)
}

#[tokio::test]
async fn the_deadline_counts_from_the_newest_data() {
    let limits = Limits { deadline: Duration::from_millis(300), ..once() };
    for wire in WIRES {
        let stream = stream(wire);
        let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
        let server = server();
        let pause = Duration::from_millis(900 / events.len() as u64);
        server.fault_always(pieces(&events, pause));
        let began = Instant::now();
        let (ended, _) = ask_and_listen(&http(&server, wire, limits.clone())).await;
        assert!(began.elapsed() > 2 * limits.deadline, "{wire:?} was not slow");
        assert_eq!(ended.unwrap().attempts, 1, "{wire:?}");
    }
}

#[tokio::test]
async fn comments_and_pings_of_a_stream_are_no_data() {
    let soon = Duration::from_millis(200);
    let comment = ": still working\n\n";
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    for wire in WIRES {
        let stream = stream(wire);
        let first = stream.split_inclusive("\n\n").next().unwrap();
        let check = async |begin: &str, alive: &str, limits: Limits, words: &str| {
            let server = server();
            let body: Vec<&str> =
                std::iter::once(begin).chain(std::iter::repeat_n(alive, 100)).collect();
            server.fault_always(pieces(&body, Duration::from_millis(20)));
            let began = Instant::now();
            let (ended, _) = ask_and_listen(&http(&server, wire, limits)).await;
            let fault = ended.unwrap_err();
            assert_eq!(fault.class, FaultClass::Timeout, "{wire:?} {fault}");
            assert!(fault.message.contains(words), "{wire:?} {fault}");
            assert!(began.elapsed() < Duration::from_secs(1), "{wire:?} {words}");
        };
        check("", comment, Limits { first_byte: soon, ..once() }, "did not answer").await;
        check("", comment, Limits { deadline: soon, ..once() }, "did not finish").await;
        check(first, comment, Limits { idle: soon, ..once() }, "sent nothing more").await;
        check(first, comment, Limits { deadline: soon, ..once() }, "did not finish").await;
        check(first, ping, Limits { deadline: soon, ..once() }, "did not finish").await;
    }
}

#[tokio::test]
async fn what_follows_the_mark_of_the_end_is_no_part_of_an_answer() {
    for wire in WIRES {
        let whole = stream(wire).replace("data: [DONE]\n\n", "");
        let after = "data: [DONE]\n\nbye\ndata: {not json\n\n<html>\n";
        let server = server();
        server.fault_always(body(format!("{whole}{after}")));
        let (ended, _) = ask_and_listen(&http(&server, wire, once())).await;
        assert_eq!(ended.unwrap().calls.len(), 2, "{wire:?}");
    }
}

#[tokio::test]
async fn a_byte_that_is_not_utf8_is_replaced_and_that_is_said() {
    for wire in WIRES {
        let stream = stream(wire).into_bytes();
        let mut broken = stream.clone();
        let mut from = 0;
        // In every event that tells it, since some formats say it again at the end.
        while let Some(at) = broken[from..].windows(5).position(|bytes| bytes == b"once.") {
            broken[from + at] = 0xff;
            from += at + 5;
        }
        let whole = server_of([b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &stream].concat());
        assert!(!ask(&http(&whole, wire, once())).await.unwrap().is_replaced, "{wire:?}");
        let server = server_of([b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &broken].concat());
        let answer = ask(&http(&server, wire, once())).await.unwrap();
        assert!(answer.is_replaced && answer.text.ends_with("\u{fffd}nce."), "{wire:?} {answer:?}");
    }
}

#[tokio::test]
async fn nothing_listening_is_unreachable() {
    for wire in WIRES {
        let gone = http(&server(), wire, Limits { attempts: 2, ..Limits::default() });
        let (ended, deltas) = ask_and_listen(&gone).await;
        let fault = ended.unwrap_err();
        assert_eq!((fault.class, fault.attempts), (FaultClass::Unreachable, 2), "{fault}");
        assert_eq!(retries(&deltas), 1);
    }
}

async fn class_of(inject: Inject) -> (FaultClass, String) {
    let server = server();
    server.fault_always(inject);
    let fault = ask(&http(&server, Wire::Chat, once())).await.unwrap_err();
    (fault.class, fault.message)
}

#[tokio::test]
async fn every_refusal_has_its_class_and_carries_the_providers_own_words() {
    use FaultClass::*;
    let error =
        |code: &str| format!(r#"{{"error":{{"message":"too\u001b bad","code":"{code}"}}}}"#);
    let table = [
        (400, error("x"), BadRequest),
        (400, error("context_length_exceeded"), TooLong),
        (400, error("model_not_found"), NotFound),
        (401, error("invalid_api_key"), Auth),
        (402, error(""), Quota),
        (403, error(""), Auth),
        (404, error(""), NotFound),
        (408, error(""), Timeout),
        (409, error(""), Overloaded),
        (413, error(""), TooLong),
        (422, error(""), BadRequest),
        (429, error("rate_limit_exceeded"), RateLimited),
        (429, error("insufficient_quota"), Quota),
        (500, error(""), Overloaded),
        (503, r#"{"error":"too bad"}"#.into(), Overloaded),
        (529, "too bad".into(), Overloaded),
        (307, r#"{"detail":"too bad"}"#.into(), NotFound),
    ];
    for (code, body, expected) in table {
        let (class, message) = class_of(Inject::status(code, &body)).await;
        assert_eq!(class, expected, "{code} {body}");
        assert!(message.contains("too bad") && message.contains(&code.to_string()), "{message}");
    }
    for length in [10_000, 100_000] {
        let long = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "x".repeat(length));
        assert!(class_of(Inject::status(400, long)).await.1.len() < 700);
    }
}

#[tokio::test]
async fn what_is_not_the_protocol_is_told_as_such() {
    let ok = "HTTP/1.1 200 OK\r\n\r\n";
    let check = async |response: String, class, words: &str| {
        let (found, message) = class_of(Inject::Garbage(response.clone().into())).await;
        assert_eq!(found, class, "{response:?}: {message}");
        assert!(message.contains(words), "{message}");
    };
    check("SSH-2.0-OpenSSH_9.6\r\n".into(), FaultClass::Garbage, "not HTTP").await;
    check(format!("{ok}<!doctype html><title>Log in</title>"), FaultClass::Garbage, "HTML").await;
    check(format!("{ok}Hello"), FaultClass::Garbage, "Hello").await;
    check(format!("{ok}data: {{]}}\n\n"), FaultClass::Garbage, "broken chunk").await;
    check(format!("{ok}[1]"), FaultClass::Garbage, "broken chunk").await;
    let inside =
        |error: &str| format!("{ok}data: {{\"choices\":[]}}\n\ndata: {{\"error\":{error}}}\n\n");
    check(inside(r#"{"message":"busy","code":502}"#), FaultClass::Overloaded, "busy").await;
    let slow = r#"{"message":"slow","type":"rate_limit_error"}"#;
    check(inside(slow), FaultClass::RateLimited, "slow").await;
    check(inside(r#""odd""#), FaultClass::Overloaded, "odd").await;
    check(format!("{ok}{{\"error\":{{\"message\":\"whole\"}}}}"), FaultClass::Overloaded, "whole")
        .await;
}

#[tokio::test]
async fn cancelling_ends_an_ask_at_once_wherever_it_stands() {
    let wait = Inject::Status { code: 429, body: String::new(), retry_after: Some("60".into()) };
    let never = Duration::from_secs(60);
    for inject in [Inject::Stall(0, never), Inject::Stall(600, never), wait] {
        let server: ModelServer = server();
        server.fault_always(inject.clone());
        let client = http(&server, Wire::Chat, Limits::default());
        let cancel = tokio_util::sync::CancellationToken::new();
        let request = crate::kit::request();
        let mut listen = |_| {};
        let asking = cairn_provider::Provider::ask(&client, &request, &mut listen, &cancel);
        let cancelling = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
            Instant::now()
        };
        let (ended, cancelled) = tokio::join!(asking, cancelling);
        let fault = ended.unwrap_err();
        assert_eq!((fault.class, fault.attempts), (FaultClass::Cancelled, 1), "{inject:?}");
        assert!(cancelled.elapsed() < Duration::from_millis(250), "{inject:?}");
    }
}
