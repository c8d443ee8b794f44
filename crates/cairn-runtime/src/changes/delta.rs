//! What others changed since a run last looked, told to its model before it is asked again: by other runs, by
//! a person's ops, and on disk. Complete and in order; nobody is woken for it.

use crate::RunError;
use crate::changes::note::SYSTEM_RUN;
use crate::client::CLIENT_RUN;
use crate::journal::Journal;
use crate::run_record::rows;
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

/// How many lines are shown around what changed.
const CONTEXT: usize = 2;
/// How much is shown of all of it, in bytes; of the rest only that it changed is told.
const MOST: usize = 16 << 10;

/// What others changed since the run last looked, if anything.
pub(crate) fn changes_by_others(journal: &Journal) -> Result<Option<Recording>, RunError> {
    let (engine, store, own) = (journal.engine(), journal.store(), journal.run_id());
    let Some(looked) = engine.driving().looked() else { return Ok(None) };
    let Some(rows) = store.outcomes_since(journal.session(), looked)? else { return Ok(None) };
    let Some((upto, _)) = rows.last() else { return Ok(None) };
    let upto = upto.clone();
    let names = own_run_names(journal)?;
    let (noticed, in_all) = Default::default();
    let mut told = Told { store, own, names, noticed, in_all };
    let lineage = lineage(journal)?;
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
    let place = RowPlace::Changes(engine.model_view().changes_row_count() + 1);
    let text = recording.keep(told.text(place, |path| engine.policy_in_force().may_show(path)));
    let noticed = told.noticed.into_iter().map(|(one, _)| one).collect();
    recording.facts.push(Body::Delta(Delta { upto, noticed, text }));
    Ok(Some(recording))
}

/// The run and those that it was forked from, each up to where it shares its history.
fn lineage(journal: &Journal) -> Result<Vec<(RunId, u64)>, RunError> {
    let mut lineage = vec![(journal.run_id().clone(), u64::MAX)];
    let mut last = journal.store().run(journal.run_id())?;
    while let Some(parent) = last.and_then(|run| run.parent) {
        last = journal.store().run(&parent.run)?;
        lineage.push((parent.run, parent.n));
    }
    Ok(lineage)
}

/// What the session's own runs are called.
fn own_run_names(journal: &Journal) -> Result<HashMap<RunId, &'static str>, RunError> {
    let runs = journal.store().runs(journal.session())?.into_iter().filter(|run| !run.imported);
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

/// What was noticed so far, each with the newest row of it.
struct Told<'a> {
    store: &'a Store,
    /// The run that is told.
    own: &'a RunId,
    names: HashMap<RunId, &'static str>,
    noticed: Vec<(Noticed, Shown)>,
    /// What each path was before the first change by anybody, and is after the last one.
    in_all: HashMap<String, Shown>,
}

/// What is needed to show an entry as it now is.
#[derive(Clone, Default)]
struct Shown {
    /// Whether there was something, and there is.
    there: (bool, bool),
    before: Option<Hash>,
    after: Option<Hash>,
    /// What is there by now, where another source changed it since.
    now: Option<Hash>,
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
        let noticed = &self.noticed;
        self.in_all.retain(|path, _| noticed.iter().any(|(one, _)| one.path == *path));
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
        let there = (change.before.is_some(), change.after.is_some());
        let in_all = self.in_all.entry(change.path.clone());
        let in_all = in_all.or_insert_with(|| Shown { there, before, ..Shown::default() });
        (in_all.after, in_all.there.1) = (after, there.1);
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
        self.noticed.push((one, Shown { there, before, after, now: None, spans }));
    }

    /// What a row says that notes what was found on disk.
    fn note(&self, outcome: &Outcome) -> Note {
        let text = self.store.content(&outcome.result.hash).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Leaves out what is as it was, whoever changed it meanwhile, and what the run did itself.
    fn settle(&mut self) {
        let (own, in_all) = (self.own, &self.in_all);
        self.noticed.retain(|(one, shown)| {
            let is_other = in_all.get(&one.path).is_none_or(Shown::differs);
            is_other && shown.differs() && one.source != own.as_str()
        });
        for (one, shown) in &mut self.noticed {
            let now = self.in_all.get(&one.path).and_then(|in_all| in_all.after);
            shown.now = now.filter(|now| Some(*now) != shown.after);
        }
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
        if let Some(now) = shown.now {
            // Lines that another source changed again are not shown as if they were there.
            let now = text(Some(now))?;
            let is_there = |(first, last): &(usize, usize)| {
                let lines: Vec<&str> =
                    after.lines().skip(first - 1).take(last + 1 - first).collect();
                now.contains(&lines.join("\n"))
            };
            if !spans.iter().all(is_there) {
                return None;
            }
        }
        let excerpt = lines::excerpt(&after, &spans, CONTEXT);
        (!excerpt.is_empty()).then_some(excerpt)
    }
}
