//! `prompt:///RUN/loop`: what a person asked a loop to do. Of the session's runs, which share their world
//! and not their logs: what another run said, or a stream's end, is between those whom it is for.

use super::{declared, failed};
use cairn_store::{Store, StoreError};
use cairn_types::{Body, Manifest, RunId, SessionId, Uri, Writer};
use cairn_world::{Entry, Listed, Refusal, Scheme};
use std::ops::ControlFlow;

/// The prompts of a session's runs.
#[derive(Debug)]
pub(super) struct Prompts {
    store: Store,
    session: SessionId,
    manifest: Manifest,
}

impl Prompts {
    pub(super) fn new(store: Store, session: SessionId) -> Prompts {
        Prompts { store, session, manifest: declared("prompt") }
    }

    /// Each prompt of a run that a person gave: its loop, and its words.
    fn of(&self, run: &RunId) -> Result<Vec<(u32, cairn_types::ContentRef)>, StoreError> {
        let mut prompts = Vec::new();
        self.store.own_facts(run, &["prompt"], &mut |fact| {
            if let Body::Prompt(prompt) = fact.body
                && prompt.writer == Writer::Client
            {
                prompts.push((prompt.lap, prompt.text));
            }
            ControlFlow::Continue(())
        })?;
        prompts.reverse();
        Ok(prompts)
    }
}

impl Scheme for Prompts {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        let fail = |e: StoreError| failed(uri, &e);
        let Some((run, lap)) = uri.path.split_once('/') else { return Ok(None) };
        let (Ok(run), Ok(lap)) = (run.parse::<RunId>(), lap.parse::<u32>()) else {
            return Ok(None);
        };
        let runs = self.store.runs(&self.session).map_err(fail)?;
        if !runs.iter().any(|row| row.id == run) {
            return Ok(None);
        }
        let prompts = self.of(&run).map_err(fail)?;
        let Some((_, text)) = prompts.into_iter().find(|(n, _)| *n == lap) else { return Ok(None) };
        let content = self.store.content(&text.hash).map_err(fail)?;
        Ok(Some(Entry { content, mime: "text/markdown".to_owned(), tags: Vec::new() }))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let fail = |e: StoreError| failed(under, &e);
        let mut listed = Vec::new();
        for row in self.store.runs(&self.session).map_err(fail)? {
            for (lap, text) in self.of(&row.id).map_err(fail)? {
                let uri = Uri { path: format!("{}/{lap}", row.id), ..under.entry() };
                listed.push(Listed { uri, bytes: Some(text.bytes), tags: Vec::new() });
            }
        }
        listed.retain(|one| one.uri.path.starts_with(&under.path));
        listed.sort_by(|a, b| a.uri.path.cmp(&b.uri.path));
        Ok(listed)
    }
}
