//! Facts and contents that are decided but not durable yet.

use cairn_store::{HomeLock, Kept, NewRun, NewSession, SpooledFile};
use cairn_types::{Fact, Hash};
use std::collections::HashMap;

/// What the next commit will hold.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) session: Option<NewSession>,
    /// Held until the new session is durable.
    pub(crate) lock: Option<HomeLock>,
    pub(crate) run: Option<NewRun>,
    pub(crate) facts: Vec<Fact>,
    contents: HashMap<Hash, Vec<u8>>,
    spooled: Vec<SpooledFile>,
}

impl Pending {
    pub(crate) fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.run.is_none() && self.session.is_none()
    }

    pub(crate) fn keep(&mut self, bytes: Vec<u8>) {
        self.contents.entry(Hash::of(&bytes)).or_insert(bytes);
    }

    pub(crate) fn keep_file(&mut self, file: SpooledFile) {
        self.spooled.push(file);
    }

    pub(crate) fn content(&self, hash: &Hash) -> Option<&[u8]> {
        self.contents.get(hash).map(Vec::as_slice)
    }

    pub(crate) fn contents(&self) -> Vec<Kept> {
        let held = self.contents.values().cloned().map(Kept::Bytes);
        held.chain(self.spooled.iter().cloned().map(Kept::File)).collect()
    }
}
