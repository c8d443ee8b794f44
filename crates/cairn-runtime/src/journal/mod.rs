//! The one way to write a run's log: what is recorded is folded into the run's state at once, without secrets, and is
//! durable after the next flush. Every driver and every client has one; nothing else appends facts.

mod pending;
mod recovery;
mod without_secrets;

pub(crate) use recovery::{AfterCrash, Recovery};

use crate::{RunError, now_ms};
use cairn_engine::{Engine, Recording, Step, VERSION};
use cairn_sandbox::Spooled;
use cairn_store::{HomeLock, Lease, NewRun, NewSession, SpooledFile, Store, StoreError};
use cairn_text::scrub::Scrubber;
use cairn_types::{Change, Fact, Hash, RunId, SessionId};
use pending::Pending;
use std::time::Duration;
use without_secrets::without_secrets;

/// What a run's driver has made durable so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Commits, each one fsync.
    pub commits: u64,
    /// Rows touched by them, read or written.
    pub rows: u64,
    /// Bytes of the rows written.
    pub bytes: u64,
}

/// A fact that is durable, with what was signed with it.
#[derive(Debug)]
pub(crate) struct CommittedFact {
    /// The fact.
    pub(crate) fact: Fact,
    /// Its main text, where that was committed with it.
    pub(crate) text: Option<Vec<u8>>,
    /// The id of its receipt.
    pub(crate) receipt: Option<String>,
    /// The anchor of the checkpoint that covers it.
    pub(crate) anchor: Option<String>,
}

/// The log of one run, as its only writer holds it.
pub(crate) struct Journal {
    store: Store,
    lease: Lease,
    session: SessionId,
    engine: Engine,
    pending: Pending,
    scrubber: Scrubber,
    written: Written,
}

impl Journal {
    /// The journal of the run that the lease is for, which is in this state.
    pub(crate) fn new(
        store: Store,
        lease: Lease,
        session: SessionId,
        engine: Engine,
        scrubber: Scrubber,
    ) -> Journal {
        let (pending, written) = Default::default();
        Journal { store, lease, session, engine, pending, scrubber, written }
    }

    /// Makes the session with the first flush. The lock, which keeps others from making one, is held until then.
    pub(crate) fn begin_session(&mut self, session: NewSession, lock: Option<HomeLock>) {
        (self.pending.session, self.pending.lock) = (Some(session), lock);
    }

    /// Makes the run with the first flush.
    pub(crate) fn begin_run(&mut self, run: NewRun) {
        self.pending.run = Some(run);
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    pub(crate) fn into_lease(self) -> Lease {
        self.lease
    }

    pub(crate) fn run_id(&self) -> &RunId {
        self.lease.run()
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// The run's state, with everything that was recorded.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }

    pub(crate) fn written(&self) -> Written {
        self.written
    }

    /// The facts that the next flush makes durable.
    pub(crate) fn pending_facts(&self) -> &[Fact] {
        &self.pending.facts
    }

    /// A content by its hash, durable or about to be.
    pub(crate) fn content(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        match self.pending.content(hash) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => self.store.content(hash),
        }
    }

    /// Keeps these exact bytes with the next flush.
    pub(crate) fn keep(&mut self, bytes: Vec<u8>) {
        self.pending.keep(bytes);
    }

    /// Keeps what was too long for memory with the next flush.
    pub(crate) fn keep_spooled(&mut self, spooled: Option<Spooled>) {
        if let Some(Spooled { file, content }) = spooled {
            self.pending.keep_file(SpooledFile { file, content });
        }
    }

    /// Takes facts into the run, with markers in the places of secrets. They are durable after the next flush.
    pub(crate) fn record(&mut self, recording: Recording) {
        tracing::trace!(target: "cairn::turn", "Journal::record");
        let Recording { facts, contents, .. } = without_secrets(&self.scrubber, recording);
        contents.into_iter().for_each(|content| self.pending.keep(content));
        for body in facts {
            let (run, n) = (self.lease.run().clone(), self.engine.last_n() + 1);
            let fact = Fact { run, n, at: now_ms(), engine: VERSION.to_owned(), body };
            self.engine.apply(&fact);
            self.pending.facts.push(fact);
        }
    }

    /// Records what the engine says by itself, such as that the loop ends once nothing of it is open.
    pub(crate) fn record_what_follows(&mut self) {
        while let Step::Record(recording) = self.engine.step() {
            self.record(recording);
        }
    }

    /// Makes everything recorded durable, and returns its facts.
    #[allow(clippy::disallowed_methods, reason = "this is the door")]
    pub(crate) async fn flush(&mut self) -> Result<Vec<CommittedFact>, RunError> {
        if self.pending.is_empty() {
            return Ok(Vec::new());
        }
        let committed = self.store.commit(self.pending.batch(&self.lease)).await?;
        self.written.commits += 1;
        self.written.rows += committed.rows;
        self.written.bytes += committed.bytes;
        let mut pending = std::mem::take(&mut self.pending);
        let facts = std::mem::take(&mut pending.facts).into_iter().map(|fact| {
            let text = fact.body.main_text().and_then(|text| pending.content(&text.hash));
            let receipt = committed.receipts.iter().find(|(n, _)| *n == fact.n);
            CommittedFact {
                text: text.map(<[u8]>::to_vec),
                receipt: receipt.map(|(_, id)| id.clone()),
                anchor: committed.anchor.clone(),
                fact,
            }
        });
        Ok(facts.collect())
    }

    /// Waits for the right to change entries, which others have for as long as a commit takes.
    pub(crate) async fn lock_entries(&self) -> Result<HomeLock, StoreError> {
        loop {
            if let Some(lock) = self.store.try_lock_entries()? {
                return Ok(lock);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// The same, if one of these changes is of an entry that the store keeps.
    pub(crate) async fn lock_entries_of(
        &self,
        changes: &[Change],
    ) -> Result<Option<HomeLock>, StoreError> {
        match changes.iter().any(Change::is_stored) {
            true => self.lock_entries().await.map(Some),
            false => Ok(None),
        }
    }
}
