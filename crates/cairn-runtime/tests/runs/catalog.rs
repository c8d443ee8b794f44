//! The catalog of many files, as one process after another tells it.

use crate::kit::{block_on, store};
use cairn_runtime::{Answer, Client};
use cairn_testkit::TempHome;
use cairn_types::{By, Policy};
use cairn_world::{Settings, Workspace, World};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a process that begins now is answered, and how long that took.
fn read(holder: &Path, args: &str) -> (Answer, Duration) {
    let root = holder.join("root");
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
    let store = store(&holder.join("home"));
    block_on(async {
        let mut client = Client::here(store, world, &root, Policy::default()).await.unwrap();
        let begun = Instant::now();
        let answer = client.op("read", args, By::Person("ada".to_owned())).await.unwrap();
        (answer, begun.elapsed())
    })
}

/// What the catalog says of a file that stands in this line of it, and how long it took to be told.
fn told(holder: &Path, line: usize) -> (String, Duration) {
    let args = format!(r#"{{"path":"cairn:///catalog.json","offset":{line},"limit":1}}"#);
    let (answer, took) = read(holder, &args);
    (answer.text, took)
}

/// Where the file stands that is changed.
const LINE: usize = 3353;

/// What is told of it when it has so many tokens and lines.
fn row(tokens: usize, lines: usize) -> String {
    format!(
        r#"{{"path":"d7/f107.rs","channels":{{"body":{{"mimetype":"text/x-rust","tokens":{tokens},"lines":{lines}}}}}}}"#
    )
}

// keeps: noticed-cheaply
#[test]
fn a_catalog_is_kept_from_process_to_process_and_told_as_the_files_are() {
    let holder = TempHome::new();
    let root = holder.path().join("root");
    for n in 0..5_000 {
        let folder = root.join(format!("d{}", n % 100));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("f{n}.rs")), "a line\n".repeat(1 + n % 300)).unwrap();
    }
    std::thread::sleep(Duration::from_millis(40));
    let (text, first) = told(holder.path(), LINE);
    assert!(text.contains(&row(189, 108)), "{text}");
    let kept = || {
        let surveys = fs::read_dir(holder.path().join("home/surveys")).unwrap();
        let kept: Vec<u64> = surveys.map(|one| one.unwrap().metadata().unwrap().ino()).collect();
        kept
    };
    let before = kept();
    assert_eq!(before.len(), 1);
    let (text, second) = told(holder.path(), LINE);
    assert!(text.contains(&row(189, 108)), "{text}");
    assert_eq!(kept(), before, "nothing is written anew");
    fs::write(root.join("d7/f107.rs"), "two\nlines\n").unwrap();
    let (text, third) = told(holder.path(), LINE);
    assert!(text.contains(&row(3, 2)), "{text}");
    let (_, nothing) = read(holder.path(), r#"{"path":"d7/f107.rs"}"#);
    println!(
        "a catalog of 5,000 files: first {first:?}, by another process {second:?}, after an edit {third:?}; \
         an op that reads one file {nothing:?}"
    );
}
