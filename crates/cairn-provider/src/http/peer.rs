//! Who we talk to, and the sentences about what went wrong with it. Sends nothing.

use super::refusal::Complaint;
use crate::fault::{Trouble, plain};
use crate::{Fault, FaultClass};
use cairn_text::scrub::Scrubber;
use reqwest::header::{HeaderMap, LOCATION};
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
    /// What its API is called.
    pub(crate) api: &'static str,
    /// Whether it runs on this machine.
    pub(crate) is_local: bool,
    /// Whether a key is configured.
    pub(crate) has_key: bool,
    /// Its address, without anything secret.
    pub(crate) url: Url,
    pub(crate) finder: Scrubber,
}

impl Peer {
    /// A response whose status is not a success.
    pub(crate) fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Fault {
        let mut complaint = Complaint::of_body(body);
        let target = headers.get(LOCATION).and_then(|v| v.to_str().ok());
        if let (true, Some(target)) = (status.is_redirection(), target) {
            complaint.message = format!("it points to {target}");
        }
        let mut fault = self.fault(status.as_u16(), &complaint);
        fault.retry_after = complaint.wait(headers);
        fault
    }

    /// An error object where an answer was expected.
    pub(crate) fn complained(&self, error: &Value) -> Fault {
        let complaint = Complaint::of(error);
        let mut fault = self.fault(complaint.status(), &complaint);
        fault.retry_after = complaint.wait(&HeaderMap::new());
        fault
    }

    /// The connection could not be made, or broke before the response began. A server of this
    /// machine that never answered `before` may still be starting.
    pub(crate) fn unsent(&self, error: reqwest::Error, before: bool) -> Fault {
        let error = error.without_url();
        if error.is_connect() {
            let message = format!(
                "cannot reach {}: {}; check that it runs, the network, and the base_url",
                self.place(),
                self.quote(&root(&error))
            );
            let starting = self.is_local && !before;
            let trouble = if starting { Trouble::WarmUp } else { Trouble::Gateway };
            return Fault::new(FaultClass::Unreachable, message).within(trouble).caused_by(error);
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
            "{} sent {}; check that the base_url is that of {}",
            self.place(),
            self.quote(what),
            self.api
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
        let class = complaint.class(status);
        let detail = match self.quote(&complaint.message) {
            detail if detail.is_empty() => String::new(),
            detail => format!(": {detail}"),
        };
        let (provider, model, url) = (&self.provider, &self.model, &self.url);
        let (what, fix) = match class {
            FaultClass::Auth if !self.has_key => {
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
        let message = format!("{provider} {what} ({status}){detail}; {fix}");
        Fault::new(class, message).within(complaint.trouble(status))
    }

    fn place(&self) -> String {
        format!("{} at {}", self.provider, self.url)
    }

    fn quote(&self, text: &str) -> String {
        plain(&self.finder.text(text), DETAIL_CHARS)
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
