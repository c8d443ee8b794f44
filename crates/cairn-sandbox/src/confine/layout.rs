//! What a confined command's root shows: the machine's programs, toolchains and caches of a home, places
//! of its own for temporary files, and what it works on. Makes the steps; carries out none.

use super::ground::Ground;
use super::home;
use super::mask::covers;
use super::seccomp;
use super::sockets;
use super::steps::{Bind, Confining, Grouped, Root, Step};
use super::unreadable;
use super::{Confined, Level, counts_processes};
use crate::SandboxError;
use crate::group::{Group, Most};
use crate::own::Own;
use cairn_types::PrivatePlaces;
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::fs::Permissions;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Directories of the machine that every command sees, read-only.
const SYSTEM: &[&str] = &[
    "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "etc", "opt", "nix", "gnu",
];
/// Devices that every command has.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];
/// Places that a root can be built on: where nothing that is shown lies.
const BASES: &[&str] = &["/mnt", "/srv", "/media", "/boot", "/run", "/sys", "/home", "/var"];
/// An empty directory of our own that covers what is hidden.
pub(super) const NO_DIRECTORY: &str = "no-directory";
/// An empty file of our own that covers what is hidden.
pub(super) const NO_FILE: &str = "no-file";
/// What says what runs next: read-only to a command that works on the files themselves.
const GUARDED: &[&str] =
    &[".git/hooks", ".git/config", ".git/info", "cairn.toml", ".cairn", ".githooks", ".husky"];
/// Capabilities that root keeps at level `workspace`: those over files and processes that it shows.
const OF_ROOT: u64 = 0b1111_1011;

/// What is known of the machine and of whoever runs commands on it.
#[derive(Debug)]
pub struct Surroundings {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The environment that commands are given.
    pub env: Vec<(String, String)>,
    /// What no command may see, whatever lies around it.
    pub private: PrivatePlaces,
    /// Where directories of our own can be made.
    pub own: PathBuf,
    /// How much commands are kept from.
    pub level: Level,
    /// So many processes a command may have at once.
    pub processes: u32,
    /// So many bytes of memory commands may have together, where the system lets that be bounded.
    pub memory: Option<u64>,
    /// Whether overlays can be mounted.
    pub overlays: bool,
}

/// What commands see of the machine. Looked at when the first command needs it; its private directories
/// are gone with it.
#[derive(Debug)]
pub struct Sandbox {
    around: Surroundings,
    ready: Mutex<Option<Arc<Ready>>>,
}

/// What was found of the machine.
#[derive(Debug)]
pub(crate) struct Ready {
    own: Own,
    /// What is shown in place of files that must not be read, where that can be made.
    unreadable: Option<PathBuf>,
    steps: Vec<Step>,
    shown: Vec<PathBuf>,
    /// Caches that commands write to in a private layer.
    caches: Vec<PathBuf>,
    ground: Mutex<(usize, Option<Arc<Ground>>)>,
    /// What bounds commands together, and how much.
    group: Mutex<Option<Arc<Group>>>,
    most: Option<Most>,
}

/// What confines a command while it runs.
#[derive(Debug)]
pub(crate) struct Held {
    /// How.
    pub(crate) confining: Confining,
    /// What it is entered from.
    pub(crate) ground: Arc<Ground>,
    /// Its private directories stay as long as it runs.
    _ready: Arc<Ready>,
    /// What bounds it with others.
    group: Option<Arc<Group>>,
    /// So many processes of its group had been ended for want of memory when it began.
    ended: u64,
}

impl Held {
    /// The group that it is in.
    pub(crate) fn group(&self) -> Option<&Group> {
        self.group.as_deref()
    }

    /// How many processes of its group have been ended for want of memory since it began.
    pub(crate) fn starved(&self) -> u64 {
        self.group().map_or(0, |group| group.ended().saturating_sub(self.ended))
    }
}

/// Something that a command works on.
#[derive(Debug, Clone)]
pub struct Place {
    /// Where it is, on the machine and for the command.
    pub path: PathBuf,
    /// Which directory it must be: device and number.
    pub is: (u64, u64),
    /// What the command may do there.
    pub access: Access,
}

/// What a command may do to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// It writes to a layer of its own: `upper` and `work` in this directory.
    Overlay(PathBuf),
    /// It writes to the place itself.
    Write,
    /// It only looks.
    Read,
}

impl Sandbox {
    /// For commands in these surroundings.
    #[must_use]
    pub fn new(around: Surroundings) -> Sandbox {
        Sandbox { around, ready: Mutex::new(None) }
    }

    /// What the machine shows, looked at once.
    fn ready(&self) -> Result<Arc<Ready>, SandboxError> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = &*ready {
            return Ok(Arc::clone(ready));
        }
        Ok(Arc::clone(ready.insert(Arc::new(Ready::new(&self.around)?))))
    }

    /// Whether files can be kept from being read by commands that find them.
    #[must_use]
    pub fn can_keep_unread(&self) -> bool {
        self.ready().is_ok_and(|ready| ready.unreadable.is_some())
    }

    /// How much commands are kept from.
    #[must_use]
    pub fn level(&self) -> Level {
        self.around.level
    }
}

impl Ready {
    fn new(around: &Surroundings) -> Result<Ready, SandboxError> {
        let start = |source| SandboxError::Start { step: "a directory of its own", source };
        let own = Own::make(&around.own).map_err(start)?;
        // A command's own places are as it expects them; what they lie in is closed to others.
        for (name, mode) in [("tmp", 0o1777), ("home", 0o755), (NO_DIRECTORY, 0o700)] {
            let path = own.path().join(name);
            std::fs::create_dir(&path).map_err(start)?;
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(start)?;
        }
        let mut empty = std::fs::OpenOptions::new();
        empty.write(true).create_new(true).mode(0o600);
        empty.open(own.path().join(NO_FILE)).map_err(start)?;
        let has_capabilities =
            rustix::process::geteuid().is_root() && around.level != Level::Strict;
        let unreadable = unreadable::make(own.path(), has_capabilities).map_err(start)?;
        let mut layout = Layout::default();
        layout.system()?;
        layout.own(around, own.path())?;
        for path in &toolchains(around) {
            layout.show(path, false)?;
        }
        let caches = if around.overlays && around.level == Level::Workspace {
            caches(around)
        } else {
            Vec::new()
        };
        let Layout { steps, shown, .. } = layout;
        let processes = (!counts_processes()).then_some(around.processes);
        let most = around.memory.map(|memory| Most { memory, processes });
        let group = Mutex::new(most.and_then(Group::make).map(Arc::new));
        Ok(Ready { own, unreadable, steps, shown, caches, ground: Mutex::default(), group, most })
    }

    /// The group that commands are in, which is made anew when somebody removed it.
    fn group(&self) -> Option<Arc<Group>> {
        let mut held = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|group| !group.stands()) {
            *held = self.most.and_then(Group::make).map(Arc::new);
        }
        held.clone()
    }

    /// The ground to build on, which is made anew when it no longer shows the machine as it is.
    fn ground(&self, base: &Path) -> Result<Arc<Ground>, SandboxError> {
        let mut held = self.ground.lock().unwrap_or_else(PoisonError::into_inner);
        let (made, ground) = &mut *held;
        if let Some(ground) = ground.as_ref().filter(|ground| ground.stands(base)) {
            return Ok(Arc::clone(ground));
        }
        *ground = None;
        let layers = self.own.path().join(format!("caches/{made}"));
        *made += 1;
        let new = Ground::make(base, &self.caches, &layers)?;
        Ok(Arc::clone(ground.insert(Arc::new(new))))
    }
}

impl Sandbox {
    /// How one command is confined.
    pub(crate) fn confining(&self, confined: &Confined) -> Result<Held, SandboxError> {
        let ready = self.ready()?;
        let base = base(&ready, confined)?;
        let ground = ready.ground(Path::new(base))?;
        let mut layout = Layout {
            steps: ready.steps.clone(),
            shown: ready.shown.clone(),
            made: BTreeSet::new(),
            held: BTreeSet::new(),
            read_only: BTreeSet::new(),
        };
        for (cache, from) in ground.caches() {
            layout.directory(cache)?;
            layout.steps.push(Step::Refresh(text(&from)?));
            layout.steps.push(Step::Bind(Bind { write: true, ..Bind::of(&from, cache)? }));
            layout.shown.push(cache.to_owned());
        }
        for place in &confined.places {
            let kept: Vec<&Path> = confined.read_only_within(place).collect();
            match &place.access {
                Access::Overlay(layer) => layout.overlay(&place.path, Some(place.is), layer)?,
                Access::Write => layout.write(place, &kept)?,
                // It is kept where the place around it is shown.
                Access::Read if confined.is_within_written(place) => {}
                Access::Read => layout.read(&place.path, place.is)?,
            }
        }
        for place in confined.places.iter().filter(|place| place.access == Access::Write) {
            layout.cover_sockets(&place.path, &ready.own.path().join(NO_FILE))?;
        }
        let covers = covers(&self.around, &confined.places, ready.own.path())?;
        let covers = covers.and_unreadable(&confined.unreadable, ready.unreadable.as_deref())?;
        covers.mask(&mut layout, confined)?;
        let mut writable: Vec<CString> = vec![c"/tmp".to_owned(), c"/dev/shm".to_owned()];
        writable.extend(self.around.home().map(text).transpose()?);
        for place in confined.places.iter().filter(|place| place.access != Access::Read) {
            writable.push(text(&place.path)?);
        }
        let is_strict = self.around.level == Level::Strict;
        let group = ready.group();
        let confining = Confining {
            root: Root { base: text(&ground.root())?, steps: layout.steps },
            cwd: text(&confined.cwd)?,
            writable,
            filter: seccomp::filter(!is_strict),
            capabilities: match rustix::process::geteuid().is_root() && !is_strict {
                true => OF_ROOT,
                false => 0,
            },
            processes: self.around.processes,
            group: group.as_ref().map_or_else(Grouped::default, |group| Grouped {
                bounds: true,
                counts: group.counts(),
            }),
        };
        let ended = group.as_ref().map_or(0, |group| group.ended());
        Ok(Held { confining, ground, _ready: ready, group, ended })
    }
}

impl Surroundings {
    /// The home, where it is a directory that can be shown by itself.
    fn home(&self) -> Option<&Path> {
        let home = self.home.as_deref()?;
        (home.is_absolute() && home != Path::new("/")).then_some(home)
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The home by its name, and by the one it really has.
    fn homes(&self) -> impl Iterator<Item = PathBuf> {
        let real = self.home.as_deref().and_then(|home| std::fs::canonicalize(home).ok());
        self.home.clone().into_iter().chain(real)
    }

    /// Whether a directory holds the home, or is it: too much to be shown.
    fn is_too_much(&self, path: &Path) -> bool {
        !path.is_absolute()
            || path == Path::new("/")
            || self.homes().any(|home| home.starts_with(path))
    }

    /// Whether a directory is the home, holds it or lies in it.
    fn is_in_home(&self, path: &Path) -> bool {
        self.is_too_much(path) || self.homes().any(|home| path.starts_with(home))
    }
}

/// The steps so far, what they show, and the directories they make.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) steps: Vec<Step>,
    pub(super) shown: Vec<PathBuf>,
    made: BTreeSet<PathBuf>,
    /// Directories that are mounted on themselves.
    held: BTreeSet<PathBuf>,
    /// What is mounted read-only within a place that is written to.
    read_only: BTreeSet<PathBuf>,
}

impl Layout {
    /// The machine's programs, devices and processes.
    fn system(&mut self) -> Result<(), SandboxError> {
        for name in SYSTEM {
            let path = Path::new("/").join(name);
            match std::fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => {
                    let to = std::fs::read_link(&path)
                        .map_err(|source| SandboxError::Start { step: "a link in /", source })?;
                    self.steps.push(Step::Link { to: text(&to)?, at: inner(&path)? });
                    self.shown.push(path);
                }
                Ok(found) if found.is_dir() => self.show(&path, false)?,
                _ => {}
            }
        }
        self.directory(Path::new("/dev"))?;
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            self.steps.push(Step::File(inner(&path)?));
            let bind = Bind { write: true, devices: true, ..Bind::of(&path, &path)? };
            self.steps.push(Step::Bind(bind));
        }
        for (at, to) in [
            ("dev/fd", "/proc/self/fd"),
            ("dev/stdin", "/proc/self/fd/0"),
            ("dev/stdout", "/proc/self/fd/1"),
            ("dev/stderr", "/proc/self/fd/2"),
            ("dev/ptmx", "pts/ptmx"),
        ] {
            self.steps.push(Step::Link { to: text(Path::new(to))?, at: text(Path::new(at))? });
        }
        for name in ["/dev/shm", "/dev/pts", "/proc", "/run", "/var"] {
            self.directory(Path::new(name))?;
        }
        let options = c"mode=1777,size=25%".to_owned();
        self.steps.push(Step::Empty { at: c"dev/shm".to_owned(), options });
        self.steps.push(Step::Terminals(c"dev/pts".to_owned()));
        self.steps.push(Step::Proc(c"proc".to_owned()));
        self.steps.push(Step::Link { to: c"../tmp".to_owned(), at: c"var/tmp".to_owned() });
        Ok(())
    }

    /// Places of the command's own: temporary files, and a home with nothing in it.
    fn own(&mut self, around: &Surroundings, own: &Path) -> Result<(), SandboxError> {
        let home = around.home().map(|home| (own.join("home"), home));
        let tmp = Some((own.join("tmp"), Path::new("/tmp")));
        for (from, at) in [tmp, home].into_iter().flatten() {
            self.directory(at)?;
            self.steps.push(Step::Bind(Bind { write: true, ..Bind::of(&from, at)? }));
        }
        Ok(())
    }

    /// Shows a file or directory where it is.
    fn show(&mut self, path: &Path, write: bool) -> Result<(), SandboxError> {
        if self.shown.iter().any(|shown| path.starts_with(shown)) {
            return Ok(());
        }
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => self.directory(path)?,
            Ok(_) => {
                self.parents(path)?;
                self.steps.push(Step::File(inner(path)?));
            }
            Err(_) => return Ok(()),
        }
        self.steps.push(Step::Bind(Bind { write, optional: true, ..Bind::of(path, path)? }));
        self.shown.push(path.to_owned());
        Ok(())
    }

    fn read(&mut self, path: &Path, is: (u64, u64)) -> Result<(), SandboxError> {
        self.directory(path)?;
        self.steps.push(Step::Bind(Bind { is: Some(is), ..Bind::of(path, path)? }));
        self.shown.push(path.to_owned());
        Ok(())
    }

    /// Shows a place that a command writes to; what says what runs next, and `kept`, is read-only in it.
    fn write(&mut self, place: &Place, kept: &[&Path]) -> Result<(), SandboxError> {
        let path = &place.path;
        self.directory(path)?;
        let bind = Bind { write: true, is: Some(place.is), ..Bind::of(path, path)? };
        self.steps.push(Step::Bind(bind));
        self.shown.push(path.to_owned());
        // All of them before the first read-only mount: a later one would cover it.
        for inner in kept {
            self.hold(place, inner)?;
        }
        self.pin_repository(path)?;
        let guarded = GUARDED.iter().map(|name| path.join(name));
        for guarded in guarded.chain(kept.iter().map(|inner| (*inner).to_owned())) {
            let found = std::fs::symlink_metadata(&guarded);
            if found.is_ok_and(|found| found.is_dir() || found.is_file()) {
                let bind = Bind { optional: true, ..Bind::of(&guarded, &guarded)? };
                self.steps.push(Step::Bind(bind));
                self.read_only.insert(guarded);
            }
        }
        Ok(())
    }

    /// Mounts a repository's own directory, or the file that names it, on itself: what is mounted on cannot be
    /// moved away, and with it what is read-only in it.
    fn pin_repository(&mut self, place: &Path) -> Result<(), SandboxError> {
        let git = place.join(".git");
        let Ok(found) = std::fs::symlink_metadata(&git) else { return Ok(()) };
        if (found.is_dir() || found.is_file()) && self.held.insert(git.clone()) {
            let is = Some((found.dev(), found.ino()));
            self.steps.push(Step::Bind(Bind { write: true, is, ..Bind::of(&git, &git)? }));
        }
        Ok(())
    }

    /// Covers the sockets that exist in a place: whoever listens at them is outside.
    fn cover_sockets(&mut self, place: &Path, nothing: &Path) -> Result<(), SandboxError> {
        for socket in sockets::beneath(place) {
            self.steps.push(Step::Cover(Bind::of(nothing, &socket)?));
        }
        Ok(())
    }

    /// Keeps the directories between a place and something in it from being moved, and it with them: what
    /// is hidden is known by its path.
    pub(super) fn hold(&mut self, place: &Place, path: &Path) -> Result<(), SandboxError> {
        let between = path.ancestors().skip(1).take_while(|above| *above != place.path);
        let mut between: Vec<&Path> =
            between.filter(|above| above.starts_with(&place.path)).collect();
        between.reverse();
        for above in between {
            // What is read-only is mounted and stays where it is; a writable mount would cover it.
            let is_read_only = above.ancestors().any(|outer| self.read_only.contains(outer));
            let Ok(found) = std::fs::symlink_metadata(above) else { continue };
            if found.is_dir() && !is_read_only && self.held.insert(above.to_owned()) {
                let is = Some((found.dev(), found.ino()));
                let bind = Bind { write: true, is, ..Bind::of(above, above)? };
                self.steps.push(Step::Bind(bind));
            }
        }
        Ok(())
    }

    fn overlay(
        &mut self,
        path: &Path,
        is: Option<(u64, u64)>,
        layer: &Path,
    ) -> Result<(), SandboxError> {
        self.directory(path)?;
        let lower = Bind { is, ..Bind::of(path, path)? };
        self.steps.push(Step::Overlay { lower, layer: text(layer)?, at: inner(path)? });
        self.shown.push(path.to_owned());
        Ok(())
    }

    fn parents(&mut self, path: &Path) -> Result<(), SandboxError> {
        path.parent().map_or(Ok(()), |parent| self.directory(parent))
    }

    /// Makes a directory and those above it, unless they are shown anyway.
    fn directory(&mut self, path: &Path) -> Result<(), SandboxError> {
        let mut missing: Vec<&Path> = path
            .ancestors()
            .take_while(|above| *above != Path::new("/"))
            .take_while(|above| !self.shown.iter().any(|shown| above.starts_with(shown)))
            .filter(|above| !self.made.contains(*above))
            .collect();
        missing.reverse();
        for above in missing {
            self.steps.push(Step::Directory(inner(above)?));
            self.made.insert(above.to_owned());
        }
        Ok(())
    }
}

impl Bind {
    pub(super) fn of(from: &Path, at: &Path) -> Result<Bind, SandboxError> {
        let (from, at) = (text(from)?, inner(at)?);
        Ok(Bind { from, is: None, at, write: false, devices: false, optional: false })
    }
}

/// Where toolchains are: in a home, by variables that name them, and on `PATH`.
fn toolchains(around: &Surroundings) -> Vec<PathBuf> {
    let in_home = around.home().into_iter().flat_map(|home| {
        home::TOOLCHAINS.iter().map(|name| home.join(name)).filter(|path| path.exists())
    });
    let named = home::NAMED_BY.iter().filter_map(|name| around.variable(name)).map(PathBuf::from);
    let path = around.variable("PATH").unwrap_or_default();
    let on_path = path.split(':').map(Path::new).filter(|path| path.is_absolute());
    let on_path = on_path.flat_map(|path| {
        // By the name it has and by the one it really has: what it holds is judged by the latter.
        let real = std::fs::canonicalize(path).ok();
        let prefix = real.as_deref().and_then(Path::parent);
        let prefix = prefix.filter(|above| is_prefix(above) && !around.is_in_home(above));
        [prefix.map(Path::to_owned).or(real.clone()), real.map(|_| path.to_owned())]
    });
    let others = named.chain(on_path.flatten()).filter(|path| path.is_dir());
    let is_fine = |path: &PathBuf| {
        let is_plain = path.components().all(|part| part != std::path::Component::ParentDir);
        is_plain && std::fs::canonicalize(path).is_ok_and(|real| !around.is_too_much(&real))
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for path in in_home.chain(others).filter(is_fine) {
        if !found.iter().any(|known| path.starts_with(known)) {
            found.push(path);
        }
    }
    found
}

/// Whether programs here find their libraries beside them.
fn is_prefix(directory: &Path) -> bool {
    ["lib", "libexec", "share", "pyvenv.cfg"].iter().any(|name| directory.join(name).exists())
}

fn caches(around: &Surroundings) -> Vec<PathBuf> {
    let in_home =
        around.home().into_iter().flat_map(|home| home::CACHES.iter().map(|c| home.join(c)));
    let named = home::CACHES_BY.iter().filter_map(|name| around.variable(name)).map(PathBuf::from);
    let mut found: Vec<PathBuf> = Vec::new();
    for path in in_home.chain(named).filter(|path| !around.is_too_much(path) && path.is_dir()) {
        if !found.iter().any(|known| path.starts_with(known)) {
            found.push(path);
        }
    }
    found
}

/// The name that something has without links, where it is there: one call for what is not.
pub(super) fn really(path: &Path) -> Option<PathBuf> {
    let handle = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let known = rustix::fs::readlink(format!("/proc/self/fd/{}", handle.as_raw_fd()), Vec::new());
    Some(PathBuf::from(OsString::from_vec(known.ok()?.into_bytes())))
}

/// Where a command's layers are.
fn layers(confined: &Confined) -> impl Iterator<Item = &Path> {
    confined.places.iter().filter_map(|place| match &place.access {
        Access::Overlay(layer) => Some(layer.as_path()),
        Access::Write | Access::Read => None,
    })
}

/// A place to build a root on that holds nothing of what is shown.
fn base(ready: &Ready, confined: &Confined) -> Result<&'static str, SandboxError> {
    let places = confined.places.iter().map(|place| place.path.as_path());
    let shown = ready.shown.iter().chain(&ready.caches).map(PathBuf::as_path);
    let all: Vec<&Path> =
        shown.chain([ready.own.path()]).chain(places).chain(layers(confined)).collect();
    let holds = |base: &&&str| all.iter().any(|path| path.starts_with(**base));
    let free = BASES.iter().find(|base| Path::new(base).is_dir() && !holds(base));
    let source = || std::io::Error::from_raw_os_error(libc::ENOENT);
    free.copied()
        .ok_or_else(|| SandboxError::Start { step: "a place for its root", source: source() })
}

pub(super) fn text(path: &Path) -> Result<CString, SandboxError> {
    let what = "a path that the command shall see";
    CString::new(path.as_os_str().as_bytes()).map_err(|_| SandboxError::Nul { what })
}

/// A path as it is named in the new root.
pub(super) fn inner(path: &Path) -> Result<CString, SandboxError> {
    text(path.strip_prefix("/").unwrap_or(path))
}
