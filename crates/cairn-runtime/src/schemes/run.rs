//! `run:///RUN`: that a run is there, since when, and how it is called. What it did is its own to read.

use super::declared;
use cairn_store::{RunRow, Store, StoreError};
use cairn_types::{Manifest, SessionId, Status, Uri};
use cairn_world::{Entry, Listed, Refusal, Scheme};
use serde_json::json;

/// The runs of a session.
#[derive(Debug)]
pub(super) struct Runs {
    store: Store,
    session: SessionId,
    manifest: Manifest,
}

impl Runs {
    pub(super) fn new(store: Store, session: SessionId) -> Runs {
        Runs { store, session, manifest: declared("run") }
    }

    /// The runs, the newest first.
    fn rows(&self, uri: &Uri) -> Result<Vec<RunRow>, Refusal> {
        self.store.runs(&self.session).map_err(|error: StoreError| Refusal {
            status: Status::FAILED,
            text: format!("{uri} could not be read: {error}"),
        })
    }
}

/// What is told of a run.
fn told(row: &RunRow) -> Vec<u8> {
    let told = json!({ "run": row.id.as_str(), "name": row.name, "created_at": row.created_at });
    let mut text = serde_json::to_vec_pretty(&told).unwrap_or_default();
    text.push(b'\n');
    text
}

impl Scheme for Runs {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// A run by its id, or the newest of a name.
    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        let rows = self.rows(uri)?;
        let is = |row: &&RunRow| {
            row.id.as_str() == uri.path || row.name.as_deref() == Some(uri.path.as_str())
        };
        let entry = |row| {
            let (mime, tags) = ("application/json".to_owned(), Vec::new());
            Entry { content: told(row), mime, tags }
        };
        Ok(rows.iter().find(is).map(entry))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let listed = |row: RunRow| {
            let tags = row.name.into_iter().collect();
            Listed { uri: Uri { path: row.id.to_string(), ..under.entry() }, bytes: None, tags }
        };
        let mut all: Vec<Listed> = self.rows(under)?.into_iter().map(listed).collect();
        all.retain(|one| one.uri.path.starts_with(&under.path));
        all.sort_by(|a, b| a.uri.path.cmp(&b.uri.path));
        Ok(all)
    }
}
