//! A scheme that cannot take its caller down: what panics in it, and an error of it that claims success, fail
//! the op that asked. Every scheme of a world is held like this.

use crate::scheme::{Entry, Listed, Scheme};
use crate::settled::{Performed, Refusal};
use cairn_types::{Manifest, Read, Status, Uri};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A scheme, and what it said of itself when it was registered.
#[derive(Debug)]
pub(crate) struct Caught {
    scheme: Arc<dyn Scheme>,
    manifest: Manifest,
    is_stored: bool,
}

impl Caught {
    pub(crate) fn new(scheme: Arc<dyn Scheme>) -> Caught {
        let (manifest, is_stored) = (scheme.manifest().clone(), scheme.is_stored());
        Caught { scheme, manifest, is_stored }
    }

    /// Asks the scheme. It may be asked again after a panic: what it holds is its own, and was as much its
    /// own to keep whole.
    fn ask<T>(
        &self,
        (doing, uri): (&str, &Uri),
        ask: impl FnOnce(&dyn Scheme) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let answer = catch_unwind(AssertUnwindSafe(|| ask(self.scheme.as_ref())));
        answer
            .unwrap_or_else(|panic| {
                let text = format!("{doing} {uri} failed: {}", words(panic.as_ref()));
                Err(Refusal::new(Status::FAILED, text))
            })
            .map_err(|refusal| match refusal.status.is_success() {
                true => Refusal { status: Status::FAILED, ..refusal },
                false => refusal,
            })
    }
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("its scheme panicked")
}

impl Scheme for Caught {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        self.ask(("reading", uri), |scheme| scheme.get(uri))
    }

    fn admit(&self, uri: &Uri) -> Result<(), Refusal> {
        self.ask(("reading", uri), |scheme| scheme.admit(uri))
    }

    fn fetch(&self, uri: &Uri, cancel: &CancellationToken) -> Result<Option<Entry>, Refusal> {
        self.ask(("reading", uri), |scheme| scheme.fetch(uri, cancel))
    }

    fn lines(&self, uri: &Uri, read: &Read) -> Result<Option<Performed>, Refusal> {
        self.ask(("reading", uri), |scheme| scheme.lines(uri, read))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        self.ask(("listing", under), |scheme| scheme.list(under))
    }

    fn is_stored(&self) -> bool {
        self.is_stored
    }

    fn put(&self, uri: &Uri, entry: &Entry) -> Result<(), Refusal> {
        self.ask(("writing", uri), |scheme| scheme.put(uri, entry))
    }

    fn delete(&self, uri: &Uri) -> Result<(), Refusal> {
        self.ask(("removing", uri), |scheme| scheme.delete(uri))
    }
}
