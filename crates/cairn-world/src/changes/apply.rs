//! Makes a list of changes come true, all of them or none, and tells after a crash how far it came.
//! Every op that changes files, and every undo, goes through here.

use crate::changes::durability::{Durability, sync_file_systems};
use crate::changes::state::{self, Standing, same};
use crate::changes::swap::Problem;
use crate::changes::write::{self, Ready};
use crate::changes::{aside, leftovers};
use crate::folders::path;
use crate::folders::root_directory::RootDirectory;
use crate::folders::roots::Roots;
use crate::folders::workspace::refusal;
use crate::settled::{Probe, Refusal};
use cairn_types::{Aside, Change, ChangeKind, FileKind, FileState, Hash, Status};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Where the bytes behind a state come from.
pub type Contents<'a> = dyn Fn(&Hash) -> Option<Vec<u8>> + 'a;

/// Who is told how many of how many changes are made.
pub type OnProgress<'a> = &'a mut (dyn FnMut(usize, usize) + Send);

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
    progress: OnProgress<'_>,
) -> Result<Vec<Change>, Refusal> {
    let mut todo = Vec::with_capacity(changes.len());
    for change in changes {
        let now = state::of_change(roots.root_of(&change.path), change)?;
        match standing(roots, change, &now) {
            Probe::Done if list == List::GoOn => {}
            Probe::Partly if list == List::GoOn => todo.push((change, now)),
            Probe::NotDone => todo.push((change, now)),
            Probe::Done | Probe::Partly | Probe::Neither => {
                return Err(changed_since(&change.path));
            }
        }
    }
    let phases = in_order(todo);
    let all: Vec<&Change> = phases.iter().flatten().map(|(change, _)| *change).collect();
    open_up(roots, &all);
    let durability = Durability::of_list(changes.len());
    let counter = Counter { made: 0, total: all.len(), progress };
    let mut making = Making { roots, contents, durability, counter, done: Vec::new() };
    let made = phases.iter().try_for_each(|phase| making.phase(phase));
    let made = made.and_then(|()| finish(roots, &all, durability));
    let made = made.and_then(|()| match durability {
        Durability::OneByOne => Ok(()),
        // Also of what was made before a crash.
        Durability::Together => sync_all(roots, changes),
    });
    let done = making.done;
    if let Err(problem) = made {
        let left = roll_back(roots, &done, contents);
        leave_as_before(roots, &all);
        return Err(rolled_back(problem, left));
    }
    changes.iter().map(|change| as_it_now_is(roots, change)).collect()
}

/// A change, and what was just seen at its path.
type Step<'a> = (&'a Change, Standing);

/// Counts the changes that are made.
struct Counter<'a> {
    made: usize,
    total: usize,
    progress: OnProgress<'a>,
}

impl Counter<'_> {
    fn count(&mut self) {
        self.made += 1;
        (self.progress)(self.made, self.total);
    }
}

/// A list that is being made.
struct Making<'a, 'b> {
    roots: &'a Roots,
    contents: &'a Contents<'a>,
    durability: Durability,
    counter: Counter<'b>,
    done: Vec<&'a Change>,
}

impl<'a> Making<'a, '_> {
    /// Makes the changes of one phase. Where they are synced together, the bytes of all files are written and synced
    /// before the first file takes its place: whatever a power cut takes, each path is as before or as meant.
    fn phase(&mut self, phase: &'a [Step<'a>]) -> Result<(), Refusal> {
        let mut waiting: Vec<(&'a Step<'a>, Option<Ready>)> = Vec::with_capacity(phase.len());
        let prepared = match self.durability {
            Durability::OneByOne => {
                waiting.extend(phase.iter().map(|step| (step, None)));
                Ok(())
            }
            Durability::Together => self.get_ready(phase, &mut waiting),
        };
        let mut waiting = waiting.into_iter();
        let made = prepared
            .and_then(|()| waiting.try_for_each(|(step, ready)| self.one(step, ready.as_ref())));
        for (step, ready) in waiting {
            if let Some(ready) = ready {
                write::discard(self.roots.root_of(&step.0.path), step.0, &ready);
            }
        }
        made
    }

    /// Writes all files of a phase beside their places and syncs them. Directories are made at once, for what is
    /// written into them.
    fn get_ready(
        &mut self,
        phase: &'a [Step<'a>],
        waiting: &mut Vec<(&'a Step<'a>, Option<Ready>)>,
    ) -> Result<(), Refusal> {
        let mut is_any = false;
        for step in phase {
            let (change, now) = step;
            match change.after.as_ref().filter(|after| after.aside.is_none()) {
                Some(after) if after.kind == FileKind::Directory => self.one(step, None)?,
                Some(after) => {
                    let bytes = bytes_of(change, after, self.contents)?;
                    let workspace = self.roots.of(&change.path);
                    let what = (bytes.as_slice(), now);
                    let ready =
                        write::get_ready(&workspace.root, change, after, what, self.durability)
                            .map_err(|problem| Failure::of(&change.path, problem).refusal)?;
                    waiting.push((step, Some(ready)));
                    is_any = true;
                }
                None => waiting.push((step, None)),
            }
        }
        if is_any { sync_all(self.roots, phase.iter().map(|(change, _)| *change)) } else { Ok(()) }
    }

    fn one(&mut self, step: &'a Step<'a>, ready: Option<&Ready>) -> Result<(), Refusal> {
        let made = one(self.roots, step, (self.contents, ready), self.durability);
        if matches!(made, Ok(()) | Err(Failure { is_made: true, .. })) {
            self.done.push(step.0);
            self.counter.count();
        } else if let Some(ready) = ready {
            write::discard(self.roots.root_of(&step.0.path), step.0, ready);
        }
        made.map_err(|failure| failure.refusal)
    }
}

/// Syncs the file systems that these changes are on.
fn sync_all<'a>(
    roots: &Roots,
    changes: impl IntoIterator<Item = &'a Change>,
) -> Result<(), Refusal> {
    let paths = changes.into_iter().map(|change| change.path.as_str());
    sync_file_systems(roots, paths).map_err(|problem| Failure::of("the project", problem).refusal)
}

/// A change that could not be made, or not be made durable.
struct Failure {
    refusal: Refusal,
    /// Whether it stands all the same.
    is_made: bool,
}

impl Failure {
    fn of(path: &str, problem: Problem) -> Failure {
        let is_made = matches!(problem, Problem::NotDurable(_));
        let refusal = match problem {
            Problem::Stale => changed_since(path),
            Problem::Kept(name) => kept_as(path, &path::joined(path::split(path).0, &name)),
            Problem::Aside(kept) => kept_as(path, &kept),
            Problem::Gone => {
                let text = format!("what {path} should be is no longer in {}", Aside::TRASH);
                Refusal::new(Status::NOT_FOUND, text)
            }
            Problem::OtherSystem => {
                let trash = Aside::TRASH;
                let text =
                    format!("{path} is on another file system than {trash}: it cannot be moved");
                Refusal::new(Status::FAILED, text)
            }
            Problem::NotDurable(e) => {
                let e = std::io::Error::from(e);
                let text = format!("{path} could not be made safe against a power cut: {e}");
                Refusal::new(Status::FAILED, text)
            }
            Problem::Attribute(name, e) => {
                let e = std::io::Error::from(e);
                let text = format!("{path} was not changed, since {name} cannot be kept here: {e}");
                Refusal::new(Status::FAILED, text)
            }
            Problem::System(e) => refusal(path, e),
        };
        Failure { refusal, is_made }
    }
}

fn kept_as(path: &str, kept: &str) -> Refusal {
    let text = format!("{path} was changed just now, and is as it was last saved");
    let text = format!("{text}; what stood there shortly before is kept as {kept}");
    Refusal::new(Status::CONFLICT, text)
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure { refusal, is_made: false }
    }
}

/// The directories among some states that are made and not moved, the inner before the outer.
fn directories<'a>(
    changes: &[&'a Change],
    state: impl Fn(&'a Change) -> Option<&'a FileState>,
) -> Vec<(&'a str, &'a FileState)> {
    let is_directory = |state: &&FileState| write::is_written_directory(state);
    let mut found: Vec<_> = changes
        .iter()
        .filter_map(|change| Some((change.path.as_str(), state(change).filter(is_directory)?)))
        .collect();
    found.sort_by_key(|(path, _)| Reverse(*path));
    found
}

/// Opens the read-only directories that are to go, so that what is in them can go first. Where that
/// is not allowed, what is in them will not go either.
fn open_up(roots: &Roots, changes: &[&Change]) {
    let going = |change: &&Change| change.after.is_none();
    let going: Vec<&Change> = changes.iter().copied().filter(going).collect();
    for (path, state) in directories(&going, |change| change.before.as_ref()).into_iter().rev() {
        if state.mode & 0o700 != 0o700 {
            let _ = write::open_up(roots.root_of(path), path, state.mode);
        }
    }
}

/// Gives the directories that were made their modes and times, now that everything is in them.
fn finish(roots: &Roots, changes: &[&Change], durability: Durability) -> Result<(), Refusal> {
    let finish = |(path, state): (&str, &FileState)| {
        write::finish(roots.root_of(path), path, state, durability)
            .map_err(|e| Failure::of(path, e).refusal)
    };
    directories(changes, |change| change.after.as_ref()).into_iter().try_for_each(finish)
}

/// Gives directories that were to go, and stay, their modes and times again.
fn leave_as_before(roots: &Roots, changes: &[&Change]) {
    for (path, state) in directories(changes, |change| change.before.as_ref()) {
        let now = state::at(roots.root_of(path), path).ok().flatten();
        let now = now.as_ref().map(|(now, _)| now);
        if same(now, Some(state)) || write::is_opened(Some(state), now) {
            let _ = write::finish(roots.root_of(path), path, state, Durability::OneByOne);
        }
    }
}

/// The fact that a file is not as it was.
pub(crate) fn changed_since(path: &str) -> Refusal {
    let text = format!("{path} changed since it was looked at; nothing was written");
    Refusal::new(Status::CONFLICT, text)
}

/// The change that takes this one back.
#[must_use]
pub fn inverse(change: &Change) -> Change {
    let back = Change::between(change.path.clone(), change.after.clone(), change.before.clone());
    let (precious, counts_as) = (change.precious.clone(), change.counts_as.clone());
    Change { ignored: change.ignored, precious, counts_as, ..back }
}

/// New things first, the outer before the inner; then what goes, the inner before the outer; then
/// what becomes something of another kind, and what is made inside that. Each of these is a phase.
fn in_order(todo: Vec<Step<'_>>) -> Vec<Vec<Step<'_>>> {
    let turned: HashSet<&str> = todo
        .iter()
        .filter(|(change, _)| is_turned(change))
        .map(|(change, _)| change.path.as_str())
        .collect();
    let is_inside_turned = |path: &str| {
        !turned.is_empty() && path.match_indices('/').any(|(at, _)| turned.contains(&path[..at]))
    };
    let phase = |change: &Change| match change.kind {
        ChangeKind::Deleted => 1,
        ChangeKind::Created if is_inside_turned(&change.path) => 3,
        ChangeKind::Created | ChangeKind::Modified if !is_turned(change) => 0,
        ChangeKind::Created | ChangeKind::Modified => 2,
    };
    let of: Vec<usize> = todo.iter().map(|(change, _)| phase(change)).collect();
    let mut phases: Vec<Vec<Step<'_>>> = (0..4).map(|_| Vec::new()).collect();
    for (step, phase) in todo.into_iter().zip(of) {
        phases[phase].push(step);
    }
    for (nth, steps) in phases.iter_mut().enumerate() {
        steps.sort_by(|(a, _), (b, _)| match nth {
            1 => b.path.cmp(&a.path),
            _ => a.path.cmp(&b.path),
        });
    }
    phases
}

/// Whether a path becomes something of another kind. One that is moved is: what is in it goes, or
/// comes, with it.
fn is_turned(change: &Change) -> bool {
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            before.kind != after.kind || before.aside.is_some() || after.aside.is_some()
        }
        _ => false,
    }
}

fn one(
    roots: &Roots,
    (change, now): &Step<'_>,
    (contents, ready): (&Contents<'_>, Option<&Ready>),
    durability: Durability,
) -> Result<(), Failure> {
    let is_there = |before: &FileState| now.as_ref().is_none_or(|n| same(Some(&n.0), Some(before)));
    let moved = change.before.as_ref().filter(|before| before.aside.is_some());
    let Some(before) = moved.filter(|before| is_there(before)) else {
        return bring(roots, (change, now), (contents, ready), durability);
    };
    let workspace = roots.of(&change.path);
    if let Some(was) = now {
        aside::away(&workspace.root, &change.path, (before, was), durability)
            .map_err(|problem| Failure { is_made: false, ..Failure::of(&change.path, problem) })?;
    }
    let brought = bring(roots, (change, &None), (contents, ready), durability);
    match brought {
        // It goes back, unless somebody else's is in its place by now.
        Err(failure) if !failure.is_made => {
            match aside::back(&workspace.root, &change.path, before, durability) {
                Ok(()) | Err(Problem::NotDurable(_)) => Err(failure),
                Err(_) => {
                    let kept = before.aside.as_ref().map_or("", |aside| aside.path.as_str());
                    Err(kept_as(&change.path, kept).into())
                }
            }
        }
        brought => brought,
    }
}

/// Brings what a change leads to into its place, where what is moved away no longer is.
fn bring(
    roots: &Roots,
    (change, now): (&Change, &Standing),
    (contents, ready): (&Contents<'_>, Option<&Ready>),
    durability: Durability,
) -> Result<(), Failure> {
    let failed = |problem| Failure::of(&change.path, problem);
    let workspace = roots.of(&change.path);
    let Some(after) = &change.after else {
        return write::take_away(&workspace.root, change, now, durability).map_err(failed);
    };
    if after.aside.is_some() {
        let moved = match now {
            None => aside::back(&workspace.root, &change.path, after, durability),
            Some(was) => aside::instead(&workspace.root, change, after, was, durability),
        };
        return moved.map_err(failed);
    }
    if let Some(ready) = ready {
        let put = write::put_ready(&workspace.root, change, (after, ready), now, durability);
        return put.map_err(failed);
    }
    let bytes = bytes_of(change, after, contents)?;
    write::put(&workspace.root, change, after, (&bytes, now), durability).map_err(failed)
}

/// The bytes of what a change leads to.
fn bytes_of(
    change: &Change,
    after: &FileState,
    contents: &Contents<'_>,
) -> Result<Vec<u8>, Refusal> {
    let Some(hash) = after.hash else { return Ok(Vec::new()) };
    contents(&hash).ok_or_else(|| {
        let text = format!("the former content of {} cannot be read", change.path);
        Refusal::new(Status::NOT_FOUND, text)
    })
}

/// Takes back what was done of a list that could not be finished. Names the paths that are not as
/// they were left: those are somebody else's by now.
fn roll_back(roots: &Roots, done: &[&Change], contents: &Contents<'_>) -> Vec<String> {
    let mut left = Vec::new();
    for change in done.iter().rev() {
        let back = inverse(change);
        let taken_back = match state::of_change(roots.root_of(&back.path), &back) {
            Ok(now) => match standing(roots, &back, &now) {
                Probe::Done => true,
                Probe::Neither => false,
                Probe::NotDone | Probe::Partly => {
                    match one(roots, &(&back, now), (contents, None), Durability::OneByOne) {
                        Ok(()) => true,
                        Err(failure) => failure.is_made,
                    }
                }
            },
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

/// Those of the changes that stand as they were meant, as they are now. Where what was there is moved away and
/// what was to come is not there yet, it stands as removed.
pub(crate) fn made(roots: &Roots, changes: &[Change]) -> Vec<Change> {
    let stands = |change: &Change| {
        let now = state::of_change(roots.root_of(&change.path), change).ok()?;
        match standing(roots, change, &now) {
            Probe::Done => as_it_now_is(roots, change).ok(),
            Probe::Partly if now.is_none() => {
                Some(Change { kind: ChangeKind::Deleted, after: None, ..change.clone() })
            }
            Probe::Partly | Probe::NotDone | Probe::Neither => None,
        }
    };
    changes.iter().filter_map(stands).collect()
}

fn as_it_now_is(roots: &Roots, change: &Change) -> Result<Change, Refusal> {
    let after = match &change.after {
        None => None,
        Some(meant) => match state::of_change(roots.root_of(&change.path), change) {
            Ok(Some((state, _))) if is_what_was_meant(&state, meant) => Some(state),
            _ => Some(meant.clone()),
        },
    };
    Ok(change.led_to(after))
}

/// Whether a state is what a change was to lead to, but for acting as an owner who it could not be
/// given to.
fn is_what_was_meant(state: &FileState, meant: &FileState) -> bool {
    let without = FileState { mode: meant.mode & 0o1777, ..meant.clone() };
    same(Some(state), Some(meant)) || same(Some(state), Some(&without))
}

/// How far one change came. `Partly` is a directory that is as before or as meant, but still open to
/// its owner so that things in it could come or go; or a place that what was there is moved away
/// from, and that nothing else is in yet.
fn standing(roots: &Roots, change: &Change, now: &Standing) -> Probe {
    let now = now.as_ref().map(|(state, _)| state);
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    let lies = |state: Option<&FileState>| {
        state.is_some_and(|state| aside::lies(roots.root_of(&change.path), state))
    };
    let is_between = || {
        write::is_opened(after, now)
            || write::is_opened(before, now)
            || (now.is_none() && lies(before))
    };
    // What was edited in its place is the same file, but not what would be put away.
    let is_before = same(now, before) && state::is_untouched(before, now);
    match (same(now, after), is_before) {
        (true, _) => Probe::Done,
        (false, true) => Probe::NotDone,
        (false, false) if is_between() => Probe::Partly,
        (false, false) => Probe::Neither,
    }
}

/// How far these changes came, by what is on disk. Clears up what an unfinished write left behind. What stands there
/// and cannot be made durable is not said to be done.
pub(crate) fn probe(roots: &Roots, expected: &[Change]) -> Probe {
    let is_durable = leftovers::clear(roots, expected).is_ok();
    let mut found: Option<Probe> = None;
    for change in expected {
        let this = state::of_change(roots.root_of(&change.path), change)
            .map_or(Probe::Neither, |now| standing(roots, change, &now));
        found = Some(match (found, this) {
            (None, this) => this,
            (Some(before), this) if before == this => this,
            (Some(Probe::Neither), _) | (_, Probe::Neither) => Probe::Neither,
            _ => Probe::Partly,
        });
    }
    found.filter(|found| *found != Probe::Done || is_durable).unwrap_or(Probe::Neither)
}

/// The directories that must be made so that a path can be, outermost first.
pub(crate) fn missing_directories(root: &RootDirectory, path: &str) -> Vec<Change> {
    let mut made = Vec::new();
    let mut directory = path::split(path).0;
    let mode = root.new_directory_mode() | root.group_bit(directory);
    while directory != "." && matches!(root.open_directory(directory), Err(Errno::NOENT)) {
        let state = FileState::of(FileKind::Directory, mode);
        made.push(Change::between(directory.to_owned(), None, Some(state)));
        directory = path::split(directory).0;
    }
    made.reverse();
    made
}
