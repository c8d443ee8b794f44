//! What a command changed in an overlay of the workspace, as a proposal: changes with their bytes, what
//! a person is shown of them, and whether somebody changed the same outside meanwhile. Mounts nothing
//! and commits nothing; `apply` does that.

mod again;
mod census;
mod gathered;
mod git;
mod gone;
mod index;
mod label;
mod layer;
mod mark;
mod read;
mod renames;
mod scratch;
mod shown;
mod sides;
mod stage;
mod tree;
mod vouch;

pub use census::Census;
pub use mark::{Mark, Own, Written};
pub use scratch::{Scratch, ScratchError};
pub use stage::stage;

use crate::changes::removed::is_emptied;
use crate::folders::path;
use crate::folders::root_directory::RootDirectory;
use crate::folders::workspace::{Workspace, refusal};
use crate::settled::{Prepared, Refusal};
use cairn_types::{Change, Removed, Status};
use gathered::Gathered;
use read::Reader;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::AsFd;
use vouch::Vouch;

/// Cairn's own directory in a workspace, which no command changes.
const OWN_DIRECTORY: &str = ".cairn";
/// Where things are kept aside.
const TRASH: &str = ".cairn/trash";
/// How many conflicting paths are named, and how many that are left out.
const NAMED: usize = 20;

/// Why an ignored path is left out that others changed.
const OUTSIDE: &str = "changed outside meanwhile";

/// What a reader has to know besides the two directories.
#[derive(Debug)]
pub struct Terms<'a> {
    /// What stood in the workspace when the overlay was mounted.
    pub census: &'a Census,
    /// What Cairn itself wrote last before that.
    pub own: &'a Own,
    /// The name under which things are kept aside: one part of a path, used once.
    pub name: &'a str,
}

impl<'a> Terms<'a> {
    /// What is known of how the workspace was, as sure as that is now.
    fn vouch(&self, workspace: &'a Workspace, scratch: &'a Scratch) -> Vouch<'a> {
        let mark = scratch.mark();
        let in_doubt = mark.is_in_doubt();
        Vouch { workspace, census: self.census, own: self.own, mark, in_doubt }
    }
}

/// What a command changed.
#[derive(Debug, Default)]
pub struct Found {
    /// The changes, with the state before and after each.
    pub changes: Vec<Change>,
    /// The bytes behind the states, each once.
    pub contents: Vec<Vec<u8>>,
    /// What a person is shown. Raw; the one who draws it cleans it.
    pub shown: String,
    /// One line for lists.
    pub label: String,
    /// How much it removes, without what is ignored.
    pub removed: Removed,
    /// What of it would not be kept, and why, as it is told; the last counts those that are not named.
    pub left_out: Vec<String>,
    /// Files of the changes that have other names (hard links), as they are told.
    pub(crate) linked: Vec<String>,
    /// How many of the changes are of ignored paths.
    pub(crate) ignored: usize,
}

impl Found {
    /// Whether nothing would be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether something would be changed, and all of it is ignored.
    #[must_use]
    pub fn only_ignored(&self) -> bool {
        !self.is_empty() && self.ignored == self.changes.len()
    }
}

impl From<Found> for Prepared {
    fn from(found: Found) -> Prepared {
        let Found { changes, contents, shown, label, removed, .. } = found;
        Prepared { changes, contents, shown, label, removed, ..Prepared::default() }
    }
}

/// Reads what a command changed, once its overlay is unmounted. Refused with 409 when somebody changed
/// one of the same paths in the workspace meanwhile; of ignored paths those are only left out.
pub fn read(workspace: &Workspace, scratch: &Scratch, terms: &Terms<'_>) -> Result<Found, Refusal> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let refused = |e: Errno| refusal("the directory of what the command changed", e);
    let upper = rustix::fs::open(scratch.upper(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
        .and_then(|upper| match rustix::fs::openat(&upper, ".", flags, Mode::empty()) {
            Err(Errno::ACCESS) => {
                layer::set_mode(upper.as_fd(), b".", |mode| mode | 0o700)?;
                rustix::fs::openat(&upper, ".", flags, Mode::empty())
            }
            opened => opened,
        })
        .map_err(refused)?;
    let vouch = terms.vouch(workspace, scratch);
    let gathered = Gathered::of(workspace.repository.clone());
    let judge = terms.census.judge(workspace);
    let mut reader = Reader { workspace, upper, terms, vouch, judge, gathered, read: 0 };
    reader.walk()?;
    let gathered = reader.gathered;
    if !gathered.conflicts.is_empty() {
        return Err(conflict(&workspace.root, gathered.conflicts, "while the command ran"));
    }
    Ok(found(workspace, gathered))
}

/// What Cairn just wrote at these paths, for telling it later from what others write.
pub(crate) fn written(root: &RootDirectory, changes: &[Change]) -> Vec<Written> {
    let stat = |change: &Change| {
        let (directory, name) = path::split(root.inner_path(&change.path));
        let dir = root.open_directory(directory).ok()?;
        rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    };
    changes.iter().filter_map(stat).filter_map(|stat| Written::of(&stat)).collect()
}

fn conflict(root: &RootDirectory, mut paths: Vec<String>, when: &str) -> Refusal {
    paths.sort();
    paths.dedup();
    let told = |path: &String| path::shown(root.op_path(path).as_bytes());
    let named = some(paths.iter().map(told));
    let was = if paths.len() == 1 { "was" } else { "were" };
    let text = format!(
        "{} {was} changed outside {when}; nothing of what it changed is kept",
        named.join(", ")
    );
    Refusal::new(Status::CONFLICT, text)
}

/// The first of some things, and how many more there are.
fn some(things: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let more = things.len().saturating_sub(NAMED);
    let counted = (more > 0).then(|| format!("{more} more"));
    things.take(NAMED).chain(counted).collect()
}

/// What is not kept, as the model is told of it.
fn left_out(root: &RootDirectory, gathered: &Gathered) -> Vec<String> {
    let told = |(path, why): &(String, String)| format!("{} ({why})", root.op_path(path));
    let outside = |path: &String| (path::shown(path.as_bytes()), OUTSIDE.to_owned());
    let passed_over: Vec<_> = gathered.passed_over.iter().map(outside).collect();
    let all: Vec<_> = gathered.left_out.iter().chain(&passed_over).map(told).collect();
    some(all.into_iter())
}

fn found(workspace: &Workspace, mut gathered: Gathered) -> Found {
    git::without_refreshed(&mut gathered);
    let groups = git::groups(workspace, &gathered);
    let renames = renames::of(&gathered);
    let shown = shown::of(&gathered, &groups, &renames);
    let label = label::of(&gathered, &groups, &renames);
    let mut removed = Removed::default();
    for piece in gathered.pieces.iter().filter(|piece| piece.ignored.is_none()) {
        let Change { before, after, .. } = &piece.change;
        let is_emptied = before.as_ref().is_some_and(|before| is_emptied(before, after.as_ref()));
        // What takes the place of something else is no removal.
        if after.is_none() || is_emptied {
            removed.files += piece.counts.0.files;
            removed.bytes += piece.counts.0.bytes;
        }
    }
    let ignored = gathered.pieces.iter().filter(|piece| piece.ignored.is_some()).count();
    let left_out = left_out(&workspace.root, &gathered);
    let changes = gathered
        .pieces
        .into_iter()
        .map(|piece| Change { ignored: piece.ignored.is_some(), ..piece.change })
        .collect();
    let linked = gathered.hard_links.iter().map(|path| workspace.root.op_path(path)).collect();
    let contents = gathered.bytes.all;
    Found { changes, contents, shown, label, removed, left_out, linked, ignored }
}
