//! `log:///RUN/loop/turn/op`, seen from outside: what a row of any run of the session came to, with `#input`
//! what it was asked with and `#output` what its command printed. A model has only its own run's rows, which are
//! `own_rows`.

use super::own_rows::mime_of;
use super::{declared, failed, row_of};
use cairn_store::{Store, StoreError};
use cairn_types::{Body, ContentRef, Coord, Manifest, RunId, SessionId, Uri};
use cairn_world::{Entry, Listed, Refusal, Scheme};

/// The rows of a session's runs.
#[derive(Debug)]
pub(super) struct Rows {
    store: Store,
    session: SessionId,
    manifest: Manifest,
}

impl Rows {
    pub(super) fn new(store: Store, session: SessionId) -> Rows {
        Rows { store, session, manifest: declared("log") }
    }

    /// The content of a row's channel.
    fn content(
        &self,
        run: &RunId,
        at: Coord,
        channel: &str,
    ) -> Result<Option<ContentRef>, StoreError> {
        let facts = self.store.facts(run, 0)?;
        Ok(facts.iter().rev().find_map(|fact| match (&fact.body, channel) {
            (Body::Intent(intent), "input") if intent.at == at => Some(intent.input),
            (Body::Outcome(done), "result") if done.at == at => Some(done.result),
            (Body::Outcome(done), "output") if done.at == at => {
                done.output.as_ref().map(|output| output.kept)
            }
            (Body::Stream(stream), "output") if stream.at == at => {
                stream.output.as_ref().map(|output| output.kept)
            }
            _ => None,
        }))
    }

    fn rows(&self, run: &RunId) -> Result<Vec<(Coord, u64)>, StoreError> {
        let facts = self.store.facts(run, 0)?;
        Ok(facts
            .iter()
            .filter_map(|fact| match &fact.body {
                Body::Outcome(done) => Some((done.at, done.result.bytes)),
                _ => None,
            })
            .collect())
    }
}

impl Scheme for Rows {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        let fail = |e: StoreError| failed(uri, &e);
        let Some((run, at)) = row_of(&uri.path) else { return Ok(None) };
        let runs = self.store.runs(&self.session).map_err(fail)?;
        if !runs.iter().any(|row| row.id == run) {
            return Ok(None);
        }
        let channel = uri.channel.as_deref().unwrap_or("result");
        let Some(content) = self.content(&run, at, channel).map_err(fail)? else { return Ok(None) };
        let content = self.store.content(&content.hash).map_err(fail)?;
        Ok(Some(Entry { content, mime: mime_of(channel).to_owned(), tags: Vec::new() }))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let fail = |e: StoreError| failed(under, &e);
        let mut listed = Vec::new();
        for run in self.store.runs(&self.session).map_err(fail)? {
            if !under.path.starts_with(run.id.as_str()) && !under.path.is_empty() {
                continue;
            }
            for (at, bytes) in self.rows(&run.id).map_err(fail)? {
                let uri = Uri { path: format!("{}/{at}", run.id), ..under.entry() };
                listed.push(Listed { uri, bytes: Some(bytes), tags: Vec::new() });
            }
        }
        listed.retain(|one| one.uri.path.starts_with(&under.path));
        Ok(listed)
    }
}
