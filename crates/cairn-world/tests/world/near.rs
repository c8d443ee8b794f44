//! What is told of a path that is not there: what is, of nearly the same name.

use cairn_types::{Action, Carry, Edit, EditBody, Exchange, Read};
use cairn_world::{Settings, Workspace, World};
use std::fs;
use tokio_util::sync::CancellationToken;

fn read(path: &str) -> Action {
    Action::Read(Read { path: path.to_owned(), first: 1, ..Read::default() })
}

fn carry(from: &str) -> Carry {
    Carry { from: from.to_owned(), to: "new.md".to_owned(), tags: Vec::new() }
}

fn edit(path: &str, old: &str) -> Action {
    let exchange = Exchange { old: old.to_owned(), new: "new".to_owned(), all: false };
    let body = EditBody::Replace(vec![exchange]);
    Action::Edit(Edit { path: Some(path.to_owned()), scope: None, tags: Vec::new(), body })
}

// keeps: near-names
#[tokio::test]
async fn a_path_that_is_not_there_names_what_is() {
    let holder = tempfile::tempdir().unwrap();
    let root = holder.path();
    for (path, text) in [
        ("notes.md", "one\ntwo\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/deep/list.txt", "x\n"),
        (".gitignore", "secret.md\n"),
        ("secret.md", "s\n"),
    ] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = World::new(Workspace::open(root).unwrap(), settings);
    let check = async |action: Action, expected: &str| {
        let told = match world.prepare(&action).settled {
            Some(settled) => settled,
            None => world.look(&action, "", &CancellationToken::new()).await,
        };
        assert_eq!(format!("{} {}", told.status, told.text), expected);
    };
    check(read("note.md"), "404 note.md does not exist; the nearest is notes.md").await;
    check(read("./NOTES.txt"), "404 ./NOTES.txt does not exist; the nearest is notes.md").await;
    check(read("main.rs"), "404 main.rs does not exist; the nearest is src/main.rs").await;
    check(read("scr/main.rs"), "404 scr/main.rs does not exist; the nearest is src/main.rs").await;
    check(read("scr"), "404 scr does not exist; the nearest is src").await;
    let listed = Action::List { path: "src/dep".to_owned(), depth: 1 };
    check(listed, "404 src/dep does not exist; the nearest is src/deep").await;
    check(
        Action::Kill { path: "note.md".to_owned() },
        "404 note.md does not exist; the nearest is notes.md",
    )
    .await;
    check(Action::Move(carry("note.md")), "404 note.md does not exist; the nearest is notes.md")
        .await;
    check(Action::Copy(carry("note.md")), "404 note.md does not exist; the nearest is notes.md")
        .await;
    check(edit("note.md", "two"), "404 note.md does not exist; the nearest is notes.md").await;
    // Nothing is like it, or only what is no member.
    check(read("unlike.toml"), "404 unlike.toml does not exist").await;
    check(read("secrets.md"), "404 secrets.md does not exist").await;
    // What was to be replaced is told as it stands.
    let told = world.prepare(&edit("notes.md", "twoo")).settled.unwrap();
    assert!(told.text.contains("two") && told.text.contains('2'), "{}", told.text);
}
