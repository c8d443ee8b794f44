//! What an undo would change, and what stands in its way. Looks at the disk, changes nothing.

use super::history::{Changed, Command, History, RedoInput, Span, UndoInput, Undone};
use crate::client::ClientOp;
use cairn_types::{By, Change, Coord, FileKind, FileState, RunId};
use cairn_world::{World, same};
use std::collections::BTreeMap;

/// Something that an undo does not overwrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: String,
    /// What happened to it.
    pub why: String,
    /// Whether a person may insist: what would be lost is kept in the log.
    pub may_insist: bool,
}

/// An undo, worked out.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The rows it takes back.
    pub rows: Vec<Coord>,
    /// What it changes.
    pub changes: Vec<Change>,
    /// What stands in its way.
    pub conflicts: Vec<Conflict>,
    /// Directories that stay because they hold something else.
    pub kept: Vec<String>,
    /// Commands among the rows, whose changes are not covered.
    pub commands: Vec<Command>,
}

/// A path's way through the rows: what it was before the first, what it was after the last.
struct Net {
    before: Option<FileState>,
    after: Option<FileState>,
    last: Coord,
    when: u64,
}

impl Plan {
    /// What undoing these rows of a run would change. With `insist`, what other runs or later rows
    /// wrote is overwritten; what somebody else wrote never is.
    #[must_use]
    pub fn undo(history: &History, span: Span, world: &World, insist: bool) -> Plan {
        let rows: Vec<&Changed> = history
            .rows
            .iter()
            .filter(|row| span.holds(row.at) && !history.is_undone(row))
            .collect();
        let mut plan = Plan {
            rows: rows.iter().map(|row| row.at).collect(),
            commands: history.commands.iter().filter(|c| span.holds(c.at)).cloned().collect(),
            ..Plan::default()
        };
        for (path, net) in plan.nets(&rows, &history.commands) {
            plan.take_back(&path, &net, (history, world), insist);
        }
        plan.leave_full_directories(world);
        plan
    }

    /// What taking back an undo would change.
    #[must_use]
    pub fn redo(undone: &Undone, history: &History, world: &World, insist: bool) -> Plan {
        let row = Changed {
            run: history.run.clone(),
            at: undone.at,
            when: 0,
            tool: "undo".to_owned(),
            changes: undone.changes.clone(),
        };
        let mut plan = Plan { rows: undone.rows.clone(), ..Plan::default() };
        for (path, net) in plan.nets(&[&row], &[]) {
            plan.take_back(&path, &net, (history, world), insist);
        }
        plan.leave_full_directories(world);
        plan
    }

    /// Each path's way. A path that somebody else changed between two rows has no such way.
    fn nets(&mut self, rows: &[&Changed], commands: &[Command]) -> BTreeMap<String, Net> {
        let mut nets: BTreeMap<String, Net> = BTreeMap::new();
        for row in rows {
            for change in &row.changes {
                let Some(net) = nets.get_mut(&change.path) else {
                    let (before, after) = (change.before.clone(), change.after.clone());
                    let net = Net { before, after, last: row.at, when: row.when };
                    nets.insert(change.path.clone(), net);
                    continue;
                };
                if !same(net.after.as_ref(), change.before.as_ref()) {
                    let between = commands.iter().find(|c| (net.when..=row.when).contains(&c.when));
                    let by = between.map_or_else(String::new, |c| format!(", where {} ran", c.at));
                    let why =
                        format!("changed between {} and {}{by}, not by an op", net.last, row.at);
                    self.conflict(&change.path, why, false);
                }
                (net.after, net.last, net.when) = (change.after.clone(), row.at, row.when);
            }
        }
        let torn: Vec<String> = self.conflicts.iter().map(|c| c.path.clone()).collect();
        nets.retain(|path, _| !torn.contains(path));
        nets
    }

    fn take_back(
        &mut self,
        path: &str,
        net: &Net,
        (history, world): (&History, &World),
        insist: bool,
    ) {
        let now = match world.state(path) {
            Ok(now) => now,
            Err(refusal) => return self.conflict(path, refusal.text, false),
        };
        if same(now.as_ref(), net.before.as_ref()) {
            return;
        }
        if !same(now.as_ref(), net.after.as_ref()) {
            let (why, known) = whose(history, path, now.as_ref(), net);
            if !(insist && known) {
                return self.conflict(path, why, known);
            }
        }
        self.changes.push(Change::between(path.to_owned(), now, net.before.clone()));
    }

    fn conflict(&mut self, path: &str, why: String, may_insist: bool) {
        self.conflicts.push(Conflict { path: path.to_owned(), why, may_insist });
    }

    /// A directory that was made by a row and now holds something else stays.
    fn leave_full_directories(&mut self, world: &World) {
        let mut goes: Vec<String> =
            self.changes.iter().filter(|c| c.after.is_none()).map(|c| c.path.clone()).collect();
        // The inner before the outer: one that stays keeps those around it.
        goes.sort_by(|a, b| b.cmp(a));
        let mut stays: Vec<String> = Vec::new();
        for path in &goes {
            let is_dir = |c: &&Change| {
                c.path == *path && c.before.as_ref().is_some_and(|s| s.kind == FileKind::Directory)
            };
            if !self.changes.iter().any(|c| is_dir(&c)) {
                continue;
            }
            let holds_other = world.names_in(path).unwrap_or_default().iter().any(|name| {
                let inner = format!("{path}/{name}");
                !goes.contains(&inner) || stays.contains(&inner)
            });
            if holds_other {
                stays.push(path.clone());
            }
        }
        self.changes.retain(|change| !stays.contains(&change.path));
        self.kept = stays;
    }

    /// The op that carries an undo out.
    #[must_use]
    pub fn undo_op(&self, run: &RunId, by: By) -> ClientOp {
        let input = UndoInput { run: run.clone(), rows: self.rows.clone() };
        let (first, last) = (self.rows.first(), self.rows.last());
        let target = match (first, last) {
            (Some(first), Some(last)) if first != last => format!("{run} {first} to {last}"),
            (Some(only), _) => format!("{run} {only}"),
            _ => run.to_string(),
        };
        self.op("undo", serde_json::json!(input).to_string(), target, by)
    }

    /// The op that carries a redo out.
    #[must_use]
    pub fn redo_op(&self, undone: &Undone, by: By) -> ClientOp {
        let input = RedoInput { undo: undone.at };
        self.op("redo", serde_json::json!(input).to_string(), undone.at.to_string(), by)
    }

    fn op(&self, tool: &'static str, input: String, target: String, by: By) -> ClientOp {
        ClientOp { tool, input, target, changes: self.changes.clone(), by }
    }
}

/// Who made a path what it now is, and whether the log knows it.
fn whose(history: &History, path: &str, now: Option<&FileState>, net: &Net) -> (String, bool) {
    let wrote =
        |row: &&Changed| row.changes.iter().any(|c| c.path == path && same(c.after.as_ref(), now));
    if let Some(later) = history.rows.iter().rev().find(wrote) {
        return (format!("changed later by {} of this run", later.at), true);
    }
    if let Some(later) = history.others.iter().rev().find(wrote) {
        return (format!("changed later by log://{}/{}", later.run, later.at), true);
    }
    let what = match (now, &net.after) {
        (None, _) => "removed",
        (Some(_), None) => "made again",
        (Some(now), Some(after)) if now.hash == after.hash && now.kind == after.kind => {
            "given another mode"
        }
        _ => "changed",
    };
    (format!("{what} since {}, not by an op", net.last), false)
}
