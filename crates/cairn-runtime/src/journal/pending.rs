//! Facts and contents that are decided but not durable yet.

use cairn_store::{Batch, HomeLock, Kept, Lease, NewRun, NewSession, SpooledFile};
use cairn_types::{Fact, Hash};
use std::collections::HashMap;

/// What the next commit will hold.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) session: Option<NewSession>,
    /// Held until the new session is durable.
    pub(super) lock: Option<HomeLock>,
    pub(super) run: Option<NewRun>,
    pub(super) facts: Vec<Fact>,
    contents: HashMap<Hash, Vec<u8>>,
    spooled: Vec<SpooledFile>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.run.is_none() && self.session.is_none()
    }

    pub(super) fn keep(&mut self, bytes: Vec<u8>) {
        self.contents.entry(Hash::of(&bytes)).or_insert(bytes);
    }

    pub(super) fn keep_file(&mut self, file: SpooledFile) {
        self.spooled.push(file);
    }

    pub(super) fn content(&self, hash: &Hash) -> Option<&[u8]> {
        self.contents.get(hash).map(Vec::as_slice)
    }

    /// All of it, to be committed under this lease.
    pub(super) fn batch(&self, lease: &Lease) -> Batch {
        let held = self.contents.values().cloned().map(Kept::Bytes);
        Batch {
            lease: lease.key(),
            session: self.session.clone(),
            run: self.run.clone(),
            facts: self.facts.clone(),
            contents: held.chain(self.spooled.iter().cloned().map(Kept::File)).collect(),
        }
    }
}
