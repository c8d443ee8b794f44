//! Moving things in a process that is cut off at any of its system calls, and how many of them it
//! makes.

use crate::aside::{Bed, Thing, pairs, undone};
use cairn_types::{Aside, Change, FileKind, FileState};
use cairn_world::Probe;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Names the root in which another process shall make the changes that lie beside it.
const TOLD: &str = "CAIRN_TEST_COMMIT";
/// What changes something on disk.
const CHANGING: &str = "write,fsync,syncfs,renameat,renameat2,linkat,unlinkat,mkdirat,openat,chmod,fchmod,fchmodat,fchown,fchownat,utimensat,symlinkat";

/// The other tests here start this one in a process of its own, which then makes what it is told.
#[test]
fn changes_of_every_kind_are_made_together() {
    if let Some(root) = std::env::var_os(TOLD) {
        let bed = Bed::again(root.into());
        let changes = fs::read(bed.root.with_file_name("changes")).unwrap();
        let changes: Vec<Change> = serde_json::from_slice(&changes).unwrap();
        bed.apply(&changes).unwrap();
        return;
    }
    let mixed = Mixed::new();
    assert_eq!(mixed.bed.world().probe(&mixed.changes), Probe::NotDone);
    mixed.bed.apply(&mixed.changes).unwrap();
    assert_eq!(mixed.bed.world().probe(&mixed.changes), Probe::Done);
    mixed.finish_and_check("together", &mixed.changes);
}

/// Makes the changes in a process of its own under strace; whether it came to its end, and what it
/// called.
fn commit(bed: &Bed, changes: &[Change], rules: &[String]) -> (bool, String) {
    bed.leave_contents();
    fs::write(bed.root.with_file_name("changes"), serde_json::to_vec(changes).unwrap()).unwrap();
    let log = bed.root.with_file_name("calls");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(&log);
    command.args(rules.iter().flat_map(|rule| ["-e", rule]));
    command.arg(std::env::current_exe().unwrap());
    let made = "aside_cut::changes_of_every_kind_are_made_together";
    command.args(["--exact", made, "--test-threads=1"]);
    let ended = command.env(TOLD, &bed.root).stdout(Stdio::null()).stderr(Stdio::null()).status();
    (ended.unwrap().success(), fs::read_to_string(log).unwrap())
}

/// How often the busiest thread makes each call.
fn counted(calls: &str) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in calls.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let Some((name, _)) = call.trim_start().split_once('(') else { continue };
        *counts.entry((name.to_owned(), thread.to_owned())).or_default() += 1;
    }
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for ((name, _), count) in counts {
        let most = most.entry(name).or_default();
        *most = count.max(*most);
    }
    most
}

/// Changes of every kind at once, and what each place is like before and after them.
struct Mixed {
    bed: Bed,
    changes: Vec<Change>,
    before: Vec<Vec<String>>,
    after: Vec<Vec<String>>,
}

impl Mixed {
    fn new() -> Mixed {
        let mut bed = Bed::new();
        let mut changes = Vec::new();
        let made = bed.make("made", Thing::WrittenDirectory, "");
        crate::aside::remove(&bed.root.join("made"));
        // A directory that is made for what is moved into it, and one that goes after what was in it.
        let closed = made.map(|state| FileState { mode: 0o555, ..state });
        changes.push(Change::between("new".into(), None, closed));
        changes.push(bed.change("old/inner", (Thing::Directory, Thing::Absent), 100));
        let old = bed.world().locations().state("old").unwrap();
        changes.push(Change::between("old".into(), old, None));
        for (n, pair) in pairs().into_iter().enumerate() {
            changes.push(bed.change(&format!("d{}/x{n}", n % 2), pair, n));
        }
        let inner = bed.change("other", (Thing::Absent, Thing::Directory), 101);
        changes.push(Change { path: "new/inner".into(), ..inner });
        let before = changes.iter().map(|c| bed.picture(&c.path, c.before.as_ref())).collect();
        let after = changes.iter().map(|c| lying(&bed, c)).collect();
        Mixed { bed, changes, before, after }
    }

    /// Finishes as whoever starts again does, and looks whether all is as after, and then as before.
    fn finish_and_check(&self, what: &str, list: &[Change]) {
        match self.bed.world().probe(list) {
            Probe::Done => {}
            Probe::NotDone | Probe::Partly => drop(self.bed.apply(list).unwrap()),
            Probe::Neither => panic!("{what}: neither as before nor as meant"),
        }
        let is_forward = list == self.changes;
        self.check(what, is_forward);
        self.bed.apply(&undone(list)).unwrap_or_else(|why| panic!("{what}: {why}"));
        self.check(what, !is_forward);
    }

    fn check(&self, what: &str, is_forward: bool) {
        let bed = &self.bed;
        for (nth, change) in self.changes.iter().enumerate() {
            let (state, other, expected) = match is_forward {
                true => (&change.after, &change.before, &self.after[nth]),
                false => (&change.before, &change.after, &self.before[nth]),
            };
            let path = &change.path;
            if state.as_ref().is_none_or(|s| s.aside.is_some()) {
                assert_eq!(bed.picture(path, state.as_ref()), *expected, "{what} {path}");
            }
            let known: Vec<_> = state.iter().collect();
            let now = bed.world().locations().state_among(path, &known).unwrap();
            assert_eq!(told(now.as_ref()), told(state.as_ref()), "{what} {path}");
            let lies = |state: &Option<FileState>| {
                state
                    .as_ref()
                    .filter(|s| s.aside.is_some())
                    .map(|s| bed.world().locations().lies_aside(path, s))
            };
            assert_ne!(lies(state), Some(true), "{what} {path} is in two places");
            assert_ne!(lies(other), Some(false), "{what} {path} is lost");
        }
        no_leftovers(&bed.root, what);
    }
}

/// A state without the time of a directory that is made: whoever finishes what was cut off does not
/// set it again. Where there are no attributes a row says nothing of them.
fn told(state: Option<&FileState>) -> Option<FileState> {
    let is_made = |s: &FileState| s.kind == FileKind::Directory && s.aside.is_none();
    let time = |s: &FileState| s.mtime_ns.filter(|_| !is_made(s));
    let attributes = |s: &FileState| s.attributes.clone().filter(|all| !all.is_empty());
    state.map(|s| FileState { mtime_ns: time(s), attributes: attributes(s), ..s.clone() })
}

/// What lies aside for a change, as it will be in its place.
fn lying(bed: &Bed, change: &Change) -> Vec<String> {
    let aside = change.after.as_ref().and_then(|state| state.aside.as_ref());
    let Some(aside) = aside else { return Vec::new() };
    let at = |path: &str| bed.root.join(path).display().to_string();
    let found = bed.picture(&aside.path, change.after.as_ref());
    found.iter().map(|line| line.replace(&at(&aside.path), &at(&change.path))).collect()
}

/// Nothing stands beside what was changed, and nothing lies aside that nobody knows.
fn no_leftovers(root: &Path, what: &str) {
    for directory in [".", "d0", "d1", "new", "old"] {
        for item in fs::read_dir(root.join(directory)).into_iter().flatten().flatten() {
            let name = item.file_name().to_string_lossy().into_owned();
            assert!(!name.starts_with(".cairn-"), "{what}: {name} is left");
        }
    }
}

// keeps: moved-aside
#[test]
fn cut_off_at_any_system_call_all_changes_are_finished_and_can_be_taken_back() {
    for is_forward in [true, false] {
        let prepared = || {
            let mixed = Mixed::new();
            let list = match is_forward {
                true => mixed.changes.clone(),
                false => undone(&mixed.bed.apply(&mixed.changes).unwrap()),
            };
            (mixed, list)
        };
        let (mixed, list) = prepared();
        assert!(list.len() >= 30, "only {} changes", list.len());
        let (ended, calls) = commit(&mixed.bed, &list, &[format!("trace={CHANGING}")]);
        assert!(ended);
        mixed.finish_and_check("undisturbed", &list);
        let all = counted(&calls).into_iter();
        let all: Vec<_> =
            all.flat_map(|(name, n)| (1..=n).map(move |k| (name.clone(), k))).collect();
        assert!(all.len() >= 150, "only {} changing calls", all.len());
        let wanted = points().min(all.len());
        let mut cut = 0;
        for point in 0..wanted {
            let (name, when) = &all[point * all.len() / wanted];
            let (mixed, list) = prepared();
            let inject = format!("inject={name}:signal=SIGKILL:when={when}");
            let (ended, _) = commit(&mixed.bed, &list, &[format!("trace={name}"), inject]);
            cut += usize::from(!ended);
            mixed.finish_and_check(&format!("{is_forward} {name} {when}"), &list);
        }
        println!("{cut} crash points of {}", all.len());
        assert!(cut * 10 >= wanted * 9, "only {cut} of {wanted} calls were cut");
    }
}

/// At how many calls a process is cut off; the variable asks for more.
fn points() -> usize {
    std::env::var("CAIRN_CRASH_POINTS").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

// keeps: moved-aside
#[test]
fn a_large_ignored_tree_goes_and_comes_with_as_many_calls_as_a_small_one() {
    let calls = |files: u64, bytes: u64| -> Vec<BTreeMap<String, u64>> {
        let mut bed = Bed::new();
        let tree = bed.root.join("target");
        fs::create_dir(&tree).unwrap();
        for n in 0..files {
            let directory = tree.join(format!("{}", n % 50));
            fs::create_dir_all(&directory).unwrap();
            fs::File::create(directory.join(n.to_string())).unwrap().set_len(bytes).unwrap();
        }
        let source = bed.change("src/main", (Thing::Written, Thing::Absent), 1);
        let inode = std::os::unix::fs::MetadataExt::ino(&tree.metadata().unwrap());
        let aside = Some(Aside { path: ".cairn/trash/op/before/0".into(), inode });
        let moved =
            FileState { aside, ..bed.world().locations().state("target").unwrap().unwrap() };
        let changes = [source, Change::between("target".into(), Some(moved), None)];
        [changes.to_vec(), undone(&changes)]
            .iter()
            .map(|list| {
                let rule = "trace=%file,%desc".to_owned();
                let (ended, calls) = commit(&bed, list, &[rule]);
                assert!(ended);
                counted(&calls)
            })
            .collect()
    };
    let small = calls(1, 1);
    assert_eq!(calls(2000, 100 << 10), small);
    assert!(small.iter().all(|calls| calls["renameat2"] >= 1), "{small:?}");
}
