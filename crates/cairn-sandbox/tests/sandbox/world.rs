//! The world that an escape probe must leave as it is: folders around a workspace, listeners, a process,
//! shared memory and a key of the same user. Says what of it a probe reached; runs no probe.

use cairn_sandbox::{Access, Confined, Level, Place, Sandbox, Surroundings};
use cairn_types::PrivatePlaces;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

/// Where programs are, for whoever is asked.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// So many processes a confined command may have.
pub(crate) const PROCESSES: u32 = 512;

/// Files around the workspace; each holds the canary.
const FILES: [&str; 8] = [
    "outside/file",
    "outside/held",
    "outside/dir/inner",
    "beside/secret",
    "home/.ssh/id",
    "home/.cargo/credentials.toml",
    "work/state/home/key",
    "work/other/key",
];

/// The world around one user's probes.
pub(crate) struct World {
    folder: tempfile::TempDir,
    canary: String,
    host: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    facts: BTreeMap<String, String>,
    rounds: u32,
}

/// One round: fresh folders, and how they were.
pub(crate) struct Round {
    folder: PathBuf,
    before: Vec<String>,
    /// Folders whose change is a trace.
    watched: Vec<PathBuf>,
}

impl World {
    /// A world for the user that this process runs as.
    pub(crate) fn new(canary: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/held"), canary).unwrap();
        let mut host = Command::new("python3")
            .args(["-c", include_str!("host.py"), canary])
            .arg(folder.path())
            .arg(std::process::id().to_string())
            .env_clear()
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let asks = host.stdin.take();
        let answers = BufReader::new(host.stdout.take().unwrap());
        let (facts, rounds) = (BTreeMap::new(), 0);
        let canary = canary.to_owned();
        let mut world = World { folder, canary, host, asks, answers, facts, rounds };
        world.told();
        world
    }

    /// What the host tells until it is done; gives the hits.
    fn told(&mut self) -> Vec<String> {
        let mut hits = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.answers.read_line(&mut line).unwrap() > 0, "the host is gone");
            let line = line.trim_end();
            if line == "synced" {
                return hits;
            }
            match line.strip_prefix("hit ") {
                Some(what) => hits.push(format!("reached {what}")),
                None => {
                    let (name, value) = line.split_once('=').unwrap();
                    self.facts.insert(name.to_owned(), value.to_owned());
                }
            }
        }
    }

    fn hits(&mut self) -> Vec<String> {
        self.asks.as_mut().unwrap().write_all(b"look\n").unwrap();
        self.told()
    }

    /// Something that all rounds share.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where a probe leaves its mark if it can write among the machine's own files.
    pub(crate) fn marks() -> [PathBuf; 2] {
        ["/usr/local", "/etc"]
            .map(|folder| Path::new(folder).join(format!("cairn-probe-{}", std::process::id())))
    }

    /// Fresh folders. `is_watched`: the workspace is to stay as it is, too.
    pub(crate) fn round(&mut self, program: Option<&Path>, is_watched: bool) -> Round {
        self.rounds += 1;
        let folder = self.path(&format!("round{}", self.rounds));
        for file in FILES {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, &self.canary).unwrap();
        }
        for name in ["layer/upper", "layer/work"] {
            fs::DirBuilder::new().mode(0o700).recursive(true).create(folder.join(name)).unwrap();
        }
        fs::create_dir(folder.join("home/.cargo/bin")).unwrap();
        fs::write(folder.join("home/.cargo/bin/tool"), "shown\n").unwrap();
        fs::write(folder.join("work/a"), "a\n").unwrap();
        symlink(folder.join("outside"), folder.join("work/planted")).unwrap();
        symlink(folder.join("work/other"), folder.join("alias")).unwrap();
        if let Some(program) = program {
            fs::copy(program, folder.join("work/program")).unwrap();
        }
        let mut watched: Vec<PathBuf> =
            ["outside", "beside", "home", "work/state/home", "work/other"]
                .map(|name| folder.join(name))
                .to_vec();
        watched.push(self.path("outside"));
        if is_watched {
            watched.push(folder.join("work"));
        }
        let before = states(&watched);
        Round { folder, before, watched }
    }

    /// What a probe is told of the world.
    pub(crate) fn env(&self, round: &Round, is_confined: bool) -> Vec<(String, String)> {
        let at = |name: &str| round.folder.join(name).display().to_string();
        let fact = |name: &str| self.facts.get(name).cloned().unwrap_or_default();
        // What a probe does to everybody, or to the guardian, is done to our own process without a sandbox.
        let or_victim = |confined: &str| match is_confined {
            true => confined.to_owned(),
            false => fact("VICTIM"),
        };
        let everywhere = match is_confined {
            true => format!("/tmp /home /root /var /run /mnt /srv /media /dev {}", at("")),
            false => at(""),
        };
        let [system, etc] = World::marks().map(|path| path.display().to_string());
        let own = [
            ("PATH", PATH.to_owned()),
            ("HOME", at("home")),
            ("OUT", at("outside")),
            ("BESIDE", at("beside")),
            ("HIDDEN", at("work/state/home")),
            ("OTHER", at("work/other")),
            ("MARK", system),
            ("ETC", etc),
            ("PROCESSES", PROCESSES.to_string()),
            ("EVERYWHERE", everywhere),
            ("EVERYBODY", or_victim("-1")),
            ("FIRST", or_victim("1")),
            ("FIRST_AT", fact(if is_confined { "RUNTIME_AT" } else { "VICTIM_AT" })),
            ("PROCS", format!("/proc/{}", or_victim("[0-9]*"))),
            ("CONFINED", if is_confined { "1" } else { "" }.to_owned()),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.facts.clone().into_iter().chain(own).collect()
    }

    /// What a probe reached, by what it printed and by how the world is now.
    pub(crate) fn traces(&mut self, round: &Round, printed: &str) -> Vec<String> {
        let mut traces = self.hits();
        if printed.contains(&self.canary) {
            traces.push("read the canary".to_owned());
        }
        if printed.lines().any(|line| line == "through") {
            traces.push("says that it got through".to_owned());
        }
        let after = states(&round.watched);
        let missing = round.before.iter().filter(|state| !after.contains(state));
        traces.extend(missing.map(|state| format!("changed {state}")));
        let new = after.iter().filter(|state| !round.before.contains(state));
        traces.extend(new.map(|state| format!("made {state}")));
        for mark in World::marks() {
            if fs::remove_file(&mark).is_ok() {
                traces.push(format!("made {}", mark.display()));
            }
        }
        traces
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.asks = None;
        let _ = self.host.wait();
    }
}

impl Round {
    /// The workspace.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// How a probe is confined in this round.
    pub(crate) fn confined(
        &self,
        level: Level,
        is_overlaid: bool,
        env: &[(String, String)],
    ) -> Confined {
        let work = self.work();
        let found = File::open(&work).unwrap().metadata().unwrap();
        let access = match is_overlaid {
            true => Access::Overlay(self.folder.join("layer")),
            false => Access::Write,
        };
        let place = Place { path: work.clone(), is: (found.dev(), found.ino()), access };
        let home = self.folder.join("home");
        let mut private = PrivatePlaces::of_home(Some(&home), env).and_of_machine();
        for place in [work.join("state/home"), self.folder.join("alias")] {
            private.seal(&place);
        }
        let sandbox = Sandbox::new(Surroundings {
            home: Some(home),
            env: env.to_vec(),
            private,
            own: self.folder.join("own"),
            level,
            processes: PROCESSES,
            memory: Some(8 << 30),
            overlays: true,
        });
        Confined {
            sandbox: Arc::new(sandbox),
            places: vec![place],
            cwd: work,
            unreadable: Vec::new(),
            reach: None,
        }
    }

    /// Takes the folders away.
    pub(crate) fn end(self) {
        let _ = fs::remove_dir_all(self.folder);
    }
}

/// Everything in these folders: names, kinds, bytes, modes, owners, times and links.
fn states(folders: &[PathBuf]) -> Vec<String> {
    let mut states = Vec::new();
    for folder in folders {
        state(folder, &mut states);
    }
    states
}

fn state(path: &Path, states: &mut Vec<String>) {
    let Ok(found) = fs::symlink_metadata(path) else {
        states.push(format!("{} is not there", path.display()));
        return;
    };
    let content = match (found.is_file(), found.is_symlink()) {
        (true, _) => fs::read(path).map(|bytes| blake3::hash(&bytes).to_string()),
        (_, true) => fs::read_link(path).map(|to| to.display().to_string()),
        _ => Ok(String::new()),
    };
    states.push(format!(
        "{} {:o} {}:{} {} {}.{} {}.{} {}",
        path.display(),
        found.mode(),
        found.uid(),
        found.gid(),
        found.nlink(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
        content.unwrap_or_default(),
    ));
    if found.is_dir() {
        let mut inner: Vec<PathBuf> =
            fs::read_dir(path).unwrap().flatten().map(|entry| entry.path()).collect();
        inner.sort();
        for path in inner {
            state(&path, states);
        }
    }
}
