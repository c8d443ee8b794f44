//! Which precious files git would no longer ignore because a change of its index tracks them (`git add -f .env`): what
//! git tracks is never ignored. Looks at names and at indexes only.

use super::exposed::{IgnoredFiles, NewContents};
use super::start::{Placed, RuleFile, read};
use super::tracked::{Tracked, parse};
use super::{Git, GitJudge};
use crate::folders::path;
use crate::folders::root_directory::RootDirectory;
use crate::folders::workspace::Workspace;
use crate::git::git_dir;
use cairn_text::git_config::parse_git_config;
use cairn_types::is_irreplaceable;
use rustix::fs::AtFlags;
use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The precious files of a folder that are there, are ignored now and would be tracked after these changes. Where a new
/// index is not understood, those are all that are ignored.
pub(super) fn newly_tracked(
    workspace: &Workspace,
    changes: &[Placed<'_>],
    contents: &NewContents<'_>,
) -> Vec<String> {
    let is_index = |placed: &&Placed<'_>| {
        RuleFile::of(&placed.path) == Some(RuleFile::Index) && placed.change.after.is_some()
    };
    let indexes: Vec<&Placed<'_>> = changes.iter().filter(is_index).collect();
    if indexes.is_empty() {
        return Vec::new();
    }
    let gone = changes.iter().filter(|placed| placed.change.after.is_none());
    let gone: HashSet<&Path> = gone.map(|placed| placed.path.as_path()).collect();
    let (judge, mut cache) = (GitJudge::new(workspace), HashMap::new());
    let mut found = Vec::new();
    for placed in indexes {
        let Some(own) = placed.path.parent() else { continue };
        if !own.join("HEAD").exists() {
            continue;
        }
        let after = index_after(placed, own, changes, contents);
        let worktree = worktree_of(own, workspace);
        for inner in named_by(&after, worktree.as_deref(), workspace) {
            let absolute = workspace.path().join(&inner);
            let is_left = !gone.contains(absolute.as_path());
            let mut is_ignored = || judge.judge_beneath(&inner, false, &mut cache) == Git::Ignores;
            if is_left && is_there(&workspace.root, &inner) && is_ignored() {
                found.push(workspace.root.op_path(&inner));
            }
        }
    }
    found
}

/// The paths in a folder of precious files that an index names, whose files are in this worktree. Where the index is not
/// understood, those of all that are ignored; where its worktree is not known, of those that end as an entry does.
fn named_by(index: &Tracked, worktree: Option<&Path>, workspace: &Workspace) -> Vec<String> {
    let inner = |path: &Path| path.strip_prefix(workspace.path()).ok()?.to_str().map(str::to_owned);
    let tracked = index.paths().filter_map(|path| std::str::from_utf8(path).ok());
    let tracked: Vec<&str> = tracked.filter(|path| is_irreplaceable(path)).collect();
    if let Some(worktree) = worktree.filter(|_| !index.is_unknown()) {
        return tracked.iter().filter_map(|path| inner(&worktree.join(path))).collect();
    }
    let mut found = IgnoredFiles::precious(workspace);
    found.retain(|path| match worktree {
        Some(worktree) => workspace.path().join(path).starts_with(worktree),
        None => index.is_unknown() || tracked.iter().any(|entry| Path::new(path).ends_with(entry)),
    });
    found
}

/// What an index in this own directory of a repository tracks after its change.
fn index_after(
    placed: &Placed<'_>,
    own: &Path,
    changes: &[Placed<'_>],
    contents: &NewContents<'_>,
) -> Tracked {
    let shared = |name: &str| {
        let path = own.join(name);
        match changes.iter().find(|placed| placed.path == path) {
            Some(placed) => contents.of(placed),
            None => read(&path, RuleFile::Index),
        }
    };
    contents.of(placed).map_or_else(Tracked::unknown, |bytes| parse(&bytes, &shared))
}

/// The folder of the files that a repository with this own directory tracks, where that is told.
fn worktree_of(own: &Path, workspace: &Workspace) -> Option<PathBuf> {
    if git_dir::own(workspace.root.handle().as_fd()).is_some_and(|(_, path)| path == own) {
        return Some(workspace.path().to_owned());
    }
    if own.ends_with(".git") {
        return own.parent().map(Path::to_owned);
    }
    let text = |name: &str| String::from_utf8(read(&own.join(name), RuleFile::Rules)?).ok();
    if let Some(dot_git) = text("gitdir") {
        // Of a worktree that was added to a repository.
        return Some(own.join(dot_git.trim()).canonicalize().ok()?.parent()?.to_owned());
    }
    let settings = parse_git_config(&text("config")?);
    let worktree = settings.iter().find(|setting| setting.full_name() == "core.worktree")?;
    own.join(worktree.value.as_ref()?).canonicalize().ok()
}

fn is_there(root: &RootDirectory, inner: &str) -> bool {
    let (directory, name) = path::split(inner);
    let directory = root.open_directory(&root.op_path(directory));
    directory.is_ok_and(|dir| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
}
