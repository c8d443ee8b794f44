//! `http://…` and `https://…`: what a server answers to a GET, with `#headers` how the answer begins. Kept nowhere, and
//! read anew each time. Whether an address may be read is the gates'; what it must never lead to is decided here.

mod entities;
mod exchange;
mod html;
mod markdown;
pub(crate) mod told;

use super::declared;
use crate::reach::{Address, Leads, Web, refusal};
use cairn_types::{Manifest, Status, Uri};
use cairn_world::{Entry, Refusal, Scheme};
use exchange::{Exchange, Wanted};
use tokio_util::sync::CancellationToken;

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

impl Scheme for Pages {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Nothing is kept, so there is nothing to get without a read that was let; and nothing that could be changed.
    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        Err(refusal(Status::REFUSED, format!("{uri} is only read, and nothing of it is kept")))
    }

    fn admit(&self, uri: &Uri) -> Result<(), Refusal> {
        Address::admitted(uri, &self.web).map(drop)
    }

    fn fetch(&self, uri: &Uri, cancel: &CancellationToken) -> Result<Option<Entry>, Refusal> {
        let address = Address::admitted(uri, &self.web)?;
        let wanted = match uri.channel.as_deref() {
            Some("headers") => Wanted::Headers,
            _ => Wanted::Body,
        };
        let exchange = Exchange { web: &self.web, leads: &self.leads, wanted };
        let answer = exchange.read(&address, cancel)?;
        match wanted {
            Wanted::Headers => Ok(Some(told::headers(&answer))),
            Wanted::Body => told::body(answer).map(Some),
        }
    }
}

#[cfg(test)]
mod tests;
