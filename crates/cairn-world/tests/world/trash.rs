//! The trash itself: out of reach of every op, and removed for good batch by batch.

use crate::aside::{Bed, Thing};
use crate::keeps::as_a_person;
use cairn_types::{Action, Carry, Edit, EditBody, Find, Read, Status};
use cairn_world::{Trash, TrashSize};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tokio_util::sync::CancellationToken;

// keeps: moved-aside
#[tokio::test]
async fn no_op_finds_lists_reads_or_changes_what_is_kept_aside() {
    let mut bed = Bed::new();
    let change = bed.change("x", (Thing::Directory, Thing::Absent), 0);
    bed.apply(&[change]).unwrap();
    fs::write(bed.root.join("seen"), "f").unwrap();
    fs::write(bed.root.join(".cairn/hooks.toml"), "seen").unwrap();
    symlink(".cairn/trash", bed.root.join("link")).unwrap();
    let world = bed.world();
    let cancel = CancellationToken::new();
    let told = async |action: Action| {
        let done = world.look(&action, "", &cancel).await;
        format!("{} {}", done.status, done.text)
    };
    let listed = |path: &str| Action::List { path: path.into(), depth: 9 };
    let found = |glob: Option<&str>, text: Option<&str>| {
        let (glob, text) = (glob.map(str::to_owned), text.map(str::to_owned));
        Action::Find(Find { glob, text, ..Find::default() })
    };
    assert_eq!(
        told(listed(".")).await,
        "200 .cairn/\n.cairn/.gitignore\n.cairn/hooks.toml\nlink\nseen"
    );
    assert_eq!(told(listed(".cairn")).await, "200 .gitignore\nhooks.toml");
    let all = told(found(Some("**"), None)).await;
    assert!(all.contains("hooks.toml") && !all.contains("trash"), "{all}");
    let lines = told(found(None, Some("/./"))).await;
    assert!(lines.contains("seen") && !lines.contains("trash"), "{lines}");
    for path in [".cairn/trash", ".cairn/trash/op/before/0/second", "link/op", "link"] {
        let read = Action::Read(Read { path: path.into(), first: 1, limit: 9, ..Read::default() });
        assert!(told(read).await.starts_with("403"), "{path}");
        assert!(told(listed(path)).await.starts_with("403"), "{path}");
        let under = Find { under: Some(path.into()), glob: Some("*".into()), ..Find::default() };
        assert!(told(Action::Find(under)).await.starts_with("403"), "{path}");
    }
    let body = EditBody::Whole { content: "mine".into() };
    let edit = |path: &str| Action::Edit(Edit::of(Some(path.into()), body.clone()));
    let into = |path: &str| Action::Move(Carry::of("seen", path));
    let kill = |path: &str| Action::Kill { path: path.into() };
    let out = |path: &str| Action::Copy(Carry::of(path, "copy"));
    for action in [
        edit(".cairn/trash/op/new"),
        edit("link/new"),
        into(".cairn/trash/op/new"),
        kill(".cairn/trash/op"),
        kill(".cairn"),
        out(".cairn"),
        out("link/op"),
    ] {
        let settled = world.prepare(&action).settled.map(|settled| settled.status);
        assert_eq!(settled, Some(Status::REFUSED), "{action:?}");
    }
}

#[test]
fn a_batch_is_removed_whatever_it_holds_and_nothing_beyond_it() {
    as_a_person(|root| {
        let mut bed = Bed::at(root);
        for (n, batch) in ["one", "two"].into_iter().enumerate() {
            let path = format!(".cairn/trash/{batch}/before/{n}");
            bed.make(&path, Thing::Directory, &path);
        }
        let one = root.join(".cairn/trash/one");
        symlink("../../../..", one.join("before/0/up")).unwrap();
        symlink(root.join("outside"), one.join("after")).unwrap();
        fs::create_dir(root.join("outside")).unwrap();
        fs::write(root.join("outside/f"), "f").unwrap();
        fs::create_dir(one.join("before/0/shut")).unwrap();
        fs::write(one.join("before/0/shut/f"), "f").unwrap();
        fs::set_permissions(one.join("before/0/shut"), fs::Permissions::from_mode(0o000)).unwrap();
        // Deeper than there are handles.
        let deep = vec!["d"; 300].join("/");
        fs::create_dir_all(one.join("before").join(&deep)).unwrap();
        fs::write(one.join("before").join(&deep).join("f"), vec![b'x'; 10_000]).unwrap();
        let trash = Trash::open(root).unwrap();
        let names = || trash.batches().into_iter().map(|batch| batch.name).collect::<Vec<_>>();
        assert_eq!(names(), ["one", "two"]);
        let removed = trash.remove("one").unwrap();
        assert!(removed.entries > 300 && removed.bytes >= 10_000, "{removed:?}");
        assert_eq!(names(), ["two"]);
        assert_eq!(fs::read(root.join("outside/f")).unwrap(), b"f");
        assert!(root.join(".cairn/trash/two/before/1/deep/er/f").exists());
        let size = trash.size("two").unwrap();
        assert_eq!(trash.size("two").unwrap(), size, "looking removes nothing");
        assert_eq!(trash.remove("two").unwrap(), size);
        assert_eq!(names(), Vec::<String>::new());
        assert_ne!(size, TrashSize::default());
    });
}

#[test]
fn a_trash_that_is_a_link_has_nothing_to_remove() {
    let (bed, outside) = (Bed::new(), tempfile::tempdir().unwrap());
    fs::create_dir(outside.path().join("mine")).unwrap();
    fs::create_dir(bed.root.join(".cairn")).unwrap();
    symlink(outside.path(), bed.root.join(".cairn/trash")).unwrap();
    let trash = Trash::open(&bed.root).unwrap();
    assert_eq!(trash.batches(), []);
    assert!(trash.remove("mine").is_err() && trash.remove("../..").is_err());
    assert!(outside.path().join("mine").exists());
    let plain = Bed::new();
    fs::create_dir_all(plain.root.join(".cairn/trash")).unwrap();
    fs::write(plain.root.join("kept"), "kept").unwrap();
    let trash = Trash::open(&plain.root).unwrap();
    for name in ["..", "../..", ".", "", "a/b"] {
        assert!(trash.remove(name).is_err(), "{name:?}");
    }
    assert!(plain.root.join("kept").exists());
}
