//! What a session's runs changed, row by row, and which rows were taken back. Read from the log.

use crate::RunError;
use crate::client::client_run;
use cairn_store::Store;
use cairn_types::{Body, Change, Coord, Effect, Fact, Intent, OpName, RunId, SessionId, Settled};
use serde::{Deserialize, Serialize};

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
    /// What the undo changed.
    pub changes: Vec<Change>,
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
}

/// What a redo's row says it took back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RedoInput {
    pub(crate) undo: Coord,
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

    /// Whether a row of this run was undone and is still so.
    #[must_use]
    pub fn is_undone(&self, row: &Changed) -> bool {
        let is_of = |undone: &&Undone| undone.run == row.run || undone.run == self.run;
        self.undone.iter().filter(is_of).any(|undone| undone.rows.contains(&row.at))
    }

    /// The newest turn that changed something and was not undone.
    #[must_use]
    pub fn newest_turn(&self) -> Option<Span> {
        let row = self.rows.iter().rev().find(|row| !self.is_undone(row))?;
        Some(Span::Turn(row.at.lap, row.at.turn))
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
            let (at, changes) = (row.at, row.changes);
            undone.push(Undone { at, run: input.run, rows: input.rows, changes });
        } else if let Ok(input) = serde_json::from_slice::<RedoInput>(&bytes) {
            undone.retain(|undo| undo.at != input.undo);
        }
    }
    undone
}
