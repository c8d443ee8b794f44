//! The Chat client against a real HTTP server: what it makes of every kind of answer, and of
//! servers that fail in the middle of one.

#![allow(clippy::unwrap_used, reason = "the helpers here are part of the tests")]

use cairn_provider::chat::{Chat, ChatConfig};
use cairn_provider::scripted::{Player, Script};
use cairn_provider::{
    Answer, CallText, Delta, Fault, FaultClass, Limits, Message, Provider, Request, Secret,
};
use cairn_testkit::{Fault as Inject, ModelServer, TempHome};
use cairn_types::{Finish, Usage};
use std::fmt::Write;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-0123456789-secret";

const SCRIPT: &str = r#"{"cairn_script": 1, "name": "demo", "replies": [
    {"reasoning": "let me see", "say": "I look – once.",
     "calls": [{"tool": "bash", "args": {"command": "printf 'é\n'"}}, {"tool": "read", "args": {"path": "a"}}],
     "usage": {"input": 10, "output": 5, "cache_read": 4, "reasoning": 2}},
    {"expect": "README", "say": "Done."}
]}"#;

fn server() -> ModelServer {
    ModelServer::start(Script::parse(SCRIPT).unwrap())
}

/// Sends this response, head and all, to whoever asks.
fn server_of(response: impl Into<Vec<u8>>) -> ModelServer {
    let server = server();
    server.fault_always(Inject::Garbage(response.into()));
    server
}

fn once() -> Limits {
    Limits { attempts: 1, ..Limits::default() }
}

fn config(server: &ModelServer, limits: Limits) -> ChatConfig {
    ChatConfig {
        base_url: server.url(),
        key: Some(Secret::new(KEY)),
        model: "demo-1".into(),
        provider: "demo".into(),
        limits,
        record: None,
        price: None,
    }
}

fn chat(server: &ModelServer, limits: Limits) -> Chat {
    Chat::new(config(server, limits)).unwrap()
}

fn request() -> Request {
    let messages = vec![Arc::new(Message::User { text: "go".into() })];
    Request { system: "be brief".into(), tools: "[]".into(), messages }
}

async fn ask(provider: &dyn Provider) -> Result<Answer, Fault> {
    provider.ask(&request(), &mut |_| {}, &CancellationToken::new()).await
}

async fn ask_and_listen(provider: &dyn Provider) -> (Result<Answer, Fault>, Vec<Delta>) {
    let mut deltas = Vec::new();
    let never = CancellationToken::new();
    let ended = provider.ask(&request(), &mut |d| deltas.push(d), &never).await;
    (ended, deltas)
}

/// An answer or a fault in one line, for tables.
fn show(ended: Result<Answer, Fault>) -> String {
    let answer = match ended {
        Ok(answer) => answer,
        Err(fault) => return format!("{}: {fault}", fault.class.as_str()),
    };
    let mut out = format!("{:?} {:?}", answer.finish, answer.text);
    if !answer.reasoning.is_empty() {
        let _ = write!(out, " thought {:?}", answer.reasoning);
    }
    for CallText { id, name, args } in &answer.calls {
        let _ = write!(out, " {id}={name}({args})");
    }
    if let Some(u) = answer.usage {
        let _ = write!(
            out,
            " {}+{} cached {} thought {}",
            u.input, u.output, u.cache_read, u.reasoning
        );
    }
    out
}

/// A body without any framing of its own: it ends when the connection does.
async fn answer_to(body: &str) -> String {
    let server = server_of(format!("HTTP/1.1 200 OK\r\n\r\n{body}"));
    show(ask(&chat(&server, once())).await)
}

#[tokio::test]
async fn an_answer_is_complete_only_when_the_server_said_why_it_stopped() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let events =
        |events: &[&str]| events.iter().map(|e| format!("data: {e}\n\n")).collect::<String>();
    let whole = r#"Calls "" i=f({})"#;
    for (body, expected) in [
        (events(&[]), "cut: "),
        (events(&[call]), "cut: "),
        (events(&[call, "[DONE]"]), "cut: "),
        (events(&[call, stop]), whole),
        (events(&[call, stop, "{\"choices"]).trim_end().to_owned(), whole),
        // A call that goes on after the finish may be cut as well, unless the end was told.
        (events(&[stop, call]), "cut: "),
        (events(&[stop, call, "[DONE]"]), whole),
        // The last empty line is missing; half an event; half an object.
        (events(&[call, stop]).trim_end().to_owned(), whole),
        (events(&[call, stop]).trim_end_matches("}]}\n\n").to_owned(), "cut: "),
        (r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}"#.to_owned(), "cut: "),
    ] {
        let ended = answer_to(&body).await;
        assert!(ended.starts_with(expected), "{body}\n{ended}");
    }
}

#[tokio::test]
async fn a_whole_object_in_place_of_a_stream_is_an_answer() {
    let body = r#"{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"i","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    assert_eq!(answer_to(body).await, r#"Calls "hi" i=f({}) 1+2 cached 0 thought 0"#);
}

#[tokio::test]
async fn a_script_gives_the_same_answer_in_process_and_over_http() {
    let server = server();
    let (over_http, heard) = ask_and_listen(&chat(&server, once())).await;
    let over_http = over_http.unwrap();
    let (in_process, also_heard) =
        ask_and_listen(&Player::new(Script::parse(SCRIPT).unwrap())).await;
    assert_eq!(over_http, in_process.unwrap());
    assert_eq!(heard, also_heard);
    assert_eq!(over_http.usage, Some(Usage { input: 10, output: 5, cache_read: 4, reasoning: 2 }));
    assert_eq!((over_http.finish, over_http.calls.len()), (Finish::Calls, 2));
}

async fn cut_at_every_byte(inject: fn(usize) -> Inject) {
    let server = server();
    let whole = ask(&chat(&server, once())).await.unwrap();
    let (mut faults, mut answers, mut with_usage) = (0, 0, 0);
    // What follows the usage is the mark of the end, and then nothing.
    let mut byte = 0;
    while with_usage < 60 {
        server.fault_always(inject(byte));
        match ask(&chat(&server, once())).await {
            Ok(answer) => {
                answers += 1;
                with_usage += usize::from(answer.usage.is_some());
                let usage = answer.usage.or(whole.usage);
                assert_eq!(Answer { usage, ..answer }, whole, "at {byte}");
            }
            Err(fault) => {
                faults += 1;
                let found = (fault.class, fault.attempts, answers);
                assert_eq!(found, (FaultClass::Cut, 1, 0), "at {byte}: {fault:?}");
            }
        }
        byte += 1;
    }
    assert!(faults > 1500 && answers > 200, "{faults} faults, {answers} answers");
}

#[tokio::test]
async fn an_answer_closed_at_any_byte_is_the_whole_answer_or_a_fault() {
    cut_at_every_byte(Inject::CutClose).await;
}

#[tokio::test]
async fn an_answer_reset_at_any_byte_is_the_whole_answer_or_a_fault() {
    cut_at_every_byte(Inject::CutReset).await;
}

async fn class_of(inject: Inject) -> (FaultClass, String) {
    let server = server();
    server.fault_always(inject);
    let fault = ask(&chat(&server, once())).await.unwrap_err();
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
    check(
        inside(r#"{"message":"slow","type":"rate_limit_error"}"#),
        FaultClass::RateLimited,
        "slow",
    )
    .await;
    check(inside(r#""odd""#), FaultClass::Overloaded, "odd").await;
    check(format!("{ok}{{\"error\":{{\"message\":\"whole\"}}}}"), FaultClass::Overloaded, "whole")
        .await;
    for length in [10_000, 100_000] {
        let long = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "x".repeat(length));
        assert!(class_of(Inject::status(400, long)).await.1.len() < 700);
    }
}

#[tokio::test]
async fn nothing_listening_is_unreachable() {
    let gone = chat(&server(), once());
    let fault = ask(&gone).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Unreachable, "{fault}");
}

#[tokio::test]
async fn a_transient_fault_is_retried_after_the_wait_the_provider_asked_for() {
    let server = server();
    let busy = |wait: &str| Inject::Status {
        code: 429,
        body: String::new(),
        retry_after: Some(wait.into()),
    };
    server.fault(0, busy("1"));
    server.fault(1, Inject::CutClose(400));
    let (ended, deltas) = ask_and_listen(&chat(&server, Limits::default())).await;
    assert_eq!(ended.unwrap().attempts, 3);
    let retries: Vec<(u32, Duration)> = deltas
        .iter()
        .filter_map(|d| match d {
            Delta::Retrying { attempt, wait, .. } => Some((*attempt, *wait)),
            _ => None,
        })
        .collect();
    assert_eq!(retries[0], (2, Duration::from_secs(1)));
    assert_eq!((retries.len(), retries[1].0), (2, 3));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_retry_after_date_counts_from_the_responses_own_date() {
    let head = "HTTP/1.1 503 Busy\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\r\n\r\n";
    let fault = ask(&chat(&server_of(head), once())).await.unwrap_err();
    assert_eq!(fault.retry_after, Some(Duration::from_secs(60)));
}

#[tokio::test]
async fn attempts_and_deadline_end_the_retries() {
    let busy = Inject::Status { code: 503, body: String::new(), retry_after: Some("0".into()) };
    let patient = server();
    patient.fault_always(busy);
    let fault =
        ask(&chat(&patient, Limits { attempts: 3, ..Limits::default() })).await.unwrap_err();
    assert_eq!((fault.class, fault.attempts), (FaultClass::Overloaded, 3));
    assert_eq!(patient.requests().len(), 3);

    let later = server();
    later.fault_always(Inject::Status {
        code: 429,
        body: String::new(),
        retry_after: Some("30".into()),
    });
    let short = Limits { deadline: Duration::from_secs(20), ..Limits::default() };
    let started = Instant::now();
    let fault = ask(&chat(&later, short)).await.unwrap_err();
    assert_eq!((fault.class, fault.attempts), (FaultClass::RateLimited, 1));
    assert!(started.elapsed() < Duration::from_secs(5), "a wait past the deadline is not begun");
}

#[tokio::test]
async fn a_server_that_stalls_meets_the_limit_it_exceeds() {
    let soon = Duration::from_millis(150);
    let never = Duration::from_secs(60);
    let check = async |byte, limits: Limits, words: &str| {
        let server = server();
        server.fault_always(Inject::Stall(byte, never));
        let fault = ask(&chat(&server, limits)).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Timeout, "{fault}");
        assert!(fault.message.contains(words), "{fault}");
    };
    check(0, Limits { first_byte: soon, ..once() }, "did not answer").await;
    // The head has come, the body has not.
    check(80, Limits { first_byte: soon, ..once() }, "did not answer").await;
    check(600, Limits { idle: soon, ..once() }, "sent nothing more").await;
    check(600, Limits { deadline: soon, ..Limits::default() }, "did not finish").await;
}

#[tokio::test]
async fn cancelling_ends_an_ask_at_once_wherever_it_stands() {
    let wait = Inject::Status { code: 503, body: String::new(), retry_after: Some("60".into()) };
    let never = Duration::from_secs(60);
    for inject in [Inject::Stall(0, never), Inject::Stall(600, never), wait] {
        let server = server();
        server.fault_always(inject.clone());
        let (chat, cancel) = (chat(&server, Limits::default()), CancellationToken::new());
        let request = request();
        let mut listen = |_| {};
        let asking = chat.ask(&request, &mut listen, &cancel);
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

#[tokio::test]
async fn a_conversation_grows_byte_by_byte_over_one_connection() {
    let server = server();
    let chat = chat(&server, once());
    let mut request = request();
    let answer = chat.ask(&request, &mut |_| {}, &CancellationToken::new()).await.unwrap();
    let results = answer
        .calls
        .iter()
        .map(|call| Message::Result { call: call.id.clone(), text: "README".into() });
    let results: Vec<Message> = results.collect();
    let said = Message::Assistant { text: Some(answer.text.into()), calls: answer.calls };
    request.messages.extend(std::iter::once(said).chain(results).map(Arc::new));
    let answer = chat.ask(&request, &mut |_| {}, &CancellationToken::new()).await.unwrap();
    assert_eq!(answer.text, "Done.");
    let sent = server.requests();
    assert!(sent[1].starts_with(sent[0].strip_suffix(b"]}").unwrap()));
    assert_eq!(sent[1], cairn_provider::chat::render("demo-1", &request).unwrap());
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_answer_over_the_limit_is_dropped_as_it_comes() {
    let head = "HTTP/1.1 200 OK\r\n\r\n";
    let chunk = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(1 << 20)
    );
    for body in [chunk.repeat(20), format!("data: {}", "x".repeat(20 << 20))] {
        let server = server_of(format!("{head}{body}"));
        let (ended, deltas) = ask_and_listen(&chat(&server, Limits::default())).await;
        assert_eq!(ended.unwrap_err().class, FaultClass::Garbage);
        let heard: usize =
            deltas.iter().map(|d| if let Delta::Text(t) = d { t.len() } else { 0 }).sum();
        assert!(heard <= 16 << 20, "{heard} bytes");
    }
}

#[tokio::test]
async fn the_key_is_in_no_fault_no_debug_output_and_no_recording() {
    let (home, server) = (TempHome::new(), server());
    server.fault(0, Inject::status(401, format!(r#"{{"error":{{"message":"wrong key {KEY}"}}}}"#)));
    let config = ChatConfig { record: Some(home.path().join("tape")), ..config(&server, once()) };
    let mut seen = format!("{config:?}");
    let chat = Chat::new(config.clone()).unwrap();
    let fault = ask(&chat).await.unwrap_err();
    let _ = write!(seen, "{chat:?} {fault} {fault:?}");
    let told =
        Chat::new(ChatConfig { base_url: format!("http://u:{KEY}@host/v1"), ..config.clone() });
    let _ = write!(seen, "{:?}", told.unwrap_err());
    // Another client goes on counting where the first one stopped.
    ask(&Chat::new(config).unwrap()).await.unwrap();
    let tape = home.path().join("tape");
    let mut names: Vec<String> = fs::read_dir(&tape)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["0001-request.json", "0001-response.txt", "0002-request.json", "0002-response.txt"]
    );
    for name in names {
        seen.push_str(&fs::read_to_string(tape.join(name)).unwrap());
    }
    assert!(!seen.contains(KEY), "{seen}");
    assert_eq!(fs::read(tape.join("0002-request.json")).unwrap(), server.requests()[1]);
    assert!(seen.contains("wrong key ***") && seen.contains("[DONE]"));
}

#[test]
fn a_base_url_is_taken_or_refused_before_anything_is_asked() {
    let made =
        |url: &str| Chat::new(ChatConfig { base_url: url.into(), ..config(&server(), once()) });
    for good in ["https://api.example.com/v1", "https://api.example.com/v1/", "http://[::1]:80"] {
        assert!(made(good).is_ok(), "{good}");
    }
    for bad in ["", "api.example.com", "ftp://x/v1", "http://u:p@x/v1", "http://x/v1?key=k"] {
        assert_eq!(made(bad).unwrap_err().class, FaultClass::NotFound, "{bad}");
    }
}
