//! What changing files never costs: what somebody else writes at the same moment, who owns a file,
//! what a directory allows, and what stands beside a file when a process dies.

use crate::rearrange::{cp, mv, rm};
use cairn_types::{Action, Change, Edit, EditBody, Exchange, Hash};
use cairn_world::{Acting, Performed, Prepared, Probe, Settings, Workspace, World, inverse};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn world(root: &Path) -> World {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    World::new(Workspace::open(root).unwrap(), settings)
}

/// Does an action in a runtime of its own, on this thread.
fn act(world: &World, action: &Action) -> Performed {
    act_prepared(world, action, &world.prepare(action))
}

fn act_prepared(world: &World, action: &Action, prepared: &Prepared) -> Performed {
    if let Some(settled) = &prepared.settled {
        return settled.clone();
    }
    let cancel = &CancellationToken::new();
    let acting = Acting { row: "log:///1/2/3", cancel, on_output: &mut |_| {} };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(world.act(action, prepared, acting))
}

fn told(world: &World, action: &Action) -> String {
    let done = act(world, action);
    format!("{} {}", done.status, done.text)
}

fn whole(path: &str, content: &str) -> Action {
    let body = EditBody::Whole { content: content.to_owned() };
    Action::Edit(Edit::of(Some(path.to_owned()), body))
}

fn mode(path: PathBuf) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: PathBuf, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn names(root: &Path) -> Vec<String> {
    let items = fs::read_dir(root).unwrap().flatten();
    let mut names: Vec<_> =
        items.map(|item| item.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Everything that is kept of some contents.
fn kept(contents: &[Vec<u8>]) -> impl Fn(&Hash) -> Option<Vec<u8>> {
    |hash| contents.iter().find(|bytes| Hash::of(bytes) == *hash).cloned()
}

/// Somebody saves a file again and again while it is changed. Each time, what they saved must come to
/// be there, or must have been seen by a change, whose row keeps it.
// keeps: last-moment
#[test]
fn what_somebody_saves_while_a_file_is_changed_is_never_lost() {
    let exchange = Exchange { old: "saved".into(), new: "edited".into(), all: false };
    let edit = Action::Edit(Edit::of(Some("f".into()), EditBody::Replace(vec![exchange])));
    for action in [edit, rm("f")] {
        // Where writing is quick, the last moment is a larger part of the whole.
        let holder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let seen = Mutex::new(BTreeSet::new());
        let (world, done) = (world(holder.path()), AtomicBool::new(false));
        let mut told_as_kept = 0;
        std::thread::scope(|scope| {
            let saver = scope.spawn(|| save_until(holder.path(), &done, &seen));
            let mut made = 0;
            while made < 300 && !saver.is_finished() {
                let prepared = world.prepare(&action);
                let acted = act_prepared(&world, &action, &prepared);
                if acted.status.0 == 200 {
                    made += 1;
                    seen.lock().unwrap().extend(prepared.contents);
                }
                told_as_kept += usize::from(acted.text.contains("is kept as .cairn-"));
            }
            done.store(true, Ordering::Relaxed);
            assert!(saver.join().unwrap() >= 300);
        });
        let left = names(holder.path()).into_iter().filter(|name| name.starts_with('.'));
        assert_eq!(left.count(), told_as_kept, "{action:?}");
    }
}

/// Saves over `f` as editors do, and goes on when it stands or was seen. Says how often it saved.
fn save_until(root: &Path, done: &AtomicBool, seen: &Mutex<BTreeSet<Vec<u8>>>) -> u64 {
    let (theirs, file) = (root.join("theirs"), root.join("f"));
    // Long enough that looking at it takes its time.
    let rest = "x".repeat(32 << 10);
    for n in 1_u64.. {
        let saved = format!("saved {n}\n{rest}");
        fs::write(&theirs, &saved).unwrap();
        fs::rename(&theirs, &file).unwrap();
        let stands = |text: String| text == saved || text == format!("edited {n}\n{rest}");
        let is_safe = |()| {
            fs::read_to_string(&file).is_ok_and(stands)
                || seen.lock().unwrap().contains(saved.as_bytes())
        };
        // It may be away for a moment, while it is given back.
        let mut looks = (0..5000).map(|look: u64| {
            std::thread::sleep(Duration::from_micros(look.min(1000)));
        });
        assert!(looks.any(is_safe), "version {n} was lost");
        if done.load(Ordering::Relaxed) {
            return n;
        }
        std::thread::sleep(Duration::from_micros(n * 37 % 200));
    }
    0
}

/// Works as somebody who is not root, on a thread of its own, in a directory that is theirs.
pub(crate) fn as_a_person(work: impl FnOnce(&Path) + Send) {
    let holder = tempfile::tempdir().unwrap();
    let root = holder.path();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(root, Some(PERSON), Some(PERSON)).unwrap();
    }
    std::thread::scope(|scope| {
        let worked = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                become_a_person();
            }
            work(root);
        });
        worked.join().unwrap();
    });
}

/// Who that is.
const PERSON: u32 = 65534;

fn become_a_person() {
    let (uid, gid) = (rustix::fs::Uid::from_raw(PERSON), rustix::fs::Gid::from_raw(PERSON));
    rustix::thread::set_thread_groups(&[]).unwrap();
    rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
    rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
}

/// A tree with a directory in it that nobody may write to, and in that another.
fn closed_tree(root: &Path) {
    fs::create_dir_all(root.join("t/closed/inner")).unwrap();
    for path in ["t/a", "t/closed/b", "t/closed/inner/c"] {
        fs::write(root.join(path), format!("{path}\n")).unwrap();
    }
    for path in ["t/closed/inner", "t/closed"] {
        set_mode(root.join(path), 0o555);
    }
}

fn open_again(root: &Path) {
    for item in fs::read_dir(root).unwrap().flatten() {
        if item.file_type().unwrap().is_dir() {
            set_mode(item.path(), 0o755);
            open_again(&item.path());
        }
    }
}

#[test]
fn trees_with_read_only_directories_are_copied_moved_removed_and_all_of_it_taken_back() {
    as_a_person(|root| {
        let denied = fs::write(root.join("t"), "").and_then(|()| {
            fs::remove_file(root.join("t"))?;
            closed_tree(root);
            fs::write(root.join("t/closed/b2"), "")
        });
        assert!(denied.is_err(), "control: the directory is not closed");
        let before = picture(root);
        for action in [cp("t", "u"), mv("t", "u"), rm("t")] {
            let world = world(root);
            let prepared = world.prepare(&action);
            let done = act_prepared(&world, &action, &prepared);
            assert!(matches!(done.status.0, 200 | 201), "{action:?} {}", done.text);
            if !matches!(action, Action::Kill { .. }) {
                assert_eq!((mode(root.join("u/closed")), mode(root.join("u"))), (0o555, 0o755));
                assert_eq!(mode(root.join("u/closed/inner")), 0o555);
            }
            let back: Vec<Change> = done.changes.iter().map(inverse).collect();
            world.apply(&back, &kept(&prepared.contents)).unwrap();
            assert_eq!(picture(root), before, "{action:?}");
        }
        open_again(root);
    });
}

#[test]
fn a_list_over_read_only_directories_that_cannot_be_finished_leaves_them_as_they_were() {
    as_a_person(|root| {
        closed_tree(root);
        fs::create_dir(root.join("v")).unwrap();
        let before = picture(root);
        let world = world(root);
        for action in [cp("t", "v/u"), mv("t", "v/u"), rm("t")] {
            let prepared = world.prepare(&action);
            let mut changes = prepared.changes.clone();
            if matches!(action, Action::Kill { .. }) {
                // What is not in the list keeps its directory from going.
                changes.retain(|change| change.path != "t/a");
            } else {
                // One that cannot be made, after all the others: nobody has its content.
                let mut state = world.locations().state("t/a").unwrap().unwrap();
                state.hash = Some(Hash::of(b"nowhere"));
                changes.push(Change::between("zz".into(), None, Some(state)));
            }
            let refused = world.apply(&changes, &kept(&prepared.contents)).unwrap_err();
            assert!(!refused.text.contains("taken back"), "{refused}");
            assert_eq!(picture(root), before, "{action:?}");
        }
        open_again(root);
    });
}

#[test]
fn a_crash_while_a_read_only_directory_is_open_is_finished() {
    as_a_person(|root| {
        closed_tree(root);
        let before = picture(root);
        let world = world(root);
        let copy = world.prepare(&cp("t", "u"));
        // As it is cut off: the directories stand, still open, and not everything is in them.
        fs::create_dir_all(root.join("u/closed/inner")).unwrap();
        fs::write(root.join("u/closed/b"), "t/closed/b\n").unwrap();
        assert_eq!(world.probe(&copy.changes), Probe::Partly);
        world.apply(&copy.changes, &kept(&copy.contents)).unwrap();
        assert_eq!(world.probe(&copy.changes), Probe::Done);
        assert_eq!(mode(root.join("u/closed")), 0o555);
        let back: Vec<Change> = copy.changes.iter().map(inverse).collect();
        set_mode(root.join("u/closed"), 0o755);
        fs::remove_file(root.join("u/closed/b")).unwrap();
        assert_eq!(world.probe(&back), Probe::Partly);
        world.apply(&back, &kept(&copy.contents)).unwrap();
        assert_eq!(picture(root), before);
        open_again(root);
    });
}

/// Every path with its kind, mode, owner, content or target, and, beneath `t`, its time.
fn picture(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(&dir).unwrap().flatten() {
            let path = item.path();
            let meta = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let what = match (meta.is_dir(), meta.is_symlink()) {
                (true, _) => "directory".to_owned(),
                (_, true) => fs::read_link(&path).unwrap().display().to_string(),
                (_, false) => fs::read_to_string(&path).unwrap(),
            };
            if meta.is_dir() {
                todo.push(path);
            }
            let time = name.starts_with('t').then(|| (meta.mtime(), meta.mtime_nsec()));
            let (mode, owner) = (meta.mode() & 0o7777, (meta.uid(), meta.gid()));
            found.push(format!("{name} {what:?} {mode:o} {owner:?} {time:?}"));
        }
    }
    found.sort();
    found
}

/// What is edited, moved, or removed and put back is still its owner's, where root works for them.
#[test]
fn owners_and_what_files_may_do_for_them_stay() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let holder = tempfile::tempdir().unwrap();
    let root = holder.path();
    fs::create_dir_all(root.join("t/d")).unwrap();
    fs::write(root.join("t/d/f"), "f\n").unwrap();
    symlink("f", root.join("t/d/l")).unwrap();
    let owner = |path: &str| {
        let meta = root.join(path).symlink_metadata().unwrap();
        (meta.uid(), meta.gid())
    };
    for (path, gid) in [("t/d/f", 7), ("t/d/l", 8), ("t/d", 9)] {
        std::os::unix::fs::lchown(root.join(path), Some(PERSON), Some(gid)).unwrap();
    }
    set_mode(root.join("t/d/f"), 0o6755);
    let mut before = picture(root);
    let world = world(root);
    for action in [mv("t/d", "t/e"), rm("t/d"), whole("t/d/f", "g\n")] {
        let prepared = world.prepare(&action);
        let done = act_prepared(&world, &action, &prepared);
        match &action {
            Action::Move(_) => {
                let owners = (owner("t/e"), owner("t/e/f"), owner("t/e/l"));
                assert_eq!(owners, ((PERSON, 9), (PERSON, 7), (PERSON, 8)));
                assert_eq!(mode(root.join("t/e/f")), 0o6755);
            }
            Action::Edit(_) => {
                assert_eq!(owner("t/d/f"), (PERSON, 7));
                assert_eq!(mode(root.join("t/d/f")), 0o6755);
            }
            _ => {}
        }
        let back: Vec<Change> = done.changes.iter().map(inverse).collect();
        world.apply(&back, &kept(&prepared.contents)).unwrap();
        // A directory that only stood around them has the time of the last change in it.
        let around = if matches!(action, Action::Edit(_)) { "t/d \"dir" } else { "t \"dir" };
        let without = |picture: Vec<String>| -> Vec<String> {
            picture.into_iter().filter(|line| !line.starts_with(around)).collect()
        };
        assert_eq!(without(picture(root)), without(before.clone()), "{action:?}");
        before = picture(root);
    }
    assert_eq!(act(&world, &cp("t/d", "t/c")).status.0, 201);
    assert_eq!((owner("t/c/f"), mode(root.join("t/c/f"))), ((0, 0), 0o755), "a copy is ours");
}

/// As the system itself does it.
#[test]
fn what_is_new_in_a_directory_that_gives_its_group_has_that_group() {
    let holder = tempfile::tempdir().unwrap();
    let root = holder.path();
    fs::create_dir_all(root.join("shared")).unwrap();
    fs::create_dir_all(root.join("from/inner")).unwrap();
    fs::write(root.join("from/inner/f"), "f\n").unwrap();
    let group = if rustix::process::geteuid().is_root() { Some(PERSON) } else { None };
    std::os::unix::fs::chown(root.join("shared"), None, group).unwrap();
    set_mode(root.join("shared"), 0o2775);
    fs::create_dir_all(root.join("shared/control")).unwrap();
    let shown = |path: &str| {
        let meta = root.join(path).metadata().unwrap();
        (meta.gid(), meta.mode() & 0o2000)
    };
    let world = world(root);
    assert_eq!(
        told(&world, &whole("shared/new/deep/f", "f\n")),
        "201 created shared/new/deep/f, 1 line"
    );
    assert_eq!(act(&world, &cp("from", "shared/copy")).status.0, 201);
    for path in ["new", "new/deep", "copy", "copy/inner"] {
        assert_eq!(shown(&format!("shared/{path}")), shown("shared/control"), "{path}");
    }
    for path in ["shared/new/deep/f", "shared/copy/inner/f"] {
        assert_eq!(shown(path), (shown("shared").0, 0), "{path}");
    }
}

#[test]
fn preparing_leaves_the_callers_thread_free() {
    let holder = tempfile::tempdir().unwrap();
    fs::write(holder.path().join("f"), vec![b'x'; 8 << 10]).unwrap();
    let world = world(holder.path());
    let action = rm("f");
    let only_one = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build();
    only_one.unwrap().block_on(async {
        // Nothing is done beside the caller before the only thread for that is free.
        let (free, held) = std::sync::mpsc::channel::<()>();
        let holding = tokio::task::spawn_blocking(move || held.recv());
        let mut preparing = Box::pin(world.prepare_beside(&action));
        let asked = std::future::poll_fn(|cx| Poll::Ready(preparing.as_mut().poll(cx))).await;
        assert!(asked.is_pending(), "it was prepared by whoever asked");
        drop(free);
        assert_eq!(preparing.await, world.prepare(&action));
        assert!(holding.await.unwrap().is_err());
    });
}
