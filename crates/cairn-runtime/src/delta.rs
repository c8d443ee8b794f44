//! What others changed since a run last looked, told to its model before it is asked again: by other runs, by
//! a person's ops, and on disk. Complete and in order; nobody is woken for it.

use crate::client::CLIENT_RUN;
use crate::note::SYSTEM_RUN;
use crate::reconcile::{self, Known, Sight};
use crate::{Driver, RunError, rows};
use cairn_engine::Recording;
use cairn_store::Store;
use cairn_text::{diff, lines};
use cairn_types::delta::Change as Noticed;
use cairn_types::{
    Body, Change, ChangeKind, Delta, Fact, FileKind, FileState, Hash, Outcome, RowPlace, RunId,
};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// How many lines are shown around what changed.
const CONTEXT: usize = 2;
/// How much is shown of all of it, in bytes; of the rest only that it changed is told.
const MOST: usize = 16 << 10;

/// A driver's look at what is around it.
#[derive(Default)]
pub(crate) struct Around {
    sight: Option<Sight>,
    /// A look that goes on beside the model's first answer.
    beside: Option<JoinHandle<Result<Sight, RunError>>>,
    /// The turn that was looked around for.
    turn: Option<(u32, u32)>,
}

impl Driver {
    /// Looks around before the model is asked. Whether there was something to tell, so that it is asked anew.
    pub(crate) async fn look_around(&mut self, turn: (u32, u32)) -> Result<bool, RunError> {
        if self.around.turn == Some(turn) {
            return Ok(false);
        }
        let is_first = self.around.turn.is_none();
        self.around.turn = Some(turn);
        let (store, session) = (self.store().clone(), self.session_id().clone());
        let has_files = !self.engine().driving().terms().flags.no_repo;
        let is_new = self.engine().is_new();
        let own = |is_it: bool| is_it.then(|| self.run_id().clone());
        let known = Known { doer: own(self.engine().worked_directly()), beginner: own(is_new) };
        let look = |sight| {
            let here = (store.clone(), Arc::clone(&self.world));
            reconcile::reconcile(here, session.clone(), (sight, known.clone()))
        };
        if is_first && (is_new || !reconcile::has_looked(&store, &session)) {
            // A run's first request waits for nothing.
            if has_files {
                self.around.beside = Some(tokio::spawn(look(Sight::default())));
            }
            if is_new {
                return Ok(false);
            }
        } else if has_files {
            if let Some(beside) = self.around.beside.take()
                && let Ok(Ok(sight)) = beside.await
            {
                self.around.sight = Some(sight);
            }
            let sight = self.around.sight.take().unwrap_or_default();
            self.around.sight = Some(look(sight).await?);
        }
        let Some(recording) = self.delta()? else { return Ok(false) };
        self.record(recording)?;
        Ok(true)
    }

    /// Looks before a command works on the files themselves, so that what it changes is known for its own.
    pub(crate) async fn look_before(&mut self) -> Result<(), RunError> {
        let Some(sight) = self.around.sight.take() else { return Ok(()) };
        // Another of the same reply may have worked on them before.
        let doer = self.engine().worked_directly().then(|| self.run_id().clone());
        let here = (self.store().clone(), Arc::clone(&self.world));
        let known = Known { doer, beginner: None };
        let sight = reconcile::reconcile(here, self.session_id().clone(), (sight, known)).await?;
        self.around.sight = Some(sight);
        Ok(())
    }

    /// What others changed, if anything.
    fn delta(&self) -> Result<Option<Recording>, RunError> {
        let Some(looked) = self.engine().driving().looked() else { return Ok(None) };
        let Some(rows) = self.store().outcomes_since(self.session_id(), looked)? else {
            return Ok(None);
        };
        let Some((upto, _)) = rows.last() else { return Ok(None) };
        let upto = upto.clone();
        let (store, own) = (self.store(), self.run_id());
        let mut told = Told { store, own, names: self.names()?, noticed: Vec::new() };
        let lineage = self.lineage()?;
        for (_, fact) in &rows {
            match lineage.iter().any(|(run, upto)| fact.run == *run && fact.n <= *upto) {
                true => told.supersede(fact),
                false => told.take(fact),
            }
        }
        told.settle();
        if told.noticed.is_empty() {
            return Ok(None);
        }
        let mut recording = Recording::default();
        let place = RowPlace::Changes(self.engine().changes_row_count() + 1);
        let text = recording.keep(told.text(place, |path| self.engine().may_show(path)));
        let noticed = told.noticed.into_iter().map(|(one, _)| one).collect();
        recording.facts.push(Body::Delta(Delta { upto, noticed, text }));
        Ok(Some(recording))
    }

    /// The run and those that it was forked from, each up to where it shares its history.
    fn lineage(&self) -> Result<Vec<(RunId, u64)>, RunError> {
        let mut lineage = vec![(self.run_id().clone(), u64::MAX)];
        let mut last = self.store().run(self.run_id())?;
        while let Some(parent) = last.and_then(|run| run.parent) {
            last = self.store().run(&parent.run)?;
            lineage.push((parent.run, parent.n));
        }
        Ok(lineage)
    }

    /// What the session's own runs are called.
    fn names(&self) -> Result<HashMap<RunId, &'static str>, RunError> {
        let runs = self.store().runs(self.session_id())?.into_iter().filter(|run| !run.imported);
        let named = runs.filter_map(|run| {
            let source = match run.name.as_deref()? {
                CLIENT_RUN => "client",
                SYSTEM_RUN => "file",
                _ => return None,
            };
            Some((run.id, source))
        });
        Ok(named.collect())
    }
}

/// What was noticed so far, each with the newest row of it.
struct Told<'a> {
    store: &'a Store,
    /// The run that is told.
    own: &'a RunId,
    names: HashMap<RunId, &'static str>,
    noticed: Vec<(Noticed, Shown)>,
}

/// What is needed to show an entry as it now is.
#[derive(Clone, Default)]
struct Shown {
    /// Whether there was something, and there is.
    there: (bool, bool),
    before: Option<Hash>,
    after: Option<Hash>,
    /// The lines that are new, where nothing else tells them.
    spans: Vec<(usize, usize)>,
}

/// What a row says that notes what was found on disk.
#[derive(Default, Deserialize)]
struct Note {
    /// Whose doing it is, where that is known.
    source: Option<String>,
    /// The run that found it when it began: to that one it is no news.
    beginner: Option<String>,
    /// Of each path the lines that are new.
    spans: HashMap<String, Vec<(usize, usize)>>,
}

impl Shown {
    /// Whether it is other than it was, all in all.
    fn differs(&self) -> bool {
        self.there.0 != self.there.1 || self.before != self.after
    }

    fn kind(&self) -> ChangeKind {
        match self.there {
            (false, _) => ChangeKind::Created,
            (true, false) => ChangeKind::Deleted,
            (true, true) => ChangeKind::Modified,
        }
    }
}

impl Told<'_> {
    /// What the run made or removed itself since is no longer gone, or there, by what others did.
    fn supersede(&mut self, fact: &Fact) {
        let Body::Outcome(outcome) = &fact.body else { return };
        if self.noticed.is_empty() {
            return;
        }
        let changes = outcome.changes.iter();
        let there: HashMap<&str, bool> =
            changes.map(|change| (change.path.as_str(), change.after.is_some())).collect();
        self.noticed.retain(|(one, shown)| {
            there.get(one.path.as_str()).is_none_or(|is_there| *is_there == shown.there.1)
        });
    }

    fn take(&mut self, fact: &Fact) {
        let Body::Outcome(outcome) = &fact.body else { return };
        let run = || fact.run.to_string();
        let source = self.names.get(&fact.run).map_or_else(run, |name| (*name).to_owned());
        let note = if source == "file" { self.note(outcome) } else { Note::default() };
        if note.beginner.as_deref() == Some(self.own.as_str()) {
            return;
        }
        let source = note.source.clone().unwrap_or(source);
        let is_directory = |state: &Option<FileState>| {
            state.as_ref().is_some_and(|s| s.kind == FileKind::Directory && s.aside.is_none())
        };
        let is_shown = |change: &&Change| {
            !change.ignored && !is_directory(&change.before) && !is_directory(&change.after)
        };
        for change in outcome.changes.iter().filter(is_shown) {
            if change.path.split('/').any(|part| part == ".git") {
                continue;
            }
            let spans = note.spans.get(&change.path).cloned().unwrap_or_default();
            self.add(change, &source, spans);
        }
    }

    /// In sum: what it was before the first change of a source, and what it is after the last.
    fn add(&mut self, change: &Change, source: &str, spans: Vec<(usize, usize)>) {
        let hash = |state: &Option<FileState>| state.as_ref().and_then(|s| s.hash);
        let (before, after) = (hash(&change.before), hash(&change.after));
        let known = self
            .noticed
            .iter_mut()
            .find(|(one, _)| one.path == change.path && one.source == source);
        if let Some((one, shown)) = known {
            (one.after, shown.after) = (after, after);
            shown.there.1 = change.after.is_some();
            one.kind = shown.kind();
            one.edits += 1;
            shown.spans.extend(spans);
            return;
        }
        let (path, source) = (change.path.clone(), source.to_owned());
        let one = Noticed { path, source, kind: change.kind, before, after, edits: 1 };
        let there = (change.before.is_some(), change.after.is_some());
        self.noticed.push((one, Shown { there, before, after, spans }));
    }

    /// What a row says that notes what was found on disk.
    fn note(&self, outcome: &Outcome) -> Note {
        let text = self.store.content(&outcome.result.hash).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Leaves out what is as it was, whoever changed it meanwhile, and what the run did itself.
    fn settle(&mut self) {
        let own = self.own;
        let mut all: HashMap<String, Shown> = HashMap::new();
        for (one, shown) in &self.noticed {
            let net = all.entry(one.path.clone()).or_insert_with(|| shown.clone());
            (net.after, net.there.1) = (shown.after, shown.there.1);
        }
        self.noticed.retain(|(one, shown)| {
            let is_other = all.get(&one.path).is_none_or(Shown::differs);
            is_other && shown.differs() && one.source != own.as_str()
        });
    }

    /// What the model is told: each change with the lines that are new, as they now are.
    fn text(&self, place: RowPlace, may_show: impl Fn(&str) -> bool) -> String {
        let mut out =
            format!("Changed by others since you last looked ({}):", rows::address(place));
        for (one, shown) in &self.noticed {
            let by = match one.source.as_str() {
                "file" => "on disk".to_owned(),
                "client" => "by the person".to_owned(),
                run => format!("by run {run}"),
            };
            let what = match one.kind {
                ChangeKind::Created => "created",
                ChangeKind::Modified => "edited",
                ChangeKind::Deleted => "removed",
            };
            let _ = write!(out, "\n{}: {what} {by}", one.path);
            let excerpt = self.excerpt(shown).filter(|_| may_show(&one.path));
            if let Some(excerpt) = excerpt.filter(|excerpt| out.len() + excerpt.len() <= MOST) {
                let _ = write!(out, "\n{excerpt}");
            }
        }
        out
    }

    /// The lines that are new, with some around them; none where the bytes are not known.
    fn excerpt(&self, shown: &Shown) -> Option<String> {
        let text = |hash: Option<Hash>| {
            let bytes = self.store.content(&hash?).ok()?;
            String::from_utf8(bytes).ok()
        };
        let after = text(shown.after)?;
        let spans = match text(shown.before) {
            Some(before) => diff::spans(&before, &after),
            None if !shown.there.0 => vec![(1, after.lines().count())],
            None if shown.spans.is_empty() => return None,
            None => shown.spans.clone(),
        };
        let excerpt = lines::excerpt(&after, &spans, CONTEXT);
        (!excerpt.is_empty()).then_some(excerpt)
    }
}
