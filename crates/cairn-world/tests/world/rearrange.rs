//! Removing, moving and copying: what would come and go is known beforehand, it happens whole or not
//! at all, a crash in the middle can be finished, and all of it can be taken back.

use cairn_types::{Action, Carry, Change, Hash};
use cairn_world::{Acting, Prepared, Probe, Settings, Workspace, World, inverse};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use tokio_util::sync::CancellationToken;

fn place() -> (tempfile::TempDir, World) {
    let holder = tempfile::tempdir().unwrap();
    let root = holder.path();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::write(root.join("src/a.rs"), "a\n").unwrap();
    fs::write(root.join("src/deep/b.sh"), "b\n").unwrap();
    fs::set_permissions(root.join("src/deep/b.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.rs", root.join("src/link")).unwrap();
    fs::write(root.join("other"), "o\n").unwrap();
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = World::new(Workspace::open(root).unwrap(), settings);
    (holder, world)
}

/// Every path with its kind, mode, content or target, and, for files, its time.
fn picture(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(&dir).unwrap().flatten() {
            let path = item.path();
            let meta = path.symlink_metadata().unwrap();
            let time = (meta.mtime(), meta.mtime_nsec());
            let what = if meta.is_dir() {
                todo.push(path.clone());
                format!("dir {:o}", meta.mode() & 0o7777)
            } else if meta.is_symlink() {
                format!("link {} {time:?}", fs::read_link(&path).unwrap().display())
            } else {
                let text = fs::read_to_string(&path).unwrap();
                format!("file {:o} {text:?} {time:?}", meta.mode() & 0o7777)
            };
            found.insert(path.strip_prefix(root).unwrap().display().to_string(), what);
        }
    }
    found
}

fn paths(root: &Path) -> String {
    picture(root).into_keys().collect::<Vec<_>>().join(" ")
}

async fn act(world: &World, action: &Action) -> String {
    let prepared = world.prepare(action);
    let done = match prepared.settled {
        Some(settled) => settled,
        None => {
            let cancel = &CancellationToken::new();
            let acting = Acting { row: "log:///1/2/3", cancel, on_output: &mut |_| {} };
            world.act(action, &prepared, acting).await
        }
    };
    format!("{} {}", done.status, done.text)
}

// keeps: patterns-whole
#[tokio::test]
async fn a_pattern_means_all_that_is_like_it_in_one_op_or_nothing_is_done() {
    let (holder, world) = place();
    let root = holder.path();
    for name in ["a.log", "b.log", "deep.log", "[x].log"] {
        fs::write(root.join(name), name).unwrap();
    }
    fs::write(root.join("src/inner.log"), "stays\n").unwrap();
    let kill = |path: &str| Action::Kill { path: path.to_owned() };
    assert_eq!(act(&world, &kill("*.txt")).await, "404 nothing matches *.txt");
    assert_eq!(
        act(&world, &mv("?.log", "one.log")).await,
        "400 one.log is one place for several things; a folder ends with /"
    );
    // What is there by that very name is no pattern.
    assert_eq!(act(&world, &kill("[x].log")).await, "200 removed [x].log");
    let moved = act(&world, &mv("?.log", "logs/")).await;
    assert_eq!(moved, "201 moved a.log to logs/a.log\nmoved b.log to logs/b.log");
    let copied = act(&world, &Action::Copy(Carry::of("logs/*", "kept/"))).await;
    assert_eq!(copied, "201 copied logs/a.log to kept/a.log\ncopied logs/b.log to kept/b.log");
    assert_eq!(act(&world, &kill("*.log")).await, "200 removed deep.log");
    assert!(paths(root).contains("src/inner.log"), "{}", paths(root));
    // No two things become one.
    fs::write(root.join("src/deep/a.rs"), "another\n").unwrap();
    fs::create_dir(root.join("all")).unwrap();
    assert_eq!(
        act(&world, &mv("src/**/a.rs", "all")).await,
        "409 several things would be all/a.rs"
    );
    fs::remove_file(root.join("src/deep/a.rs")).unwrap();
    assert_eq!(
        act(&world, &mv("src/*.log", "all")).await,
        "201 moved src/inner.log to all/inner.log"
    );
    // One that cannot be done keeps the others from being done.
    fs::create_dir(root.join("full")).unwrap();
    fs::write(root.join("full/b.log"), "another").unwrap();
    let before = paths(root);
    let refused = act(&world, &mv("logs/*", "full/")).await;
    assert!(refused.starts_with("409"), "{refused}");
    assert_eq!(paths(root), before);
}

pub fn mv(from: &str, to: &str) -> Action {
    Action::Move(Carry::of(from, to))
}

pub fn cp(from: &str, to: &str) -> Action {
    Action::Copy(Carry::of(from, to))
}

pub fn rm(path: &str) -> Action {
    Action::Kill { path: path.into() }
}

fn kept(prepared: &Prepared) -> impl Fn(&Hash) -> Option<Vec<u8>> {
    |hash| prepared.contents.iter().find(|bytes| Hash::of(bytes) == *hash).cloned()
}

#[tokio::test]
async fn trees_are_moved_copied_and_removed_with_their_modes_links_and_times() {
    let (holder, world) = place();
    let root = holder.path();
    let before = picture(root);
    assert_eq!(
        act(&world, &mv("src", "lib/new")).await,
        "201 moved src to lib/new (3 files, 4 bytes)"
    );
    assert_eq!(
        paths(root),
        "lib lib/new lib/new/a.rs lib/new/deep lib/new/deep/b.sh lib/new/link other"
    );
    let after = picture(root);
    for (old, new) in [
        ("src/a.rs", "lib/new/a.rs"),
        ("src/deep/b.sh", "lib/new/deep/b.sh"),
        ("src/link", "lib/new/link"),
    ] {
        assert_eq!(before[old], after[new], "{old}");
    }
    assert_eq!(
        act(&world, &cp("lib/new/deep", "other2")).await,
        "201 copied lib/new/deep to other2 (1 file, 2 bytes)"
    );
    assert!(picture(root)["other2/b.sh"].starts_with("file 755 \"b\\n\""));
    assert_eq!(act(&world, &cp("other", "lib")).await, "201 copied other to lib/other");
    assert_eq!(act(&world, &rm("lib")).await, "200 removed lib (4 files, 6 bytes)");
    assert_eq!(act(&world, &rm("other2/b.sh")).await, "200 removed other2/b.sh");
    assert_eq!(paths(root), "other other2");
}

#[tokio::test]
async fn what_cannot_be_rearranged_is_said_and_nothing_is_touched() {
    let (holder, world) = place();
    let before = picture(holder.path());
    fs::create_dir_all(holder.path().join("repo/.git")).unwrap();
    let with_repo = picture(holder.path());
    assert_ne!(before, with_repo);
    for (action, expect) in [
        (rm("missing"), "404 missing does not exist"),
        (rm("."), "400 . does not name something inside the workspace"),
        (rm("../x"), "403 ../x leads outside the workspace"),
        (rm(".git"), "403 .git is inside .git"),
        (rm("repo"), "403 repo holds a repository's own directory, repo/.git"),
        (mv("src", "src/inner"), "400 src/inner is inside src"),
        (mv("src/a.rs", "other"), "409 other is there already"),
        (cp("src/a.rs", "src/deep/b.sh"), "409 src/deep/b.sh is there already"),
        (mv("src/a.rs", "other/x"), "409 other is not a directory"),
        (cp("src/a.rs", "../out"), "403 ../out leads outside the workspace"),
    ] {
        assert_eq!(act(&world, &action).await, expect, "{action:?}");
        assert_eq!(picture(holder.path()), with_repo, "{action:?}");
    }
}

/// Cuts each list of changes after every prefix, finishes it, and takes it back.
#[test]
fn a_list_cut_anywhere_is_seen_as_partly_done_and_can_be_finished_and_taken_back() {
    for action in [mv("src", "lib/new"), cp("src", "lib/new"), rm("src")] {
        let (holder, world) = place();
        let count = world.prepare(&action).changes.len();
        drop(holder);
        for done in 0..=count {
            let (holder, world) = place();
            let root = holder.path();
            let before = picture(root);
            let prepared = world.prepare(&action);
            let order = in_a_possible_order(&prepared.changes);
            for change in &order[..done] {
                world.apply(std::slice::from_ref(change), &kept(&prepared)).unwrap();
            }
            let expected = match done {
                0 => Probe::NotDone,
                n if n == count => Probe::Done,
                _ => Probe::Partly,
            };
            assert_eq!(world.probe(&prepared.changes), expected, "{action:?} {done}");
            let finished = world.apply(&prepared.changes, &kept(&prepared)).unwrap();
            assert_eq!(world.probe(&prepared.changes), Probe::Done);
            let back: Vec<Change> = finished.iter().map(inverse).collect();
            world.apply(&back, &kept(&prepared)).unwrap();
            assert_eq!(picture(root), before, "{action:?} {done}");
        }
    }
}

/// New things first, the outer before the inner; then what goes, the inner before the outer.
fn in_a_possible_order(changes: &[Change]) -> Vec<Change> {
    let (mut made, mut gone): (Vec<Change>, Vec<Change>) =
        changes.iter().cloned().partition(|change| change.after.is_some());
    made.sort_by(|a, b| a.path.cmp(&b.path));
    gone.sort_by(|a, b| b.path.cmp(&a.path));
    made.extend(gone);
    made
}

#[test]
fn a_list_that_cannot_be_finished_is_taken_back() {
    let (holder, world) = place();
    let root = holder.path();
    let prepared = world.prepare(&rm("src"));
    let before = picture(root);
    fs::write(root.join("src/deep/theirs"), "t\n").unwrap();
    let refused = world.apply(&prepared.changes, &kept(&prepared)).unwrap_err();
    assert_eq!(refused.to_string(), "src/deep changed since it was looked at; nothing was written");
    fs::remove_file(root.join("src/deep/theirs")).unwrap();
    assert_eq!(picture(root), before);
}

#[test]
fn a_file_that_becomes_a_directory_can_become_a_file_again() {
    let (holder, world) = place();
    let root = holder.path();
    let before = picture(root);
    let state = |path: &str| world.locations().state(path).unwrap();
    let old = state("other");
    fs::remove_file(root.join("other")).unwrap();
    fs::create_dir(root.join("other")).unwrap();
    fs::write(root.join("other/x"), "x\n").unwrap();
    let turned = [
        Change::between("other".into(), old, state("other")),
        Change::between("other/x".into(), None, state("other/x")),
    ];
    let contents = |hash: &Hash| {
        [b"o\n", b"x\n"].iter().find(|c| Hash::of(&c[..]) == *hash).map(|c| c.to_vec())
    };
    let back: Vec<Change> = turned.iter().map(inverse).collect();
    world.apply(&back, &contents).unwrap();
    assert_eq!(picture(root), before);
    world.apply(&turned, &contents).unwrap();
    assert_eq!(fs::read_to_string(root.join("other/x")).unwrap(), "x\n");
}

#[test]
fn what_somebody_saved_meanwhile_is_not_rolled_back_over() {
    let (holder, world) = place();
    let root = holder.path();
    // The list makes `new`, and then cannot take `src/deep` away, because it holds something else.
    let prepared = world.prepare(&mv("src", "lib/new"));
    fs::write(root.join("src/deep/theirs"), "t\n").unwrap();
    let saved = std::cell::Cell::new(false);
    let contents = |hash: &Hash| {
        // Somebody saves over a file that the list has made already.
        if !saved.get() && root.join("lib/new/a.rs").exists() {
            fs::write(root.join("lib/new/a.rs"), "saved\n").unwrap();
            saved.set(true);
        }
        prepared.contents.iter().find(|bytes| Hash::of(bytes) == *hash).cloned()
    };
    let refused = world.apply(&prepared.changes, &contents).unwrap_err();
    assert!(saved.get());
    let said = "could not be taken back: lib/new/a.rs, lib/new, lib";
    assert!(refused.text.contains(said), "{refused}");
    assert_eq!(fs::read_to_string(root.join("lib/new/a.rs")).unwrap(), "saved\n");
    assert_eq!(fs::read_to_string(root.join("src/a.rs")).unwrap(), "a\n");
}

#[test]
fn what_is_too_large_to_keep_is_refused_before_it_is_read() {
    let (holder, world) = place();
    let big = fs::File::create(holder.path().join("big")).unwrap();
    big.set_len(1 << 40).unwrap();
    let begun = std::time::Instant::now();
    let refused = world.prepare(&rm("big")).settled.unwrap();
    assert_eq!(refused.status.0, 413, "{}", refused.text);
    assert!(begun.elapsed().as_secs() < 60, "a terabyte was read");
}

#[test]
fn the_same_size_is_not_the_same_removal() {
    let (holder, world) = place();
    let first = world.prepare(&rm("other")).shown;
    fs::write(holder.path().join("other"), "O\n").unwrap();
    assert_ne!(world.prepare(&rm("other")).shown, first);
}
