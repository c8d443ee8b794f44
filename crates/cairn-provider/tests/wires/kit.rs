//! What every test here needs: a scripted server, clients for it in each format, and answers in one
//! line.

use cairn_provider::http::{Config, Http, Wire};
use cairn_provider::scripted::{Reply, Script, render};
use cairn_provider::{
    Abilities, Answer, CallText, Delta, Fault, Limits, Message, Price, Provider, Request, Secret,
};
use cairn_testkit::{Fault as Inject, ModelServer};
use std::fmt::Write;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub const KEY: &str = "sk-0123456789-secret";
pub const WIRES: [Wire; 4] = [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini];

pub const SCRIPT: &str = r#"{"cairn_script": 1, "name": "demo", "replies": [
    {"think": "let me see", "say": "I look – once.",
     "calls": [{"tool": "bash", "args": {"command": "printf 'é\n'"}}, {"tool": "read", "args": {"path": "a"}}],
     "usage": {"input": 10, "output": 5, "cache_read": 4, "reasoning": 2}},
    {"expect": "README", "say": "Done."}
]}"#;

pub fn script() -> Script {
    Script::parse(SCRIPT).unwrap()
}

pub fn server() -> ModelServer {
    ModelServer::start(script())
}

/// Sends this response, head and all, to whoever asks.
pub fn server_of(response: impl Into<Vec<u8>>) -> ModelServer {
    let server = server();
    server.fault_always(Inject::Garbage(response.into()));
    server
}

/// The first reply as this format streams it.
pub fn stream(wire: Wire) -> String {
    let reply: Reply = script().reply(0, "go").unwrap();
    String::from_utf8(render(wire, &reply, "demo-1")).unwrap()
}

pub fn once() -> Limits {
    Limits { attempts: 1, ..Limits::default() }
}

pub fn config(server: &ModelServer, wire: Wire, limits: Limits) -> Config {
    Config {
        key: Some(Secret::new(KEY)),
        limits,
        price: Some(Price::default()),
        abilities: Abilities { reasoning: true, ..Abilities::default() },
        ..Config::new("demo", wire, server.url(), "demo-1")
    }
}

pub fn http(server: &ModelServer, wire: Wire, limits: Limits) -> Http {
    Http::new(config(server, wire, limits)).unwrap()
}

pub fn request() -> Request {
    let messages = vec![Arc::new(Message::user("go"))];
    Request { system: "be brief".into(), tools: "[]".into(), messages, ..Request::default() }
}

pub async fn ask(provider: &dyn Provider) -> Result<Answer, Fault> {
    provider.ask(&request(), &mut |_| {}, &CancellationToken::new()).await
}

pub async fn ask_and_listen(provider: &dyn Provider) -> (Result<Answer, Fault>, Vec<Delta>) {
    let mut deltas = Vec::new();
    let never = CancellationToken::new();
    let ended = provider.ask(&request(), &mut |d| deltas.push(d), &never).await;
    (ended, deltas)
}

/// How often it was told that another attempt follows.
pub fn retries(deltas: &[Delta]) -> usize {
    deltas.iter().filter(|d| matches!(d, Delta::Retrying { .. })).count()
}

/// An answer or a fault in one line, for tables.
pub fn show(ended: Result<Answer, Fault>) -> String {
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
        let (read, write) = (u.cache_read, u.cache_write);
        let _ =
            write!(out, " {}+{} cached {read}+{write} thought {}", u.input, u.output, u.reasoning);
    }
    out
}

/// What comes of a body without any framing of its own: it ends when the connection does.
pub async fn answer_to(wire: Wire, body: impl AsRef<[u8]>) -> String {
    let server = server_of([b"HTTP/1.1 200 OK\r\n\r\n", body.as_ref()].concat());
    show(ask(&http(&server, wire, once())).await)
}
