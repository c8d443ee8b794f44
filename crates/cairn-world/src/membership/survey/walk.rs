//! Goes through the members' directories on several threads, and holds what is there against what was. A file
//! that is as it was costs one stat and no memory; one that is not is read at once, while its directory is
//! open. Few directories are open at a time, however many there are.

use super::Stat;
use super::files::Files;
use super::look::{Looked, Reader};
use crate::folders::path;
use crate::folders::root_directory::entry;
use crate::folders::walk::Names;
use crate::folders::workspace::Workspace;
use crate::git::ignored::Has;
use crate::membership::{Ground, Judge, Judged, Stands};
use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The deepest directory.
const DEEPEST: usize = 128;
/// How many names of a directory are looked at in one go.
const PIECE: usize = 256;

/// What is looked at, and how.
pub(super) struct Terms<'a> {
    pub(super) workspace: &'a Workspace,
    /// What was.
    pub(super) files: &'a Files,
    pub(super) begun_ns: i64,
    /// Whether the bytes of what changed are wanted.
    pub(super) takes_content: bool,
    /// The most members that are looked at.
    pub(super) most: usize,
    pub(super) threads: usize,
}

/// What is not as it was, in no order.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) changed: Vec<Changed>,
    /// Places of those that are gone. One that was not reached is not.
    pub(super) gone: Vec<usize>,
    /// How many members there are.
    pub(super) files: usize,
    /// How many of them were asked for their stat.
    pub(super) asked: usize,
    /// There are more.
    pub(super) is_cut: bool,
}

/// A member that may have changed, and was read.
pub(super) struct Changed {
    pub(super) path: String,
    /// The place of what it was.
    pub(super) before: Option<usize>,
    pub(super) now: Looked,
}

/// A directory that is entered.
struct Folder {
    fd: OwnedFd,
    /// What leads to it from where rules begin, with a slash at its end unless it is empty.
    full: Vec<u8>,
    ground: Ground,
    depth: usize,
}

/// Something to do, and what was known of the files it is about.
enum Task {
    /// A directory to enter.
    Enter { parent: Arc<Folder>, name: Vec<u8>, judged: Judged, known: Range<usize> },
    /// Names of a directory to look at.
    Look { folder: Arc<Folder>, names: Names, known: Range<usize> },
}

/// What is left to do.
#[derive(Default)]
struct Left {
    /// The last is done first, so that a directory is left before the next is entered.
    tasks: Vec<Task>,
    /// How many threads do something, which may lead to more.
    busy: usize,
}

/// A walk that all threads share.
struct Walk<'a> {
    terms: &'a Terms<'a>,
    judge: Judge<'a>,
    left: Mutex<Left>,
    more: Condvar,
    files: AtomicUsize,
    is_cut: AtomicBool,
}

/// Looks at every member; none where the root cannot be.
pub(super) fn walk(terms: &Terms<'_>) -> Option<Walked> {
    let judge = Judge::new(terms.workspace);
    let root = terms.workspace.root.open_directory(".").ok()?;
    let found = judge.find(".", true).ok()?;
    let walk = Walk {
        terms,
        judge,
        left: Mutex::new(Left { tasks: Vec::new(), busy: 1 }),
        more: Condvar::new(),
        files: AtomicUsize::new(0),
        is_cut: AtomicBool::new(false),
    };
    let mut first = Worker::new(&walk);
    let judged = (&found.around, &found.judged);
    first.enter(root, walk.judge.lead.clone(), judged, (0..terms.files.len(), 0)).ok()?;
    // Where nothing is left after the root, there is nothing to share.
    let threads = if first.tasks.is_empty() { 1 } else { terms.threads };
    walk.add(&mut first.tasks);
    let mut walked = std::thread::scope(|scope| {
        let help = |_| {
            let work = || Worker::new(&walk).work();
            // One thread is enough; where no more can be had, it does all the work.
            std::thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let helpers: Vec<_> = (1..threads).filter_map(help).collect();
        let mut walked = first.work();
        for helper in helpers {
            // One that failed has looked at nothing that is known of.
            let Ok(other) = helper.join() else { return None };
            walked.changed.extend(other.changed);
            walked.gone.extend(other.gone);
            walked.files += other.files;
            walked.asked += other.asked;
        }
        Some(walked)
    })?;
    walked.is_cut = walk.is_cut.into_inner();
    Some(walked)
}

impl Walk<'_> {
    fn lock(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something to do; none when all is done.
    fn next(&self) -> Option<Task> {
        let mut left = self.lock();
        loop {
            if let Some(task) = left.tasks.pop() {
                left.busy += 1;
                return Some(task);
            }
            if left.busy == 0 {
                return None;
            }
            left = self.more.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds what a task led to, which is then done. The first of it is done next.
    fn add(&self, tasks: &mut Vec<Task>) {
        let mut left = self.lock();
        left.busy -= 1;
        let is_for_others = tasks.len() > 1;
        left.tasks.extend(tasks.drain(..).rev());
        let is_over = left.busy == 0 && left.tasks.is_empty();
        drop(left);
        if is_for_others || is_over {
            self.more.notify_all();
        }
    }
}

/// One thread of a walk.
struct Worker<'a> {
    walk: &'a Walk<'a>,
    names: Names,
    reader: Reader,
    /// What a task led to.
    tasks: Vec<Task>,
    out: Walked,
}

impl<'a> Worker<'a> {
    fn new(walk: &'a Walk<'a>) -> Worker<'a> {
        let reader = Reader::new(walk.terms.begun_ns, walk.terms.takes_content);
        let (names, tasks, out) = (Names::default(), Vec::new(), Walked::default());
        Worker { walk, names, reader, tasks, out }
    }

    fn work(mut self) -> Walked {
        while let Some(task) = self.walk.next() {
            // Whoever waits for this one is told that it is over, also if it fails.
            let worker = Over(&mut self);
            worker.0.perform(task);
        }
        self.out
    }

    fn perform(&mut self, task: Task) {
        match task {
            Task::Look { folder, names, known } => self.look(&folder, &names, known),
            Task::Enter { parent, name, judged, known } => {
                let full = [&parent.full, name.as_slice(), b"/"].concat();
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                let around = (&parent.ground, &judged);
                let entered = entry(parent.fd.as_fd(), &name, flags)
                    .and_then(|fd| self.enter(fd, full, around, (known.clone(), parent.depth + 1)));
                match entered {
                    // For the moment too much is open: what cannot be looked at is taken to be as it was.
                    Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
                        self.out.files += known.len()
                    }
                    Err(_) => self.out.gone.extend(known),
                    Ok(()) => {}
                }
            }
        }
    }

    /// Lists a directory, and looks at what is in it.
    fn enter(
        &mut self,
        fd: OwnedFd,
        full: Vec<u8>,
        (around, judged): (&Ground, &Judged),
        (mut known, depth): (Range<usize>, usize),
    ) -> Result<(), Errno> {
        let (mut has, mut names) = (Has::default(), std::mem::take(&mut self.names));
        names.fill(&fd, |name, is_file| has.see(name, is_file))?;
        let at = full.len();
        let ground = self.walk.judge.within(around, judged, (fd.as_fd(), has), at);
        let folder = Arc::new(Folder { fd, full, ground, depth });
        if names.len() <= PIECE {
            self.look(&folder, &names, known);
        } else {
            for start in (0..names.len()).step_by(PIECE) {
                let end = names.len().min(start + PIECE);
                let until = match end < names.len() {
                    true => self.before(&folder, known.clone(), names.sort_key(end)),
                    false => known.end,
                };
                let (folder, names) = (Arc::clone(&folder), names.part(start..end));
                self.tasks.push(Task::Look { folder, names, known: known.start..until });
                known.start = until;
            }
        }
        self.names = names;
        Ok(())
    }

    /// What leads to a known file from a folder that it is in.
    fn rest(&self, folder: &Folder, nth: usize) -> &'a [u8] {
        let prefix = folder.full.len() - self.walk.judge.lead.len();
        &self.walk.terms.files.path(nth).as_bytes()[prefix..]
    }

    /// Where those end that come before a name.
    fn before(&self, folder: &Folder, known: Range<usize>, key: &[u8]) -> usize {
        first(known, |nth| self.rest(folder, nth) >= key)
    }

    /// Holds names of a folder against those that were known there. Both are in order.
    fn look(&mut self, folder: &Arc<Folder>, names: &Names, mut known: Range<usize>) {
        let lead = self.walk.judge.lead.len();
        let counted = self.out.files;
        let is_enough = folder.depth > DEEPEST
            || self.walk.files.load(Ordering::Relaxed) >= self.walk.terms.most;
        let mut full = folder.full.clone();
        for nth in 0..names.len() {
            let key = names.sort_key(nth);
            while !known.is_empty() && self.rest(folder, known.start) < key {
                self.out.gone.push(known.start);
                known.start += 1;
            }
            full.truncate(folder.full.len());
            full.extend_from_slice(key.strip_suffix(b"/").unwrap_or(key));
            let is_directory = key.ends_with(b"/");
            if !is_told(&full[lead..], full.len() - folder.full.len()) {
                continue;
            }
            let judged = self.walk.judge.judge(&folder.ground, &full, is_directory);
            if judged.stands == Stands::Not {
                continue;
            }
            if is_enough {
                return self.walk.is_cut.store(true, Ordering::Relaxed);
            }
            if is_directory {
                let end = first(known.clone(), |nth| !self.rest(folder, nth).starts_with(key));
                let (parent, name) = (Arc::clone(folder), full[folder.full.len()..].to_vec());
                self.tasks.push(Task::Enter { parent, name, judged, known: known.start..end });
                known.start = end;
            } else {
                let is_known = !known.is_empty() && self.rest(folder, known.start) == key;
                let before = is_known.then_some(known.start);
                if self.file(folder, &full[lead..], before) {
                    known.start += usize::from(is_known);
                }
            }
        }
        self.out.gone.extend(known);
        self.walk.files.fetch_add(self.out.files - counted, Ordering::Relaxed);
    }

    /// Looks at a file, which is gone where this says no.
    fn file(&mut self, folder: &Folder, path: &[u8], before: Option<usize>) -> bool {
        let name = &path[folder.full.len() - self.walk.judge.lead.len()..];
        if let Some(nth) = before {
            self.out.asked += 1;
            match rustix::fs::statat(&folder.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => {
                    let known = self.walk.terms.files.known(nth);
                    if known.stat == Stat::of(&stat) && !known.in_doubt {
                        self.out.files += 1;
                        return true;
                    }
                }
                _ => return false,
            }
        }
        self.out.files += 1;
        // What cannot be read is taken to be as it was: the next look finds it gone, or other than known.
        let Some(now) = self.reader.read(folder.fd.as_fd(), name) else { return before.is_some() };
        let path = String::from_utf8_lossy(path).into_owned();
        self.out.changed.push(Changed { path, before, now });
        true
    }
}

/// Ends a task of a worker.
struct Over<'w, 'a>(&'w mut Worker<'a>);

impl Drop for Over<'_, '_> {
    fn drop(&mut self) {
        self.0.walk.add(&mut self.0.tasks);
    }
}

/// The first of these places for which something holds that holds for all after it; their end if there is none.
fn first(range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        match holds(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Whether a path, whose last so many bytes are its name, may be a member at all.
fn is_told(path: &[u8], name: usize) -> bool {
    let (directory, name) = path.split_at(path.len() - name);
    // What cannot be named cannot be told either.
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte);
    let is_named = name.iter().all(is_plain)
        || std::str::from_utf8(name).is_ok_and(|name| !name.contains(char::is_control));
    // What hides the trash from git is made with it.
    let is_own = directory == b".cairn/" && name == b".gitignore";
    is_named && !is_own && !path::is_hidden(directory, name)
}
