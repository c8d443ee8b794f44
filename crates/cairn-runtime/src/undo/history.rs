//! What a session's runs changed, row by row, and what of it was taken back. Read from the log;
//! the disk is not looked at.

use crate::RunError;
use crate::client::client_run;
use cairn_store::Store;
use cairn_types::{Body, Change, Coord, Effect, Fact, Intent, OpName, RunId, SessionId, Settled};
use cairn_world::same;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A row that changed files.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The run whose fact it is; a fork's early rows are its parent's.
    pub run: RunId,
    /// The row.
    pub at: Coord,
    /// When, milliseconds since 1970.
    pub when: u64,
    /// The tool.
    pub tool: String,
    /// What changed.
    pub changes: Vec<Change>,
}

/// A command, whose changes nobody recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The row.
    pub at: Coord,
    /// When, milliseconds since 1970.
    pub when: u64,
    /// The command, in one line.
    pub command: String,
}

/// An undo that stands: it was done, and was not taken back since.
#[derive(Debug, Clone)]
pub struct Undone {
    /// The client's row.
    pub at: Coord,
    /// The run whose rows were undone.
    pub run: RunId,
    /// The rows.
    pub rows: Vec<Coord>,
    /// The paths that were taken back, when some were left alone; absent in old logs, where a row
    /// went back whole.
    pub paths: Option<Vec<String>>,
    /// When, milliseconds since 1970.
    pub when: u64,
    /// What the undo changed.
    pub changes: Vec<Change>,
}

impl Undone {
    /// Without what a redo took back.
    fn less(&mut self, redo: &RedoInput) {
        let stands =
            |path: &String| redo.paths.as_ref().is_some_and(|redone| !redone.contains(path));
        self.changes.retain(|change| stands(&change.path));
        let paths = self
            .paths
            .take()
            .unwrap_or_else(|| self.changes.iter().map(|change| change.path.clone()).collect());
        self.paths = Some(paths.into_iter().filter(stands).collect());
    }
}

/// Which rows of a run are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// One row.
    Row(Coord),
    /// All of one turn.
    Turn(u32, u32),
    /// All of one loop.
    Lap(u32),
    /// Everything after this turn.
    After(u32, u32),
    /// Everything.
    All,
}

impl Span {
    /// Whether a row lies in it.
    #[must_use]
    pub fn holds(self, at: Coord) -> bool {
        match self {
            Span::Row(row) => row == at,
            Span::Turn(lap, turn) => (at.lap, at.turn) == (lap, turn),
            Span::Lap(lap) => at.lap == lap,
            Span::After(lap, turn) => (at.lap, at.turn) > (lap, turn),
            Span::All => true,
        }
    }
}

/// What an undo's row says it undid.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UndoInput {
    pub(crate) run: RunId,
    pub(crate) rows: Vec<Coord>,
    /// Those of the rows' paths that were taken back; old logs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paths: Option<Vec<String>>,
}

/// What a redo's row says it took back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RedoInput {
    pub(crate) undo: Coord,
    /// Those of the undo's paths that were done again; old logs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paths: Option<Vec<String>>,
}

/// One run's rows, and everything else that happened to the same files.
#[derive(Debug, Clone)]
pub struct History {
    /// The run.
    pub run: RunId,
    /// Its rows that changed files, oldest first.
    pub rows: Vec<Changed>,
    /// Its commands.
    pub commands: Vec<Command>,
    /// Rows of other runs of the session, the client's own among them, oldest first.
    pub others: Vec<Changed>,
    /// Undos that stand, oldest first.
    pub undone: Vec<Undone>,
}

impl History {
    /// Reads it.
    pub fn read(store: &Store, session: &SessionId, run: &RunId) -> Result<History, RunError> {
        // What an imported run changed, it changed elsewhere.
        let (imported, runs): (Vec<_>, Vec<_>) =
            store.runs(session)?.into_iter().partition(|run| run.imported);
        let mut facts = store.facts(run, 0)?;
        facts.retain(|fact| !imported.iter().any(|run| run.id == fact.run));
        let (rows, commands) = rows(&facts);
        let client = client_run(store, session)?;
        let mut others = Vec::new();
        let mut undone = Vec::new();
        for other in runs {
            if other.id == *run {
                continue;
            }
            let theirs = store.facts(&other.id, 0)?;
            if Some(&other.id) == client.as_ref() {
                undone = standing(store, &theirs);
            }
            others.extend(self::rows(&theirs).0.into_iter().filter(|row| row.run == other.id));
        }
        others.sort_by_key(|row| row.when);
        Ok(History { run: run.clone(), rows, commands, others, undone })
    }

    /// Whether all that a row of this run changed was undone and is still so.
    #[must_use]
    pub fn is_undone(&self, row: &Changed) -> bool {
        row.changes.iter().all(|change| self.is_taken_back(row, &change.path))
    }

    /// Whether what a row did to this path was undone and is still so.
    fn is_taken_back(&self, row: &Changed, path: &str) -> bool {
        let is_of = |undone: &&Undone| undone.run == row.run || undone.run == self.run;
        self.undone.iter().filter(is_of).any(|undone| {
            let took = undone.paths.as_ref().is_none_or(|paths| paths.iter().any(|p| p == path));
            took && undone.rows.contains(&row.at)
        })
    }

    /// The rows there with what they changed and was not undone, oldest first.
    pub(crate) fn open_rows(&self, span: Span) -> Vec<Changed> {
        let mut open: Vec<Changed> =
            self.rows.iter().filter(|row| span.holds(row.at)).cloned().collect();
        for row in &mut open {
            let changes = std::mem::take(&mut row.changes);
            let left = changes.into_iter().filter(|change| !self.is_taken_back(row, &change.path));
            row.changes = left.collect();
        }
        open.retain(|row| !row.changes.is_empty());
        open
    }

    /// The turns that changed something and were not undone, newest first.
    #[must_use]
    pub fn open_turns(&self) -> Vec<(u32, u32)> {
        let open = self.rows.iter().rev().filter(|row| !self.is_undone(row));
        let mut turns: Vec<(u32, u32)> = open.map(|row| (row.at.lap, row.at.turn)).collect();
        turns.dedup();
        turns
    }
}

/// The rows of these facts that changed files, and the commands that ran.
fn rows(facts: &[Fact]) -> (Vec<Changed>, Vec<Command>) {
    let (mut changed, mut commands) = (Vec::new(), Vec::new());
    let mut intents: Vec<&Intent> = Vec::new();
    for fact in facts {
        match &fact.body {
            Body::Intent(intent) => intents.push(intent),
            Body::Outcome(outcome) => {
                let intent = intents.iter().rev().find(|intent| intent.at == outcome.at);
                let Some(intent) = intent else { continue };
                let ran = outcome.settled != Settled::NotPerformed;
                if !outcome.changes.is_empty() {
                    changed.push(Changed {
                        run: fact.run.clone(),
                        at: outcome.at,
                        when: fact.at,
                        tool: intent.tool.clone(),
                        changes: outcome.changes.clone(),
                    });
                } else if ran && intent.op == Some(OpName::Exec) && intent.effect >= Effect::Host {
                    let command = intent.target.clone();
                    commands.push(Command { at: outcome.at, when: fact.at, command });
                }
            }
            _ => {}
        }
    }
    (changed, commands)
}

/// The paths that clients of the session changed back or forth after `since`, by undos and redos, as
/// long as something is different from then.
pub(crate) fn changed_since(
    store: &Store,
    session: &SessionId,
    since: u64,
) -> Result<Vec<String>, RunError> {
    let Some(client) = client_run(store, session)? else { return Ok(Vec::new()) };
    let mut states: BTreeMap<String, Change> = BTreeMap::new();
    for row in rows(&store.facts(&client, 0)?).0.into_iter().filter(|row| row.when > since) {
        for change in row.changes {
            let before = match states.get(&change.path) {
                Some(earlier) => earlier.before.clone(),
                None => change.before.clone(),
            };
            let path = change.path.clone();
            states.insert(path, Change::between(change.path, before, change.after));
        }
    }
    let differs = |c: &Change| !same(c.before.as_ref(), c.after.as_ref());
    Ok(states.into_iter().filter(|(_, change)| differs(change)).map(|(path, _)| path).collect())
}

/// The undos of a client run that were not taken back.
fn standing(store: &Store, facts: &[Fact]) -> Vec<Undone> {
    let mut undone: Vec<Undone> = Vec::new();
    for row in rows(facts).0 {
        let intent = facts.iter().find_map(|fact| match &fact.body {
            Body::Intent(intent) if intent.at == row.at => Some(intent),
            _ => None,
        });
        let Some(bytes) = intent.and_then(|i| store.content(&i.input.hash).ok()) else { continue };
        if let Ok(input) = serde_json::from_slice::<UndoInput>(&bytes) {
            let UndoInput { run, rows, paths } = input;
            let (at, when, changes) = (row.at, row.when, row.changes);
            undone.push(Undone { at, run, rows, paths, when, changes });
        } else if let Ok(input) = serde_json::from_slice::<RedoInput>(&bytes) {
            undone.iter_mut().filter(|undo| undo.at == input.undo).for_each(|u| u.less(&input));
            undone.retain(|undo| !undo.changes.is_empty());
        }
    }
    undone
}
