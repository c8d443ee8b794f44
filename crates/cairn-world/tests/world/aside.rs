//! Things that are moved and not written: brought to their places, taken back and brought again with
//! all that is in them, and never at the cost of what somebody else put there.

use crate::keeps::as_a_person;
use cairn_types::{Action, Aside, Change, FileKind, FileState, Hash, Status};
use cairn_world::{Acting, Performed, Prepared, Probe, Settings, Workspace, World, inverse};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What may stand at a place before or after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    Absent,
    Written,
    WrittenDirectory,
    Link,
    File,
    Directory,
}

impl Thing {
    pub(crate) const ALL: [Thing; 6] = [
        Thing::Absent,
        Thing::Written,
        Thing::WrittenDirectory,
        Thing::Link,
        Thing::File,
        Thing::Directory,
    ];

    pub(crate) fn is_moved(self) -> bool {
        matches!(self, Thing::File | Thing::Directory)
    }
}

/// A root in which things are moved, and the bytes of those that are written.
pub(crate) struct Bed {
    _holder: Option<TempDir>,
    pub(crate) root: PathBuf,
    pub(crate) contents: Vec<Vec<u8>>,
}

impl Bed {
    pub(crate) fn new() -> Bed {
        let holder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let root = holder.path().join("root");
        fs::create_dir(&root).unwrap();
        Bed { root, _holder: Some(holder), contents: Vec::new() }
    }

    pub(crate) fn at(root: &Path) -> Bed {
        Bed { _holder: None, root: root.to_owned(), contents: Vec::new() }
    }

    /// The same root, for another process; the bytes are what is written in `contents` beside it.
    pub(crate) fn again(root: PathBuf) -> Bed {
        let kept = fs::read_dir(root.with_file_name("contents")).unwrap().flatten();
        let contents = kept.map(|item| fs::read(item.path()).unwrap()).collect();
        Bed { _holder: None, root, contents }
    }

    /// Leaves the bytes beside the root.
    pub(crate) fn leave_contents(&self) {
        let beside = self.root.with_file_name("contents");
        fs::create_dir_all(&beside).unwrap();
        for bytes in &self.contents {
            fs::write(beside.join(Hash::of(bytes).to_string()), bytes).unwrap();
        }
    }

    pub(crate) fn world(&self) -> World {
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        World::new(Workspace::open(&self.root).unwrap(), settings)
    }

    pub(crate) fn content(&self) -> impl Fn(&Hash) -> Option<Vec<u8>> {
        |hash| self.contents.iter().find(|bytes| Hash::of(bytes) == *hash).cloned()
    }

    /// Makes a thing at a path and gives its state; it is kept aside at `aside` if it is moved.
    pub(crate) fn make(&mut self, path: &str, thing: Thing, aside: &str) -> Option<FileState> {
        let at = self.root.join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        let text = format!("{thing:?} {path}\n");
        match thing {
            Thing::Absent => return None,
            Thing::Written | Thing::File => fs::write(&at, &text).unwrap(),
            Thing::Link => symlink(text.trim_end(), &at).unwrap(),
            Thing::WrittenDirectory => fs::create_dir(&at).unwrap(),
            Thing::Directory => full_directory(&at),
        }
        if thing != Thing::Link {
            let mode = if at.is_dir() { 0o751 } else { 0o640 };
            fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
            let old = SystemTime::UNIX_EPOCH + Duration::new(1_500_000_000, 123_456_789);
            fs::File::open(&at).unwrap().set_modified(old).unwrap();
        }
        let mut state = self.world().locations().state(path).unwrap().unwrap();
        if thing.is_moved() {
            let inode = at.metadata().unwrap().ino();
            state.hash = None;
            state.aside = Some(Aside { path: aside.to_owned(), inode });
        } else if thing == Thing::Written {
            self.contents.push(text.into_bytes());
        }
        Some(state)
    }

    /// A change of a path from one thing to another: the first stands in its place; the second lies
    /// aside if it is moved, and is nowhere if it is written.
    pub(crate) fn change(&mut self, path: &str, (from, to): (Thing, Thing), n: usize) -> Change {
        let slot = |side: &str| format!(".cairn/trash/op/{side}/{n}");
        let after = match to.is_moved() {
            true => self.make(&slot("after"), to, &slot("after")),
            false => {
                let made = self.make("made", to, "");
                remove(&self.root.join("made"));
                made
            }
        };
        let before = self.make(path, from, &slot("before"));
        Change::between(path.to_owned(), before, after)
    }

    pub(crate) fn apply(&self, changes: &[Change]) -> Result<Vec<Change>, String> {
        let made = self.world().apply(changes, &self.content());
        made.map_err(|refusal| format!("{} {}", refusal.status, refusal.text))
    }

    /// Makes changes that nobody began before.
    pub(crate) fn act(&self, changes: &[Change]) -> Performed {
        let (changes, contents) = (changes.to_vec(), self.contents.clone());
        let prepared = Prepared { changes, contents, ..Prepared::default() };
        let cancel = &CancellationToken::new();
        let acting = Acting { row: "log:///1/2/3", cancel, on_output: &mut |_| {} };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let action = Action::Kill { path: "any".into() };
        runtime.block_on(self.world().act(&action, &prepared, acting))
    }

    /// What stands at a path, with all that is in it; of what is moved, its numbers too.
    pub(crate) fn picture(&self, path: &str, state: Option<&FileState>) -> Vec<String> {
        let numbers = state.is_some_and(|state| state.aside.is_some());
        let mut found = Vec::new();
        picture(&self.root.join(path), numbers, &mut found);
        found
    }

    /// Everything in the root but what only leads to the trash.
    pub(crate) fn all(&self) -> Vec<String> {
        let mut found = Vec::new();
        for item in fs::read_dir(&self.root).unwrap().flatten() {
            picture(&item.path(), false, &mut found);
        }
        let leads = ["/.cairn ", "/.cairn/.gitignore ", "/trash ", "/op ", "/before ", "/after "];
        found.retain(|line| !leads.iter().any(|lead| line.contains(lead)));
        found.sort();
        found
    }
}

/// A directory with a deep file, a link, a file with two names and a directory that nobody may write to.
fn full_directory(at: &Path) {
    fs::create_dir_all(at.join("deep/er")).unwrap();
    fs::write(at.join("deep/er/f"), [0, 159, 146, 150]).unwrap();
    symlink("deep/er/f", at.join("link")).unwrap();
    fs::hard_link(at.join("deep/er/f"), at.join("second")).unwrap();
    fs::create_dir(at.join("closed")).unwrap();
    fs::set_permissions(at.join("closed"), fs::Permissions::from_mode(0o500)).unwrap();
}

/// A line for a thing and for each that is in it.
fn picture(path: &Path, numbers: bool, found: &mut Vec<String>) {
    let Ok(meta) = path.symlink_metadata() else { return };
    let what = match (meta.is_dir(), meta.is_symlink()) {
        (true, _) => "directory".to_owned(),
        (_, true) => fs::read_link(path).unwrap().display().to_string(),
        (_, false) => String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
    };
    let (mode, time) = (meta.mode() & 0o7777, (meta.mtime(), meta.mtime_nsec()));
    let number = numbers.then(|| (meta.ino(), meta.nlink()));
    found.push(format!("{} {what:?} {mode:o} {time:?} {number:?}", path.display()));
    if meta.is_dir() {
        let mut items: Vec<_> = fs::read_dir(path).unwrap().flatten().map(|i| i.path()).collect();
        items.sort();
        items.iter().for_each(|item| picture(item, numbers, found));
    }
}

pub(crate) fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Every change of one thing into another.
pub(crate) fn pairs() -> Vec<(Thing, Thing)> {
    let all = Thing::ALL.iter().flat_map(|from| Thing::ALL.iter().map(|to| (*from, *to)));
    let differs = |(from, to): &(Thing, Thing)| {
        from != to || !matches!(from, Thing::Absent | Thing::WrittenDirectory)
    };
    all.filter(differs).collect()
}

pub(crate) fn undone(changes: &[Change]) -> Vec<Change> {
    changes.iter().map(inverse).collect()
}

// keeps: moved-aside
#[test]
fn everything_that_is_moved_comes_back_as_it_was_and_goes_again() {
    for pair in pairs() {
        let mut bed = Bed::new();
        let change = bed.change("d/x", pair, 0);
        let states = (change.before.clone(), change.after.clone());
        let before = bed.picture("d/x", states.0.as_ref());
        let done = bed.act(std::slice::from_ref(&change));
        assert_eq!(done.status, Status::OK, "{pair:?} {}", done.text);
        let after = bed.picture("d/x", states.1.as_ref());
        assert_eq!(after.is_empty(), pair.1 == Thing::Absent, "{pair:?}");
        let mut made = done.changes;
        for (expected, state) in [(&before, &states.0), (&after, &states.1), (&before, &states.0)] {
            made = bed.apply(&undone(&made)).unwrap_or_else(|why| panic!("{pair:?} {why}"));
            assert_eq!(bed.picture("d/x", state.as_ref()), *expected, "{pair:?}");
            assert_eq!(bed.world().probe(&made), Probe::Done, "{pair:?}");
            assert_eq!(bed.world().made(&made), made, "{pair:?}");
        }
        let beside = fs::read_dir(bed.root.join("d")).unwrap().count();
        assert_eq!(beside, usize::from(pair.0 != Thing::Absent), "{pair:?} left something beside");
    }
}

// keeps: moved-aside
#[test]
fn what_somebody_else_put_in_a_place_stays_there_and_nothing_is_moved() {
    type Doing = fn(&Path);
    let theirs: [Doing; 4] = [
        |place| fs::write(place, "theirs").unwrap(),
        |place| fs::create_dir(place).unwrap(),
        |place| symlink("theirs", place).unwrap(),
        |_| {},
    ];
    for pair in pairs() {
        for (nth, put) in theirs.iter().enumerate() {
            let is_nothing = nth == 3;
            let mut bed = Bed::new();
            let first = bed.change("a", (Thing::Directory, Thing::File), 1);
            let change = bed.change("d/x", pair, 0);
            // Somebody takes what was there elsewhere, and puts something of theirs there.
            let place = bed.root.join("d/x");
            if pair.0 != Thing::Absent {
                fs::rename(&place, bed.root.join("d/elsewhere")).unwrap();
            } else if is_nothing {
                continue;
            }
            put(&place);
            if pair.0 == Thing::WrittenDirectory && nth == 1 {
                // A directory is like any other.
                fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
            }
            let before = bed.all();
            let done = bed.act(&[first, change]);
            assert_eq!(done.status, Status::CONFLICT, "{pair:?} {nth} {}", done.text);
            assert_eq!(bed.all(), before, "{pair:?} {nth}");
        }
    }
}

#[test]
fn what_cannot_be_moved_into_its_place_leaves_everything_as_it_was() {
    for pair in pairs() {
        let mut bed = Bed::new();
        let first = bed.change("a", (Thing::Directory, Thing::File), 1);
        let change = bed.change("d/x", pair, 0);
        let slot =
            |state: &Option<FileState>| Some(bed.root.join(&state.as_ref()?.aside.as_ref()?.path));
        let (before, after) = (slot(&change.before), slot(&change.after));
        let mut expected = Status::OK;
        if let Some(slot) = &before {
            // Somebody's own in the trash.
            fs::create_dir_all(slot.parent().unwrap()).unwrap();
            fs::write(slot, "theirs").unwrap();
            expected = Status::CONFLICT;
        }
        if let Some(slot) = after.filter(|_| before.is_none()) {
            fs::rename(slot, bed.root.join("elsewhere")).unwrap();
            expected = Status::NOT_FOUND;
        }
        let all = bed.all();
        let done = bed.act(&[first, change]);
        assert_eq!(done.status, expected, "{pair:?} {}", done.text);
        if expected != Status::OK {
            assert_eq!(bed.all(), all, "{pair:?}");
        }
    }
}

#[test]
fn a_state_that_names_a_place_outside_the_trash_moves_nothing() {
    for path in ["elsewhere", "../out", ".cairn/trash/../../d/y", "/etc/x", ".cairn/hooks"] {
        for pair in [(Thing::Directory, Thing::Absent), (Thing::Absent, Thing::File)] {
            let mut bed = Bed::new();
            let mut change = bed.change("d/x", pair, 0);
            fs::create_dir_all(bed.root.join("d")).unwrap();
            for state in [&mut change.before, &mut change.after].into_iter().flatten() {
                state.aside.as_mut().unwrap().path = path.to_owned();
            }
            let before = bed.all();
            assert!(bed.apply(&[change]).is_err(), "{path} {pair:?}");
            assert_eq!(bed.all(), before, "{path} {pair:?}");
        }
    }
}

#[test]
fn the_trash_is_its_owners_and_git_does_not_see_it() {
    let mut bed = Bed::new();
    let change = bed.change("x", (Thing::Directory, Thing::Absent), 0);
    bed.apply(&[change]).unwrap();
    for path in [".cairn", ".cairn/trash", ".cairn/trash/op", ".cairn/trash/op/before"] {
        let mode = bed.root.join(path).metadata().unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o700, "{path}");
    }
    assert_eq!(fs::read_to_string(bed.root.join(".cairn/.gitignore")).unwrap(), "*\n");
    // What somebody wrote there stays.
    let mut bed = Bed::new();
    fs::create_dir(bed.root.join(".cairn")).unwrap();
    fs::write(bed.root.join(".cairn/.gitignore"), "trash\n").unwrap();
    let change = bed.change("x", (Thing::Directory, Thing::Absent), 0);
    bed.apply(&[change]).unwrap();
    assert_eq!(fs::read_to_string(bed.root.join(".cairn/.gitignore")).unwrap(), "trash\n");
}

#[test]
fn a_link_in_the_place_of_the_trash_is_not_followed() {
    let mut bed = Bed::new();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), bed.root.join(".cairn")).unwrap();
    let change = bed.change("x", (Thing::Directory, Thing::Absent), 0);
    let before = bed.all();
    assert!(bed.apply(&[change]).is_err());
    assert_eq!(bed.all(), before);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// Only its owner's leave to write lets a directory be moved to another one.
#[test]
fn a_directory_that_nobody_may_write_to_is_moved_and_stays_so() {
    as_a_person(|root| {
        let mut bed = Bed::at(root);
        for pair in [(Thing::Directory, Thing::Absent), (Thing::Directory, Thing::Written)] {
            let mut change = bed.change("d/x", pair, 0);
            let closed = fs::Permissions::from_mode(0o555);
            fs::set_permissions(bed.root.join("d/x"), closed).unwrap();
            change.before.as_mut().unwrap().mode = 0o555;
            let before = bed.picture("d/x", change.before.as_ref());
            let made = bed.apply(&[change]).unwrap();
            bed.apply(&undone(&made)).unwrap();
            assert_eq!(bed.picture("d/x", made[0].before.as_ref()), before);
            // One that a process did not come to close again.
            let opened = fs::Permissions::from_mode(0o755);
            fs::set_permissions(bed.root.join("d/x"), opened.clone()).unwrap();
            assert_eq!(bed.world().probe(&made), Probe::NotDone);
            assert_eq!(bed.picture("d/x", made[0].before.as_ref()), before);
            fs::set_permissions(bed.root.join("d/x"), opened).unwrap();
            remove(&bed.root.join("d/x"));
        }
    });
}

/// A directory's own files go before it is moved, and come after it was moved away.
#[test]
fn what_is_written_in_a_directory_goes_around_the_one_that_is_moved() {
    let mut bed = Bed::new();
    let moved = bed.make("x", Thing::Directory, ".cairn/trash/op/before/0");
    let before = bed.picture("x", moved.as_ref());
    let directory = bed.make("y", Thing::WrittenDirectory, "");
    let file = bed.make("y/f", Thing::Written, "");
    remove(&bed.root.join("y"));
    let read_only = FileState { mode: 0o555, mtime_ns: None, ..directory.unwrap() };
    let changes = [
        Change::between("x/f".into(), None, file),
        Change::between("x".into(), moved.clone(), Some(read_only)),
    ];
    let made = bed.apply(&changes).unwrap();
    assert_eq!(fs::read_dir(bed.root.join("x")).unwrap().count(), 1);
    assert_eq!(bed.root.join("x").metadata().unwrap().mode() & 0o777, 0o555);
    bed.apply(&undone(&made)).unwrap();
    assert_eq!(bed.picture("x", moved.as_ref()), before);
}

#[test]
fn a_folder_besides_the_project_keeps_its_own_aside() {
    let (main, mut bed) = (Bed::new(), Bed::new());
    let lead = bed.root.to_str().unwrap().to_owned();
    let mut change = bed.change("x", (Thing::Directory, Thing::File), 0);
    let before = bed.picture("x", change.before.as_ref());
    change.path = format!("{lead}/x");
    for state in [&mut change.before, &mut change.after].into_iter().flatten() {
        let aside = state.aside.as_mut().unwrap();
        aside.path = format!("{lead}/{}", aside.path);
    }
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let workspace = Workspace::open(&main.root).unwrap();
    let world = World::with_folders(workspace, &[bed.root.clone()], settings).unwrap();
    let made = world.apply(&[change.clone()], &bed.content()).unwrap();
    assert!(bed.root.join("x").is_file());
    assert!(world.locations().lies_aside(&change.path, change.before.as_ref().unwrap()));
    world.apply(&undone(&made), &bed.content()).unwrap();
    assert_eq!(bed.picture("x", change.before.as_ref()), before);
    assert_eq!(fs::read_dir(&main.root).unwrap().count(), 0);
}

#[test]
fn a_state_is_known_by_its_number_and_is_not_read() {
    let mut bed = Bed::new();
    let moved = bed.make("x", Thing::File, ".cairn/trash/op/before/0").unwrap();
    let now = bed.world().locations().state_among("x", &[&moved]).unwrap().unwrap();
    assert_eq!((now.kind, now.hash, &now.aside), (FileKind::File, None, &moved.aside));
    let other = FileState { aside: Some(Aside { path: String::new(), inode: 1 }), ..moved };
    let now = bed.world().locations().state_among("x", &[&other]).unwrap().unwrap();
    assert!(now.hash.is_some() && now.aside.is_none());
}
