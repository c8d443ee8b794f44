//! Which precious files git would no longer ignore because a change of its index tracks them (`git add -f .env`): what
//! git tracks is never ignored. Looks at names and at the index only.

use super::start::{Placed, RuleFile, read};
use super::tracked::{Tracked, parse};
use super::{Git, GitJudge};
use crate::path;
use crate::workspace::Workspace;
use cairn_types::{Hash, is_irreplaceable};
use rustix::fs::AtFlags;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The precious files of a folder that are there, are ignored now and would be tracked after these changes, whose new
/// bytes `contents` has.
pub(super) fn newly_tracked(
    workspace: &Workspace,
    changes: &[Placed<'_>],
    contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
) -> Vec<String> {
    let gone = changes.iter().filter(|placed| placed.change.after.is_none());
    let gone: HashSet<&Path> = gone.map(|placed| placed.path.as_path()).collect();
    let (judge, mut cache) = (GitJudge::new(workspace), HashMap::new());
    let mut found = Vec::new();
    for placed in changes.iter().filter(|one| RuleFile::of(&one.path) == Some(RuleFile::Index)) {
        let Some((after, worktree)) = index_after(placed, contents) else { continue };
        let tracked = after.paths().filter_map(|path| std::str::from_utf8(path).ok());
        for tracked in tracked.filter(|path| is_irreplaceable(path)) {
            let absolute = worktree.join(tracked);
            let inner = absolute.strip_prefix(workspace.path()).ok().and_then(Path::to_str);
            let Some(inner) = inner.filter(|_| !gone.contains(absolute.as_path())) else {
                continue;
            };
            let mut is_ignored = || judge.judge_beneath(inner, false, &mut cache) == Git::Ignores;
            if is_there(workspace, inner) && is_ignored() {
                found.push(workspace.told(inner));
            }
        }
    }
    found
}

/// What an index tracks after its change, and the folder of the files that it is of.
fn index_after<'a>(
    placed: &'a Placed<'_>,
    contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
) -> Option<(Tracked, &'a Path)> {
    let own = placed.path.parent().filter(|own| own.ends_with(".git"))?;
    let bytes = contents(&placed.change.after.as_ref()?.hash?)?;
    let shared = |name: &str| read(&own.join(name), RuleFile::Index);
    Some((parse(&bytes, &shared), own.parent()?))
}

fn is_there(workspace: &Workspace, inner: &str) -> bool {
    let (directory, name) = path::split(inner);
    let directory = workspace.directory(&workspace.told(directory));
    directory.is_ok_and(|dir| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
}
