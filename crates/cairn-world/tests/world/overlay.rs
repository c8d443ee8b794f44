//! Real overlays over real directories: what a command changes in one is committed as it is, or
//! refused because somebody changed the same outside; never is an outside change lost.

use cairn_types::{Change, Hash};
use cairn_world::overlay::{self, Census, Found, Own, Scratch, Terms};
use cairn_world::{Refusal, Settings, Workspace, World};
use expect_test::expect_file;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How an overlay is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As whoever runs this, in a user namespace.
    Namespace,
    /// As root itself, where the kernel says what was copied from what.
    Root,
    /// As a user who is not root, in a user namespace.
    Ordinary,
}

const ORDINARY: [&str; 6] = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"];

/// Mounts, lets somebody act outside, and runs a command inside.
const SCRIPT: &str = r#"
    mount -t overlay overlay -o "userxattr,volatile,lowerdir=$1,upperdir=$2,workdir=$3" "$4" || exit 9
    find "$4" >/dev/null
    (cd "$1" && eval "$5")
    cd "$4"
    umask 022
    eval "$6" 2>/dev/null
    [ -z "$7" ] || cp -a . "$7"
    exit 0
"#;

impl Form {
    /// Those that can be had here.
    pub fn all() -> Vec<Form> {
        match rustix::process::geteuid().is_root() {
            true => vec![Form::Namespace, Form::Root, Form::Ordinary],
            false => vec![Form::Namespace],
        }
    }

    fn command(self, unshared: bool) -> Command {
        let lead: &[&str] = if self == Form::Ordinary { &ORDINARY } else { &[] };
        let flags = if self == Form::Root { "-m" } else { "-Urm" };
        let unshare: &[&str] = if unshared { &["unshare", flags] } else { &[] };
        let words: Vec<&str> = lead.iter().chain(unshare).copied().chain(["sh", "-c"]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command
    }
}

/// When somebody acts outside.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// Before the overlay is mounted, but after it was noted what is there.
    Before,
    /// While it is mounted.
    During,
    /// When the command is over.
    After,
}

pub const TIMES: [When; 3] = [When::Before, When::During, When::After];

/// A workspace and what is needed to run commands over it.
pub struct Place {
    pub holder: tempfile::TempDir,
    pub form: Form,
    pub census: Census,
    pub own: Own,
    /// Where what commands change is gathered.
    pub scratch: PathBuf,
    /// Where what the command saw at its end is copied to.
    pub copy: Option<PathBuf>,
}

impl Place {
    /// A workspace that a shell command fills.
    pub fn new(form: Form, fill: &str) -> Place {
        let holder = tempfile::tempdir().unwrap();
        for name in ["lower", "merged", "scratch"] {
            fs::create_dir(holder.path().join(name)).unwrap();
        }
        let scratch = holder.path().join("scratch");
        let (census, own) = (Census::new(), Own::default());
        let mut place = Place { holder, form, census, own, scratch, copy: None };
        place.give();
        place.outside(fill);
        place.rest();
        place
    }

    pub fn lower(&self) -> PathBuf {
        self.holder.path().join("lower")
    }

    /// Makes everything the user's who runs the commands.
    fn give(&self) {
        if self.form == Form::Ordinary {
            let done =
                Command::new("chown").args(["-R", "1000:1000"]).arg(self.holder.path()).status();
            assert!(done.unwrap().success());
        }
    }

    /// Lets the clock that stamps files move on, so that what was done is surely before what follows.
    pub fn rest(&mut self) {
        let probe = self.holder.path().join("probe");
        let tick = || {
            fs::write(&probe, "").unwrap();
            let meta = fs::metadata(&probe).unwrap();
            fs::remove_file(&probe).unwrap();
            (meta.ctime(), meta.ctime_nsec())
        };
        let begun = tick();
        while tick() == begun {
            std::thread::yield_now();
        }
    }

    /// What somebody does outside.
    pub fn outside(&self, what: &str) {
        let what = format!("umask 022; {what}");
        let done = self.form.command(false).arg(what).current_dir(self.lower()).status().unwrap();
        assert!(done.success(), "{done}");
    }

    /// Runs a command over an overlay, with somebody acting outside.
    pub fn run(&mut self, command: &str, outside: &str, when: When) -> Scratch {
        let workspace = self.workspace();
        let scratch = Scratch::new(&self.scratch, &workspace).unwrap();
        self.give_scratch(&scratch);
        self.census.take(&workspace, scratch.mark()).unwrap();
        if matches!(when, When::Before) {
            self.outside(outside);
        }
        let during = if matches!(when, When::During) { outside } else { "" };
        let merged = self.holder.path().join("merged");
        let done = self
            .form
            .command(true)
            .args([SCRIPT, "sh"])
            .args([self.lower(), scratch.upper(), scratch.work(), merged])
            .args([during, command])
            .args(self.copy.as_deref())
            .status()
            .unwrap();
        assert!(done.success(), "no overlay can be mounted here: {done}");
        if matches!(when, When::After) {
            self.outside(outside);
        }
        scratch
    }

    fn give_scratch(&self, scratch: &Scratch) {
        if self.form == Form::Ordinary {
            for path in [scratch.upper(), scratch.work(), scratch.upper().parent().unwrap().into()]
            {
                std::os::unix::fs::chown(path, Some(1000), Some(1000)).unwrap();
            }
        }
    }

    pub fn workspace(&self) -> Workspace {
        Workspace::open(&self.lower()).unwrap()
    }

    pub fn read(&self, scratch: &Scratch) -> Result<Found, Refusal> {
        let terms = Terms { census: &self.census, own: &self.own, name: "r-1-2-3" };
        overlay::read(&self.workspace(), scratch, &terms)
    }

    /// Moves what is to be moved to where it waits; says what is left out.
    pub fn stage(&self, scratch: &Scratch, found: &mut Found) -> Result<Vec<String>, Refusal> {
        let terms = Terms { census: &self.census, own: &self.own, name: "r-1-2-3" };
        overlay::stage(&self.workspace(), scratch, &terms, &mut found.changes)
    }

    /// Runs a command and reads what it changed.
    pub fn found(&mut self, command: &str) -> Found {
        let scratch = self.run(command, "", When::After);
        self.read(&scratch).unwrap()
    }

    /// Commits what was found.
    pub fn commit(&self, found: &Found) -> Result<Vec<Change>, Refusal> {
        let world = World::new(self.workspace(), Settings::new("/bin/sh".into(), Vec::new()));
        let contents =
            |hash: &Hash| found.contents.iter().find(|bytes| Hash::of(bytes) == *hash).cloned();
        world.apply(&found.changes, &contents)
    }
}

/// Every path with its kind, mode, and content or target.
pub fn picture(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(&dir).unwrap().flatten() {
            let path = item.path();
            let meta = path.symlink_metadata().unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            let what = if meta.is_dir() {
                todo.push(path.clone());
                format!("dir {mode:o}")
            } else if meta.is_symlink() {
                format!("link {}", fs::read_link(&path).unwrap().display())
            } else {
                format!("file {mode:o} {:?}", String::from_utf8_lossy(&fs::read(&path).unwrap()))
            };
            found.insert(path.strip_prefix(root).unwrap().display().to_string(), what);
        }
    }
    found
}

const FILL: &str = "mkdir -p d/in e; echo f > f; echo g > g; echo in > d/in/f; echo d > d/f; \
                    echo x > e/x; chmod 755 e/x; ln -s f link";

/// What became of a command's changes: committed, refused, or nothing to commit.
fn became(place: &mut Place, (command, outside): (&str, &str), when: When) -> String {
    let original = picture(&place.lower());
    let scratch = place.run(command, outside, when);
    let after_outside = picture(&place.lower());
    let result = match place.read(&scratch) {
        Ok(found) if found.is_empty() => "nothing".to_owned(),
        Ok(found) => match place.commit(&found) {
            Ok(_) => "committed".to_owned(),
            Err(refusal) => format!("commit {}", refusal.text),
        },
        Err(refusal) => {
            let (paths, _) = refusal.text.split_once(" changed outside").unwrap();
            format!("{} {}", refusal.status, paths.trim_end_matches([' ', 'w', 'a', 'e', 'r', 's']))
        }
    };
    let now = picture(&place.lower());
    for path in original.keys().chain(after_outside.keys()) {
        let (was, did) = (original.get(path), after_outside.get(path));
        if was != did {
            assert_eq!(now.get(path), did, "{path} was lost: {command} / {outside} / {when:?}");
        }
    }
    if !result.starts_with("committed") {
        assert_eq!(now, after_outside, "{command} / {outside} / {when:?}");
    }
    result
}

/// The commands, all on `f` or what lies beside it, each with what is there when it is committed.
const COMMANDS: [(&str, &str); 9] = [
    ("replaced", "echo new > t; mv t f"),
    ("in place", "echo more >> f"),
    ("deleted", "rm f"),
    ("renamed", "mv f f2"),
    ("chmodded", "chmod 600 f"),
    ("linked", "ln -sf g f"),
    ("directory", "rm f; mkdir f; echo i > f/i"),
    ("created", "echo n > n"),
    ("touched", "touch f"),
];

/// What somebody does outside at the same time.
const OUTSIDE: [(&str, &str); 11] = [
    ("nothing", ""),
    ("elsewhere", "echo more >> g; echo o > o; rm e/x"),
    ("replaced", "echo theirs > t2; mv t2 f"),
    ("in place", "echo theirs >> f"),
    ("same size", "printf 'F\\n' > f"),
    ("deleted", "rm f"),
    ("renamed", "mv f theirs"),
    ("chmodded", "chmod 640 f"),
    ("linked", "ln -sf e/x f"),
    ("directory", "rm f; mkdir f; echo theirs > f/t"),
    ("created", "echo theirs > n"),
];

/// What becomes of these commands with every outside change, one line each; three words where the
/// moment matters.
fn table(form: Form, commands: &[(&str, &str)]) -> String {
    let mut rows = String::new();
    for (doing, command) in commands {
        for (done, outside) in OUTSIDE {
            let got =
                TIMES.map(|when| became(&mut Place::new(form, FILL), (command, outside), when));
            let told = match got.iter().all(|one| *one == got[0]) {
                true => got[0].clone(),
                false => got.join(" | "),
            };
            rows.push_str(&format!("{doing} / {done}: {told}\n"));
        }
    }
    rows
}

// keeps: overlay-conflicts
#[test]
fn a_change_of_the_same_file_outside_is_a_conflict_and_of_another_is_not() {
    let expected = expect_file!["overlay_table.txt"];
    expected.assert_eq(&table(Form::Namespace, &COMMANDS));
}

#[test]
fn it_makes_no_difference_by_whom_an_overlay_is_mounted() {
    let expected = table(Form::Namespace, &COMMANDS[1..4]);
    for form in Form::all() {
        assert_eq!(table(form, &COMMANDS[1..4]), expected, "{form:?}");
    }
}
