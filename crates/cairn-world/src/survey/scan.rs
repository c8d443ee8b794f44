//! Looks whether members changed since they were last looked at. Costs a stat of each, and reads those
//! alone that changed, or may have.

use super::{Stat, Survey, Surveyed, marks};
use crate::members::{Ground, Judge, Judged, Stands};
use crate::path;
use crate::read::{SNIFF, is_binary};
use crate::walk::names;
use crate::workspace::{Workspace, entry};
use cairn_types::Hash;
use rustix::fs::{AtFlags, FileType, OFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// A larger file is not read: that it changed is told by its stat alone.
const LARGEST: u64 = 16 << 20;
/// The most members that are looked at.
const MOST: usize = 200_000;
/// The deepest directory.
const DEEPEST: usize = 128;
/// Times are no finer than this, so what was changed so shortly before a look may have been changed
/// after it, too.
const COARSE_NS: i64 = 20_000_000;

/// A member that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noticed {
    /// Its path.
    pub path: String,
    /// What it was; none when it is new.
    pub before: Option<Surveyed>,
    /// What it is; none when it is gone.
    pub after: Option<Surveyed>,
    /// The lines of it that are new, from 1, first and last; none where that is not known.
    pub spans: Vec<(usize, usize)>,
    /// Its bytes, where it was read as a text.
    pub content: Option<Vec<u8>>,
}

/// What a look took and gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// What changed, in order of path.
    pub noticed: Vec<Noticed>,
    /// How many members there are.
    pub files: usize,
    /// How many of them were read.
    pub read: usize,
    /// There were more than are looked at.
    pub is_cut: bool,
}

/// A member that is there.
struct Found {
    path: String,
    directory: Arc<OwnedFd>,
    name: Vec<u8>,
    stat: Stat,
    mode: u32,
}

/// Looks at every member, and brings the survey up to date.
pub(crate) fn scan(workspace: &Workspace, survey: &mut Survey) -> Scanned {
    let begun_ns = now_ns();
    let mut walk = Walk { judge: Judge::new(workspace), found: Vec::new(), is_cut: false };
    walk.begin(workspace);
    let Walk { found, is_cut, .. } = walk;
    let files = found.len();
    let (mut standing, mut changed) = (BTreeMap::new(), Vec::new());
    for one in found {
        match survey.files.remove(&one.path) {
            Some(known) if known.stat == one.stat && !known.in_doubt => {
                standing.insert(one.path, known);
            }
            before => changed.push((one, before)),
        }
    }
    let read = changed.len();
    let mut noticed = Vec::new();
    for (one, before, now) in look_all(changed, begun_ns) {
        let Some((after, content)) = now else { continue };
        let is_same = before.as_ref().is_some_and(|before| before.is_alike(&after));
        standing.insert(one.path.clone(), after.clone());
        if !is_same {
            let old = before.as_ref().map(|known| known.marks.as_slice());
            let spans = marks::spans(old.unwrap_or_default(), &after.marks);
            let (path, after) = (one.path, Some(after));
            noticed.push(Noticed { path, before, after, spans, content });
        }
    }
    if !is_cut {
        let gone = std::mem::take(&mut survey.files).into_iter();
        noticed.extend(gone.map(|(path, known)| Noticed {
            path,
            before: Some(known),
            after: None,
            spans: Vec::new(),
            content: None,
        }));
    }
    noticed.sort_by(|a, b| a.path.cmp(&b.path));
    survey.files = standing;
    Scanned { noticed, files, read, is_cut }
}

impl Surveyed {
    /// Whether it is the same file to whoever reads it.
    fn is_alike(&self, other: &Surveyed) -> bool {
        let same = match (self.hash, other.hash) {
            (Some(one), Some(other)) => one == other,
            _ => self.stat == other.stat,
        };
        same && self.mode == other.mode
    }
}

/// What was found, what it was before, and what it is now with its bytes; none where it is gone again.
type Looked = (Found, Option<Surveyed>, Option<(Surveyed, Option<Vec<u8>>)>);

/// Reads files on all cores; what they are comes in no order.
fn look_all(changed: Vec<(Found, Option<Surveyed>)>, begun_ns: i64) -> Vec<Looked> {
    let look = |(one, before): (Found, Option<Surveyed>)| {
        let now = look_at(&one, begun_ns);
        (one, before, now)
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(8));
    if cores == 1 || changed.len() < 64 {
        return changed.into_iter().map(look).collect();
    }
    let share = changed.len().div_ceil(cores);
    let mut shares: Vec<Vec<_>> = Vec::new();
    let mut left = changed.into_iter();
    loop {
        let next: Vec<_> = left.by_ref().take(share).collect();
        if next.is_empty() {
            break;
        }
        shares.push(next);
    }
    std::thread::scope(|scope| {
        let work = |share: Vec<_>| share.into_iter().map(look).collect::<Vec<_>>();
        let threads: Vec<_> =
            shares.into_iter().map(|share| scope.spawn(move || work(share))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

/// A file as it is now.
fn look_at(found: &Found, begun_ns: i64) -> Option<(Surveyed, Option<Vec<u8>>)> {
    let Found { stat, mode, .. } = *found;
    let in_doubt = stat.changed_ns.saturating_add(COARSE_NS) >= begun_ns;
    let mut known = Surveyed {
        stat,
        hash: None,
        bytes: stat.bytes,
        lines: None,
        mode,
        marks: Vec::new(),
        in_doubt,
    };
    if stat.bytes > LARGEST {
        return Some((known, None));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let fd = entry(found.directory.as_fd(), &found.name, flags).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(stat.bytes).unwrap_or(0) + 1);
    File::from(fd).take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    // Whoever writes meanwhile is seen by the next look, since its time is newer than this one's.
    known.in_doubt |= bytes.len() as u64 != stat.bytes;
    known.hash = Some(Hash::of(&bytes));
    let is_text =
        !is_binary(&bytes[..bytes.len().min(SNIFF)]) && std::str::from_utf8(&bytes).is_ok();
    if !is_text {
        return Some((known, None));
    }
    if bytes.len() <= marks::LONGEST {
        known.marks = marks::of(&bytes);
        known.lines = u32::try_from(known.marks.len()).ok();
    } else {
        let ended = memchr::memchr_iter(b'\n', &bytes).count();
        known.lines = u32::try_from(ended + usize::from(!bytes.ends_with(b"\n"))).ok();
    }
    Some((known, Some(bytes)))
}

fn now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// Goes through the members' directories.
struct Walk<'a> {
    judge: Judge<'a>,
    found: Vec<Found>,
    is_cut: bool,
}

impl Walk<'_> {
    fn begin(&mut self, workspace: &Workspace) {
        let (Ok(root), Ok(found)) = (workspace.directory("."), self.judge.find(".", true)) else {
            self.is_cut = true;
            return;
        };
        let mut full = found.full;
        if full.len() > self.judge.lead.len() {
            full.push(b'/');
        }
        self.enter(Arc::new(root), String::new(), &full, (&found.around, &found.judged), 0);
    }

    /// Adds a directory's files; `full` is its path from where rules begin, with a slash at its end.
    fn enter(
        &mut self,
        dir: Arc<OwnedFd>,
        prefix: String,
        full: &[u8],
        (around, judged): (&Ground, &Judged),
        depth: usize,
    ) {
        let Ok(mut inside) = names(&dir) else { return };
        inside.sort();
        let ground = self.judge.inside(around, judged, (dir.as_fd(), &inside), full.len());
        for name in &inside {
            // What cannot be named cannot be told either.
            let Ok(bare) = std::str::from_utf8(name.bare()) else { continue };
            if path::is_hidden(prefix.as_bytes(), name.bare()) || bare.contains(char::is_control) {
                continue;
            }
            let is_directory = name.directory().is_some();
            // What hides the trash from git is made with it.
            let is_own = prefix == ".cairn/" && bare == ".gitignore";
            if is_own || !is_directory && !name.is_file() {
                continue;
            }
            let path = [full, name.bare()].concat();
            let judged = self.judge.judge(&ground, &path, is_directory);
            if judged.stands == Stands::Not {
                continue;
            }
            if self.found.len() >= MOST || depth > DEEPEST {
                self.is_cut = true;
                return;
            }
            match is_directory {
                false => self.add(&dir, &prefix, name.bare()),
                true => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                    let Ok(inner) = entry(dir.as_fd(), name.bare(), flags) else { continue };
                    let within = format!("{prefix}{bare}/");
                    let full = [path.as_slice(), b"/"].concat();
                    self.enter(Arc::new(inner), within, &full, (&ground, &judged), depth + 1);
                }
            }
        }
    }

    fn add(&mut self, dir: &Arc<OwnedFd>, prefix: &str, name: &[u8]) {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let Ok(stat) = stat else { return };
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return;
        }
        let ns = |sec: i64, nsec: u64| {
            sec.saturating_mul(1_000_000_000).saturating_add(i64::try_from(nsec).unwrap_or(0))
        };
        self.found.push(Found {
            path: format!("{prefix}{}", String::from_utf8_lossy(name)),
            directory: Arc::clone(dir),
            name: name.to_vec(),
            mode: stat.st_mode & 0o7777,
            stat: Stat {
                inode: stat.st_ino,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified_ns: ns(stat.st_mtime, stat.st_mtime_nsec),
                changed_ns: ns(stat.st_ctime, stat.st_ctime_nsec),
            },
        });
    }
}
