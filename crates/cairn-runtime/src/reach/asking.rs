//! Asks an address, and those it is led to. Each is connected to at a machine that was looked at; there are no
//! cookies, no credentials and no proxy.

use super::address::{Address, resolved};
use super::leads::Leads;
use super::{Web, refusal};
use crate::now_ms;
use cairn_types::Status;
use cairn_world::Refusal;
use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Certificate, Client, Response, StatusCode, Version};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How often the system looks whether a machine that is silent is still there.
const ALIVE: Duration = Duration::from_secs(15);
/// So often an address may lead to another.
const LEADS: usize = 10;
/// The most bytes of a page, or of one event or message.
pub(crate) const MOST: usize = 10 << 20;
/// So much of what an error says is read.
const BRIEF: usize = 64 << 10;

/// How one answer begins.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) address: Address,
    pub(crate) version: Version,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

/// What asking an address came to, before it is read.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The answers that led on, and the last one.
    pub(crate) heads: Vec<Head>,
    /// What follows the last one.
    pub(crate) said: Said,
}

/// What follows an answer's head.
#[derive(Debug)]
pub(crate) enum Said {
    /// What the server says.
    More(Box<Response>),
    /// It leads there, and that was not followed.
    Leads(Address),
}

/// What asking an address came to, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The answers that led on, and the last one.
    pub(crate) heads: Vec<Head>,
    /// What the last one says.
    pub(crate) body: Vec<u8>,
    /// Where it leads, if that was not followed.
    pub(crate) leads: Option<Address>,
}

impl Asked {
    /// Reads what is said as it was sent: nothing is unpacked.
    pub(crate) async fn read(self) -> Result<Answer, Refusal> {
        let Asked { heads, said } = self;
        let (response, head) = match (said, heads.last()) {
            (Said::More(response), Some(head)) => (response, head),
            (Said::Leads(to), _) => return Ok(Answer { heads, body: Vec::new(), leads: Some(to) }),
            (Said::More(_), None) => return Ok(Answer { heads, body: Vec::new(), leads: None }),
        };
        let body = body(head, *response).await?;
        Ok(Answer { heads, body, leads: None })
    }
}

/// How an address is asked.
pub(crate) struct Asking<'a> {
    pub(crate) web: &'a Web,
    /// What decides where it may lead; nowhere when absent.
    pub(crate) leads: Option<&'a Leads>,
    /// What is sent besides the usual.
    pub(crate) headers: HeaderMap,
}

impl Asking<'_> {
    /// Asks it by a GET. Has no end of its own.
    pub(crate) async fn ask(&self, first: &Address) -> Result<Asked, Refusal> {
        let mut address = first.clone();
        let mut heads = Vec::new();
        loop {
            let response = self.once(&address).await.map_err(|why| led(first, &address, why))?;
            let head = Head {
                address: address.clone(),
                version: response.version(),
                status: response.status(),
                headers: response.headers().clone(),
            };
            let to = leading(&head)?;
            heads.push(head);
            let Some(to) = to else {
                return Ok(Asked { heads, said: Said::More(Box::new(response)) });
            };
            if heads.len() > LEADS {
                let text = format!("{first} was not read: it leads on more than {LEADS} times");
                return Err(refusal(Status::UNPROCESSABLE, text));
            }
            if !self.leads.is_some_and(|leads| leads.follows(&address, &to, now_ms())) {
                return Ok(Asked { heads, said: Said::Leads(to) });
            }
            address = to;
        }
    }

    async fn once(&self, address: &Address) -> Result<Response, Refusal> {
        let addresses = resolved(address, self.web).await?;
        // Fails only when a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .tcp_keepalive(ALIVE)
            .tcp_keepalive_interval(ALIVE)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            // A proxy would resolve names by itself.
            .no_proxy()
            .http1_only()
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(Unasked))
            .resolve_to_addrs(address.url().host_str().unwrap_or_default(), &addresses);
        let builder = match (address.is_secure(), &self.web.ca_pem) {
            (true, Some(pem)) => {
                let bad =
                    |why: reqwest::Error| refusal(Status::FAILED, format!("{address}: {why}"));
                builder.tls_certs_merge(Certificate::from_pem_bundle(pem).map_err(bad)?)
            }
            (true, None) => builder,
            (false, _) => builder.tls_certs_only([]),
        };
        let client = builder.build().map_err(|why| unreached(address, why))?;
        let request = client
            .get(address.url().clone())
            .headers(self.headers.clone())
            .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        request.send().await.map_err(|why| unreached(address, why))
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

/// Refuses what was sent packed.
pub(crate) fn unpacked(head: &Head) -> Result<(), Refusal> {
    match head.headers.get(CONTENT_ENCODING) {
        Some(packed) if packed != "identity" => {
            let packed = String::from_utf8_lossy(packed.as_bytes());
            let address = &head.address;
            let text = format!("{address} was sent packed ({packed}), which nobody asked for");
            Err(refusal(Status::NOT_TEXT, text))
        }
        _ => Ok(()),
    }
}

/// What an answer says: all of a page, the beginning of an error.
async fn body(head: &Head, mut response: Response) -> Result<Vec<u8>, Refusal> {
    let (address, is_success) = (&head.address, head.status.is_success());
    if let Err(packed) = unpacked(head) {
        return if is_success { Err(packed) } else { Ok(Vec::new()) };
    }
    let most = if is_success { MOST } else { BRIEF };
    let too_large = || {
        let text = format!("{address} is larger than {} MiB, and is not read", MOST >> 20);
        refusal(Status::TOO_LARGE, text)
    };
    if is_success && response.content_length().is_some_and(|bytes| bytes > MOST as u64) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|why| unreached(address, why))? {
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

/// Where an answer leads, if it does.
fn leading(head: &Head) -> Result<Option<Address>, Refusal> {
    if !matches!(head.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = head.headers.get(LOCATION) else { return Ok(None) };
    let bad = |why: String| {
        let text = format!("{} leads to what is no address: {why}", head.address);
        refusal(Status::UNPROCESSABLE, text)
    };
    let location = location.to_str().map_err(|why| bad(why.to_string()))?;
    head.address.join(location).map(Some).map_err(bad)
}

/// A refusal of an address that another led to says so.
fn led(first: &Address, address: &Address, why: Refusal) -> Refusal {
    match first == address {
        true => why,
        false => refusal(why.status, format!("{first} leads to {address}. {}", why.text)),
    }
}

/// That a server could not be had, or stopped in the middle.
fn unreached(address: &Address, why: reqwest::Error) -> Refusal {
    let status = if why.is_timeout() { Status::TIMED_OUT } else { Status::FAILED };
    refusal(status, format!("{address} could not be read: {}", cause(why)))
}

/// The innermost reason of an error.
pub(crate) fn cause(why: reqwest::Error) -> String {
    let why = why.without_url();
    let mut cause: &dyn Error = &why;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
