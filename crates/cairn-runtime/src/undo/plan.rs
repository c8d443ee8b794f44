//! What an undo would change, and what stands in its way. Looks at the disk, changes nothing.

use super::history::{Changed, Command, History, Span};
use super::standing::{RedoInput, UndoInput, Undone};
use crate::client::ClientOp;
use cairn_store::Absence;
use cairn_types::{
    By, Change, Coord, FileKind, FileState, Hash, RunId, is_irreplaceable, repository_of_object,
};
use cairn_world::{World, alike, is_edited_since};
use std::collections::{BTreeMap, HashSet};

/// Something that an undo does not overwrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: String,
    /// What happened to it, as a sentence that names it.
    pub why: String,
    /// Whether a person may insist: what would be lost is kept in the log.
    pub may_insist: bool,
}

/// An undo, worked out.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The rows it takes back.
    pub rows: Vec<Coord>,
    /// Those of the rows' paths that are as before once it is carried out.
    pub paths: Vec<String>,
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
    /// git ignored it at the last of them.
    ignored: bool,
    last: Coord,
    order: u64,
}

impl Plan {
    /// What undoing these rows of a run would change. With `insist`, what other runs or later rows
    /// wrote is overwritten; what somebody else wrote never is.
    #[must_use]
    pub fn undo(history: &History, span: Span, world: &World, insist: bool) -> Plan {
        let rows = history.open_rows(span);
        let plan = Plan {
            rows: rows.iter().map(|row| row.at).collect(),
            commands: history.commands.iter().filter(|c| span.holds(c.at)).cloned().collect(),
            ..Plan::default()
        };
        plan.over(&rows, (history, world), insist)
    }

    /// What taking back an undo would change.
    #[must_use]
    pub fn redo(undone: &Undone, history: &History, world: &World, insist: bool) -> Plan {
        let row = Changed {
            run: history.run.clone(),
            at: undone.at,
            order: undone.order,
            tool: "undo".to_owned(),
            changes: undone.changes.clone(),
        };
        let plan = Plan { rows: undone.rows.clone(), ..Plan::default() };
        plan.over(&[row], (history, world), insist)
    }

    /// Whether nothing is to be changed and nothing stands in the way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.changes.is_empty() && self.conflicts.is_empty()
    }

    fn over(mut self, rows: &[Changed], at: (&History, &World), insist: bool) -> Plan {
        let mut nets = self.nets(rows, at.0, insist);
        add_left_objects(&mut nets, at.0);
        for (path, net) in nets.iter().filter(|(path, net)| !is_object_that_stays(path, net, &nets))
        {
            self.take_back(path, net, at, insist);
        }
        self.leave_what_has_no_place(at.1);
        // What is left alone may have held the bytes of another.
        let mut left = usize::MAX;
        while left != self.conflicts.len() {
            left = self.conflicts.len();
            self.leave_what_was_freed(at.0, at.1);
            self.keep_what_was_moved(rows);
        }
        self.leave_full_directories(at.1);
        self.paths = nets.into_keys().filter(|path| !self.leaves(path)).collect();
        self
    }

    /// Whether a path is left alone: for its own sake, or for that of one in it.
    fn leaves(&self, path: &str) -> bool {
        let is_kept = self.kept.iter().any(|kept| kept == path);
        let inside = format!("{path}/");
        self.conflicts.iter().any(|c| c.path == path || (is_kept && c.path.starts_with(&inside)))
    }

    /// Each path's way. A path that somebody else changed between two rows has no such way; past
    /// what another run changed there, a person may insist.
    fn nets(&mut self, rows: &[Changed], history: &History, insist: bool) -> BTreeMap<String, Net> {
        let mut nets: BTreeMap<String, Net> = BTreeMap::new();
        for row in rows {
            for change in &row.changes {
                let Some(net) = nets.get_mut(&change.path) else {
                    let (before, after) = (change.before.clone(), change.after.clone());
                    let (last, order, ignored) = (row.at, row.order, change.ignored);
                    let net = Net { before, after, ignored, last, order };
                    nets.insert(change.path.clone(), net);
                    continue;
                };
                if let Some(gap) = gap(history, net, row, change)
                    && !(insist && gap.may_insist)
                    && !self.leaves(&change.path)
                {
                    self.conflicts.push(gap);
                }
                (net.after, net.ignored) = (change.after.clone(), change.ignored);
                (net.last, net.order) = (row.at, row.order);
            }
        }
        nets.retain(|path, _| !self.leaves(path));
        nets
    }

    fn take_back(
        &mut self,
        path: &str,
        net: &Net,
        (history, world): (&History, &World),
        insist: bool,
    ) {
        let known = history.moved(path);
        let now = match world.locations().state_among(path, &known) {
            Ok(now) => now,
            Err(refusal) => return self.conflict(path, refusal.text, false),
        };
        if alike(now.as_ref(), net.before.as_ref()) {
            return;
        }
        if !alike(now.as_ref(), net.after.as_ref()) {
            let (why, known) = whose(history, path, now.as_ref(), net);
            if !(insist && known) {
                return self.conflict(path, why, known);
            }
        }
        // Of build output only that it is the same thing counts: builds write to it all the time.
        let is_kept_from_loss = !net.ignored || is_irreplaceable(path);
        if is_kept_from_loss && is_edited_since(net.after.as_ref(), now.as_ref()) {
            let why = format!("{path} was changed since {}, not by an op", net.last);
            return self.conflict(path, why, false);
        }
        let former = net.before.as_ref().map(|state| lying(world, path, state, &known).clone());
        self.changes.push(Change::between(path.to_owned(), now, former));
    }

    fn conflict(&mut self, path: &str, why: String, may_insist: bool) {
        self.conflicts.push(Conflict { path: path.to_owned(), why, may_insist });
    }

    /// What would have to become bytes that are not kept any more stays as it is. What is overwritten
    /// or removed is kept first, so its bytes can be had.
    fn leave_what_was_freed(&mut self, history: &History, world: &World) {
        let held: HashSet<Hash> =
            self.changes.iter().filter_map(|c| c.before.as_ref()?.hash).collect();
        let is_cleared = |change: &Change| {
            let moved = change.after.as_ref().filter(|state| state.aside.is_some());
            moved.is_some_and(|state| !world.locations().lies_aside(&change.path, state))
        };
        let is_freed = |change: &Change| {
            let hash = change.after.as_ref().and_then(|state| state.hash);
            hash.is_some_and(|hash| history.absent.contains_key(&hash) && !held.contains(&hash))
                || is_cleared(change)
        };
        let (freed, changes): (Vec<Change>, Vec<Change>) =
            std::mem::take(&mut self.changes).into_iter().partition(is_freed);
        self.changes = changes;
        for Change { path, after, .. } in freed {
            let why = match after {
                Some(state) if state.aside.is_some() => "what it was is no longer in the trash",
                state => match state.and_then(|state| history.absent.get(&state.hash?)) {
                    Some(Absence::Missing) => "its former content is missing and was not freed",
                    Some(Absence::Freed) | None => "its former content was freed by `cairn gc`",
                },
            };
            let why = format!("{path} cannot go back: {why}");
            self.conflict(&path, why, false);
        }
    }

    /// What was moved and cannot go back stays where it is: it may be the only copy.
    fn keep_what_was_moved(&mut self, rows: &[Changed]) {
        let hash = |state: &Option<FileState>| state.as_ref().and_then(|state| state.hash);
        for row in rows {
            let gone =
                row.changes.iter().filter(|c| c.after.is_none() && hash(&c.before).is_some());
            for from in gone.filter(|from| self.leaves(&from.path)).collect::<Vec<_>>() {
                let is_it =
                    |c: &&Change| c.before.is_none() && hash(&c.after) == hash(&from.before);
                for to in row.changes.iter().filter(is_it) {
                    let removed = self.changes.iter().position(|c| c.path == to.path);
                    if let Some(at) = removed.filter(|at| self.changes[*at].after.is_none()) {
                        self.changes.remove(at);
                        let (to, from) = (&to.path, &from.path);
                        let why = format!("{to} was moved from {from}, which is left alone");
                        self.conflict(to, why, false);
                    }
                }
            }
        }
    }

    /// What was in a directory that is gone stays gone: no row says what the directory was like.
    fn leave_what_has_no_place(&mut self, world: &World) {
        // A directory's own change comes before those in it.
        for change in std::mem::take(&mut self.changes) {
            let parent = change.path.rsplit_once('/').map_or("", |(parent, _)| parent);
            let is_new = change.before.is_none() && !parent.is_empty();
            if is_new && !self.will_be_directory(parent, world) {
                let why = format!("{} cannot be brought back: {parent} is gone", change.path);
                self.conflict(&change.path, why, false);
            } else {
                self.changes.push(change);
            }
        }
    }

    fn will_be_directory(&self, path: &str, world: &World) -> bool {
        let is_dir =
            |state: Option<&FileState>| state.is_some_and(|s| s.kind == FileKind::Directory);
        match self.changes.iter().find(|change| change.path == path) {
            Some(change) => is_dir(change.after.as_ref()),
            None => match world.locations().state(path) {
                Ok(Some(state)) if is_dir(Some(&state)) => true,
                // A folder's own root has no state.
                _ => world.locations().names_in(path).is_ok(),
            },
        }
    }

    /// A directory that was made by a row and now holds something else stays.
    fn leave_full_directories(&mut self, world: &World) {
        let mut goes: Vec<String> =
            self.changes.iter().filter(|c| c.after.is_none()).map(|c| c.path.clone()).collect();
        // The inner before the outer: one that stays keeps those around it.
        goes.sort_by(|a, b| b.cmp(a));
        let mut stays: Vec<String> = Vec::new();
        for path in &goes {
            // One that is moved goes with all that is in it.
            let is_made = |s: &FileState| s.kind == FileKind::Directory && s.aside.is_none();
            let is_dir = |c: &&Change| c.path == *path && c.before.as_ref().is_some_and(is_made);
            if !self.changes.iter().any(|c| is_dir(&c)) {
                continue;
            }
            let holds_other =
                world.locations().names_in(path).unwrap_or_default().iter().any(|name| {
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
        self.undo_into(run, None, by)
    }

    /// The op that carries out a rewind's undo; the other run goes on from there.
    #[must_use]
    pub fn rewind_op(&self, run: &RunId, into: &RunId, by: By) -> ClientOp {
        self.undo_into(run, Some(into.clone()), by)
    }

    fn undo_into(&self, run: &RunId, rewound: Option<RunId>, by: By) -> ClientOp {
        let paths = Some(self.paths.clone());
        let input = UndoInput { run: run.clone(), rows: self.rows.clone(), paths, rewound };
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
        let input = RedoInput { undo: undone.at, paths: Some(self.paths.clone()) };
        self.op("redo", serde_json::json!(input).to_string(), undone.at.to_string(), by)
    }

    fn op(&self, tool: &'static str, input: String, target: String, by: By) -> ClientOp {
        ClientOp { tool, input, target, changes: self.changes.clone(), by }
    }
}

/// Adds the objects of git repositories that go, which other rows made and whose undo left: without its `HEAD` what is
/// left of a repository is of no use, and nobody can tell what it was.
fn add_left_objects(nets: &mut BTreeMap<String, Net>, history: &History) {
    for row in history.rows.iter().chain(&history.others) {
        for change in row.changes.iter().filter(|change| change.before.is_none()) {
            let own = repository_of_object(&change.path).filter(|own| goes(own, nets));
            if own.is_some() && !nets.contains_key(&change.path) {
                let (before, after) = (None, change.after.clone());
                let (last, order, ignored) = (row.at, row.order, change.ignored);
                nets.insert(change.path.clone(), Net { before, after, ignored, last, order });
            }
        }
    }
}

/// Whether a repository goes whose own directory this is.
fn goes(own: &str, nets: &BTreeMap<String, Net>) -> bool {
    nets.get(&format!("{own}/HEAD")).is_some_and(|net| net.before.is_none())
}

/// Whether an object of a git repository stays although a row made it: refs that somebody made since may need it, and
/// one that nothing needs does no harm. It goes only with its whole repository.
fn is_object_that_stays(path: &str, net: &Net, nets: &BTreeMap<String, Net>) -> bool {
    net.before.is_none() && repository_of_object(path).is_some_and(|own| !goes(own, nets))
}

/// A state that is moved as the row tells it that knows where it lies now: undone and done again by
/// several rows, the same thing has been kept in several places.
fn lying<'a>(
    world: &World,
    path: &str,
    state: &'a FileState,
    known: &[&'a FileState],
) -> &'a FileState {
    let Some(aside) = &state.aside else { return state };
    let is_it = |known: &&&FileState| {
        known.kind == state.kind
            && known.aside.as_ref().is_some_and(|other| other.inode == aside.inode)
            && world.locations().lies_aside(path, known)
    };
    if world.locations().lies_aside(path, state) {
        state
    } else {
        known.iter().find(is_it).unwrap_or(&state)
    }
}

/// What happened to a path between two rows, if the second did not find what the first left.
fn gap(history: &History, net: &Net, row: &Changed, change: &Change) -> Option<Conflict> {
    if alike(net.after.as_ref(), change.before.as_ref()) {
        return None;
    }
    let (path, from, to) = (&change.path, net.last, row.at);
    let meanwhile = |order: u64| (net.order..=row.order).contains(&order);
    // Other runs' rows that lead from what was left to what was found, without a hole.
    let mut at = net.after.as_ref();
    let mut by: Option<&Changed> = None;
    for other in history.others.iter().filter(|other| meanwhile(other.order)) {
        for step in other.changes.iter().filter(|step| step.path == *path) {
            if alike(at, step.before.as_ref()) {
                (at, by) = (step.after.as_ref(), Some(other));
            }
        }
    }
    let known = by.filter(|_| alike(at, change.before.as_ref()));
    let why = match (known, history.commands.iter().find(|c| meanwhile(c.order))) {
        (Some(other), _) => {
            let (run, at) = (&other.run, other.at);
            format!("{path} was changed between {from} and {to} by log://{run}/{at}")
        }
        (None, Some(command)) => {
            let ran = command.at;
            format!("{path} was changed between {from} and {to}, where {ran} ran, not by an op")
        }
        (None, None) => format!("{path} was changed between {from} and {to}, not by an op"),
    };
    Some(Conflict { path: path.clone(), why, may_insist: known.is_some() })
}

/// Who made a path what it now is, and whether the log knows it: only the last op that came to the
/// path after those rows can be the one.
fn whose(history: &History, path: &str, now: Option<&FileState>, net: &Net) -> (String, bool) {
    let own = history.rows.iter().filter(|row| (row.order, row.at) > (net.order, net.last));
    let others = history.others.iter().filter(|row| row.order >= net.order);
    let came = |row: &&Changed| row.changes.iter().any(|c| c.path == path);
    let wrote =
        |row: &&Changed| row.changes.iter().any(|c| c.path == path && alike(c.after.as_ref(), now));
    let later: Vec<&Changed> = own.chain(others).filter(came).collect();
    let newest = later.iter().map(|row| row.order).max();
    let last = later.into_iter().filter(|row| Some(row.order) == newest).find(wrote);
    if let Some(Changed { run, at, .. }) = last {
        let is_own = history.rows.iter().any(|row| (&row.run, row.at) == (run, *at));
        return match is_own {
            true => (format!("{path} was changed later by {at} of this run"), true),
            false => (format!("{path} was changed later by log://{run}/{at}"), true),
        };
    }
    let what = match (now, &net.after) {
        (None, _) => "removed",
        (Some(_), None) => "made again",
        (Some(now), Some(after)) if after.aside.is_some() && now.kind == after.kind => "replaced",
        (Some(now), Some(after)) if now.hash == after.hash && now.kind == after.kind => {
            "given another mode"
        }
        _ => "changed",
    };
    (format!("{path} was {what} since {}, not by an op", net.last), false)
}
