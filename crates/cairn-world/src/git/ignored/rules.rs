//! The rules of one directory and of those above it, with git's precedence: every `.gitignore` up to the
//! repository's root, then `.git/info/exclude`, then the person's global excludes. Outside a repository
//! `.ignore` files decide instead. Reads rule files; which paths they apply to is the judge's.

use super::start::StartRules;
use crate::folders::root_directory::entry;
use crate::folders::walk::Name;
use crate::git::git_dir::{self, DotGit};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::iter::successors;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of a file of rules is read.
const MAX_RULES: u64 = 1 << 20;
/// What a rule of the global excludes is told as.
pub(crate) const GLOBAL: &str = "core.excludesFile";

/// Which files of rules count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Realm {
    /// There is no repository: `.ignore`.
    Plain,
    /// There is no repository, and `.gitignore` counts besides.
    Assumed,
    /// A repository: git's own, and `.ignore` does not count.
    Repository,
}

/// The rules of one directory, and of those above it.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    /// How much of a path leads to this directory.
    at: usize,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    global: Option<Arc<Gitignore>>,
    realm: Realm,
    /// What is above counts only where this does not begin a repository. Where it is not understood, it is not known
    /// what is tracked.
    dot_git: DotGit,
}

/// The file whose rule leaves something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// How much of a path leads to its directory.
    pub(crate) at: usize,
    /// What it is called there.
    pub(crate) file: &'static str,
}

/// Where a repository begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepositoryAt {
    /// In the directory that so much of a path leads to.
    Directory(usize),
    /// It has a `.git` that is not understood: it is not known what is tracked.
    NotUnderstood,
}

/// Which of the three a directory has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Has {
    ignore: bool,
    gitignore: bool,
    dot_git: bool,
}

impl Has {
    /// It may have any of them.
    pub(crate) fn any() -> Has {
        Has { ignore: true, gitignore: true, dot_git: true }
    }

    /// Takes note of a name in it.
    pub(crate) fn see(&mut self, name: &[u8], is_file: bool) {
        match name {
            b".ignore" => self.ignore = is_file,
            b".gitignore" => self.gitignore = is_file,
            b".git" => self.dot_git = true,
            _ => {}
        }
    }

    /// What a directory with these names has.
    pub(crate) fn among(names: &[Name]) -> Has {
        let mut has = Has::default();
        for name in names {
            has.see(name.bare(), name.is_file());
        }
        has
    }

    /// What a directory has that `has` says to have a name or not.
    pub(crate) fn asking(has: impl Fn(&str) -> bool) -> Has {
        Has { ignore: has(".ignore"), gitignore: has(".gitignore"), dot_git: has(".git") }
    }
}

/// Where the rule files of a directory are read.
#[derive(Clone, Copy)]
pub(crate) struct RuleFiles<'a> {
    pub(crate) dir: BorrowedFd<'a>,
    /// The person's global excludes.
    pub(crate) global: &'a Arc<Gitignore>,
    /// The directory's path and what its rule files said when the run began, to read those instead.
    pub(crate) start: Option<(&'a Path, &'a StartRules)>,
}

impl RuleFiles<'_> {
    /// What the directory had when it is read as of the start, else what it has.
    fn has(&self, now: Has) -> Has {
        let Some((path, start)) = self.start else { return now };
        let had = |name: &str, now: bool| start.had(&path.join(name)).unwrap_or(now);
        Has {
            ignore: had(".ignore", now.ignore),
            gitignore: had(".gitignore", now.gitignore),
            dot_git: had(".git", now.dot_git),
        }
    }

    /// What the `.git` that the directory has or had made it. One that is gone by now was a repository's.
    fn dot_git(&self, has: Has) -> DotGit {
        if !has.dot_git {
            return DotGit::Absent;
        }
        let Some((_, start)) = self.start else { return DotGit::of(self.dir) };
        let had_head = git_dir::own(self.dir).and_then(|(_, git)| start.had(&git.join("HEAD")));
        match (had_head, DotGit::of(self.dir)) {
            (Some(false), _) => DotGit::NotUnderstood,
            (Some(true), _) | (None, DotGit::Absent) => DotGit::Repository,
            (None, now) => now,
        }
    }

    /// The person's global excludes, of the start if they are read as of then.
    fn global_excludes(&self) -> &Arc<Gitignore> {
        self.start.and_then(|(_, start)| start.global()).unwrap_or(self.global)
    }

    fn rules(&self, name: &str) -> Gitignore {
        let path = self.start.map(|(path, _)| path.join(name));
        self.rules_at(path, || read(entry(self.dir, name.as_bytes(), OFlags::RDONLY).ok()?))
    }

    fn exclude(&self) -> Gitignore {
        let git = git_dir::common(self.dir);
        let path = match &git {
            Some((_, path)) => Some(path.join("info/exclude")),
            None => self.start.map(|(path, _)| path.join(".git/info/exclude")),
        };
        self.rules_at(path, || {
            let (git, _) = git.as_ref()?;
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
            let flags = flags | OFlags::CLOEXEC;
            read(rustix::fs::openat(git, "info/exclude", flags, Mode::empty()).ok()?)
        })
    }

    fn rules_at(&self, path: Option<PathBuf>, read: impl FnOnce() -> Option<Vec<u8>>) -> Gitignore {
        let kept = self.start.zip(path).and_then(|((_, start), path)| start.text(&path));
        let text = match kept {
            Some(text) => text.map(|text| text.to_vec()),
            None => read(),
        };
        text.map_or_else(Gitignore::empty, |text| parse(&text))
    }
}

impl IgnoreRules {
    /// The rules in a directory that has these files; `at` is how much of a path leads to it.
    pub(crate) fn read(
        above: Option<&Arc<IgnoreRules>>,
        files: &RuleFiles<'_>,
        has: Has,
        at: usize,
    ) -> Option<Arc<IgnoreRules>> {
        let has = files.has(has);
        let dot_git = files.dot_git(has);
        let realm = match dot_git {
            DotGit::Repository | DotGit::NotUnderstood => Realm::Repository,
            DotGit::Absent => above.map_or(Realm::Plain, |rules| rules.realm),
        };
        let has_ignore = has.ignore && realm != Realm::Repository;
        let has_gitignore = has.gitignore && realm != Realm::Plain;
        if !(has_ignore || has_gitignore || dot_git != DotGit::Absent) {
            return above.cloned();
        }
        let is_repository = dot_git != DotGit::Absent;
        let rules = |wanted: bool, name: &str| {
            if wanted { files.rules(name) } else { Gitignore::empty() }
        };
        Some(Arc::new(IgnoreRules {
            above: above.cloned(),
            at,
            ignore: rules(has_ignore, ".ignore"),
            gitignore: rules(has_gitignore, ".gitignore"),
            exclude: if is_repository { files.exclude() } else { Gitignore::empty() },
            global: is_repository.then(|| Arc::clone(files.global_excludes())),
            realm,
            dot_git,
        }))
    }

    /// No rules, where this kind of them counts.
    pub(crate) fn none(realm: Realm) -> IgnoreRules {
        IgnoreRules {
            above: None,
            at: 0,
            ignore: Gitignore::empty(),
            gitignore: Gitignore::empty(),
            exclude: Gitignore::empty(),
            global: None,
            realm,
            dot_git: match realm {
                Realm::Repository => DotGit::Repository,
                Realm::Plain | Realm::Assumed => DotGit::Absent,
            },
        }
    }

    /// The file whose rule leaves a path out, if one does. Says nothing about the directories on the way
    /// to it, nor about what git tracks.
    pub(crate) fn left_out_by(&self, path: &[u8], is_directory: bool) -> Option<Source> {
        if self.realm != Realm::Repository {
            for rules in self.chain() {
                if let Some(is_out) = verdict(&rules.ignore, rules.at, path, is_directory) {
                    return is_out.then_some(Source { at: rules.at, file: ".ignore" });
                }
            }
        }
        for rules in self.chain() {
            if let Some(is_out) = verdict(&rules.gitignore, rules.at, path, is_directory) {
                return is_out.then_some(Source { at: rules.at, file: ".gitignore" });
            }
            let by = rules.left_out_by_repository(path, is_directory);
            if by.is_some() || rules.dot_git == DotGit::Repository {
                return by;
            }
        }
        None
    }

    fn left_out_by_repository(&self, path: &[u8], is_directory: bool) -> Option<Source> {
        let source = |file| Source { at: self.at, file };
        if let Some(is_out) = verdict(&self.exclude, self.at, path, is_directory) {
            return is_out.then_some(source(".git/info/exclude"));
        }
        let is_out = verdict(self.global.as_deref()?, self.at, path, is_directory)?;
        is_out.then_some(source(GLOBAL))
    }

    /// Where what is tracked by the repository that these rules are in is found; `None` where they are in none.
    pub(crate) fn repository(&self) -> Option<RepositoryAt> {
        self.chain().find_map(|rules| match rules.dot_git {
            DotGit::Absent => None,
            DotGit::NotUnderstood => Some(RepositoryAt::NotUnderstood),
            DotGit::Repository => Some(RepositoryAt::Directory(rules.at)),
        })
    }

    fn chain(&self) -> impl Iterator<Item = &IgnoreRules> {
        successors(Some(self), |rules| rules.above.as_deref())
    }
}

fn verdict(lines: &Gitignore, at: usize, path: &[u8], is_directory: bool) -> Option<bool> {
    if lines.is_empty() {
        return None;
    }
    let path = Path::new(OsStr::from_bytes(path.get(at..)?));
    match lines.matched(path, is_directory) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

fn read(file: OwnedFd) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(file).take(MAX_RULES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The rules that a text says. A line that is no rule is passed over, as git does.
pub(crate) fn parse(text: &[u8]) -> Gitignore {
    let text = String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
