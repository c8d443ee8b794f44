//! Makes a list of changes come true, all of them or none, and tells after a crash how far it came.
//! Every op that changes files, and every undo, goes through here.

use crate::path;
use crate::roots::Roots;
use crate::settled::{Probe, Refusal};
use crate::state::{self, Standing, same};
use crate::workspace::{Workspace, refusal};
use crate::write;
use cairn_types::{Change, ChangeKind, FileKind, FileState, Hash, Status};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::os::fd::AsFd;

/// Where the bytes behind a state come from.
pub type Contents<'a> = dyn Fn(&Hash) -> Option<Vec<u8>> + 'a;

/// Whether some of a list may have been made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    /// None: a path that is already as it shall be is somebody else's doing.
    Afresh,
    /// Some: what is already as it shall be is left alone.
    GoOn,
}

/// Makes the changes, if every path is as its change says it was. Returns the changes with the
/// states they led to.
pub(crate) fn apply(
    roots: &Roots,
    changes: &[Change],
    list: List,
    contents: &Contents<'_>,
) -> Result<Vec<Change>, Refusal> {
    let mut todo = Vec::with_capacity(changes.len());
    for change in changes {
        let now = state::at(roots.of(&change.path), &change.path)?;
        match standing(change, &now) {
            Probe::Done if list == List::GoOn => {}
            Probe::NotDone => todo.push((change, now)),
            Probe::Done | Probe::Partly | Probe::Neither => {
                return Err(changed_since(&change.path));
            }
        }
    }
    let mut done: Vec<&Change> = Vec::with_capacity(todo.len());
    for (change, now) in in_order(todo) {
        if let Err(problem) = one(roots, change, &now, contents) {
            return Err(rolled_back(problem, roll_back(roots, &done, contents)));
        }
        done.push(change);
    }
    changes.iter().map(|change| as_it_now_is(roots, change)).collect()
}

/// The fact that a file is not as it was.
pub(crate) fn changed_since(path: &str) -> Refusal {
    let text = format!("{path} changed since it was looked at; nothing was written");
    Refusal::new(Status::CONFLICT, text)
}

/// The change that takes this one back.
#[must_use]
pub fn inverse(change: &Change) -> Change {
    Change::between(change.path.clone(), change.after.clone(), change.before.clone())
}

/// New things first, the outer before the inner; then what goes, the inner before the outer; then
/// what becomes something of another kind, and what is made inside that.
fn in_order(mut todo: Vec<(&Change, Standing)>) -> Vec<(&Change, Standing)> {
    let turned: Vec<String> = todo
        .iter()
        .filter(|(change, _)| is_turned(change))
        .map(|(change, _)| format!("{}/", change.path))
        .collect();
    let phase = |change: &Change| match change.kind {
        ChangeKind::Deleted => 1,
        ChangeKind::Created if turned.iter().any(|t| change.path.starts_with(t.as_str())) => 3,
        ChangeKind::Created | ChangeKind::Modified if !is_turned(change) => 0,
        ChangeKind::Created | ChangeKind::Modified => 2,
    };
    todo.sort_by(|(a, _), (b, _)| {
        let key = |c: &Change| (phase(c), (phase(c) == 1).then(|| Reverse(c.path.clone())));
        key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
    });
    todo
}

/// Whether a path becomes something of another kind.
fn is_turned(change: &Change) -> bool {
    let kind = |state: &Option<FileState>| state.as_ref().map(|s| s.kind);
    match (kind(&change.before), kind(&change.after)) {
        (Some(before), Some(after)) => before != after,
        _ => false,
    }
}

fn one(
    roots: &Roots,
    change: &Change,
    now: &Standing,
    contents: &Contents<'_>,
) -> Result<(), Refusal> {
    let failed = |e: Errno| match e {
        Errno::STALE | Errno::EXIST | Errno::NOTEMPTY => changed_since(&change.path),
        e => refusal(&change.path, e),
    };
    let Some(after) = &change.after else {
        return write::take_away(roots.of(&change.path), &change.path, now).map_err(failed);
    };
    let bytes = match after.hash {
        None => Vec::new(),
        Some(hash) => contents(&hash).ok_or_else(|| {
            let text = format!("the content of {} is no longer kept", change.path);
            Refusal::new(Status::NOT_FOUND, text)
        })?,
    };
    write::put(roots.of(&change.path), change, after, (&bytes, now)).map_err(failed)
}

/// Takes back what was done of a list that could not be finished. Names the paths that are not as
/// they were left: those are somebody else's by now.
fn roll_back(roots: &Roots, done: &[&Change], contents: &Contents<'_>) -> Vec<String> {
    let mut left = Vec::new();
    for change in done.iter().rev() {
        let back = inverse(change);
        let taken_back = match state::at(roots.of(&back.path), &back.path) {
            Ok(now) if standing(&back, &now) == Probe::NotDone => {
                one(roots, &back, &now, contents).is_ok()
            }
            Ok(now) => standing(&back, &now) == Probe::Done,
            Err(_) => false,
        };
        if !taken_back {
            left.push(change.path.clone());
        }
    }
    left
}

/// Why a list could not be made, and what of it could not be taken back.
fn rolled_back(problem: Refusal, left: Vec<String>) -> Refusal {
    if left.is_empty() {
        return problem;
    }
    let paths = left.join(", ");
    let text = format!("{}. It could not be taken back: {paths}", problem.text);
    Refusal::new(Status::FAILED, text)
}

/// Those of the changes that stand as they were meant, as they are now.
pub(crate) fn made(roots: &Roots, changes: &[Change]) -> Vec<Change> {
    let is_made = |change: &&Change| {
        let now = state::at(roots.of(&change.path), &change.path);
        now.is_ok_and(|now| standing(change, &now) == Probe::Done)
    };
    changes.iter().filter(is_made).filter_map(|change| as_it_now_is(roots, change).ok()).collect()
}

fn as_it_now_is(roots: &Roots, change: &Change) -> Result<Change, Refusal> {
    let after = match &change.after {
        None => None,
        Some(meant) => match state::at(roots.of(&change.path), &change.path) {
            Ok(Some((state, _))) if same(Some(&state), Some(meant)) => Some(state),
            _ => Some(meant.clone()),
        },
    };
    Ok(Change { after, ..change.clone() })
}

fn standing(change: &Change, now: &Standing) -> Probe {
    let is = |state: &Option<FileState>| same(now.as_ref().map(|(s, _)| s), state.as_ref());
    match (is(&change.after), is(&change.before)) {
        (true, _) => Probe::Done,
        (false, true) => Probe::NotDone,
        (false, false) => Probe::Neither,
    }
}

/// How far these changes came, by what is on disk. Removes what an unfinished write left behind,
/// and makes durable what is there: whoever was cut off may not have come to it.
pub(crate) fn probe(roots: &Roots, expected: &[Change]) -> Probe {
    let mut found: Option<Probe> = None;
    for change in expected {
        clear(roots, change);
        let this = state::at(roots.of(&change.path), &change.path)
            .map_or(Probe::Neither, |now| standing(change, &now));
        found = Some(match (found, this) {
            (None, this) => this,
            (Some(before), this) if before == this => this,
            (Some(Probe::Neither), _) | (_, Probe::Neither) => Probe::Neither,
            _ => Probe::Partly,
        });
    }
    found.unwrap_or(Probe::Neither)
}

fn clear(roots: &Roots, change: &Change) {
    if let Ok(dir) = roots.of(&change.path).directory(path::split(&change.path).0) {
        write::clear(dir.as_fd(), &write::temporary(change));
        let _ = rustix::fs::fsync(&dir);
    }
}

/// The directories that must be made so that a path can be, outermost first.
pub(crate) fn missing_directories(workspace: &Workspace, path: &str) -> Vec<Change> {
    let mut made = Vec::new();
    let mut directory = path::split(path).0;
    while directory != "." && matches!(workspace.directory(directory), Err(Errno::NOENT)) {
        let state = FileState {
            kind: FileKind::Directory,
            hash: None,
            bytes: None,
            mode: workspace.new_directory_mode(),
            mtime_ns: None,
            link: None,
        };
        made.push(Change::between(directory.to_owned(), None, Some(state)));
        directory = path::split(directory).0;
    }
    made.reverse();
    made
}
