//! What panics in an op or in a scheme fails the op that asked and nothing else. `World` calls its ops through
//! `caught` and `caught_while`, and every scheme through `Caught`, which also turns an error that claims success into
//! one.

use crate::entries::scheme::{Entry, Listed, Scheme};
use crate::settled::{Performed, Refusal};
use cairn_types::{Manifest, Read, Status, Uri};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio_util::sync::CancellationToken;

/// Does some work; the message of its panic if it panicked. What the work was changing may be half changed: the
/// caller forgets it or finds out how far it came.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panicked(panic.as_ref()))
}

/// The same of work that is waited for.
pub(crate) async fn caught_while<T>(work: impl Future<Output = T>) -> Result<T, Refusal> {
    let mut work = pin!(work);
    let poll = std::future::poll_fn(|context| match caught(|| work.as_mut().poll(context)) {
        Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(panicked) => Poll::Ready(Err(panicked)),
    });
    poll.await
}

/// That an op panicked, as its row says it.
fn panicked(panic: &(dyn Any + Send)) -> Refusal {
    let message = message(panic).unwrap_or("it gave no reason");
    Refusal::new(Status::FAILED, format!("this op failed inside Cairn: {message}"))
}

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
                let message = message(panic.as_ref()).unwrap_or("its scheme panicked");
                let text = format!("{doing} {uri} failed: {message}");
                Err(Refusal::new(Status::FAILED, text))
            })
            .map_err(|refusal| match refusal.status.is_success() {
                true => Refusal { status: Status::FAILED, ..refusal },
                false => refusal,
            })
    }
}

/// The message of a panic, if it has one.
fn message(panic: &(dyn Any + Send)) -> Option<&str> {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied())
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

#[cfg(test)]
mod tests {
    use super::*;

    // keeps: any-path
    #[test]
    fn a_panic_while_something_is_waited_for_is_its_result() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(caught_while(async { 7 }).await, Ok(7));
            let late = async {
                tokio::task::yield_now().await;
                assert!(std::hint::black_box(false), "no é today");
            };
            let refusal = caught_while(late).await.unwrap_err();
            assert_eq!(refusal.status, Status::FAILED);
            assert_eq!(refusal.text, "this op failed inside Cairn: no é today");
        });
        let silent = caught(|| std::panic::panic_any(7)).unwrap_err();
        assert_eq!(silent.text, "this op failed inside Cairn: it gave no reason");
    }
}
