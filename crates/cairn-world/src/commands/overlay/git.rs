//! What a command did to repositories, told from their own files without git: which commits a branch
//! gained, or how many files changed. What can make git run something is never among these.

use super::gathered::{Gathered, Piece};
use super::index;
use crate::folders::path;
use crate::folders::root_directory::entry;
use crate::folders::workspace::Workspace;
use cairn_text::shown::clean;
use cairn_types::FileState;
use rustix::fs::OFlags;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;

/// A larger file of git's is not looked into.
const MOST: u64 = 4 << 20;
/// How many commits are named.
const NAMED: usize = 5;
/// How much of a subject is shown.
const SUBJECT: usize = 72;
/// Files in a repository's own directory that are told as any other file: they say what git runs, or
/// what is ignored.
const TOLD: [&str; 12] = [
    "config",
    "config.worktree",
    "commondir",
    "info/attributes",
    "info/exclude",
    "objects/info/alternates",
    "rebase-merge/git-rebase-todo",
    "rebase-merge/strategy",
    "rebase-apply/git-rebase-todo",
    "rebase-apply/strategy",
    "sequencer/todo",
    "sequencer/opts",
];

/// What happened to the repositories.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// One line each.
    pub(super) lines: Vec<String>,
    /// The same shorter, for lists.
    pub(super) labels: Vec<String>,
}

/// Whether a path is one of git's own files that is told only with the others.
pub(super) fn is_grouped(gathered: &Gathered, path: &str) -> bool {
    split(gathered, path).is_some_and(|(_, inner)| !is_told(inner))
}

/// Forgets what git only looked up again: any command that looks at a repository may write down when its
/// files were last changed.
pub(super) fn without_refreshed(gathered: &mut Gathered) {
    let mut pieces = std::mem::take(&mut gathered.pieces);
    let bytes = &gathered.bytes;
    pieces.retain(|piece| {
        let inner = split(gathered, &piece.path);
        let is_index = inner.is_some_and(|(_, inner)| path::split(inner).1 == "index");
        let change = &piece.change;
        let sides = (bytes.of(change.before.as_ref()), bytes.of(change.after.as_ref()));
        !(is_index && matches!(sides, (Some(was), Some(is)) if index::is_same(was, is)))
    });
    gathered.pieces = pieces;
}

/// A repository's own directory, and the path in it. The directory is empty where all is in it.
fn split<'a>(gathered: &Gathered, path: &'a str) -> Option<(&'a str, &'a str)> {
    if gathered.repository.is_some() {
        return Some(("", path));
    }
    let mut at = 0;
    for part in path.split('/') {
        at += part.len();
        if part.eq_ignore_ascii_case(".git") {
            return path.get(at + 1..).map(|inner| (&path[..at], inner));
        }
        at += 1;
    }
    None
}

fn is_told(inner: &str) -> bool {
    let told =
        |inner: &str| TOLD.contains(&inner) || inner == "hooks" || inner.starts_with("hooks/");
    if told(inner) {
        return true;
    }
    let is_nested = inner.starts_with("modules/") || inner.starts_with("worktrees/");
    // A module's name may have several parts, so each could be the last of it.
    let rests = inner.match_indices('/').map(|(at, _)| &inner[at + 1..]);
    is_nested && rests.into_iter().any(told)
}

/// Tells what happened to each repository.
pub(super) fn groups(workspace: &Workspace, gathered: &Gathered) -> Groups {
    let mut by_repository: BTreeMap<&str, Vec<&Piece>> = BTreeMap::new();
    for piece in gathered.pieces.iter().filter(|piece| piece.ignored.is_none()) {
        if let Some((repository, _)) =
            split(gathered, &piece.path).filter(|(_, inner)| !is_told(inner))
        {
            by_repository.entry(repository).or_default().push(piece);
        }
    }
    let mut groups = Groups::default();
    for (git, pieces) in by_repository {
        let changed = pieces.iter().map(|piece| (piece.path.as_str(), *piece)).collect();
        let view = View { workspace, gathered, git, changed };
        let whose = match path::split(git).0 {
            "." | "" => String::new(),
            directory => format!("{}: ", path::shown(directory.as_bytes())),
        };
        let facts = view.facts();
        let files = pieces.iter().filter(|p| p.counts.0.files + p.counts.1.files > 0).count();
        let own = format!("git's own files: {files}");
        match facts.as_slice() {
            [] => {
                groups.lines.push(format!("{whose}{own}"));
                groups.labels.push(format!("{whose}git's own files"));
            }
            facts => {
                groups.lines.push(format!("{whose}{} ({own})", facts.join("; ")));
                let first = facts[0].split_once(": ").map_or(facts[0].as_str(), |(fact, _)| fact);
                groups.labels.push(format!("{whose}{first}"));
            }
        }
    }
    groups
}

/// A repository before and after.
struct View<'a> {
    workspace: &'a Workspace,
    gathered: &'a Gathered,
    git: &'a str,
    changed: HashMap<&'a str, &'a Piece>,
}

/// Which of the two.
#[derive(Clone, Copy)]
enum When {
    Before,
    After,
}

impl View<'_> {
    /// What can be told of HEAD and the branch it names.
    fn facts(&self) -> Vec<String> {
        let (was, is) = (self.head(When::Before), self.head(When::After));
        let Some(is) = is else { return Vec::new() };
        let mut facts = Vec::new();
        if was.as_ref().is_some_and(|was| *was != is) {
            facts.push(format!("HEAD is now {}", branch(&is)));
        }
        let (from, to) = (self.tip(When::Before, &is), self.tip(When::After, &is));
        if from == to {
            return facts;
        }
        match self.gained(&is, from.as_deref(), to.as_deref()) {
            Some(subjects) => facts.push(told(&subjects, &branch(&is))),
            None => {
                let short = |tip: &Option<String>| {
                    tip.as_ref()
                        .map_or("nothing".to_owned(), |tip| clean(tip.get(..10).unwrap_or(tip)))
                };
                facts.push(format!("{}: {} → {}", branch(&is), short(&from), short(&to)));
            }
        }
        facts
    }

    /// The subjects of the commits that a ref gained, by its log, if that fits its tips.
    fn gained(&self, name: &str, from: Option<&str>, to: Option<&str>) -> Option<Vec<String>> {
        let log = format!("logs/{name}");
        let before = self.file(When::Before, &log).unwrap_or_default();
        let after = self.file(When::After, &log)?;
        let added = after.strip_prefix(before.as_str())?;
        let mut at = from.map(str::to_owned);
        let mut subjects = Vec::new();
        for line in added.lines() {
            let (head, message) = line.split_once('\t')?;
            let mut words = head.split(' ');
            let (old, new) = (words.next()?, words.next()?);
            let follows = at.as_deref().map_or(old.bytes().all(|b| b == b'0'), |at| at == old);
            let (kind, subject) = message.split_once(": ")?;
            match kind {
                _ if !follows => return None,
                "commit" | "commit (initial)" | "commit (merge)" => {
                    subjects.push(clean(subject).replace(['\n', '\t'], " "));
                }
                // The branch was made at a commit that was there.
                "branch" if at.is_none() => {}
                _ => return None,
            }
            at = Some(new.to_owned());
        }
        (at.as_deref() == to && !subjects.is_empty()).then_some(subjects)
    }

    /// What HEAD says: a ref's name, or a commit.
    fn head(&self, when: When) -> Option<String> {
        let text = match &self.gathered.repository {
            Some(own) => self.file(when, &format!("{own}/HEAD")),
            None => self.file(when, "HEAD"),
        }?;
        let text = text.trim_end_matches('\n');
        Some(text.strip_prefix("ref: ").unwrap_or(text).trim().to_owned())
    }

    /// The commit a ref names.
    fn tip(&self, when: When, name: &str) -> Option<String> {
        if !name.starts_with("refs/") {
            return Some(name.to_owned());
        }
        if let Some(tip) = self.file(when, name) {
            return Some(tip.trim_end().to_owned());
        }
        let packed = self.file(when, "packed-refs")?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(name))?;
        line.split(' ').next().map(str::to_owned)
    }

    fn file(&self, when: When, name: &str) -> Option<String> {
        let path = match self.git {
            "" => name.to_owned(),
            git => format!("{git}/{name}"),
        };
        if let Some(piece) = self.changed.get(path.as_str()) {
            let state: &Option<FileState> = match when {
                When::Before => &piece.change.before,
                When::After => &piece.change.after,
            };
            let bytes = self.gathered.bytes.of(state.as_ref())?;
            return String::from_utf8(bytes.to_vec()).ok();
        }
        let file = entry(self.workspace.root.handle(), path.as_bytes(), OFlags::RDONLY).ok()?;
        let mut text = String::new();
        File::from(file).take(MOST).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

/// A branch's name, or a commit's beginning.
fn branch(head: &str) -> String {
    let name = head.strip_prefix("refs/heads/").unwrap_or(head);
    let name = if head.starts_with("refs/") { name } else { name.get(..10).unwrap_or(name) };
    clean(name).replace(['\n', '\t'], " ")
}

fn told(subjects: &[String], branch: &str) -> String {
    let cut = |subject: &String| match subject.char_indices().nth(SUBJECT) {
        Some((at, _)) => format!("{}…", &subject[..at]),
        None => subject.clone(),
    };
    let mut named: Vec<String> = subjects.iter().take(NAMED).map(cut).collect();
    if subjects.len() > NAMED {
        named.push(format!("{} more", subjects.len() - NAMED));
    }
    let commits = match subjects.len() {
        1 => "1 commit".to_owned(),
        n => format!("{n} commits"),
    };
    format!("{commits} on {branch}: {}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_make_git_run_something_is_told_by_name() {
        let check = |path: &str, grouped: bool| {
            assert_eq!(is_grouped(&Gathered::default(), path), grouped, "{path}");
            let own = Gathered::of(Some("worktrees/w".to_owned()));
            if let Some(inner) = path.strip_prefix(".git/") {
                assert_eq!(is_grouped(&own, inner), grouped, "{inner}");
            }
        };
        check("src/main.rs", false);
        check(".gitignore", false);
        check(".git", false);
        check(".git/index", true);
        check("sub/.git/objects/ab/cd", true);
        check(".git/refs/heads/main", true);
        check(".git/hooks/pre-commit", false);
        check(".git/config", false);
        check(".GIT/config", false);
        check(".git/info/attributes", false);
        check(".git/info/exclude", false);
        check(".git/modules/a/b/hooks/post-checkout", false);
        check(".git/modules/a/config", false);
        check(".git/modules/a/info/attributes", false);
        check(".git/modules/a/index", true);
        check(".git/worktrees/w/config.worktree", false);
        check(".git/worktrees/w/commondir", false);
        check(".git/rebase-merge/git-rebase-todo", false);
        check(".git/worktrees/w/rebase-merge/strategy", false);
        check(".git/rebase-merge/done", true);
        check(".git/refs/heads/config", true);
    }
}
