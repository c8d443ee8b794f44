//! Looks once more at what a command's changes would put away, right before they count: a question may
//! have been open for long. What is written and not moved is looked at by `apply`, by its content.

use super::vouch::Vouch;
use super::{OUTSIDE, conflict};
use crate::changes::state::is_moved_one;
use crate::folders::path;
use crate::folders::workspace::Workspace;
use crate::settled::Refusal;
use cairn_types::{Change, FileKind, FileState};
use rustix::fs::{AtFlags, Stat};
use std::collections::HashSet;

/// Takes the ignored changes from the list that would put away what somebody changed since, and says
/// which. Refused if there are others.
pub(super) fn leave_out_touched(
    vouch: &Vouch<'_>,
    workspace: &Workspace,
    changes: &mut Vec<Change>,
) -> Result<Vec<String>, Refusal> {
    let is_touched = |change: &&Change| {
        let path = workspace.root.inner_path(&change.path);
        let now =
            rustix::fs::statat(vouch.workspace.root.handle(), path, AtFlags::SYMLINK_NOFOLLOW).ok();
        is_touched(vouch, path, (change, now))
    };
    let touched: Vec<&Change> = changes.iter().filter(is_touched).collect();
    // What lies in a directory that goes cannot stay by itself.
    let goes = |directory: &str| {
        let is_it = |change: &&Change| workspace.root.inner_path(&change.path) == directory;
        let change = changes.iter().find(is_it);
        change.is_some_and(|c| c.after.as_ref().is_none_or(|s| s.kind != FileKind::Directory))
    };
    let may_stay = |change: &Change| {
        let path = workspace.root.inner_path(&change.path);
        change.ignored && path.match_indices('/').all(|(at, _)| !goes(&path[..at]))
    };
    let (left_out, conflicts): (Vec<&Change>, Vec<&Change>) =
        touched.into_iter().partition(|change| may_stay(change));
    if !conflicts.is_empty() {
        let paths =
            conflicts.iter().map(|change| workspace.root.inner_path(&change.path).to_owned());
        return Err(conflict(&workspace.root, paths.collect(), "since the command ran"));
    }
    let left_out: HashSet<String> = left_out.iter().map(|change| change.path.clone()).collect();
    changes.retain(|change| !left_out.contains(&change.path));
    let mut told: Vec<String> = left_out.iter().map(|path| path::shown(path.as_bytes())).collect();
    told.sort();
    Ok(told.into_iter().map(|path| format!("{path} ({OUTSIDE})")).collect())
}

/// Whether somebody changed what a change would move out of its place, or put something into the place of
/// an ignored one that is to come.
fn is_touched(vouch: &Vouch<'_>, path: &str, (change, now): (&Change, Option<Stat>)) -> bool {
    match (&change.before, now) {
        (None, now) => change.ignored && now.is_some(),
        (Some(FileState { aside: None, .. }), _) => false,
        (Some(_), None) => true,
        (Some(before), Some(now)) if !is_moved_one(before, &now) => true,
        (Some(before), Some(now)) => match before.kind {
            FileKind::Directory => vouch.untouched_tree(path).is_none(),
            FileKind::File | FileKind::Symlink => vouch.in_doubt || !vouch.is_older(&now),
        },
    }
}
