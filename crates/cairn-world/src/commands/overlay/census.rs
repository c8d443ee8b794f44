//! Which names stood in every directory that is not ignored, at one moment: taken before an overlay is
//! mounted, and kept from one command to the next. Costs one look at each directory; only those that
//! changed are read again.

use super::mark::{Age, Clock, Mark, Time, changed};
use crate::folders::path;
use crate::folders::workspace::{Workspace, refusal};
use crate::git::ignored::{self, Git, GitJudge, GitVerdict, Has, Level, Start};
use crate::settled::Refusal;
use rustix::fs::{AtFlags, FileType, RawDir, Stat, StatxFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Room for names between two questions to the kernel.
const ROOM: usize = 32 * 1024;
/// The files that hold rules, as a directory has them.
const RULE_FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The names in every directory that is not ignored.
#[derive(Debug, Default)]
pub struct Census {
    directories: HashMap<String, Directory>,
    /// The root's path from where rules begin.
    lead: Vec<u8>,
    clock: Option<Clock>,
    /// How many directories were read when it was last taken.
    read: usize,
    /// It is of a repository's own directory, in which nothing is ignored.
    is_git: bool,
    /// What was known of the run's start.
    start: Start,
}

/// What stood under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Had {
    /// Nobody looked.
    Unknown,
    /// Nothing.
    Nothing,
    /// The file of this number; none where the file system does not say.
    This(Option<u64>),
}

/// What makes a directory the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    inode: u64,
    mode: u32,
    owner: (u32, u32),
}

impl Identity {
    pub(super) fn of(stat: &Stat) -> Identity {
        Identity { inode: stat.st_ino, mode: stat.st_mode, owner: (stat.st_uid, stat.st_gid) }
    }

    fn is_same_one(&self, other: &Stat) -> bool {
        self.inode == other.st_ino
    }

    /// Whether another, as a copy is, has the same mode and owner.
    pub(super) fn looks_like(&self, other: &Stat) -> bool {
        Identity { inode: self.inode, ..Identity::of(other) } == *self
    }
}

/// When something was made, where the file system says so.
fn born(dir: BorrowedFd<'_>, path: &str) -> Option<Time> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let found = rustix::fs::statx(dir, path, flags, StatxFlags::BTIME).ok()?;
    let is_known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    is_known.then(|| (found.stx_btime.tv_sec, i64::from(found.stx_btime.tv_nsec)))
}

/// One directory.
#[derive(Debug)]
struct Directory {
    identity: Identity,
    /// When it was made, where the file system says so: numbers are given again.
    born: Option<Time>,
    changed: Time,
    /// Whether a later change of it is sure to show.
    settled: bool,
    /// By name, each with its number, or 0; the directories among them a second time.
    names: Vec<(Box<[u8]>, u64)>,
    inner: Vec<Box<[u8]>>,
    /// What its rules were read from.
    rule_files: [Option<(u64, Time, i64)>; 3],
    level: Level,
}

/// A directory that is still to be looked at.
struct Visit {
    path: String,
    around: Level,
    verdict: GitVerdict,
    /// Whether the rules above it are other than last time.
    rules_changed: bool,
}

impl Census {
    /// An empty one, which is filled when it is first taken.
    #[must_use]
    pub fn new() -> Census {
        Census::default()
    }

    /// Takes it, or brings it up to date. The mark must be made just before, and the overlay be
    /// mounted after.
    pub fn take(&mut self, workspace: &Workspace, mark: &Mark) -> Result<(), Refusal> {
        let clock = Clock::now();
        if self.clock.is_none_or(|then| clock.is_behind(&then)) {
            self.directories.clear();
        }
        (self.clock, self.read) = (Some(clock), 0);
        self.is_git = workspace.repository.is_some();
        let start = workspace.ignored.start();
        let is_of_start = ignored::version(&start) == ignored::version(&self.start);
        self.start = start;
        let judge = self.judge(workspace);
        let rules_changed = judge.lead != self.lead || !judge.lead.is_empty() || !is_of_start;
        self.lead.clone_from(&judge.lead);
        let mut old = std::mem::take(&mut self.directories);
        let (around, verdict) = (judge.outer().clone(), judge.root);
        let mut todo = vec![Visit { path: ".".to_owned(), around, verdict, rules_changed }];
        while let Some(visit) = todo.pop() {
            let known = old.remove(&visit.path);
            match self.look(&judge, mark, &visit, known) {
                Ok(found) => {
                    self.go_on(&judge, &visit, &found, &mut todo);
                    self.directories.insert(visit.path, found.directory);
                }
                Err(e) if visit.path == "." => return Err(refusal(".", e)),
                // It vanished, or may not be read: nothing is known of it.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Judges by the rules that held when it was taken. Where there is no repository, what one's rules would
    /// leave out is still what can be made again.
    pub(super) fn judge<'a>(&self, workspace: &'a Workspace) -> GitJudge<'a> {
        GitJudge::assuming_repository(workspace, self.start.clone())
    }

    /// How many directories were read, and not only looked at, when it was last taken.
    #[must_use]
    pub fn directories_read(&self) -> usize {
        self.read
    }

    fn look(
        &mut self,
        judge: &GitJudge<'_>,
        mark: &Mark,
        visit: &Visit,
        known: Option<Directory>,
    ) -> Result<Looked, Errno> {
        let workspace = judge.workspace;
        let path = visit.path.as_str();
        let stat = rustix::fs::statat(workspace.root.handle(), path, AtFlags::SYMLINK_NOFOLLOW)?;
        let same = |known: &Directory| {
            known.settled
                && known.identity == Identity::of(&stat)
                && known.changed == changed(&stat)
        };
        let (mut directory, handle) = match known {
            Some(known) if same(&known) => (known, None),
            _ => {
                let handle = workspace.root.open_directory(path)?;
                let settled = mark.age(&stat) == Age::Before;
                self.read += 1;
                (Directory::read(&handle, &stat, settled)?, Some(handle))
            }
        };
        let rule_files = directory.rule_files(workspace, path);
        let sure = |file: &(u64, Time, i64)| mark.is_after(file.1);
        let again = directory.level.judged_again(&visit.verdict);
        let rules_changed = visit.rules_changed
            || handle.is_some()
            || rule_files != directory.rule_files
            || !rule_files.iter().flatten().all(sure);
        directory.level = match again.filter(|_| !rules_changed) {
            Some(level) => level,
            None => {
                let handle = match handle {
                    Some(handle) => handle,
                    None => workspace.root.open_directory(path)?,
                };
                let has = Has::asking(|name| directory.has(name));
                let at = self.full(path).len();
                judge.enter(&visit.around, &visit.verdict, handle.as_fd(), has, at)
            }
        };
        directory.rule_files = rule_files;
        Ok(Looked { directory, rules_changed })
    }

    /// Puts the directories in one that are not ignored on the list.
    fn go_on(&self, judge: &GitJudge<'_>, visit: &Visit, looked: &Looked, todo: &mut Vec<Visit>) {
        let directory = &looked.directory;
        for name in directory.inner.iter().filter_map(|name| std::str::from_utf8(name).ok()) {
            let path = path::joined(&visit.path, name);
            let verdict = self.verdict(judge, directory, &path, true);
            if path == super::OWN_DIRECTORY || verdict.git == Git::Ignores {
                continue;
            }
            let around = directory.level.clone();
            let rules_changed = looked.rules_changed;
            todo.push(Visit { path, around, verdict, rules_changed });
        }
    }

    fn verdict(
        &self,
        judge: &GitJudge<'_>,
        directory: &Directory,
        path: &str,
        is_directory: bool,
    ) -> GitVerdict {
        let is_git = |part: &str| part.eq_ignore_ascii_case(".git");
        if self.is_git || path.split('/').any(is_git) {
            return GitVerdict::KEPT;
        }
        let full = [&self.lead, path.as_bytes()].concat();
        judge.judge(&directory.level, &full, is_directory)
    }

    fn full(&self, directory: &str) -> Vec<u8> {
        match directory {
            "." => self.lead.clone(),
            inner => [&self.lead, inner.as_bytes(), b"/"].concat(),
        }
    }

    /// What stood at a path.
    pub(super) fn had(&self, path: &str) -> Had {
        let (directory, name) = path::split(path);
        match self.directories.get(directory) {
            None => Had::Unknown,
            Some(directory) => match directory.find(name.as_bytes()) {
                None => Had::Nothing,
                Some(inode) => Had::This((inode != 0).then_some(inode)),
            },
        }
    }

    /// The directory that stood at a path, if it was not ignored.
    pub(super) fn directory(&self, path: &str) -> Option<Identity> {
        self.directories.get(path).map(|directory| directory.identity)
    }

    /// Whether a directory that was not ignored is still the same one; none when nobody looked.
    pub(super) fn is_same_one(&self, root: BorrowedFd<'_>, path: &str, now: &Stat) -> Option<bool> {
        let was = self.directories.get(path)?;
        Some(was.identity.is_same_one(now) && was.born == born(root, path))
    }

    /// Whether a path is ignored, of which it is known that the directory it is in is not. Rules that
    /// a command made do not count: it would decide what is shown of it.
    pub(super) fn ignores(&self, judge: &GitJudge<'_>, path: &str, is_directory: bool) -> bool {
        let mut directory = path::split(path).0;
        loop {
            if let Some(found) = self.directories.get(directory) {
                return self.verdict(judge, found, path, is_directory).git == Git::Ignores;
            }
            if directory == "." {
                return false;
            }
            directory = path::split(directory).0;
        }
    }
}

/// A directory that was looked at.
struct Looked {
    directory: Directory,
    rules_changed: bool,
}

impl Directory {
    fn read(handle: &OwnedFd, stat: &Stat, settled: bool) -> Result<Directory, Errno> {
        let (mut names, mut inner) = (Vec::new(), Vec::new());
        let mut numbers_are_right = true;
        let mut room = Vec::with_capacity(ROOM);
        let mut items = RawDir::new(handle, room.spare_capacity_mut());
        while let Some(item) = items.next() {
            let item = item?;
            let name = item.file_name().to_bytes();
            match name {
                b"." => numbers_are_right = item.ino() == stat.st_ino,
                b".." => {}
                name => {
                    names.push((Box::from(name), item.ino()));
                    let kind = match item.file_type() {
                        FileType::Unknown => {
                            let flags = AtFlags::SYMLINK_NOFOLLOW;
                            let stat = rustix::fs::statat(handle, item.file_name(), flags)?;
                            FileType::from_raw_mode(stat.st_mode)
                        }
                        kind => kind,
                    };
                    if kind.is_dir() {
                        inner.push(Box::from(name));
                    }
                }
            }
        }
        if !numbers_are_right {
            names.iter_mut().for_each(|(_, inode)| *inode = 0);
        }
        names.sort();
        let identity = Identity::of(stat);
        let (born, changed) = (born(handle.as_fd(), "."), changed(stat));
        let (rule_files, level) = ([None; 3], Level::default());
        Ok(Directory { identity, born, changed, settled, names, inner, rule_files, level })
    }

    fn find(&self, name: &[u8]) -> Option<u64> {
        let at = self.names.binary_search_by(|(known, _)| known.as_ref().cmp(name)).ok()?;
        Some(self.names[at].1)
    }

    fn has(&self, name: &str) -> bool {
        self.find(name.as_bytes()).is_some()
    }

    fn rule_files(&self, workspace: &Workspace, path: &str) -> [Option<(u64, Time, i64)>; 3] {
        RULE_FILES.map(|file| {
            let first = file.split('/').next().unwrap_or(file);
            if !self.has(first) {
                return None;
            }
            let at = path::joined(path, file);
            let stat =
                rustix::fs::statat(workspace.root.handle(), at, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some((stat.st_ino, changed(&stat), stat.st_size))
        })
    }
}
