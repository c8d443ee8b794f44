//! The undos of a session that stand, and what each of them took back. Read from the client's run;
//! the disk is not looked at.

use super::history::{Changed, rows};
use crate::RunError;
use crate::client::client_run;
use cairn_engine::Rows;
use cairn_store::{RecordedOrder, Store};
use cairn_types::{Change, Coord, Fact, Hash, RunId, SessionId};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// An undo that stands: it was done, and was not taken back since.
#[derive(Debug, Clone)]
pub struct Undone {
    /// The client's row.
    pub at: Coord,
    /// The run whose rows were undone.
    pub run: RunId,
    /// The rows.
    pub rows: Vec<Coord>,
    /// Its place among the rows of the session, in the order in which they were recorded.
    pub order: u64,
    /// What the undo changed.
    pub changes: Vec<Change>,
    /// The run that goes on from there, when the undo was part of a rewind and nothing of it was
    /// done again yet.
    pub rewound: Option<RunId>,
    /// Which row's change of which path is in force no longer.
    taken: HashSet<(RunId, Coord, String)>,
}

impl Undone {
    /// Whether it took back what this run's row did to a path.
    #[must_use]
    pub fn took(&self, run: &RunId, at: Coord, path: &str) -> bool {
        self.taken.contains(&(run.clone(), at, path.to_owned()))
    }

    /// Without what a redo took back.
    fn less(&mut self, redo: &RedoInput) {
        let stands = |path: &str| match &redo.paths {
            Some(redone) => !redone.iter().any(|p| p == path),
            None => false,
        };
        self.changes.retain(|change| stands(&change.path));
        self.taken.retain(|(_, _, path)| stands(path));
        self.rewound = None;
    }
}

/// What an undo's row says it undid.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UndoInput {
    pub(super) run: RunId,
    pub(super) rows: Vec<Coord>,
    /// Those of the rows' paths that were taken back; old logs do not say, there a row went back
    /// whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) paths: Option<Vec<String>>,
    /// The run that goes on from there, of a rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rewound: Option<RunId>,
}

impl UndoInput {
    /// What of these rows, which are all of the run's, it took back: what the rows that it names did
    /// to its paths, and what later rows did there, which went with it. What an undo that stands had
    /// taken back already is that one's.
    fn taken(
        &self,
        order: u64,
        of: &[Changed],
        standing: &[Undone],
    ) -> HashSet<(RunId, Coord, String)> {
        let named: HashSet<Coord> = self.rows.iter().copied().collect();
        let paths: Option<HashSet<&String>> = self.paths.as_ref().map(|p| p.iter().collect());
        let mut back: HashSet<&String> = HashSet::new();
        let mut taken = HashSet::new();
        for row in of {
            for Change { path, .. } in &row.changes {
                let went = paths.as_ref().is_none_or(|paths| paths.contains(path));
                if !went || standing.iter().any(|undo| undo.took(&row.run, row.at, path)) {
                    continue;
                }
                let is_named = named.contains(&row.at);
                if is_named {
                    back.insert(path);
                }
                if is_named || (back.contains(path) && row.order <= order) {
                    taken.insert((row.run.clone(), row.at, path.clone()));
                }
            }
        }
        taken
    }
}

/// What a redo's row says it took back.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RedoInput {
    pub(super) undo: Coord,
    /// Those of the undo's paths that were done again; old logs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) paths: Option<Vec<String>>,
}

/// The undos of a session that were not taken back, oldest first.
pub fn standing(store: &Store, session: &SessionId) -> Result<Vec<Undone>, RunError> {
    match client_run(store, session)? {
        Some(client) => {
            standing_in(store, &store.facts(&client, 0)?, &store.recorded_order(session)?)
        }
        None => Ok(Vec::new()),
    }
}

/// The same, from the client's facts.
fn standing_in(
    store: &Store,
    facts: &[Fact],
    order: &RecordedOrder,
) -> Result<Vec<Undone>, RunError> {
    let asked = Rows::fold(facts);
    let mut runs: HashMap<RunId, Vec<Changed>> = HashMap::new();
    let mut undone: Vec<Undone> = Vec::new();
    for row in rows(facts, order).0 {
        let input = asked.get(row.at).and_then(|row| row.content("input"));
        let Some(bytes) = input.and_then(|input| store.content(&input.hash).ok()) else { continue };
        if let Ok(input) = serde_json::from_slice::<UndoInput>(&bytes) {
            if !runs.contains_key(&input.run) {
                runs.insert(input.run.clone(), rows(&store.facts(&input.run, 0)?, order).0);
            }
            let of = runs.get(&input.run).map_or(&[][..], Vec::as_slice);
            let taken = input.taken(row.order, of, &undone);
            let UndoInput { run, rows, rewound, .. } = input;
            let Changed { at, order, changes, .. } = row;
            undone.push(Undone { at, run, rows, order, changes, rewound, taken });
        } else if let Ok(input) = serde_json::from_slice::<RedoInput>(&bytes) {
            undone.iter_mut().filter(|undo| undo.at == input.undo).for_each(|u| u.less(&input));
            undone.retain(|undo| !undo.changes.is_empty());
        }
    }
    Ok(undone)
}

/// The contents that no age frees: without them it would be forgotten what is undone, an undo could
/// not be taken back, or one that a crash cut could not be finished.
pub fn needed(store: &Store) -> Result<HashSet<Hash>, RunError> {
    let mut needed = HashSet::new();
    for session in store.sessions()? {
        let Some(client) = client_run(store, &session.id)? else { continue };
        let facts = store.facts(&client, 0)?;
        let rows = Rows::fold(&facts);
        needed.extend(rows.iter().filter_map(|row| row.content("input")).map(|input| input.hash));
        let order = store.recorded_order(&session.id)?;
        for change in standing_in(store, &facts, &order)?.iter().flat_map(|undo| &undo.changes) {
            needed.extend(change.before.as_ref().and_then(|state| state.hash));
        }
        for change in unfinished(&rows) {
            let states = [&change.before, &change.after];
            needed.extend(states.into_iter().flatten().filter_map(|state| state.hash));
        }
    }
    Ok(needed)
}

/// What ops were about to change whose end was not seen.
pub(super) fn unfinished<'a>(rows: &Rows<'a>) -> impl Iterator<Item = &'a Change> {
    let open = rows.iter().filter(|row| row.outcome.is_none());
    open.filter_map(|row| row.begins.last()).flat_map(|begin| &begin.body.changes)
}
