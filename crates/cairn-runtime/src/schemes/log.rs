//! `log:///RUN/loop/turn/op` and `log:///RUN/changes/N`, seen from outside: what a row of any run of the session
//! came to, with `#input` what it was asked with and `#output` what its command printed. A model has only its own
//! run's rows, which are `own_rows`.

use super::own_rows::mime_of;
use super::{declared, failed, row_of};
use cairn_engine::Rows;
use cairn_store::{Store, StoreError};
use cairn_types::{ContentRef, Manifest, RowPlace, SessionId, Uri};
use cairn_world::{Entry, Listed, Refusal, Scheme};

/// The rows of a session's runs.
#[derive(Debug)]
pub(super) struct SessionRows {
    store: Store,
    session: SessionId,
    manifest: Manifest,
}

impl SessionRows {
    pub(super) fn new(store: Store, session: SessionId) -> SessionRows {
        SessionRows { store, session, manifest: declared("log") }
    }
}

/// What a row has in a channel, if it has one there and hooks do not look at it any more.
fn content(rows: &Rows<'_>, place: RowPlace, channel: &str) -> Option<ContentRef> {
    let row = match place {
        RowPlace::Op(at) => rows.get(at)?,
        RowPlace::Changes(n) => return rows.changes_at(n)?.content(channel),
    };
    match channel {
        "result" => row.outcome.map(|done| done.result),
        "output" => row.output(),
        "input" => row.content(channel),
        _ => None,
    }
}

impl Scheme for SessionRows {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        let fail = |e: StoreError| failed(uri, &e);
        let Some((run, place)) = row_of::<RowPlace>(&uri.path) else { return Ok(None) };
        let runs = self.store.runs(&self.session).map_err(fail)?;
        if !runs.iter().any(|row| row.id == run) {
            return Ok(None);
        }
        let channel = uri.channel.as_deref().unwrap_or("result");
        let facts = self.store.facts(&run, 0).map_err(fail)?;
        let Some(content) = content(&Rows::fold(&facts), place, channel) else { return Ok(None) };
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
            let facts = self.store.facts(&run.id, 0).map_err(fail)?;
            let rows = Rows::fold(&facts);
            let ops = rows.sorted_by(|row| row.outcome).into_iter();
            let ops = ops.map(|(row, done)| (RowPlace::Op(row.at), done.result.bytes));
            let changes = rows.changes().map(|row| (row.place(), row.delta.text.bytes));
            for (place, bytes) in ops.chain(changes) {
                let uri = Uri { path: format!("{}/{place}", run.id), ..under.entry() };
                listed.push(Listed { uri, bytes: Some(bytes), tags: Vec::new() });
            }
        }
        listed.retain(|one| one.uri.path.starts_with(&under.path));
        Ok(listed)
    }
}
