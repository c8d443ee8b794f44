//! Schemes whose entries are kept by the store and by nothing else: `known`, `unknown`, `memory` and
//! whatever declares itself like them. Writing is the store's, with the row that wrote.

use crate::entries::scheme::{Entry, Listed, Scheme};
use crate::settled::Refusal;
use cairn_store::{EntryRow, Store, StoreError};
use cairn_types::{Manifest, SessionId, Status, Uri};

/// A scheme that the store keeps.
#[derive(Debug)]
pub struct Stored {
    store: Store,
    session: SessionId,
    manifest: Manifest,
}

impl Stored {
    /// The scheme of this declaration, in a session.
    #[must_use]
    pub fn new(store: Store, session: SessionId, manifest: Manifest) -> Stored {
        Stored { store, session, manifest }
    }

    fn failed(&self, uri: &Uri, error: &StoreError) -> Refusal {
        Refusal::new(Status::FAILED, format!("{uri} could not be read: {error}"))
    }
}

impl Scheme for Stored {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        let row = self.store.entry(&self.session, &uri.to_string());
        let Some(row) = row.map_err(|e| self.failed(uri, &e))? else { return Ok(None) };
        let EntryRow { state, .. } = row;
        let (Some(hash), Some(entry)) = (state.hash, state.entry) else { return Ok(None) };
        let content = self.store.content(&hash).map_err(|e| self.failed(uri, &e))?;
        Ok(Some(Entry { content, mime: entry.mime, tags: entry.tags }))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let rows = self.store.entries(&self.session, &under.entry().to_string());
        let rows = rows.map_err(|e| self.failed(under, &e))?;
        let listed = |row: EntryRow| {
            let uri: Uri = row.address.parse().ok()?;
            let tags = row.state.entry.map(|entry| entry.tags).unwrap_or_default();
            uri.channel.is_none().then_some(Listed { uri, bytes: row.state.bytes, tags })
        };
        Ok(rows.into_iter().filter_map(listed).collect())
    }

    fn is_stored(&self) -> bool {
        true
    }
}
