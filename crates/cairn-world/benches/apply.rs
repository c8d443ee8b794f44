//! Measures how long it takes to make and to take back many files, beside `cp -a` and `rm -rf` of the same tree on the
//! same disk. `CAIRN_BENCH_FILES` says how many files (10,000 if it is not set), and `TMPDIR` where.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench talks, and fails by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "starts the programs it is compared with")]

use cairn_types::{Change, ContentRef, FileKind, FileState, Hash};
use cairn_world::{Settings, Workspace, World, inverse};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const FILES_PER_FOLDER: usize = 50;
const ROUNDS: usize = 5;
/// So many times as long as `cp -a` and `rm -rf` it may take.
const BOUND: f64 = 4.0;

fn main() {
    // `cargo test --all-targets` starts this as well; only `cargo bench` says so.
    if !std::env::args().any(|arg| arg == "--bench") {
        return println!("timings are taken by cargo bench");
    }
    let files = std::env::var("CAIRN_BENCH_FILES").ok().and_then(|n| n.parse().ok());
    let files: usize = files.unwrap_or(10_000);
    let holder = tempfile::tempdir().unwrap();
    let root = holder.path().join("project");
    fs::create_dir(&root).unwrap();
    let (changes, contents) = tree(files);
    let back: Vec<Change> = changes.iter().rev().map(inverse).collect();
    let world =
        World::new(Workspace::open(&root).unwrap(), Settings::new("/bin/sh".into(), Vec::new()));
    let bytes_of = |hash: &Hash| contents.get(hash).cloned();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let source = holder.path().join("source");
    for round in 0..ROUNDS {
        let made = timed(|| drop(world.apply(&changes, &bytes_of).unwrap()));
        if round == 0 {
            run("cp", &["-a"], &[&root.join("tree"), &source]);
        }
        let removed = timed(|| drop(world.apply(&back, &bytes_of).unwrap()));
        assert!(!root.join("tree").exists());
        ours.push(made + removed);
        let copy = root.join("copy");
        let copied = timed(|| run("cp", &["-a"], &[&source, &copy]));
        let cleared = timed(|| run("rm", &["-rf"], &[&copy]));
        theirs.push(copied + cleared);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "make {:.0} ms, take back {:.0} ms; cp -a {:.0} ms, rm -rf {:.0} ms",
            ms(made),
            ms(removed),
            ms(copied),
            ms(cleared)
        );
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{files} files: {ratio:.2} times as long as cp -a and rm -rf; the bound is {BOUND}");
}

/// A tree of small files as changes, and their contents.
fn tree(files: usize) -> (Vec<Change>, HashMap<Hash, Vec<u8>>) {
    let made = |path: String, state: FileState| Change::between(path, None, Some(state));
    let folder = |path: String| made(path, FileState::of(FileKind::Directory, 0o755));
    let (mut changes, mut contents) = (vec![folder("tree".to_owned())], HashMap::new());
    for n in 0..files {
        let (at, name) = (n / FILES_PER_FOLDER, n % FILES_PER_FOLDER);
        if name == 0 {
            changes.push(folder(format!("tree/{at}")));
        }
        let bytes = format!("file {n}\n").repeat(20 + n % 200).into_bytes();
        let content = ContentRef::of(&bytes);
        contents.insert(content.hash, bytes);
        changes.push(made(format!("tree/{at}/{name}"), FileState::of_file(content, 0o644)));
    }
    (changes, contents)
}

fn run(program: &str, flags: &[&str], paths: &[&Path]) {
    assert!(Command::new(program).args(flags).args(paths).status().unwrap().success());
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
