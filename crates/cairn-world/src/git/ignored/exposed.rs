//! Which precious files git would no longer ignore once files of rules are changed, or once a repository begins or ends
//! where it did not. Looks at names only, and changes nothing.

use super::judge::path_of;
use super::newly_tracked::newly_tracked;
use super::rules::{IgnoreRules, RuleFiles};
use super::start::{Placed, RuleFile, StartRules, read};
use super::{Git, GitJudge, Has, Level};
use crate::folders::path;
use crate::folders::walk::names;
use crate::folders::workspace::Workspace;
use cairn_types::{Hash, is_irreplaceable};
use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bytes that changes leave in files.
pub(crate) struct NewContents<'a> {
    /// Those that were read.
    pub(crate) by_hash: &'a dyn Fn(&Hash) -> Option<Vec<u8>>,
    /// Each folder that a command worked on, and where what it made of it lies.
    pub(crate) layers: Vec<(&'a Path, PathBuf)>,
}

impl NewContents<'_> {
    /// The bytes that a change leaves: a file that is too large to be kept is read where the command made it.
    pub(super) fn of(&self, Placed { path, change }: &Placed<'_>) -> Option<Vec<u8>> {
        let state = change.after.as_ref()?;
        let known = state.hash.as_ref().and_then(self.by_hash);
        known.or_else(|| {
            let in_layer = |(folder, upper): &(&Path, PathBuf)| {
                path.strip_prefix(folder).ok().map(|inner| upper.join(inner))
            };
            self.layers.iter().find_map(in_layer).and_then(|path| read(&path, RuleFile::Index))
        })
    }
}

/// The rules of a directory as they stand and as they would be.
#[derive(Clone)]
struct Rules {
    now: Option<Arc<IgnoreRules>>,
    after: Option<Arc<IgnoreRules>>,
    /// The directory is ignored now.
    is_out: bool,
}

/// The precious files of a folder that are ignored now and would not be after these changes, whose new
/// texts `contents` has, by rules or because the index tracks them.
pub(crate) fn exposed(
    workspace: &Workspace,
    changes: &[Placed<'_>],
    contents: &NewContents<'_>,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let excludes = &workspace.ignored.excludes;
    if let Some(after) = StartRules::afterwards(changes, excludes, contents.by_hash) {
        let gone = changes.iter().filter(|placed| placed.change.after.is_none());
        let search = IgnoredFiles {
            workspace,
            judge: GitJudge::new(workspace),
            after: Some(Arc::new(after)),
            gone: gone.map(|placed| placed.path.as_path()).collect(),
        };
        found.extend(search.run().iter().map(|inner| workspace.root.op_path(inner)));
    }
    found.extend(newly_tracked(workspace, changes, contents));
    found.sort();
    found.dedup();
    found
}

/// Looks for the precious files of a folder that are ignored now and would not be with other rules.
pub(super) struct IgnoredFiles<'a> {
    workspace: &'a Workspace,
    judge: GitJudge<'a>,
    /// What the files of rules would say; without it, that there are no rules at all.
    after: Option<Arc<StartRules>>,
    /// What the changes remove.
    gone: HashSet<&'a Path>,
}

/// A directory that is still to be looked into.
struct Visit {
    path: String,
    rules: Rules,
}

impl IgnoredFiles<'_> {
    /// All precious files of a folder that are ignored now, by their paths in it.
    pub(super) fn precious(workspace: &Workspace) -> Vec<String> {
        let (judge, gone) = (GitJudge::new(workspace), HashSet::new());
        IgnoredFiles { workspace, judge, after: None, gone }.run()
    }

    /// Their paths in the folder.
    fn run(&self) -> Vec<String> {
        let outer = self.judge.outer();
        let rules = Rules {
            now: outer.rules.clone(),
            after: self.after.as_ref().and_then(|after| self.judge.outer_with(after)),
            is_out: self.judge.root.by.is_some(),
        };
        let mut found = Vec::new();
        let mut todo = vec![Visit { path: ".".to_owned(), rules }];
        while let Some(visit) = todo.pop() {
            self.directory(&visit, &mut found, &mut todo);
        }
        found
    }

    fn directory(&self, visit: &Visit, found: &mut Vec<String>, todo: &mut Vec<Visit>) {
        let Ok(dir) = self.workspace.root.open_directory(&self.workspace.root.op_path(&visit.path))
        else {
            return;
        };
        let Ok(names) = names(&dir) else { return };
        let (has, here) = (Has::among(&names), path_of(dir.as_fd()));
        let full = match visit.path.as_str() {
            "." => self.judge.lead.clone(),
            inner => [&self.judge.lead, inner.as_bytes(), b"/"].concat(),
        };
        let global = &self.judge.state.global;
        let files = RuleFiles { dir: dir.as_fd(), global, start: None };
        let now = IgnoreRules::read(visit.rules.now.as_ref(), &files, has, full.len());
        let after = self.after.as_ref().and_then(|after| {
            let files = RuleFiles { start: Some((&here, after)), ..files };
            IgnoreRules::read(visit.rules.after.as_ref(), &files, has, full.len())
        });
        for name in &names {
            let Ok(bare) = std::str::from_utf8(name.bare()) else { continue };
            let path = path::joined(&visit.path, bare);
            if bare == ".git" || path == ".cairn" || self.gone.contains(here.join(bare).as_path()) {
                continue;
            }
            let (full, is_directory) = ([&full, name.bare()].concat(), name.directory().is_some());
            let is_out = |rules: &Option<Arc<IgnoreRules>>| {
                let by = rules.as_ref().and_then(|rules| rules.left_out_by(&full, is_directory));
                by.is_some()
            };
            if is_out(&after) {
                continue;
            }
            let rules = Rules {
                is_out: visit.rules.is_out || is_out(&now),
                now: now.clone(),
                after: after.clone(),
            };
            match is_directory {
                true => todo.push(Visit { path, rules }),
                false
                    if rules.is_out
                        && is_irreplaceable(&path)
                        && !self.is_tracked(&rules, &full) =>
                {
                    found.push(path);
                }
                false => {}
            }
        }
    }

    fn is_tracked(&self, rules: &Rules, full: &[u8]) -> bool {
        let level = Level::of(rules.now.clone());
        self.judge.keeps_tracked(&level, full, false) == Git::Keeps
    }
}

/// The line that says so to a person.
pub(crate) fn told(exposed: &[String]) -> String {
    let shown: Vec<String> = exposed.iter().map(|path| path::shown(path.as_bytes())).collect();
    format!("git would no longer ignore: {}\n", shown.join(", "))
}
