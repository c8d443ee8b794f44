//! Which paths are left out: `.ignore`, `.gitignore` and `.git/info/exclude`, with git's precedence.
//! Reads those files through directory handles; opens nothing else.
//!
//! A `.gitignore` counts inside a repository only, and a repository inside another begins afresh. A
//! `.ignore` counts everywhere and before all of git's. Above the root, rules are read up to the
//! repository's own directory, and nothing of what they say is ever told. A person's global excludes
//! are not read. Whether a file that rules name is tracked is not known here.

use crate::members::Tracked;
use crate::walk::Name;
use crate::workspace::entry;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::iter::successors;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// How much of a file of rules is read.
const MAX_RULES: u64 = 1 << 20;
/// How far above the root a repository's directory is looked for.
const MAX_CLIMB: usize = 64;

/// The rules of one directory, and of those above it.
#[derive(Debug)]
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// How much of a path leads to this directory.
    at: usize,
    own: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    begins_repository: bool,
    is_in_repository: bool,
    /// Of the directory where a repository begins: what that tracks, once somebody asked.
    tracked: OnceLock<Option<Arc<Tracked>>>,
}

/// Which file of rules leaves something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// How much of a path leads to its directory.
    pub(crate) at: usize,
    /// What it is called there.
    pub(crate) file: &'static str,
}

/// What holds before anything beneath the root was looked at.
#[derive(Debug, Default)]
pub(crate) struct Above {
    /// The rules above the root.
    pub(crate) rules: Option<Arc<Rules>>,
    /// The root's path from the repository's directory, with a slash at its end. Paths that are
    /// judged begin with it.
    pub(crate) lead: Vec<u8>,
}

/// What a directory has of the three.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Has {
    ignore: bool,
    gitignore: bool,
    repository: bool,
}

impl Has {
    /// Takes note of a name in it.
    pub(crate) fn see(&mut self, name: &[u8], is_file: bool) {
        match name {
            b".ignore" => self.ignore = is_file,
            b".gitignore" => self.gitignore = is_file,
            b".git" => self.repository = true,
            _ => {}
        }
    }
}

impl Rules {
    /// The rules in a directory with these names; `at` is how much of a path leads to it.
    pub(crate) fn inside(
        above: Option<&Arc<Rules>>,
        dir: BorrowedFd<'_>,
        names: &[Name],
        at: usize,
    ) -> Option<Arc<Rules>> {
        let mut has = Has::default();
        for name in names {
            has.see(name.bare(), name.is_file());
        }
        Self::read(above, dir, has, at)
    }

    /// The same where it is asked which names there are.
    pub(crate) fn with(
        above: Option<&Arc<Rules>>,
        dir: BorrowedFd<'_>,
        has: impl Fn(&str) -> bool,
        at: usize,
    ) -> Option<Arc<Rules>> {
        let has =
            Has { ignore: has(".ignore"), gitignore: has(".gitignore"), repository: has(".git") };
        Self::read(above, dir, has, at)
    }

    /// The same where it is known what of the three there is.
    pub(crate) fn read(
        above: Option<&Arc<Rules>>,
        dir: BorrowedFd<'_>,
        has: Has,
        at: usize,
    ) -> Option<Arc<Rules>> {
        let is_in_repository = has.repository || above.is_some_and(|rules| rules.is_in_repository);
        let has_git = has.gitignore && is_in_repository;
        if !(has.ignore || has_git || has.repository) {
            return above.cloned();
        }
        let of = |wanted: bool, path: &[u8]| {
            if wanted { parsed(dir, path) } else { Gitignore::empty() }
        };
        Some(Arc::new(Rules {
            above: above.cloned(),
            at,
            own: of(has.ignore, b".ignore"),
            git: of(has_git, b".gitignore"),
            exclude: of(has.repository, b".git/info/exclude"),
            begins_repository: has.repository,
            is_in_repository,
            tracked: OnceLock::new(),
        }))
    }

    /// Whether a path is left out. Says nothing about the directories on the way to it: one that is
    /// left out is never entered, so nothing in it can be taken in again.
    pub(crate) fn leave_out(&self, path: &[u8], is_directory: bool) -> bool {
        self.left_out_by(path, is_directory).is_some()
    }

    /// The same, with the file whose rule it is.
    pub(crate) fn left_out_by(&self, path: &[u8], is_directory: bool) -> Option<Source> {
        let by =
            |rules: &Rules, is_out: bool, file| is_out.then_some(Source { at: rules.at, file });
        for rules in self.chain() {
            if let Some(is_out) = rules.verdict(&rules.own, path, is_directory) {
                return by(rules, is_out, ".ignore");
            }
        }
        if !self.is_in_repository {
            return None;
        }
        for rules in self.chain() {
            if let Some(is_out) = rules.verdict(&rules.git, path, is_directory) {
                return by(rules, is_out, ".gitignore");
            }
            if rules.begins_repository {
                let is_out = rules.verdict(&rules.exclude, path, is_directory).unwrap_or(false);
                return by(rules, is_out, ".git/info/exclude");
            }
        }
        None
    }

    /// What the repository tracks that these rules are in, and how much of a path leads to its directory;
    /// `read` is asked once, with that.
    pub(crate) fn tracked(
        &self,
        read: impl FnOnce(usize) -> Option<Arc<Tracked>>,
    ) -> Option<(&Tracked, usize)> {
        let repository = self.chain().find(|rules| rules.begins_repository)?;
        let tracked = repository.tracked.get_or_init(|| read(repository.at));
        Some((tracked.as_deref()?, repository.at))
    }

    /// Whether they are those of a repository.
    pub(crate) fn is_in_repository(&self) -> bool {
        self.is_in_repository
    }

    fn chain(&self) -> impl Iterator<Item = &Rules> {
        successors(Some(self), |rules| rules.above.as_deref())
    }

    fn verdict(&self, lines: &Gitignore, path: &[u8], is_directory: bool) -> Option<bool> {
        if lines.is_empty() {
            return None;
        }
        let path = Path::new(OsStr::from_bytes(path.get(self.at..)?));
        match lines.matched(path, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        }
    }
}

/// The rules above a root that lies inside a repository.
pub(crate) fn above(root: BorrowedFd<'_>, path: &Path) -> Above {
    let Some(climbed) = climb(root) else { return Above::default() };
    let parts: Vec<&[u8]> = path.iter().map(OsStr::as_bytes).collect();
    let Some(from) = parts.len().checked_sub(climbed.len()) else { return Above::default() };
    let mut above = Above::default();
    for (nth, (dir, name)) in climbed.iter().rev().zip(&parts[from..]).enumerate() {
        let has = Has { ignore: true, gitignore: true, repository: nth == 0 };
        above.rules = Rules::read(above.rules.as_ref(), dir.as_fd(), has, above.lead.len());
        above.lead.extend_from_slice(name);
        let is_out = above.rules.as_ref().is_some_and(|rules| rules.leave_out(&above.lead, true));
        above.lead.push(b'/');
        if is_out {
            // The root was named although it is left out, so what leaves it out does not count.
            return Above { rules: Some(Arc::new(bare_repository())), lead: Vec::new() };
        }
    }
    above
}

/// The directories above the root, nearest first, up to the one where its repository begins; none
/// when it begins at the root itself or there is none.
fn climb(root: BorrowedFd<'_>) -> Option<Vec<OwnedFd>> {
    let has_git =
        |dir: BorrowedFd<'_>| rustix::fs::statat(dir, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
    if has_git(root) {
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
        let is_found = has_git(dir.as_fd());
        climbed.push(dir);
        if is_found {
            return Some(climbed);
        }
        below = stat;
    }
    None
}

/// A repository without rules.
pub(crate) fn bare_repository() -> Rules {
    Rules {
        above: None,
        at: 0,
        own: Gitignore::empty(),
        git: Gitignore::empty(),
        exclude: Gitignore::empty(),
        begins_repository: true,
        is_in_repository: true,
        tracked: OnceLock::new(),
    }
}

/// The rules in a file; none when it cannot be read. A line that is no rule is passed over, as git
/// does.
fn parsed(dir: BorrowedFd<'_>, path: &[u8]) -> Gitignore {
    let mut bytes = Vec::new();
    let read = entry(dir, path, OFlags::RDONLY)
        .map(|fd| File::from(fd).take(MAX_RULES).read_to_end(&mut bytes));
    if !matches!(read, Ok(Ok(_))) {
        return Gitignore::empty();
    }
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
