//! What git ignores, judged in one place for tools, overlays, instructions and configuration: git's own
//! rule, so what is tracked never is. For paths that were there when the run began it is judged by the rules
//! of that moment; what appears later is ignored if those rules or today's ignore it. Git is not run.

mod excludes;
mod exposed;
mod judge;
mod newly_tracked;
mod rules;
mod split;
mod start;
mod tracked;

pub use excludes::GlobalExcludes;
pub(crate) use exposed::{NewContents, exposed, told as told_exposed};
pub(crate) use judge::{Git, GitJudge, GitVerdict, Level};
pub(crate) use rules::{Has, Source};

use crate::folders::workspace::Workspace;
use crate::git::git_dir::{self, DotGit};
use cairn_types::{Change, Hash};
use ignore::gitignore::Gitignore;
use judge::path_of;
use rustix::fs::{Mode, OFlags};
use start::{Placed, StartRules, Version};
use std::collections::{HashMap, VecDeque};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tracked::Indexes;

/// In how many directories rule files are looked for before a command works on the files themselves.
const MAX_DIRECTORIES: usize = 50_000;

/// What is known for judging, shared by all folders of a world.
#[derive(Debug)]
pub(crate) struct IgnoreState {
    excludes: GlobalExcludes,
    /// What the excludes said when this process began.
    global: Arc<Gitignore>,
    indexes: Indexes,
    start: RwLock<Start>,
}

/// What is kept of the start; none where that is what stands now.
pub(crate) type Start = Option<Arc<StartRules>>;

impl Default for IgnoreState {
    fn default() -> IgnoreState {
        IgnoreState::new(&GlobalExcludes::default())
    }
}

impl IgnoreState {
    /// Nothing is known yet but the person's global excludes.
    pub(crate) fn new(excludes: &GlobalExcludes) -> IgnoreState {
        IgnoreState {
            excludes: excludes.clone(),
            global: Arc::new(excludes.rules()),
            indexes: Indexes::default(),
            start: RwLock::default(),
        }
    }

    /// What is kept of the start by now.
    pub(crate) fn start(&self) -> Start {
        self.start.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the run changed rules.
    pub(crate) fn has_new_rules(&self) -> bool {
        self.start().is_some()
    }

    fn change(&self, from: impl FnOnce() -> StartRules, change: impl FnOnce(&mut StartRules)) {
        let mut start = self.start.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(start.get_or_insert_with(|| Arc::new(from()))));
    }

    /// The run is about to make these changes: keeps the rules that they change.
    pub(crate) fn keep_before(
        &self,
        changes: &[Placed<'_>],
        contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
    ) {
        if start::changes_rules(changes, &self.excludes) {
            let keep = |start: &mut StartRules| start.keep(changes, &self.excludes, contents);
            self.change(StartRules::from_now, keep);
        }
    }

    /// The run made these changes at a time, in milliseconds since 1970, before this process drove it.
    pub(crate) fn recall(
        &self,
        changes: Vec<Placed<'_>>,
        at: u64,
        contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
    ) {
        if start::changes_rules(&changes, &self.excludes) {
            let keep = |start: &mut StartRules| start.keep(&changes, &self.excludes, contents);
            self.change(|| StartRules::from_then(at), keep);
        }
        self.count(changes);
    }

    /// The run made these changes.
    pub(crate) fn count(&self, changes: Vec<Placed<'_>>) {
        if self.has_new_rules() {
            self.change(StartRules::from_now, |start| start.count(changes, &self.excludes));
        }
    }

    /// Something is about to happen that may change any rule: keeps all that there are.
    pub(crate) fn keep_all<'a>(&self, workspaces: impl Iterator<Item = &'a Workspace>) {
        if self.start().is_some_and(|start| start.was_searched()) {
            return;
        }
        let found: Vec<RuleFiles> =
            workspaces.map(|one| rule_files(one, MAX_DIRECTORIES)).collect();
        self.change(StartRules::from_now, |start| {
            let is_whole = found.iter().all(|found| found.is_all);
            found.into_iter().flat_map(|one| one.paths).for_each(|path| start.keep_standing(path));
            start.keep_global(&self.excludes);
            // Where there are too many directories, what is not kept is taken to be as it stands.
            start.note_search(is_whole);
        });
    }
}

/// Whether a folder is ignored by the innermost repository that it lies in, with these global excludes: nothing
/// in it says how to work there. One that cannot be opened is not.
#[must_use]
pub fn is_ignored_folder(folder: &Path, global_excludes: &GlobalExcludes) -> bool {
    let Ok(mut workspace) = Workspace::open(folder) else { return false };
    workspace.ignored = Arc::new(IgnoreState::new(global_excludes));
    GitJudge::new(&workspace).is_root_ignored
}

/// Changes with their absolute paths. Those of entries have none.
pub(crate) fn placed<'a>(
    changes: impl IntoIterator<Item = &'a Change>,
    of: impl Fn(&str) -> PathBuf,
) -> Vec<Placed<'a>> {
    let files = changes.into_iter().filter(|change| change.entry().is_none());
    files.map(|change| Placed { path: of(&change.path), change }).collect()
}

/// How many rule files are kept of the start, and whether those are all: levels are read again when this changes.
pub(crate) fn version(start: &Start) -> Version {
    start.as_ref().map(|start| start.version()).unwrap_or_default()
}

/// The rule files of a folder that count, and its repositories' indexes.
struct RuleFiles {
    paths: Vec<PathBuf>,
    /// There were not too many directories to look into all of them.
    is_all: bool,
}

/// Looks for the rule files of a folder in so many directories at most, the outer ones first.
fn rule_files(workspace: &Workspace, max_directories: usize) -> RuleFiles {
    let judge = GitJudge::assuming_repository(workspace, workspace.ignored.start());
    let mut found = Vec::new();
    // Above the root rules count, too.
    let above = workspace.path().strip_prefix(&judge.base).map_or(0, |inner| inner.iter().count());
    for directory in workspace.path().ancestors().skip(1).take(above) {
        found.extend(rule_files_in(directory));
    }
    let mut known = HashMap::new();
    let mut todo = VecDeque::from([".".to_owned()]);
    while let Some(path) = todo.pop_front() {
        if known.len() > max_directories {
            return RuleFiles { paths: found, is_all: false };
        }
        let Some(level) = judge.level(&path, &mut known) else { continue };
        let Ok(dir) = workspace.root.open_directory(&workspace.root.op_path(&path)) else {
            continue;
        };
        let Ok(names) = crate::folders::walk::names(&dir) else { continue };
        let is_rules = |bare: &[u8]| matches!(bare, b".git" | b".gitignore" | b".ignore");
        if names.iter().any(|name| is_rules(name.bare())) {
            found.extend(rule_files_in(&path_of(dir.as_fd())));
        }
        for name in names.iter().filter_map(|name| name.directory()) {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let inner = crate::folders::path::joined(&path, name);
            let full = [&judge.lead, inner.as_bytes()].concat();
            let is_kept = judge.judge(&level, &full, true).git != Git::Ignores;
            if name != ".git" && inner != ".cairn" && is_kept {
                todo.push_back(inner);
            }
        }
    }
    RuleFiles { paths: found, is_all: true }
}

/// The rule files that a directory may have.
fn rule_files_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.join(".gitignore"), directory.join(".ignore")];
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(dir) = rustix::fs::open(directory, flags, Mode::empty()) {
        if DotGit::of(dir.as_fd()) != DotGit::Absent {
            found.push(directory.join(".git"));
        }
        if let Some((_, git)) = git_dir::own(dir.as_fd()) {
            found.extend([git.join("HEAD"), git.join("index")]);
        }
        found.extend(git_dir::common(dir.as_fd()).map(|(_, git)| git.join("info/exclude")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_are_too_many_directories_the_rules_of_the_outer_ones_are_found() {
        let holder = tempfile::tempdir().unwrap();
        let top = holder.path().canonicalize().unwrap();
        for path in ["a/deep/deeper/.gitignore", "a/.gitignore", "b/.gitignore", ".gitignore"] {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), "x\n").unwrap();
        }
        let workspace = Workspace::open(&top).unwrap();
        let check = |max: usize, expected: &[&str], is_all: bool| {
            let found = rule_files(&workspace, max);
            let is_there = |path: &&PathBuf| path.exists();
            let mut paths: Vec<_> = found.paths.iter().filter(is_there).cloned().collect();
            paths.sort();
            let expected: Vec<PathBuf> = expected.iter().map(|path| top.join(path)).collect();
            assert_eq!((paths, found.is_all), (expected, is_all), "{max}");
        };
        check(2, &[".gitignore", "a/.gitignore", "b/.gitignore"], false);
        let all = [".gitignore", "a/.gitignore", "a/deep/deeper/.gitignore", "b/.gitignore"];
        check(50, &all, true);
    }
}
