//! Who we talk to, and the sentences about what went wrong with it. The only place that turns a
//! refusal into a class; sends nothing.

use crate::fault::plain;
use crate::{Fault, FaultClass, Secret, retry};
use reqwest::header::{DATE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde_json::Value;
use std::error::Error;
use std::io;
use std::time::Duration;

/// How much of a provider's own words a message may hold.
const DETAIL_CHARS: usize = 500;

/// A provider, as messages name it.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) url: Url,
    pub(crate) key: Option<Secret>,
}

/// What a provider says about its own error.
#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// Its `code` and `type`, lower case.
    code: String,
    /// Its `code` where that is a number.
    status: Option<u16>,
}

impl Peer {
    /// A response whose status is not a success.
    pub(crate) fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Fault {
        let mut complaint = match serde_json::from_slice::<Value>(body) {
            Ok(value) => complaint(value.get("error").unwrap_or(&value)),
            Err(_) => Complaint { message: page_text(body), ..Complaint::default() },
        };
        let header = |name| headers.get(name).and_then(|v| v.to_str().ok());
        if let (true, Some(target)) = (status.is_redirection(), header(LOCATION)) {
            complaint.message = format!("it points to {target}");
        }
        let mut fault = self.fault(status.as_u16(), &complaint);
        fault.retry_after =
            header(RETRY_AFTER).and_then(|value| retry::retry_after(value, header(DATE)));
        fault
    }

    /// An error object where an answer was expected.
    pub(crate) fn complained(&self, error: &Value) -> Fault {
        let complaint = complaint(error);
        let status = complaint.status.unwrap_or_else(|| status_of(&complaint.code));
        self.fault(status, &complaint)
    }

    /// The connection could not be made, or broke before the response began.
    pub(crate) fn unsent(&self, error: reqwest::Error) -> Fault {
        let error = error.without_url();
        if error.is_connect() {
            let message = format!(
                "cannot reach {}: {}; check that it runs, the network, and the base_url",
                self.place(),
                root(&error)
            );
            return Fault::new(FaultClass::Unreachable, message).caused_by(error);
        }
        if is_broken_pipe(&error) { self.cut(Some(error)) } else { self.garbled(error) }
    }

    fn garbled(&self, error: reqwest::Error) -> Fault {
        self.garbage(&format!("something that is not HTTP ({})", root(&error))).caused_by(error)
    }

    /// The answer ended before it was whole.
    pub(crate) fn cut(&self, error: Option<reqwest::Error>) -> Fault {
        let message = format!(
            "the answer from {} ended before it was complete, so nothing of it was used; try again",
            self.place()
        );
        let fault = Fault::new(FaultClass::Cut, message);
        match error {
            Some(error) => fault.caused_by(error.without_url()),
            None => fault,
        }
    }

    /// What came is not the protocol: `what` completes "sent …".
    pub(crate) fn garbage(&self, what: &str) -> Fault {
        let message = format!(
            "{} sent {}; check that the base_url is that of a Chat Completions API",
            self.place(),
            self.quote(what)
        );
        Fault::new(FaultClass::Garbage, message)
    }

    /// The answer is larger than allowed.
    pub(crate) fn too_large(&self, limit: usize) -> Fault {
        let message = format!(
            "{} sent more than {limit} bytes in one answer, so it was dropped; raise max_reply_bytes if that is meant",
            self.place()
        );
        Fault::new(FaultClass::Garbage, message)
    }

    /// It took too long: `what` completes "did not …".
    pub(crate) fn timeout(&self, what: &str, limit: Duration) -> Fault {
        let message = format!(
            "{} {what} within {} s; try again, or raise the limit",
            self.place(),
            limit.as_secs_f64()
        );
        Fault::new(FaultClass::Timeout, message)
    }

    /// We were told to stop.
    pub(crate) fn cancelled(&self) -> Fault {
        let message = format!("the request to {} was cancelled", self.provider);
        Fault::new(FaultClass::Cancelled, message)
    }

    fn fault(&self, status: u16, complaint: &Complaint) -> Fault {
        let class = classify(status, complaint);
        let detail = match self.quote(&complaint.message) {
            detail if detail.is_empty() => String::new(),
            detail => format!(": {detail}"),
        };
        let (provider, model, url) = (&self.provider, &self.model, &self.url);
        let (what, fix) = match class {
            FaultClass::Auth if self.key.is_none() => {
                ("refused us".to_owned(), format!("no key is configured for {provider}; add one"))
            }
            FaultClass::Auth => {
                ("refused the key".to_owned(), format!("check the key for {provider}"))
            }
            FaultClass::NotFound => (
                format!("does not know the model {model:?} or the address {url}"),
                "check the model's name and the base_url".to_owned(),
            ),
            FaultClass::TooLong => (
                format!("says that the conversation is too long for {model}"),
                "start a new run, or use a model with a larger window".to_owned(),
            ),
            FaultClass::RateLimited => {
                ("asks us to slow down".to_owned(), "wait a little and try again".to_owned())
            }
            FaultClass::Quota => {
                ("says that the account is spent".to_owned(), format!("add credit at {provider}"))
            }
            FaultClass::BadRequest => (
                "does not accept the request".to_owned(),
                format!("check that {model} supports what is asked of it"),
            ),
            FaultClass::Garbage => {
                ("gave an answer outside the protocol".to_owned(), "check the base_url".to_owned())
            }
            _ => ("is in trouble".to_owned(), "try again later".to_owned()),
        };
        Fault::new(class, format!("{provider} {what} ({status}){detail}; {fix}"))
    }

    fn place(&self) -> String {
        format!("{} at {}", self.provider, self.url)
    }

    fn quote(&self, text: &str) -> String {
        match &self.key {
            Some(key) => plain(&key.redact(text), DETAIL_CHARS),
            None => plain(text, DETAIL_CHARS),
        }
    }
}

fn classify(status: u16, complaint: &Complaint) -> FaultClass {
    let said = complaint.message.to_ascii_lowercase();
    let any = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let too_long = any(&complaint.code, &["context_length", "exceed_context"])
        || any(&said, &["context length", "context window", "context size", "prompt is too long"]);
    let spent = any(&complaint.code, &["insufficient_quota", "insufficient_balance", "billing"]);
    match status {
        401 | 403 => FaultClass::Auth,
        402 => FaultClass::Quota,
        413 => FaultClass::TooLong,
        429 if spent => FaultClass::Quota,
        429 => FaultClass::RateLimited,
        408 => FaultClass::Timeout,
        409 => FaultClass::Overloaded,
        400..=599 if too_long => FaultClass::TooLong,
        404 | 405 | 300..=399 => FaultClass::NotFound,
        400..=499 if any(&complaint.code, &["model_not_found"]) => FaultClass::NotFound,
        400..=499 => FaultClass::BadRequest,
        500..=599 => FaultClass::Overloaded,
        _ => FaultClass::Garbage,
    }
}

/// The status that an error inside a stream would have had.
fn status_of(code: &str) -> u16 {
    let table = [
        ("rate_limit", 429),
        ("insufficient_quota", 429),
        ("api_key", 401),
        ("authentication", 401),
        ("permission", 403),
        ("not_found", 404),
        ("context_length", 400),
        ("invalid_request", 400),
    ];
    table.iter().find(|(word, _)| code.contains(word)).map_or(500, |(_, status)| *status)
}

/// `{"message","code","type"}`, a bare string, or `{"detail"}`; everything in it is optional.
fn complaint(error: &Value) -> Complaint {
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or("");
    let message = match (error, text("message"), text("detail")) {
        (Value::String(message), _, _) => message,
        (_, "", detail) => detail,
        (_, message, _) => message,
    };
    let number = error.get("code").and_then(Value::as_u64);
    Complaint {
        message: message.to_owned(),
        code: format!("{} {}", text("code"), text("type")).to_ascii_lowercase(),
        status: number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n)),
    }
}

fn page_text(body: &[u8]) -> String {
    match body.trim_ascii_start().first() {
        Some(b'<') => "an HTML page".to_owned(),
        _ => String::from_utf8_lossy(body).into_owned(),
    }
}

/// The innermost reason, which is the one that tells something.
fn root(error: &reqwest::Error) -> String {
    let mut deepest: &dyn Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    plain(&deepest.to_string(), DETAIL_CHARS)
}

/// Whether the connection broke, rather than carrying something that is not HTTP. The HTTP
/// library's own error type is not public, so its two sentences for this stand here.
fn is_broken_pipe(error: &reqwest::Error) -> bool {
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        if cause.is::<io::Error>() || text.contains("connection closed") || text.contains("cancel")
        {
            return true;
        }
        next = cause.source();
    }
    false
}
