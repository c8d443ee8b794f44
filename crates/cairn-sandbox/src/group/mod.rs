//! The group of the kernel's that commands of one process are in: how much memory they may have together, and how
//! many processes where nothing else counts them. It is had where the system lets this process make one,
//! and is gone with whoever made it.

mod find;

use crate::guard;
use find::Places;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What the directories of groups are called: this, the PID namespace, the process, a number.
const NAME: &str = "cairn";

/// How much commands may have together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Processes and threads, unless they are counted elsewhere.
    pub(crate) processes: Option<u32>,
}

/// A group of commands.
#[derive(Debug)]
pub(crate) struct Group {
    door: Door,
    /// Its directories, gone with it.
    made: Vec<Made>,
    /// The file that says how often the kernel ended one of its processes for want of memory.
    ended: PathBuf,
    /// Whether its processes are counted.
    counts: bool,
}

/// How a process comes to be in a group.
#[derive(Debug)]
pub(crate) enum Door {
    /// It begins there: the group's directory.
    Begin(OwnedFd),
    /// It writes itself down there: the lists of threads, in hierarchies of the old kind. A process of one thread
    /// that writes down itself waits for nobody.
    Join(Vec<OwnedFd>),
}

/// Limits that somebody may have set for the group that we are in.
const LIMITS: [&str; 4] = ["memory.max", "memory.high", "pids.max", "cpu.max"];

/// A directory that is a group, for as long as this lives.
#[derive(Debug)]
struct Made(PathBuf);

impl Group {
    /// Makes one, where that can be.
    pub(crate) fn make(most: Most) -> Option<Group> {
        let read = |name| std::fs::read_to_string(name).ok();
        let places = find::places(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)?;
        match places {
            Places::One { own, beside } => one(&own, None, most)
                .or_else(|e| beside.ok_or(e).and_then(|place| one(&place, Some(&own), most)))
                .ok(),
            Places::Each { memory, processes } => each(&memory, processes.as_deref(), most).ok(),
        }
    }

    /// How a process comes to be in it.
    pub(crate) fn door(&self) -> &Door {
        &self.door
    }

    /// Whether it is still there.
    pub(crate) fn stands(&self) -> bool {
        self.made.iter().all(|made| made.0.exists())
    }

    /// Whether its processes are counted.
    pub(crate) fn counts(&self) -> bool {
        self.counts
    }

    /// How many of its processes the kernel has ended for want of memory.
    pub(crate) fn ended(&self) -> u64 {
        let told = std::fs::read_to_string(&self.ended).unwrap_or_default();
        let number = told.lines().find_map(|line| line.strip_prefix("oom_kill "));
        number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }
}

/// One in a hierarchy that holds all that is counted. Where it stands beside a group that we are in, the limits of that
/// hold in it, too.
fn one(place: &Path, beside: Option<&Path>, most: Most) -> io::Result<Group> {
    let made = Made::new(place)?;
    made.set("memory.max", most.memory)?;
    if let Some(own) = beside {
        LIMITS.iter().try_for_each(|name| made.limit_as(own, name))?;
    }
    // What it may not have in memory it shall not have elsewhere; not every kernel counts that.
    let _ = made.set("memory.swap.max", 0);
    let counts = most.processes.is_some_and(|most| made.lower("pids.max", most.into()).is_ok());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let into = rustix::fs::open(&made.0, flags, Mode::empty())?;
    tried(&into)?;
    let ended = made.0.join("memory.events");
    Ok(Group { door: Door::Begin(into), made: vec![made], ended, counts })
}

/// Whether a process can begin there.
fn tried(into: &OwnedFd) -> io::Result<()> {
    // SAFETY: the copy ends at once.
    #[expect(unsafe_code, reason = "a clone that ends at once")]
    let made = guard::unsignalled(|| unsafe {
        let made = guard::clone_into(into.as_raw_fd());
        if made == 0 {
            libc::_exit(0);
        }
        made
    })?;
    guard::reap(made);
    Ok(())
}

/// One in a hierarchy for each thing that is counted.
fn each(memory: &Path, processes: Option<&Path>, most: Most) -> io::Result<Group> {
    let held = Made::new(memory)?;
    held.set("memory.limit_in_bytes", most.memory)?;
    let _ = held.set("memory.memsw.limit_in_bytes", most.memory);
    let ended = held.0.join("memory.oom_control");
    let mut made = vec![held];
    let counted = processes.zip(most.processes).and_then(|(place, most)| {
        let made = Made::new(place).ok()?;
        made.set("pids.max", most.into()).is_ok().then_some(made)
    });
    let counts = counted.is_some();
    made.extend(counted);
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let list = |made: &Made| rustix::fs::open(made.0.join("tasks"), flags, Mode::empty());
    let lists = made.iter().map(list).collect::<Result<_, _>>()?;
    Ok(Group { door: Door::Join(lists), made, ended, counts })
}

impl Made {
    /// Makes a group in this one, and removes what processes that are gone left there.
    fn new(place: &Path) -> io::Result<Made> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        for left in std::fs::read_dir(place)?.flatten().filter(|left| is_left(&left.file_name())) {
            let _ = std::fs::remove_dir(left.path());
        }
        for _ in 0..TRIES {
            let n = MADE.fetch_add(1, Ordering::Relaxed);
            let path = place.join(format!("{}{}-{n}", named(), std::process::id()));
            match std::fs::create_dir(&path) {
                // A process that is gone had our number.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    let is_free = std::fs::remove_dir(&path).is_ok();
                    if is_free && std::fs::create_dir(&path).is_ok() {
                        return Ok(Made(path));
                    }
                }
                made => return made.map(|()| Made(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Sets a limit to what it is in another group, unless it is lower already.
    fn limit_as(&self, other: &Path, name: &str) -> io::Result<()> {
        let Ok(limit) = std::fs::read_to_string(other.join(name)) else { return Ok(()) };
        match limit.trim() {
            limit if limit.starts_with("max") => Ok(()),
            limit => match limit.parse() {
                Ok(number) => self.lower(name, number),
                Err(_) => self.write(name, limit),
            },
        }
    }

    /// Sets a limit, unless it is lower already.
    fn lower(&self, name: &str, number: u64) -> io::Result<()> {
        let now = std::fs::read_to_string(self.0.join(name))?;
        match now.trim().parse::<u64>() {
            Ok(now) if now <= number => Ok(()),
            _ => self.set(name, number),
        }
    }

    /// Writes to one of its files, which must be there.
    fn set(&self, name: &str, number: u64) -> io::Result<()> {
        self.write(name, &number.to_string())
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let file = std::fs::OpenOptions::new().write(true).open(self.0.join(name))?;
        io::Write::write_all(&mut &file, text.as_bytes())
    }
}

/// What directories of groups of this process's PID namespace are called, before its number: what lives in
/// another is not known here.
fn named() -> String {
    use std::os::unix::fs::MetadataExt;
    let space = std::fs::metadata("/proc/self/ns/pid").map_or(0, |found| found.ino());
    format!("{NAME}-{space}-")
}

/// Whether a directory is the group of a process that is gone.
fn is_left(name: &std::ffi::OsStr) -> bool {
    let parts = name.to_str().and_then(|name| name.strip_prefix(&named()));
    let process = parts.and_then(|parts| parts.split_once('-')).map(|(process, _)| process);
    process.is_some_and(|process| {
        let is_number = !process.is_empty() && process.bytes().all(|b| b.is_ascii_digit());
        is_number && !Path::new("/proc").join(process).exists()
    })
}

/// How often a group is tried to be removed: what was in it may be ending.
const TRIES: u32 = 20;

impl Drop for Made {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            match std::fs::remove_dir(&self.0) {
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // What stays is removed by whoever comes next.
                _ => return,
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::print_stderr, reason = "what cannot be shown here is said")]
    fn a_process_begins_in_a_group_of_the_one_hierarchy() {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mounted = mounts.lines().find(|line| line.contains(" - cgroup2 "));
        let place = mounted.and_then(|line| line.split(' ').nth(4)).map(Path::new);
        let Some(Ok(made)) = place.map(Made::new) else {
            eprintln!("not shown: no group can be made here");
            return;
        };
        let path = made.0.clone();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        tried(&rustix::fs::open(&path, flags, Mode::empty()).unwrap()).unwrap();
        drop(made);
        assert!(!path.exists());
    }

    #[test]
    fn limits_of_the_group_beside_are_kept_to() {
        let holder = tempfile::tempdir().unwrap();
        let [own, made] = ["own", "made"].map(|name| holder.path().join(name));
        for (path, files) in [
            (&own, [("memory.max", "1000"), ("memory.high", "max"), ("cpu.max", "5 100")]),
            (&made, [("memory.max", "4000"), ("memory.high", "max"), ("cpu.max", "max 100")]),
        ] {
            std::fs::create_dir(path).unwrap();
            for (name, text) in files {
                std::fs::write(path.join(name), format!("{text}\n")).unwrap();
            }
        }
        let group = std::mem::ManuallyDrop::new(Made(made.clone()));
        LIMITS.iter().try_for_each(|name| group.limit_as(&own, name)).unwrap();
        let now = |name: &str| std::fs::read_to_string(made.join(name)).unwrap();
        // A file of the kernel's is written whole; this one keeps the rest of what it held.
        assert!(now("memory.max").starts_with("1000") && now("cpu.max").starts_with("5 100"));
        assert_eq!(now("memory.high"), "max\n");
        std::fs::write(own.join("memory.max"), "2000\n").unwrap();
        std::fs::write(made.join("memory.max"), "1000\n").unwrap();
        group.limit_as(&own, "memory.max").unwrap();
        assert_eq!(now("memory.max"), "1000\n");
        std::fs::write(own.join("pids.max"), "7\n").unwrap();
        group.limit_as(&own, "pids.max").unwrap_err();
    }

    #[test]
    fn what_a_process_of_the_same_number_left_is_in_nobodys_way() {
        let place = tempfile::tempdir().unwrap();
        let first = Made::new(place.path()).unwrap();
        let number = |path: &Path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            name.rsplit_once('-').unwrap().1.parse::<u64>().unwrap()
        };
        let next = number(&first.0) + 1;
        for n in next..next + 100 {
            let left = format!("{}{}-{n}", named(), std::process::id());
            std::fs::create_dir(place.path().join(left)).unwrap();
        }
        assert!(number(&Made::new(place.path()).unwrap().0) >= next);
    }

    #[test]
    fn groups_of_processes_that_are_gone_are_known_by_their_names() {
        let (own, here) = (std::process::id(), named());
        let names = [
            (format!("{here}4194999-0"), true),
            (format!("{here}{own}-0"), false),
            (format!("{here}x-0"), false),
            ("cairn-1-4194999-0".to_owned(), false),
            ("cairn-".to_owned(), false),
            ("user.slice".to_owned(), false),
        ];
        for (name, expected) in names {
            assert_eq!(is_left(name.as_ref()), expected, "{name}");
        }
    }
}
