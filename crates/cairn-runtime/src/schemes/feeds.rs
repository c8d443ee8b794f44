//! `sse://…`, `sses://…`, `ws://…` and `wss://…`: what a server sends as it comes. A run's read opens one; what of it
//! cannot be opened is known here before anybody is asked. The connection itself is a `Feed`.

use super::declared;
use crate::reach::{Address, Web, refusal};
use cairn_types::{Manifest, Status, Uri};
use cairn_world::{Entry, Refusal, Scheme};
use tokio_util::sync::CancellationToken;

/// Feeds of one of the four schemes.
#[derive(Debug)]
pub(super) struct Feeds {
    web: Web,
    manifest: Manifest,
}

impl Feeds {
    pub(super) fn new(scheme: &str, web: &Web) -> Feeds {
        Feeds { web: web.clone(), manifest: declared(scheme) }
    }
}

impl Scheme for Feeds {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Nothing is kept beyond the run that opened it, and nothing could be changed.
    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        Err(refusal(Status::REFUSED, format!("{uri} is only read, and nothing of it is kept")))
    }

    fn admit(&self, uri: &Uri) -> Result<(), Refusal> {
        Address::admitted(uri, &self.web).map(drop)
    }

    /// It has no end, so it is no content.
    fn fetch(&self, uri: &Uri, _: &CancellationToken) -> Result<Option<Entry>, Refusal> {
        let text = format!("{uri} goes on as long as its server does: only a run's read opens it");
        Err(refusal(Status::NOT_IMPLEMENTED, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_testkit::{Says, Site};

    // keeps: feeds-inside
    #[test]
    fn a_feed_is_known_by_its_address_and_nothing_is_reached() {
        let canary = Site::start(|_| Says::page("canary"));
        let at = canary.at().to_string();
        let named = Web { private: vec![at.parse().unwrap()], ..Web::default() };
        for scheme in cairn_types::FEEDS {
            let feeds = Feeds::new(scheme, &named);
            let uri: Uri = format!("{scheme}://{at}/").parse().unwrap();
            assert_eq!(feeds.manifest().name, scheme);
            assert_eq!(feeds.manifest().channel(None).unwrap().mime, "text/plain");
            assert_eq!(feeds.admit(&uri), Ok(()));
            assert_eq!(Feeds::new(scheme, &Web::default()).admit(&uri).unwrap_err().status.0, 403);
            let disguised: Uri = format!("{scheme}://134744072/").parse().unwrap();
            assert_eq!(feeds.admit(&disguised).unwrap_err().status.0, 400);
            assert_eq!(feeds.get(&uri).unwrap_err().status.0, 403);
            assert_eq!(feeds.list(&uri).unwrap_err().status.0, 501);
            let fetched = feeds.fetch(&uri, &CancellationToken::new());
            assert_eq!(fetched.unwrap_err().status.0, 501);
        }
        assert!(canary.asked().is_empty());
    }
}
