//! Edits in every form, on real files: all of a call happens or none of it, what was tolerated is
//! said, and what could not be done shows the file.

use cairn_types::{Action, Edit, EditBody, Exchange, Hash};
use cairn_world::{
    Acting, EarlierChange, EarlierEdit, EarlierInReply, Performed, Prepared, Settings, Workspace,
    World,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tokio_util::sync::CancellationToken;

fn world(root: &Path) -> World {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    World::new(Workspace::open(root).unwrap(), settings)
}

async fn act(world: &World, action: &Action, prepared: &Prepared) -> Performed {
    let cancel = CancellationToken::new();
    let acting = Acting { row: "log:///1/1/1", cancel: &cancel, on_output: &mut |_| {} };
    world.act(action, prepared, acting).await
}

/// The tree's files and their contents.
fn files(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(&dir).unwrap().flatten() {
            let path = item.path();
            match path.is_dir() {
                true => todo.push(path),
                false => {
                    let name = path.strip_prefix(root).unwrap().display().to_string();
                    found.push((name, fs::read_to_string(&path).unwrap()));
                }
            }
        }
    }
    found.sort();
    found
}

/// Does an edit in a tree of these files; tells the answer and the files that came of it.
async fn check(before: &[(&str, &str)], action: Action, told: &str, after: &[(&str, &str)]) {
    let holder = tempfile::tempdir().unwrap();
    for (path, content) in before {
        let path = holder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let world = world(holder.path());
    let prepared = world.prepare(&action);
    let done = match prepared.settled {
        Some(settled) => settled,
        None => act(&world, &action, &prepared).await,
    };
    assert_eq!(format!("{} {}", done.status, done.text), told, "{action:?}");
    let after: Vec<(String, String)> =
        after.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    assert_eq!(files(holder.path()), after, "{action:?}");
}

fn replace(path: &str, edits: &[(&str, &str)]) -> Action {
    let exchange = |(old, new): &(&str, &str)| Exchange {
        old: (*old).to_owned(),
        new: (*new).to_owned(),
        all: false,
    };
    let body = EditBody::Replace(edits.iter().map(exchange).collect());
    Action::Edit(Edit::of(Some(path.to_owned()), body))
}

fn patch(path: Option<&str>, text: &str) -> Action {
    Action::Edit(Edit::of(path.map(str::to_owned), EditBody::Patch(text.to_owned())))
}

#[tokio::test]
async fn several_replacements_happen_together_or_not_at_all() {
    let file = [("f", "one\ntwo\nthree\n")];
    check(
        &file,
        replace("f", &[("one", "1"), ("three", "3")]),
        "200 updated f\n1\t1\n2\ttwo\n3\t3",
        &[("f", "1\ntwo\n3\n")],
    )
    .await;
    check(
        &file,
        replace("f", &[("one", "1"), ("nowhere to be found", "3")]),
        "409 f: edit 2 of 2: the text to replace was not found",
        &file,
    )
    .await;
}

#[tokio::test]
async fn what_was_tolerated_is_said() {
    check(
        &[("f.rs", "fn f() {\n    let x = 1;\n    let y = 2;\n}\n")],
        replace("f.rs", &[("let x = 1;\nlet y = 2;", "let x = 3;\nlet y = 4;")]),
        "200 updated f.rs\n(indentation differed: the file uses 4 more spaces)\n1\tfn f() {\n2\t    let x = 3;\n3\t    let y = 4;\n4\t}",
        &[("f.rs", "fn f() {\n    let x = 3;\n    let y = 4;\n}\n")],
    )
    .await;
}

#[tokio::test]
async fn a_patch_changes_one_file_or_several_together() {
    let tree = [("a.txt", "one\ntwo\n"), ("src/b.txt", "b\n"), ("gone.txt", "g\n")];
    let all = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: new/c.txt\n+c\n*** Delete File: gone.txt\n*** Update File: src/b.txt\n*** Move to: src/d.txt\n@@\n-b\n+d\n*** End Patch\n";
    check(
        &tree,
        patch(None, all),
        "200 updated a.txt\n1\tone\n2\t2\ncreated new/c.txt, 1 line\nremoved gone.txt\ncreated src/d.txt, 1 line\nremoved src/b.txt",
        &[("a.txt", "one\n2\n"), ("new/c.txt", "c\n"), ("src/d.txt", "d\n")],
    )
    .await;
    let half = all.replace("-b\n", "-not there at all\n");
    let told = "409 src/b.txt: part 1 of the patch: the text to replace was not found";
    check(&tree, patch(None, &half), told, &sorted(&tree)).await;
    check(
        &[("a.txt", "one\ntwo\n")],
        patch(Some("a.txt"), "s/o/0/g"),
        "200 updated a.txt\n1\t0ne\n2\ttw0",
        &[("a.txt", "0ne\ntw0\n")],
    )
    .await;
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
    for path in [None, Some("a.txt"), Some("./a.txt")] {
        let told = "200 updated a.txt\n1\t1\n2\ttwo";
        check(&[("a.txt", "one\ntwo\n")], patch(path, diff), told, &[("a.txt", "1\ntwo\n")]).await;
    }
}

fn sorted<'a>(tree: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut tree = tree.to_vec();
    tree.sort_unstable();
    tree
}

#[tokio::test]
async fn a_patch_that_cannot_be_is_refused_with_a_reason_and_nothing_changes() {
    let tree = [("a.txt", "one\n")];
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n";
    for (action, told) in [
        (patch(Some("b.txt"), diff), "400 the patch is for a.txt, not for b.txt"),
        (patch(None, "s/a/b/"), "400 the patch names no file, and no path is given"),
        (
            patch(Some("b.txt"), "s/a/b/"),
            "404 b.txt: the patch changes a file that does not exist; the nearest is a.txt",
        ),
        (
            patch(None, "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch"),
            "409 a.txt: the patch creates a file that exists already",
        ),
        (
            patch(None, "*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch"),
            "403 ../x leads outside the workspace",
        ),
    ] {
        check(&tree, action, told, &tree).await;
    }
}

#[tokio::test]
async fn a_moved_file_keeps_its_mode() {
    let once = "*** Update File: run.sh\n*** Move to: go.sh\n@@\n-echo a\n+echo b\n";
    let then = "*** Update File: go.sh\n@@\n-echo b\n+echo c\n";
    let on = "*** Update File: go.sh\n*** Move to: run.sh2\n@@\n-echo b\n+echo c\n";
    for (parts, name) in [
        (once.to_owned(), "go.sh"),
        (format!("{once}{then}"), "go.sh"),
        (format!("{once}{on}"), "run.sh2"),
    ] {
        let holder = tempfile::tempdir().unwrap();
        let file = holder.path().join("run.sh");
        fs::write(&file, "echo a\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let world = world(holder.path());
        let action = patch(None, &format!("*** Begin Patch\n{parts}*** End Patch\n"));
        let prepared = world.prepare(&action);
        let done = act(&world, &action, &prepared).await;
        assert_eq!(done.status.0, 200, "{}", done.text);
        let mode = fs::metadata(holder.path().join(name)).unwrap().permissions().mode();
        assert_eq!((mode & 0o777, file.exists()), (0o755, false), "{parts}");
        assert_eq!(files(holder.path()).len(), 1, "{parts}");
    }
}

#[tokio::test]
async fn a_patch_that_removes_a_link_removes_no_target() {
    let git = "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-target\n\\ No newline at end of file\n";
    let lines = "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\n";
    let section =
        |text: &str| patch(None, &format!("*** Begin Patch\n*** {text}\n*** End Patch\n"));
    let through = "409 link is a link to target; name the one that is to go";
    for (action, told) in [
        (section("Delete File: link"), "200 removed link"),
        (section("Delete File: dangling"), "200 removed dangling"),
        (patch(None, git), "200 removed link"),
        (patch(None, lines), through),
        (section("Update File: link\n*** Move to: there\n@@\n-text\n+new"), through),
        (section("Delete File: link\n*** Delete File: target"), "200 removed link\nremoved target"),
    ] {
        let holder = tempfile::tempdir().unwrap();
        let root = holder.path();
        fs::write(root.join("target"), "text\n").unwrap();
        std::os::unix::fs::symlink("target", root.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
        let world = world(root);
        let prepared = world.prepare(&action);
        let done = match &prepared.settled {
            Some(settled) => settled.clone(),
            None => act(&world, &action, &prepared).await,
        };
        assert_eq!(format!("{} {}", done.status, done.text), told, "{action:?}");
        assert_eq!(root.join("target").exists(), !told.contains("removed target"), "{action:?}");
        let gone = |name: &str| told.contains(&format!("removed {name}"));
        for name in ["link", "dangling"] {
            assert_eq!(!root.join(name).is_symlink(), gone(name), "{action:?}");
        }
        let back: Vec<_> = done.changes.iter().map(cairn_world::inverse).collect();
        let contents = |hash: &cairn_types::Hash| {
            let is = |bytes: &&Vec<u8>| cairn_types::Hash::of(bytes) == *hash;
            prepared.contents.iter().find(is).cloned()
        };
        world.apply(&back, &contents).unwrap();
        assert_eq!(fs::read_to_string(root.join("link")).unwrap(), "text\n");
    }
}

#[tokio::test]
async fn a_part_that_changes_nothing_does_not_keep_the_others_from_it() {
    let tree = [("a.txt", "one\n"), ("b.txt", "b\n")];
    let both = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: b.txt\n@@\n-b\n+b\n*** End Patch";
    check(
        &tree,
        patch(None, both),
        "200 updated a.txt\n1\t1",
        &[("a.txt", "1\n"), ("b.txt", "b\n")],
    )
    .await;
    let none = "*** Begin Patch\n*** Update File: b.txt\n@@\n-b\n+b\n*** End Patch";
    let holder = tempfile::tempdir().unwrap();
    fs::write(holder.path().join("b.txt"), "b\n").unwrap();
    let settled = world(holder.path()).prepare(&patch(None, none)).settled.unwrap();
    assert_eq!(settled.status.0, 304, "{}", settled.text);
}

#[tokio::test]
async fn an_address_of_a_scheme_that_is_not_there_is_no_path() {
    let body = EditBody::Whole { content: "x".to_owned() };
    let write = Action::Edit(Edit::of(Some("log:///1/2/3".to_owned()), body));
    let told = "501 there is no scheme log; there is none here";
    check(&[], write, told, &[]).await;
}

/// A change of a file by an earlier edit of the same reply, or by a command where there is no edit.
fn earlier(path: &str, (before, after): (&str, &str), edit: Option<Action>) -> EarlierChange {
    let hash = |text: &str| Some(Hash::of(text.as_bytes()));
    let edit = edit.map(|action| match action {
        Action::Edit(edit) => EarlierEdit {
            edit,
            before: Some(before.as_bytes().to_vec()),
            after: after.as_bytes().to_vec(),
        },
        other => panic!("{other:?} is no edit"),
    });
    EarlierChange { path: path.to_owned(), before: hash(before), after: hash(after), edit }
}

/// What a write of line `scope` after earlier changes of the same reply makes of a file, or its refusal.
fn write_line_after(
    tree: &[(&str, &str)],
    (path, scope): (&str, &str),
    changes: Vec<EarlierChange>,
) -> String {
    let holder = tempfile::tempdir().unwrap();
    for (path, content) in tree {
        let path = holder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let body = EditBody::Whole { content: "X".to_owned() };
    let edit = Edit { scope: Some(scope.to_owned()), ..Edit::of(Some(path.to_owned()), body) };
    let seen_before = changes.iter().take(1).map(|change| (change.path.clone(), change.before));
    let seen_before = seen_before.collect();
    let earlier = EarlierInReply { seen_before, changes };
    let prepared = world(holder.path()).prepare_in_reply(&Action::Edit(edit), &earlier);
    match prepared.settled {
        Some(settled) => format!("{} {}", settled.status, settled.text),
        None => String::from_utf8(prepared.contents.last().unwrap().clone()).unwrap(),
    }
}

// keeps: lines-in-one-reply
#[test]
fn a_command_that_changed_only_the_mode_of_a_file_is_no_conflict_with_a_line_scope() {
    let (old, new) = ("a\nb\nc\n", "1\n2\nb\nc\n");
    let grown = || earlier("f", (old, new), Some(replace("f", &[("a\n", "1\n2\n")])));
    let chmod = |content| earlier("f", (content, content), None);
    let write = |changes| write_line_after(&[("f", new)], ("f", "3"), changes);
    assert_eq!(write(vec![chmod(old), grown(), chmod(new)]), "1\n2\nb\nX\n");
    let told = write(vec![earlier("f", ("other", old), None), grown()]);
    assert!(told.starts_with("409 "), "{told}");
}

// keeps: lines-in-one-reply
#[test]
fn a_line_scope_after_a_patch_of_several_files_means_the_file_before_it() {
    let patch_of = |text: &str| Some(patch(None, text));
    let (old, new) = ("a\nb\nc\n", "1\n2\nb\nc\n");
    let sections = "*** Begin Patch\n*** Update File: d/f\n@@\n-x\n+y\n*** Update File: ./f\n@@\n-a\n+1\n+2\n*** End Patch\n";
    let tree = [("d/f", "y\n"), ("f", new)];
    let write = |scope, text| {
        write_line_after(&tree, ("f", scope), vec![earlier("f", (old, new), patch_of(text))])
    };
    assert_eq!(write("3", sections), "1\n2\nb\nX\n");
    let overlap = "409 f: 1 overlaps an earlier edit of the same reply; make one edit of them";
    assert_eq!(write("1", sections), overlap);
    // Both parts of a patch that speaks of the file twice.
    let twice = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+1\n*** Update File: f\n@@\n-1\n+1\n+2\n*** Update File: d/f\n@@\n-x\n+y\n*** End Patch\n";
    assert_eq!(write("3", twice), "1\n2\nb\nX\n");
    // What it says of the file is not what was made of it.
    let other = sections.replace("+2\n", "+3\n");
    assert!(write("3", &other).starts_with("409 "));
}

// keeps: ops-by-the-table
#[tokio::test]
async fn an_address_with_one_slash_in_a_patch_is_refused_with_the_right_spelling() {
    let told =
        "400 file:/x is no address; it is written file:///x, and a file of that name ./file:/x";
    for text in [
        "*** Begin Patch\n*** Add File: file:/x\n+x\n*** End Patch\n",
        "--- /dev/null\n+++ b/file:/x\n@@ -0,0 +1 @@\n+x\n",
        "*** Begin Patch\n*** Update File: f\n*** Move to: file:/x\n@@\n-f\n+x\n*** End Patch\n",
        "*** Begin Patch\n*** Delete File: f\n*** Add File: file:/x\n+x\n*** End Patch\n",
    ] {
        check(&[("f", "f\n")], patch(None, text), told, &[("f", "f\n")]).await;
    }
    let told = "400 known:///x is an entry; a patch without a path changes files, so give edit this path and a patch of it alone";
    let text = "*** Begin Patch\n*** Add File: known:///x\n+x\n*** End Patch\n";
    check(&[("f", "f\n")], patch(None, text), told, &[("f", "f\n")]).await;
    let own = "*** Begin Patch\n*** Add File: ./file:/x\n+x\n*** End Patch\n";
    check(&[], patch(None, own), "201 created file:/x, 1 line", &[("file:/x", "x\n")]).await;
}
