//! `http://…` and `https://…`: what a server answers to a GET, with `#headers` how the answer begins. Kept nowhere, and
//! read anew each time. Whether an address may be read is the gates'; what it must never lead to is decided here.

mod address;
mod entities;
mod exchange;
mod html;
mod leads;
mod markdown;
mod told;

use super::declared;
use cairn_sandbox::network::{Host, HostPort};
use cairn_types::{Manifest, Status, Uri};
use cairn_world::{Entry, Refusal, Scheme};
use exchange::{Exchange, Wanted};
pub(crate) use leads::Leads;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What the user's own configuration says of reading pages.
#[derive(Debug, Clone)]
pub struct Web {
    /// Hosts that may be read though they are inside: this machine, its networks. Each on one port.
    pub private: Vec<HostPort>,
    /// Certificates to trust besides the system's, as PEM.
    pub ca_pem: Option<Arc<[u8]>>,
    /// Names that are answered from here, before the system is asked.
    pub names: Vec<(Host, Vec<IpAddr>)>,
    /// How long one read may take, with all that it is led to.
    pub within: Duration,
}

impl Default for Web {
    fn default() -> Web {
        let (private, names, within) = (Vec::new(), Vec::new(), Duration::from_secs(30));
        Web { private, ca_pem: None, names, within }
    }
}

/// Pages of one of the two schemes.
#[derive(Debug)]
pub(super) struct Pages {
    web: Web,
    leads: Leads,
    manifest: Manifest,
}

impl Pages {
    pub(super) fn new(scheme: &str, web: &Web, leads: &Leads) -> Pages {
        Pages { web: web.clone(), leads: leads.clone(), manifest: declared(scheme) }
    }
}

fn refusal(status: Status, text: String) -> Refusal {
    Refusal { status, text }
}

impl Scheme for Pages {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Nothing is kept, so there is nothing to get without a read that was let; and nothing that could be changed.
    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        Err(refusal(Status::REFUSED, format!("{uri} is only read, and nothing of it is kept")))
    }

    fn admit(&self, uri: &Uri) -> Result<(), Refusal> {
        let text = uri.entry().to_string();
        let inside = reqwest::Url::parse(&text).ok();
        // That it leads inside is said first: how it should have been written is no help then.
        if let Some(url) = inside.filter(reqwest::Url::has_host) {
            address::refuse_inside(&url, &self.web)?;
        }
        address::parsed(&text).map(drop)
    }

    fn fetch(&self, uri: &Uri, cancel: &CancellationToken) -> Result<Option<Entry>, Refusal> {
        self.admit(uri)?;
        let url = address::parsed(&uri.entry().to_string())?;
        let wanted = match uri.channel.as_deref() {
            Some("headers") => Wanted::Headers,
            _ => Wanted::Body,
        };
        let exchange = Exchange { web: &self.web, leads: &self.leads, wanted };
        let answer = exchange.read(&url, cancel)?;
        match wanted {
            Wanted::Headers => Ok(Some(told::headers(&answer))),
            Wanted::Body => told::body(answer).map(Some),
        }
    }
}

#[cfg(test)]
mod tests;
