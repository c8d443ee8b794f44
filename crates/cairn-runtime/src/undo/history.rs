//! What a session's runs changed, row by row, and what of it was taken back. Read from the log;
//! the disk is not looked at.

use super::standing::{Undone, standing};
use crate::RunError;
use crate::changes::note::SYSTEM_RUN;
use crate::client::CLIENT_RUN;
use cairn_engine::{Recorded, Row, Rows};
use cairn_store::{Absence, RecordedOrder, RunRow, Store};
use cairn_types::{
    Begin, Body, Change, Coord, Effect, Fact, FileState, Hash, OpName, RunId, SessionId, Status,
};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// A row that changed files.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The run whose fact it is; a fork's early rows are its parent's.
    pub run: RunId,
    /// The row.
    pub at: Coord,
    /// Its place among the rows of the session, in the order in which they were recorded.
    pub order: u64,
    /// The tool.
    pub tool: String,
    /// What changed.
    pub changes: Vec<Change>,
}

/// A command that ran on the files themselves: nobody recorded what it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The run whose fact it is.
    pub run: RunId,
    /// The row.
    pub at: Coord,
    /// Its place among the rows of the session; of one that has no end, that of the run's row before it.
    pub order: u64,
    /// Whether it has an end.
    pub is_settled: bool,
    /// The command, in one line.
    pub command: String,
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

/// One run's rows, and everything else that happened to the same files.
#[derive(Debug, Clone)]
pub struct History {
    /// The run.
    pub run: RunId,
    /// Its rows that changed files, oldest first.
    pub rows: Vec<Changed>,
    /// Its commands that ran on the files themselves, oldest first.
    pub commands: Vec<Command>,
    /// Those of other runs of the session, oldest first.
    pub other_commands: Vec<Command>,
    /// Rows of other runs of the session, the client's own among them, oldest first.
    pub others: Vec<Changed>,
    /// Undos that stand, oldest first.
    pub undone: Vec<Undone>,
    /// Contents that going back would need and that are not here any more, and why.
    pub(super) absent: HashMap<Hash, Absence>,
}

impl History {
    /// Reads it.
    pub fn read(store: &Store, session: &SessionId, run: &RunId) -> Result<History, RunError> {
        // What an imported run changed, it changed elsewhere.
        let (imported, runs): (Vec<_>, Vec<_>) =
            undoable(store, session)?.into_iter().partition(|run| run.imported);
        let mut facts = store.facts(run, 0)?;
        facts.retain(|fact| !imported.iter().any(|run| run.id == fact.run));
        let order = store.recorded_order(session)?;
        let (rows, commands) = rows(&facts, &order);
        let (mut others, mut other_commands) = (Vec::new(), Vec::new());
        for other in runs.iter().filter(|other| other.id != *run) {
            let theirs = store.facts(&other.id, 0)?;
            let (rows, commands) = self::rows(&theirs, &order);
            others.extend(rows.into_iter().filter(|row| row.run == other.id));
            other_commands.extend(commands.into_iter().filter(|c| c.run == other.id));
        }
        others.sort_by_key(|row| row.order);
        // A fork has its parent's.
        other_commands.retain(|command| !commands.contains(command));
        other_commands.sort_by_key(|command| command.order);
        let undone = standing(store, session)?;
        let all = rows.iter().flat_map(|row| &row.changes);
        let all = all.chain(undone.iter().flat_map(|undo| &undo.changes));
        let absent = store.absent(all.filter_map(|change| change.before.as_ref()?.hash))?;
        Ok(History { run: run.clone(), rows, commands, other_commands, others, undone, absent })
    }

    /// What this path once was, or is, that is moved and not written, newest first.
    pub(super) fn moved<'a>(&'a self, path: &str) -> Vec<&'a FileState> {
        let rows = self.rows.iter().chain(&self.others).map(|row| (row.order, &row.changes));
        let undone = self.undone.iter().map(|undo| (undo.order, &undo.changes));
        let mut all: Vec<(u64, &Vec<Change>)> = rows.chain(undone).collect();
        all.sort_by_key(|(order, _)| Reverse(*order));
        let here = all.into_iter().flat_map(|(_, changes)| changes).filter(|c| c.path == path);
        let states = here.flat_map(|c| [&c.after, &c.before]).flatten();
        states.filter(|state| state.aside.is_some()).collect()
    }

    /// Whether all that a row of this run changed was undone and is still so.
    #[must_use]
    pub fn is_undone(&self, row: &Changed) -> bool {
        row.changes.iter().all(|change| self.is_taken_back(row, &change.path))
    }

    /// Whether what a row did to this path was undone and is still so.
    fn is_taken_back(&self, row: &Changed, path: &str) -> bool {
        self.undone.iter().any(|undone| undone.took(&row.run, row.at, path))
    }

    /// The rows there with what they changed and was not undone, oldest first.
    #[must_use]
    pub fn open_rows(&self, span: Span) -> Vec<Changed> {
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

    /// The run's commands that an undo of these rows would go past: they ran after the oldest of them.
    #[must_use]
    pub fn gone_past(&self, rows: &[Coord]) -> Vec<Command> {
        let oldest = self.rows.iter().find(|row| rows.contains(&row.at));
        let is_later = |c: &&Command| oldest.is_some_and(|row| c.at > row.at);
        self.commands.iter().filter(is_later).filter(|c| !self.was_passed(c)).cloned().collect()
    }

    /// The same, of the whole session.
    #[must_use]
    pub fn gone_past_by_any(&self, rows: &[Coord]) -> Vec<Command> {
        let oldest = self.rows.iter().find(|row| rows.contains(&row.at));
        let is_later =
            |c: &&Command| oldest.is_some_and(|row| !c.is_settled || c.order > row.order);
        let others = self.other_commands.iter().filter(is_later);
        let mut past = self.gone_past(rows);
        past.extend(others.filter(|c| !self.was_passed(c)).cloned());
        past.sort_by_key(|command| command.order);
        past
    }

    /// Whether an undo that stands went past it already: somebody knows.
    fn was_passed(&self, command: &Command) -> bool {
        let is_older = |row: &&Changed| match row.run == command.run {
            true => row.at < command.at,
            false => row.order < command.order,
        };
        self.rows.iter().chain(&self.others).filter(is_older).any(|row| {
            let took =
                |undo: &Undone| row.changes.iter().any(|c| undo.took(&row.run, row.at, &c.path));
            self.undone.iter().any(|undo| undo.order > command.order && took(undo))
        })
    }

    /// The newest undo that took back something which the run did up to this turn, and that came after
    /// the turn. `shared` is the turn's last fact. An undo that the run heard of before the turn ended
    /// belongs to the files of that turn.
    pub fn undone_after(
        &self,
        store: &Store,
        (lap, turn): (u32, u32),
        shared: u64,
    ) -> Result<Option<&Undone>, RunError> {
        let Some(row) = store.run(&self.run)? else { return Ok(None) };
        let order = store.recorded_order(&row.session)?;
        let facts = store.facts(&self.run, 0)?;
        let known = facts.iter().filter(|fact| fact.n <= shared).map(|fact| match &fact.body {
            Body::Outcome(_) => order.settled_from(&fact.run, fact.n).unwrap_or(0),
            Body::Delta(delta) => order.of_receipt(&delta.upto),
            Body::Drive(drive) => drive.since.as_deref().map_or(0, |name| order.of_receipt(name)),
            _ => 0,
        });
        let known = known.max().unwrap_or(0);
        let until = |row: &&Changed| (row.at.lap, row.at.turn) <= (lap, turn);
        let took_back = |undo: &&Undone| {
            undo.order > known
                && self
                    .rows
                    .iter()
                    .filter(until)
                    .any(|row| row.changes.iter().any(|c| undo.took(&row.run, row.at, &c.path)))
        };
        Ok(self.undone.iter().rev().find(took_back))
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

/// A turn that changed something which is not undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    /// The run; of a turn that forks share, the newest of them.
    pub run: RunId,
    /// The loop.
    pub lap: u32,
    /// The turn.
    pub turn: u32,
}

/// The turns of a session that changed something which is not undone: the one recorded last comes first,
/// whichever run it is of.
pub fn open_turns(store: &Store, session: &SessionId) -> Result<Vec<OpenTurn>, RunError> {
    let (imported, runs): (Vec<_>, Vec<_>) =
        undoable(store, session)?.into_iter().partition(|run| run.imported);
    let undone = standing(store, session)?;
    let order = store.recorded_order(session)?;
    let is_undone =
        |row: &Changed, path: &str| undone.iter().any(|undone| undone.took(&row.run, row.at, path));
    let (mut open, mut seen) = (Vec::new(), HashSet::new());
    let is_client = |run: &RunRow| run.name.as_deref() == Some(CLIENT_RUN);
    for run in runs.into_iter().filter(|run| !is_client(run)) {
        let changed = rows(&store.facts(&run.id, 0)?, &order).0;
        let here = changed.iter().filter(|row| !imported.iter().any(|run| run.id == row.run));
        for row in here.rev().filter(|r| r.changes.iter().any(|c| !is_undone(r, &c.path))) {
            let Coord { lap, turn, .. } = row.at;
            if seen.insert((row.run.clone(), lap, turn)) {
                open.push((row.order, OpenTurn { run: run.id.clone(), lap, turn }));
            }
        }
    }
    open.sort_by_key(|(order, _)| Reverse(*order));
    Ok(open.into_iter().map(|(_, turn)| turn).collect())
}

/// The rows of these facts that changed files, and the commands that ran on the files themselves: what
/// runs over an overlay begins to count with what it changed, or does not begin. What was done is done
/// before the hooks that look at results have had their word, and stays done when they never do.
pub(super) fn rows(facts: &[Fact], order: &RecordedOrder) -> (Vec<Changed>, Vec<Command>) {
    let rows = Rows::fold(facts);
    let done = rows.sorted_by(|row| row.first_result().filter(|done| !done.changes.is_empty()));
    let changed = done.into_iter().filter_map(|(row, done)| {
        Some(Changed {
            run: done.fact.run.clone(),
            at: row.at,
            // What hooks still look at has no receipt yet: it is the newest of all.
            order: order.settled_from(&done.fact.run, done.fact.n).unwrap_or(u64::MAX),
            tool: row.intent?.tool.clone(),
            changes: done.changes.clone(),
        })
    });
    let commands = rows.sorted_by(direct_begin).into_iter().filter_map(|(row, begin)| {
        let (run, n) = (&begin.fact.run, begin.fact.n);
        let settled = order.settled_from(run, n);
        Some(Command {
            run: run.clone(),
            at: row.at,
            order: settled.unwrap_or_else(|| order.settled_before(run, n)),
            is_settled: settled.is_some(),
            command: row.intent?.target.clone(),
        })
    });
    (changed.collect(), commands.collect())
}

/// The beginning of a command that worked on the files themselves. One that could not be confined did not run.
fn direct_begin<'a>(row: &Row<'a>) -> Option<Recorded<'a, Begin>> {
    let intent = row.intent?;
    let is_command = intent.op == Some(OpName::Exec) && intent.effect >= Effect::Host;
    let did_not_run = row
        .first_result()
        .is_some_and(|done| done.changes.is_empty() && done.status == Status::NOT_IMPLEMENTED);
    let is_direct = |begin: &&Recorded<'_, Begin>| begin.ran.is_none() && begin.changes.is_empty();
    row.begins.iter().find(is_direct).filter(|_| is_command && !did_not_run).copied()
}

/// The runs of a session without the one that only notes what nobody's op changed.
fn undoable(store: &Store, session: &SessionId) -> Result<Vec<RunRow>, RunError> {
    let mut runs = store.runs(session)?;
    runs.retain(|run| run.name.as_deref() != Some(SYSTEM_RUN));
    Ok(runs)
}
