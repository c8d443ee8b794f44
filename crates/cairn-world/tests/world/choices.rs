//! What is written of an edit that a person took in part, or gave other texts for: real files, every kind of
//! part, and what the model is told of each.

use cairn_types::{Action, Edit, EditBody, Status};
use cairn_world::{Acting, Choice, Prepared, Settings, Workspace, World};
use std::fs;
use std::path::Path;
use tokio_util::sync::CancellationToken;

fn world(root: &Path) -> World {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    World::new(Workspace::open(root).unwrap(), settings)
}

fn patch(text: &str) -> Action {
    let text = format!("*** Begin Patch\n{text}*** End Patch\n");
    Action::Edit(Edit::of(None, EditBody::Patch(text)))
}

fn whole(path: &str, content: &str) -> Action {
    let body = EditBody::Whole { content: content.to_owned() };
    Action::Edit(Edit::of(Some(path.to_owned()), body))
}

/// What is written when these numbers are left out and these texts given: files, and what is told.
async fn written(
    root: &Path,
    action: &Action,
    left: &[u32],
    texts: &[(&str, &str)],
) -> (Status, String) {
    let world = world(root);
    let prepared = world.prepare(action);
    assert_eq!(prepared.settled, None);
    let text = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    let choice = Choice { left: left.to_vec(), texts: texts.iter().map(text).collect() };
    let chosen = world.chosen(&prepared, &choice);
    if let Some(settled) = chosen.settled {
        return (settled.status, settled.text);
    }
    let cancel = CancellationToken::new();
    let acting = Acting { row: "log:///1/1/1", cancel: &cancel, on_output: &mut |_| {} };
    let performed = world.act(action, &chosen, acting).await;
    (performed.status, performed.text)
}

fn labels(prepared: &Prepared) -> Vec<&str> {
    prepared.parts.iter().map(|part| part.label.as_str()).collect()
}

#[tokio::test]
async fn a_moved_file_is_one_part_and_comes_and_goes_together() {
    let action = patch(
        "*** Update File: old.txt\n*** Move to: deep/new.txt\n@@\n-a\n+b\n*** Add File: deep/other.txt\n+o\n",
    );
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    fs::write(at("old.txt"), "a\n").unwrap();
    let prepared = world(temp.path()).prepare(&action);
    assert_eq!(labels(&prepared), ["create deep/new.txt (+1)", "create deep/other.txt (+1)"]);
    assert_eq!(prepared.shown.matches("@@ item 1\n").count(), 2, "{}", prepared.shown);

    let (status, told) = written(temp.path(), &action, &[1, 2], &[]).await;
    assert_eq!(status, Status::UNCHANGED);
    assert_eq!(
        told,
        "deep/new.txt was not created: the person left this out\n\
         old.txt was not removed: the person left this out\n\
         deep/other.txt was not created: the person left this out"
    );
    assert!(at("old.txt").exists() && !at("deep").exists());
    let (status, _) = written(temp.path(), &action, &[1], &[]).await;
    assert_eq!(status, Status::CREATED);
    assert!(
        at("old.txt").exists() && !at("deep/new.txt").exists() && at("deep/other.txt").exists()
    );
    fs::remove_dir_all(at("deep")).unwrap();
    written(temp.path(), &action, &[2], &[("deep/new.txt", "c\r\n")]).await;
    assert!(!at("old.txt").exists() && !at("deep/other.txt").exists());
    assert_eq!(fs::read_to_string(at("deep/new.txt")).unwrap(), "c\r\n");
}

#[tokio::test]
async fn what_was_no_text_is_one_part_and_very_many_hunks_are_one_for_each_file() {
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    fs::write(at("latin"), b"caf\xe9 and a longer line of plain text\n").unwrap();
    let action = whole("latin", "text\n");
    let label = ["edit latin (replaces bytes that are not UTF-8)"];
    assert_eq!(labels(&world(temp.path()).prepare(&action)), label);
    let (_, told) = written(temp.path(), &action, &[], &[("latin", "mine\n")]).await;
    assert!(told.starts_with("updated latin with a text that the person changed."), "{told}");
    assert_eq!(fs::read_to_string(at("latin")).unwrap(), "mine\n");

    let lines = |every: usize| -> String {
        let line = |n: usize| {
            if n.is_multiple_of(every) { format!("new {n}\n") } else { format!("{n}\n") }
        };
        (1..=4000).map(line).collect()
    };
    let parts = |every: usize| {
        fs::write(at("long"), lines(usize::MAX)).unwrap();
        let prepared = world(temp.path()).prepare(&whole("long", &lines(every)));
        (prepared.parts.len(), prepared.parts[0].hunk, prepared.shown.contains(" item "))
    };
    assert_eq!(parts(20), (200, Some(0), true));
    assert_eq!(parts(19), (1, None, false));
    assert_eq!(parts(4000), (1, Some(0), false));
}

#[tokio::test]
async fn a_text_that_is_as_proposed_or_as_it_was_is_told_as_that() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("a");
    fs::write(&file, "1\n").unwrap();
    let action = whole("a", "2\n");
    let same = written(temp.path(), &action, &[], &[("a", "1\n")]).await;
    assert_eq!(same, (Status::UNCHANGED, "a is as it was: the person left this out".to_owned()));
    let (status, told) = written(temp.path(), &action, &[], &[("a", "2\n")]).await;
    assert_eq!((status, told.starts_with("updated a\n")), (Status::OK, true), "{told}");
    let (_, told) =
        written(temp.path(), &whole("a", "3\n"), &[], &[("a", &"x\n".repeat(500))]).await;
    assert!(told.ends_with("… 304 more lines"), "{told}");
}

#[test]
fn the_name_of_a_file_cannot_pass_for_a_hunk() {
    let temp = tempfile::tempdir().unwrap();
    let name = "a\n@@ -1 +1 @@ item 2";
    fs::write(temp.path().join(name), "1\n").unwrap();
    let settled = world(temp.path()).prepare(&whole(name, "2\n")).settled.unwrap();
    assert!(settled.status.0 >= 400 && settled.text.contains("control characters"), "{settled:?}");
}

#[test]
fn a_file_without_a_line_is_numbered_too() {
    let temp = tempfile::tempdir().unwrap();
    let action = patch("*** Add File: empty\n*** Add File: full\n+x\n");
    let prepared = world(temp.path()).prepare(&action);
    assert_eq!(
        prepared.shown,
        "--- empty\n+++ empty\n@@ no lines @@ item 1\n\
         --- /dev/null\n+++ b/full\n@@ -0,0 +1 @@ item 2\n+x\n"
    );
}
