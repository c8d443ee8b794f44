//! Judges paths of one folder as git does, by the rules of the run's start and of today, and by what is tracked.
//! Reads directories, rule files and indexes; nothing that is judged is opened.

use super::rules::{GLOBAL, Has, IgnoreRules, Realm, RepositoryAt, RuleFiles, Source};
use super::start::StartRules;
use super::tracked::Tracked;
use super::{IgnoreState, Start};
use crate::folders::root_directory::{link_of, step};
use crate::folders::workspace::Workspace;
use crate::git::git_dir::{self, DotGit};
use rustix::fs::{AtFlags, Mode, OFlags};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// How far above the root a repository's directory is looked for.
const MAX_CLIMB: usize = 64;
/// What git does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Git {
    /// It does not ignore it.
    Keeps,
    /// It ignores a directory, but not what it tracks in it.
    KeepsSome,
    /// It ignores it, with all that is in it.
    Ignores,
    /// A rule names it, and whether git tracks it is not known: its index is not understood. Nothing may be read or
    /// obeyed that is tracked alone, and nothing is changed or removed unasked that is ignored alone.
    Unsure,
}

/// What was found about a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GitVerdict {
    pub(crate) git: Git,
    /// The rule that names it, or a directory it lies in.
    pub(crate) by: Option<Source>,
    /// The same of a rule that counts only for what appeared after the run began.
    later: Option<Source>,
}

impl GitVerdict {
    pub(crate) const KEPT: GitVerdict = GitVerdict::of(Git::Keeps);

    pub(crate) const fn of(git: Git) -> GitVerdict {
        GitVerdict { git, by: None, later: None }
    }
}

/// What holds in a directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Level {
    pub(super) rules: Option<Arc<IgnoreRules>>,
    /// Those of the start, where they are kept apart.
    start: Option<Arc<IgnoreRules>>,
    /// The directory is ignored, but not what is tracked in it.
    by: Option<Source>,
    later: Option<Source>,
}

impl Level {
    /// The level of a directory with these rules, of which nothing else is known.
    pub(super) fn of(rules: Option<Arc<IgnoreRules>>) -> Level {
        Level { rules, ..Level::default() }
    }

    /// The level of a directory whose rules are still these, once it was judged again; none if they have to
    /// be read, since they are no longer, or not yet, those of something ignored.
    pub(crate) fn judged_again(&self, verdict: &GitVerdict) -> Option<Level> {
        let GitVerdict { by, later, .. } = *verdict;
        (by.is_some() == self.by.is_some()).then(|| Level { by, later, ..self.clone() })
    }

    /// Whether it is in a repository.
    pub(crate) fn is_in_repository(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.repository().is_some())
    }
}

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum When {
    Start,
    Now,
}

/// A repository by what leads to it from where rules begin, as of one of the two.
type Repository = (Vec<u8>, When);

/// Judges paths of one folder, as they stand at one moment.
#[derive(Debug)]
pub(crate) struct GitJudge<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(super) state: Arc<IgnoreState>,
    start: Start,
    /// Where rules begin.
    pub(super) base: PathBuf,
    /// What leads to the root from there. Paths that are judged begin with it.
    pub(crate) lead: Vec<u8>,
    /// What holds around the root.
    outer: Level,
    /// What was found about the root itself.
    pub(crate) root: GitVerdict,
    /// The root itself is ignored by the repository that it lies in.
    pub(crate) is_root_ignored: bool,
    tracked: RwLock<HashMap<Repository, Option<Arc<Tracked>>>>,
}

impl<'a> GitJudge<'a> {
    /// Judges as git does: outside a repository only `.ignore` files count.
    pub(crate) fn new(workspace: &'a Workspace) -> GitJudge<'a> {
        GitJudge::over(workspace, Realm::Plain, workspace.ignored.start())
    }

    /// The same, but outside a repository all rule files count as if there were one.
    pub(crate) fn assuming_repository(workspace: &'a Workspace, start: Start) -> GitJudge<'a> {
        GitJudge::over(workspace, Realm::Assumed, start)
    }

    fn over(workspace: &'a Workspace, outside: Realm, start: Start) -> GitJudge<'a> {
        let rules = Some(Arc::new(IgnoreRules::none(outside)));
        let outer = Level { start: rules.clone(), rules, ..Level::default() };
        let mut judge = GitJudge {
            workspace,
            start,
            state: Arc::clone(&workspace.ignored),
            base: workspace.path().to_owned(),
            lead: Vec::new(),
            outer,
            root: GitVerdict::KEPT,
            is_root_ignored: false,
            tracked: RwLock::default(),
        };
        judge.climb();
        judge
    }

    /// Reads the rules above a root that lies inside a repository.
    fn climb(&mut self) {
        let root = self.workspace.root.handle();
        let Some(climbed) = directories_above(root) else { return };
        let parts: Vec<&OsStr> = self.workspace.path().iter().collect();
        let Some(from) = parts.len().checked_sub(climbed.len()) else { return };
        let root_path = std::mem::take(&mut self.base);
        self.outer = Level::default();
        self.base = parts[..from].iter().collect();
        let mut verdict = GitVerdict::KEPT;
        for (dir, name) in climbed.iter().rev().zip(&parts[from..]) {
            let at = self.lead.len();
            self.outer = self.enter(&self.outer, &verdict, dir.as_fd(), Has::any(), at);
            self.lead.extend_from_slice(name.as_bytes());
            verdict = self.judge(&self.outer, &self.lead, true);
            self.lead.push(b'/');
            if verdict.git == Git::Ignores {
                // The root was named although it is ignored, so what ignores it does not count.
                let rules = Arc::new(IgnoreRules::none(Realm::Repository));
                self.outer = Level {
                    rules: Some(Arc::clone(&rules)),
                    start: Some(rules),
                    ..Level::default()
                };
                (self.base, self.is_root_ignored) = (root_path, true);
                self.lead.clear();
                return;
            }
        }
        self.root = verdict;
    }

    /// The rules around the root with these in place of those that stand there.
    pub(super) fn outer_with(&self, rules: &Arc<StartRules>) -> Option<Arc<IgnoreRules>> {
        let with = GitJudge::over(self.workspace, Realm::Plain, Some(Arc::clone(rules)));
        // Where those let git see the root itself, its paths would begin elsewhere.
        let outer = if with.lead == self.lead { with.outer.start } else { None };
        outer.or_else(|| self.outer.rules.clone())
    }

    /// What holds around the root.
    pub(crate) fn outer(&self) -> &Level {
        &self.outer
    }

    /// What holds in a directory that was judged and has these files; `at` is how much of a path leads to it.
    pub(crate) fn enter(
        &self,
        around: &Level,
        verdict: &GitVerdict,
        dir: BorrowedFd<'_>,
        has: Has,
        at: usize,
    ) -> Level {
        let GitVerdict { by, later, .. } = *verdict;
        if by.is_some() {
            // Nothing in what is ignored is taken in again.
            return Level { by, later, ..around.clone() };
        }
        let files = RuleFiles { dir, global: &self.state.global, start: None };
        let rules = IgnoreRules::read(around.rules.as_ref(), &files, has, at);
        let Some(start) = &self.start else { return Level { rules, start: None, by, later } };
        let path = path_of(dir);
        let files = RuleFiles { start: Some((&path, start)), ..files };
        let start = IgnoreRules::read(around.start.as_ref(), &files, has, at);
        Level { rules, start, by, later }
    }

    /// Judges a path in a directory. `full` leads to it from where rules begin, with no slash at its end.
    pub(crate) fn judge(&self, level: &Level, full: &[u8], is_directory: bool) -> GitVerdict {
        let left_out = |rules: &Option<Arc<IgnoreRules>>| {
            rules.as_ref().and_then(|rules| rules.left_out_by(full, is_directory))
        };
        let Some(start) = &self.start else {
            let Some(by) = level.by.or_else(|| left_out(&level.rules)) else {
                return GitVerdict::KEPT;
            };
            let git = self.tracks(level.rules.as_ref(), full, is_directory, When::Now);
            return GitVerdict { git, by: by_rule(git, by), later: None };
        };
        let existed = OnceCell::new();
        let existed =
            || *existed.get_or_init(|| start.existed(&self.base.join(OsStr::from_bytes(full))));
        if let Some(by) = level.by.or_else(|| left_out(&level.start)) {
            let mut git = self.tracks(level.start.as_ref(), full, is_directory, When::Start);
            if git == Git::Ignores {
                let now = self.tracks(level.rules.as_ref(), full, is_directory, When::Now);
                if now != Git::Ignores && !existed() {
                    git = now;
                }
            }
            return GitVerdict { git, by: by_rule(git, by), later: None };
        }
        let Some(by) = level.later.or_else(|| left_out(&level.rules)) else {
            return GitVerdict::KEPT;
        };
        if existed() {
            return GitVerdict { later: Some(by), ..GitVerdict::KEPT };
        }
        let git = self.tracks(level.rules.as_ref(), full, is_directory, When::Now);
        GitVerdict { git, by: by_rule(git, by), later: None }
    }

    /// What tracking leaves of a rule that names a path.
    fn tracks(
        &self,
        rules: Option<&Arc<IgnoreRules>>,
        full: &[u8],
        is_directory: bool,
        when: When,
    ) -> Git {
        let at = match rules.and_then(|rules| rules.repository()) {
            Some(RepositoryAt::Directory(at)) => at,
            Some(RepositoryAt::NotUnderstood) => return Git::Unsure,
            None => return Git::Ignores,
        };
        let Some(tracked) = self.index(full, at, when) else { return Git::Ignores };
        if tracked.is_unknown() {
            return Git::Unsure;
        }
        let path = &full[at..];
        if !is_directory {
            return if tracked.holds(path) { Git::Keeps } else { Git::Ignores };
        }
        let directory = [path, b"/"].concat();
        match tracked.holds_beneath(&directory) {
            true if tracked.is_repository(&directory) => Git::Keeps,
            true => Git::KeepsSome,
            false => Git::Ignores,
        }
    }

    /// What git does with a path for which no rule counts but that only what is tracked is kept.
    pub(crate) fn keeps_tracked(&self, level: &Level, full: &[u8], is_directory: bool) -> Git {
        self.tracks(level.rules.as_ref(), full, is_directory, When::Now)
    }

    /// What the repository tracks whose directory so much of a path leads to.
    fn index(&self, full: &[u8], at: usize, when: When) -> Option<Arc<Tracked>> {
        let when = if self.start.is_some() { when } else { When::Now };
        let key = (full[..at].to_vec(), when);
        let known = self.tracked.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(tracked) = known.get(&key) {
            return tracked.clone();
        }
        drop(known);
        let tracked = self.read_index(full, at, when);
        let mut known = self.tracked.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(key).or_insert(tracked).clone()
    }

    fn read_index(&self, full: &[u8], at: usize, when: When) -> Option<Arc<Tracked>> {
        let root = self.workspace.root.handle();
        let directory = match full[..at].get(self.lead.len()..) {
            Some(inner) => {
                let inner = inner.strip_suffix(b"/").unwrap_or(inner);
                step(root, if inner.is_empty() { b"." } else { inner }).ok()?
            }
            None => climbed(root, &self.lead[at..])?,
        };
        let git = git_dir::own(directory.as_fd());
        let index = match &git {
            Some((_, path)) => path.join("index"),
            None => path_of(directory.as_fd()).join(".git/index"),
        };
        let start = self.start.as_ref().filter(|_| when == When::Start);
        if let Some(tracked) = start.and_then(|start| start.tracked(&index)) {
            return tracked;
        }
        let Some((git, _)) = git else {
            // The run removed it.
            return (when == When::Start).then(|| Arc::new(Tracked::unknown()));
        };
        self.state.indexes.tracked_by(git.as_fd(), &index)
    }

    /// What holds in a directory of the root, given as its path beneath that, and what git does with it;
    /// none where it is not there or lies in something that is ignored.
    pub(crate) fn level(
        &self,
        directory: &str,
        known: &mut HashMap<String, Option<Level>>,
    ) -> Option<Level> {
        if let Some(level) = known.get(directory) {
            return level.clone();
        }
        let level = self.read_level(directory, known);
        known.insert(directory.to_owned(), level.clone());
        level
    }

    fn read_level(
        &self,
        directory: &str,
        known: &mut HashMap<String, Option<Level>>,
    ) -> Option<Level> {
        let dir = step(self.workspace.root.handle(), directory.as_bytes()).ok()?;
        let has = |name: &str| rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let has = Has::asking(has);
        if directory == "." {
            let at = self.lead.len();
            return Some(self.enter(&self.outer, &self.root, dir.as_fd(), has, at));
        }
        let around = self.level(crate::folders::path::split(directory).0, known)?;
        let mut full = [&self.lead, directory.as_bytes()].concat();
        let verdict = self.judge(&around, &full, true);
        full.push(b'/');
        let level = || self.enter(&around, &verdict, dir.as_fd(), has, full.len());
        (verdict.git != Git::Ignores).then(level)
    }

    /// What git does with a path beneath the root, or with a directory that it lies in.
    pub(crate) fn judge_beneath(
        &self,
        path: &str,
        is_directory: bool,
        known: &mut HashMap<String, Option<Level>>,
    ) -> Git {
        if path == "." {
            return Git::Keeps;
        }
        let Some(level) = self.level(crate::folders::path::split(path).0, known) else {
            return Git::Ignores;
        };
        let full = [&self.lead, path.as_bytes()].concat();
        self.judge(&level, &full, is_directory).git
    }

    /// The fact behind a rule that names a path, which leads there from where rules begin.
    pub(crate) fn told(&self, full: &[u8], Source { at, file }: Source) -> String {
        if file == GLOBAL {
            return "your git's global excludes (core.excludesFile) name it".to_owned();
        }
        match full[..at].get(self.lead.len()..) {
            None => format!("a {file} above the project names it"),
            Some(directory) => {
                let path = format!("{}{file}", String::from_utf8_lossy(directory));
                format!("{} names it", self.workspace.root.op_path(&path))
            }
        }
    }
}

/// Where an open directory is.
pub(super) fn path_of(dir: BorrowedFd<'_>) -> PathBuf {
    let dir = dir.try_clone_to_owned().ok();
    dir.and_then(|dir| link_of(&dir).ok()).unwrap_or_default()
}

/// The rule counts unless all of it is kept.
fn by_rule(git: Git, by: Source) -> Option<Source> {
    (git != Git::Keeps).then_some(by)
}

/// The directories above the root, nearest first, up to the one where its repository begins; none
/// when it begins at the root itself or there is none.
fn directories_above(root: BorrowedFd<'_>) -> Option<Vec<OwnedFd>> {
    if DotGit::of(root) == DotGit::Repository {
        return None;
    }
    let mut below = rustix::fs::fstat(root).ok()?;
    let mut climbed: Vec<OwnedFd> = Vec::new();
    while climbed.len() < MAX_CLIMB {
        let from = climbed.last().map_or(root, AsFd::as_fd);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(from, "..", flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&dir).ok()?;
        // git, too, looks no further than the file system; at the top, `..` leads nowhere.
        if stat.st_dev != below.st_dev || stat.st_ino == below.st_ino {
            return None;
        }
        let is_found = DotGit::of(dir.as_fd()) == DotGit::Repository;
        climbed.push(dir);
        if is_found {
            return Some(climbed);
        }
        below = stat;
    }
    None
}

/// The directory above the root from which these names lead to it.
fn climbed(root: BorrowedFd<'_>, names: &[u8]) -> Option<OwnedFd> {
    let levels = names.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count();
    let path = vec![".."; levels].join("/");
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(root, path, flags, Mode::empty()).ok()
}
