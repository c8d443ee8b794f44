//! One read of an address: a GET, and those it is led to. Each is connected to an address that was looked at; there
//! are no cookies, no credentials and no proxy, and all of it has an end.

use super::address::{plain, resolved};
use super::leads::Leads;
use super::{Web, refusal};
use crate::now_ms;
use cairn_types::Status;
use cairn_world::Refusal;
use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION,
};
use reqwest::{Certificate, Client, Response, StatusCode, Url, Version};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// The most bytes of a body.
pub(super) const MOST: usize = 10 << 20;
/// So much of what an error says is read.
const BRIEF: usize = 64 << 10;
/// So often an address may lead to another.
const LEADS: usize = 10;

/// What is wanted of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// What it says.
    Body,
    /// Only how it begins.
    Headers,
}

/// How one answer begins.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) url: Url,
    pub(super) version: Version,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
}

/// What a read came to.
#[derive(Debug)]
pub(super) struct Answer {
    /// The answers that led on, and the last one.
    pub(super) heads: Vec<Head>,
    /// What the last one says.
    pub(super) body: Vec<u8>,
    /// Where it leads, if that was not followed.
    pub(super) leads: Option<Url>,
}

/// What a read goes by.
pub(super) struct Exchange<'a> {
    pub(super) web: &'a Web,
    pub(super) leads: &'a Leads,
    pub(super) wanted: Wanted,
}

impl Exchange<'_> {
    /// Reads an address, on a thread of its own, since it may be asked for within another's work.
    pub(super) fn read(&self, url: &Url, cancel: &CancellationToken) -> Result<Answer, Refusal> {
        let failed = |why: &dyn std::fmt::Display| {
            refusal(Status::FAILED, format!("{url} could not be read: {why}"))
        };
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|why| failed(&why))?;
                let answer = runtime.block_on(self.within(url, cancel));
                // A resolver that hangs is not waited for.
                runtime.shutdown_background();
                answer
            });
            reading.join().unwrap_or_else(|_| Err(failed(&"it did not end")))
        })
    }

    async fn within(&self, url: &Url, cancel: &CancellationToken) -> Result<Answer, Refusal> {
        tokio::select! {
            answer = tokio::time::timeout(self.web.within, self.follow(url)) => {
                answer.unwrap_or_else(|_| {
                    let seconds = self.web.within.as_secs();
                    let text = format!("{url} was not read within {seconds} seconds");
                    Err(refusal(Status::TIMED_OUT, text))
                })
            }
            () = cancel.cancelled() => Err(refusal(Status::CANCELLED, "cancelled".to_owned())),
        }
    }

    async fn follow(&self, first: &Url) -> Result<Answer, Refusal> {
        let mut url = first.clone();
        let mut heads = Vec::new();
        loop {
            let response = self.ask(&url).await.map_err(|why| led(first, &url, why))?;
            let head = Head {
                url: url.clone(),
                version: response.version(),
                status: response.status(),
                headers: response.headers().clone(),
            };
            let to = leading(&head)?;
            heads.push(head);
            let Some(to) = to else {
                let body = self.body(&url, response).await?;
                return Ok(Answer { heads, body, leads: None });
            };
            if heads.len() > LEADS {
                let text = format!("{first} was not read: it leads on more than {LEADS} times");
                return Err(refusal(Status::UNPROCESSABLE, text));
            }
            if !self.leads.follows(&url, &to, now_ms()) {
                return Ok(Answer { heads, body: Vec::new(), leads: Some(to) });
            }
            url = to;
        }
    }

    async fn ask(&self, url: &Url) -> Result<Response, Refusal> {
        let addresses = resolved(url, self.web).await?;
        // Fails only when a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            // A proxy would resolve names by itself.
            .no_proxy()
            .http1_only()
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(Unasked))
            .resolve_to_addrs(url.host_str().unwrap_or_default(), &addresses);
        let builder = match (url.scheme(), &self.web.ca_pem) {
            ("https", Some(pem)) => {
                let bad = |why: reqwest::Error| refusal(Status::FAILED, format!("{url}: {why}"));
                builder.tls_certs_merge(Certificate::from_pem_bundle(pem).map_err(bad)?)
            }
            ("https", None) => builder,
            _ => builder.tls_certs_only([]),
        };
        let client = builder.build().map_err(|why| unreached(url, why))?;
        let accept =
            "text/markdown, text/html;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.1";
        let request = client
            .get(url.clone())
            .header(ACCEPT, HeaderValue::from_static(accept))
            .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        request.send().await.map_err(|why| unreached(url, why))
    }

    /// What an answer says, as it was sent: nothing is unpacked.
    async fn body(&self, url: &Url, mut response: Response) -> Result<Vec<u8>, Refusal> {
        if self.wanted == Wanted::Headers {
            return Ok(Vec::new());
        }
        let is_success = response.status().is_success();
        if let Some(packed) = response.headers().get(CONTENT_ENCODING)
            && packed != "identity"
        {
            let packed = String::from_utf8_lossy(packed.as_bytes()).into_owned();
            let text = format!("{url} was sent packed ({packed}), which nobody asked for");
            return if is_success { Err(refusal(Status::NOT_TEXT, text)) } else { Ok(Vec::new()) };
        }
        let most = if is_success { MOST } else { BRIEF };
        let too_large = || {
            let text = format!("{url} is larger than {} MiB, and is not read", MOST >> 20);
            refusal(Status::TOO_LARGE, text)
        };
        if is_success && response.content_length().is_some_and(|bytes| bytes > MOST as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|why| unreached(url, why))? {
            if body.len() + piece.len() > most {
                if is_success {
                    return Err(too_large());
                }
                body.extend_from_slice(&piece[..most - body.len()]);
                break;
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

/// Resolves nothing: what is connected to was resolved before, and nothing else is.
#[derive(Debug)]
struct Unasked;

impl Resolve for Unasked {
    fn resolve(&self, name: Name) -> Resolving {
        let why = format!("{} was not looked at", name.as_str());
        Box::pin(std::future::ready(Err(why.into())))
    }
}

/// Where an answer leads, if it does.
fn leading(head: &Head) -> Result<Option<Url>, Refusal> {
    if !matches!(head.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = head.headers.get(LOCATION) else { return Ok(None) };
    let bad = |why: String| {
        let text = format!("{} leads to what is no address: {why}", head.url);
        refusal(Status::UNPROCESSABLE, text)
    };
    let location = location.to_str().map_err(|why| bad(why.to_string()))?;
    let to = head.url.join(location).map_err(|why| bad(why.to_string()))?;
    plain(to).map(Some).map_err(|why| bad(why.to_owned()))
}

/// A refusal of an address that another led to says so.
fn led(first: &Url, url: &Url, why: Refusal) -> Refusal {
    match first == url {
        true => why,
        false => refusal(why.status, format!("{first} leads to {url}. {}", why.text)),
    }
}

fn unreached(url: &Url, why: reqwest::Error) -> Refusal {
    let status = if why.is_timeout() { Status::TIMED_OUT } else { Status::FAILED };
    let why = why.without_url();
    let mut cause: &dyn Error = &why;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    refusal(status, format!("{url} could not be read: {cause}"))
}
