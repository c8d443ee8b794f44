//! What decided about ignored paths when the run began: rule files and indexes as they were before the run
//! changed them, and which paths were there by then. Nothing is kept before the run changes the first of
//! them: until then what stands on the disk is what stood there.

use super::excludes::GlobalExcludes;
use super::tracked::{self, Tracked};
use cairn_types::{Change, ChangeKind, Hash};
use ignore::gitignore::Gitignore;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How much of a file of rules is read.
const MAX_RULES: u64 = 1 << 20;
/// How long it is waited for the clock of files to go on: longer than any machine's takes.
const MOST_TICKS: u32 = 100;

/// What stood at the path of a rule file.
#[derive(Debug, Clone)]
enum Original {
    Absent,
    /// Something whose text does not matter, such as `.git`.
    There,
    Text(Arc<[u8]>),
    /// What git tracked.
    Index(Arc<Tracked>),
}

/// A kind of file that decides about ignored paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleFile {
    Rules,
    Repository,
    /// What makes a `.git` a repository's.
    Head,
    Index,
}

impl RuleFile {
    pub(super) fn of(path: &Path) -> Option<RuleFile> {
        let name = path.file_name()?.to_str()?;
        match name {
            ".gitignore" | ".ignore" => Some(RuleFile::Rules),
            "exclude" if path.parent()?.file_name()? == "info" => Some(RuleFile::Rules),
            ".git" => Some(RuleFile::Repository),
            // A repository's own directory may have any name.
            "index" => Some(RuleFile::Index),
            "HEAD" => Some(RuleFile::Head),
            _ => None,
        }
    }
}

/// What decided when the run began, from the moment on when the run changed the first of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct StartRules {
    /// When that was, by the clock that stamps files.
    since: (i64, i64),
    files: HashMap<PathBuf, Original>,
    /// The person's global excludes, if the run changed them.
    global: Option<Arc<Gitignore>>,
    /// Paths that were not ignored when a later change of the run changed or made them.
    known: HashSet<PathBuf>,
    /// All rule files of that moment are kept: one that is not kept was not there.
    is_whole: bool,
    /// All that can be found were looked for.
    was_searched: bool,
}

/// Which rule files are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Version {
    files: usize,
    has_global: bool,
    pub(super) is_whole: bool,
}

/// One change with the absolute path of what it changes.
pub(crate) struct Placed<'a> {
    pub(crate) path: PathBuf,
    pub(crate) change: &'a Change,
}

/// Whether a list of changes holds one that decides about ignored paths.
pub(crate) fn changes_rules(changes: &[Placed<'_>], excludes: &GlobalExcludes) -> bool {
    let decides = |path: &Path| RuleFile::of(path).is_some() || excludes.is_changed_by(path);
    changes.iter().any(|placed| decides(&placed.path))
}

impl StartRules {
    /// What is kept from this moment on, before the first change.
    pub(crate) fn from_now() -> StartRules {
        StartRules { since: next_tick(), ..StartRules::default() }
    }

    /// The same from a moment before this process began, in milliseconds since 1970.
    pub(crate) fn from_then(ms: u64) -> StartRules {
        let ms = i64::try_from(ms).unwrap_or(i64::MAX);
        StartRules { since: (ms / 1000, ms % 1000 * 1_000_000), ..StartRules::default() }
    }

    /// What these changes leave of files of rules and of repositories, to be read in place of what stands there; none if
    /// they change no such file. A text that is not known says nothing.
    pub(super) fn afterwards(
        changes: &[Placed<'_>],
        excludes: &GlobalExcludes,
        contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
    ) -> Option<StartRules> {
        let global = excludes.after(changes, contents);
        let mut after = StartRules { global, ..StartRules::default() };
        for Placed { path, change } in changes {
            let text = |hash: &Option<Hash>| hash.as_ref().and_then(contents).unwrap_or_default();
            let is_replaced = change.before.is_some() && change.after.is_some();
            let left = match (RuleFile::of(path), &change.after) {
                (None | Some(RuleFile::Index), _) => continue,
                (Some(RuleFile::Repository | RuleFile::Head), _) if is_replaced => continue,
                (Some(RuleFile::Repository | RuleFile::Head), Some(_)) => Original::There,
                (Some(RuleFile::Rules), Some(state)) => Original::Text(text(&state.hash).into()),
                (Some(_), None) => Original::Absent,
            };
            after.files.insert(path.clone(), left);
        }
        (!after.files.is_empty() || after.global.is_some()).then_some(after)
    }

    /// Grows with every rule file that is kept.
    pub(super) fn version(&self) -> Version {
        Version {
            files: self.files.len(),
            has_global: self.global.is_some(),
            is_whole: self.is_whole,
        }
    }

    /// Says that the rule files that there are were looked for, and whether all of them were found and kept.
    pub(super) fn note_search(&mut self, is_whole: bool) {
        (self.was_searched, self.is_whole) = (true, is_whole);
    }

    pub(super) fn was_searched(&self) -> bool {
        self.was_searched
    }

    /// Keeps what the rule files among these changes said before them. `contents` has the bytes of earlier
    /// states; what it does not have is read where it stands.
    pub(crate) fn keep(
        &mut self,
        changes: &[Placed<'_>],
        excludes: &GlobalExcludes,
        contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
    ) {
        if self.global.is_none() {
            let of_excludes = |placed: &&Placed<'_>| excludes.is_changed_by(&placed.path);
            let first = changes.iter().find(of_excludes);
            self.global = first.map(|placed| Arc::new(excludes.before(placed, contents)));
        }
        for Placed { path, change } in changes {
            let Some(kind) = RuleFile::of(path).filter(|_| !self.files.contains_key(path)) else {
                continue;
            };
            let hash = change.before.as_ref().map(|state| state.hash);
            let original = match (hash, kind) {
                (None, _) => Original::Absent,
                (Some(_), RuleFile::Repository | RuleFile::Head) => Original::There,
                (Some(hash), kind) => {
                    let bytes = hash.as_ref().and_then(contents);
                    let bytes = bytes.or_else(|| read(path, kind));
                    let Some(bytes) = bytes else { continue };
                    Original::of(kind, path, &bytes)
                }
            };
            self.files.insert(path.clone(), original);
        }
    }

    /// Keeps a rule file as it stands.
    pub(crate) fn keep_standing(&mut self, path: PathBuf) {
        if self.files.contains_key(&path) {
            return;
        }
        let original = match RuleFile::of(&path) {
            None => return,
            Some(RuleFile::Repository) => Some(Original::There),
            Some(RuleFile::Head) => is_there(&path).then_some(Original::There),
            Some(kind) => read(&path, kind).map(|bytes| Original::of(kind, &path, &bytes)),
        };
        if let Some(original) = original {
            self.files.insert(path, original);
        }
    }

    /// Keeps the person's global excludes as they were when this process began.
    pub(super) fn keep_global(&mut self, excludes: &GlobalExcludes) {
        self.global.get_or_insert_with(|| Arc::new(excludes.rules()));
    }

    /// The person's global excludes of the start, if they can differ from those that this process found.
    pub(super) fn global(&self) -> Option<&Arc<Gitignore>> {
        self.global.as_ref()
    }

    /// Takes note of what changes made or changed, once they are made.
    pub(crate) fn count(&mut self, changes: Vec<Placed<'_>>, excludes: &GlobalExcludes) {
        // What comes together with new rules is judged by them.
        let is_settled = !changes_rules(&changes, excludes);
        for Placed { path, change } in changes {
            let is_seen = change.kind != ChangeKind::Created || is_settled;
            if is_seen && !change.ignored {
                self.known.insert(path);
            }
        }
    }

    /// Whether a rule file was there at the start, if that can differ from what stands there now.
    pub(super) fn had(&self, path: &Path) -> Option<bool> {
        match self.files.get(path) {
            Some(Original::Absent) => Some(false),
            Some(_) => Some(true),
            None => self.was_absent(path).then_some(false),
        }
    }

    /// What a file of rules said at the start, if that can differ from what stands there now.
    pub(super) fn text(&self, path: &Path) -> Option<Option<Arc<[u8]>>> {
        match self.files.get(path) {
            Some(Original::Text(text)) => Some(Some(Arc::clone(text))),
            Some(_) => Some(None),
            None => self.was_absent(path).then_some(None),
        }
    }

    /// What the repository with this index tracked at the start, if that can differ.
    pub(super) fn tracked(&self, index: &Path) -> Option<Option<Arc<Tracked>>> {
        match self.files.get(index)? {
            Original::Index(tracked) => Some(Some(Arc::clone(tracked))),
            _ => Some(None),
        }
    }

    fn was_absent(&self, path: &Path) -> bool {
        self.is_whole && path.parent().is_some_and(|directory| self.existed(directory))
    }

    /// Whether something that is there was there before the rules changed. In doubt it was.
    pub(super) fn existed(&self, path: &Path) -> bool {
        if self.known.contains(path) {
            return true;
        }
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let Ok(found) = rustix::fs::statx(CWD, path, flags, StatxFlags::BTIME) else {
            return false;
        };
        let is_told = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let born = (found.stx_btime.tv_sec, i64::from(found.stx_btime.tv_nsec));
        !is_told || born < self.since
    }
}

impl Original {
    fn of(kind: RuleFile, path: &Path, bytes: &[u8]) -> Original {
        match kind {
            RuleFile::Rules => Original::Text(bytes.into()),
            RuleFile::Repository | RuleFile::Head => Original::There,
            RuleFile::Index => {
                let shared = |name: &str| read(&path.parent()?.join(name), RuleFile::Index);
                Original::Index(Arc::new(tracked::parse(bytes, &shared)))
            }
        }
    }
}

fn is_there(path: &Path) -> bool {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

pub(super) fn read(path: &Path, kind: RuleFile) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let most = if kind == RuleFile::Index { tracked::MOST_BYTES } else { MAX_RULES };
    let mut bytes = Vec::new();
    File::from(file).take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A moment after everything that was made before and not after anything that is made from now on, by the stamps of
/// files. Those are never later than the exact clock, and never earlier than the coarse one, which lags behind it.
fn next_tick() -> (i64, i64) {
    let now = |clock| {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
        (tv_sec, tv_nsec)
    };
    let begun = now(ClockId::Realtime);
    for _ in 0..MOST_TICKS {
        let coarse = now(ClockId::RealtimeCoarse);
        if coarse > begun {
            return coarse;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // In doubt it was there before.
    now(ClockId::Realtime)
}
