//! Binary files and models: no op shows a byte of one as text or puts text in its place.

use cairn_types::{Action, Carry, Edit, EditBody, Exchange, Find, Read};
use cairn_world::{Performed, Settings, Workspace, World};
use std::fs;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Text, and then a NUL: all of it is UTF-8.
const SECRET: &str = "needle and other bytes";

fn edits(path: &str) -> Vec<Action> {
    let exchange = Exchange { old: "needle".to_owned(), new: "x".to_owned(), all: false };
    let patch = "<<<<<<< SEARCH\nneedle\n=======\nx\n>>>>>>> REPLACE\n";
    let diff = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-needle\n+x\n");
    let edit = |body| Action::Edit(Edit::of(Some(path.to_owned()), body));
    let scoped = Edit {
        scope: Some("1".to_owned()),
        ..Edit::of(Some(path.to_owned()), EditBody::Whole { content: "x\n".to_owned() })
    };
    vec![
        edit(EditBody::Whole { content: "x\n".to_owned() }),
        edit(EditBody::Replace(vec![exchange])),
        edit(EditBody::Patch(patch.to_owned())),
        edit(EditBody::Patch(diff)),
        Action::Edit(scoped),
    ]
}

fn reads(path: &str) -> Vec<Action> {
    let read = Read { path: path.to_owned(), first: 1, ..Read::default() };
    vec![
        Action::Read(read.clone()),
        Action::Read(Read { scope: Some("1".to_owned()), ..read.clone() }),
        Action::Read(Read { matcher: Some("needle".to_owned()), ..read }),
    ]
}

async fn look(world: &World, action: &Action) -> Performed {
    world.look(action, "", &CancellationToken::new()).await
}

fn world(root: &Path) -> World {
    World::new(Workspace::open(root).unwrap(), Settings::new("/bin/sh".into(), Vec::new()))
}

// keeps: binary-unshown
#[tokio::test]
async fn a_binary_file_is_neither_read_nor_edited() {
    let holder = tempfile::tempdir().unwrap();
    let far = format!("{}\n{SECRET}\0\n", "x".repeat(10_000));
    let files: [(&str, Vec<u8>); 4] = [
        ("near", format!("{SECRET}\0\n").into_bytes()),
        ("not-utf8", [&b"\xfd\xfc\xfb\xfa"[..], SECRET.as_bytes()].concat()),
        ("no.ipynb", format!("{SECRET}\0\n").into_bytes()),
        ("far", far.into_bytes()),
    ];
    let world = world(holder.path());
    for (name, bytes) in files {
        let path = holder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let refused = format!("{name} is a binary file, {} bytes", bytes.len());
        for action in edits(name) {
            let prepared = world.prepare(&action);
            let settled = prepared.settled.unwrap();
            assert_eq!((settled.status.0, &settled.text), (415, &refused), "{action:?}");
            assert!(prepared.fresh.is_empty() && prepared.shown.is_empty(), "{action:?}");
        }
        for action in reads(name) {
            let done = look(&world, &action).await;
            // A line of text before the NUL may be told.
            let is_far = done.status.0 == 200 && !done.text.contains("needle");
            assert!(done.text == refused || (name == "far" && is_far), "{action:?}: {done:?}");
        }
        let find = Find { text: Some("needle".to_owned()), ..Find::default() };
        let found = look(&world, &Action::Find(find)).await;
        assert!(!found.text.contains("other bytes"), "{name}: {}", found.text);
        assert!(found.text.contains("1 binary"), "{name}: {}", found.text);
        assert_eq!(fs::read(&path).unwrap(), bytes);
        fs::remove_file(&path).unwrap();
    }
}

// keeps: binary-unshown
#[tokio::test]
async fn a_binary_file_is_still_carried_and_removed() {
    let holder = tempfile::tempdir().unwrap();
    fs::write(holder.path().join("b"), b"\0\x01").unwrap();
    let world = world(holder.path());
    let copied = world.prepare(&Action::Copy(Carry::of("b", "c")));
    assert_eq!(copied.changes.len(), 1, "{copied:?}");
    let removed = world.prepare(&Action::Kill { path: "b".to_owned() });
    assert_eq!(removed.changes.len(), 1, "{removed:?}");
}
