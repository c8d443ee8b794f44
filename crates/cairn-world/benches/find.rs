//! Measures `find` beside ripgrep on one tree: medians of alternating rounds, in one table. The tree
//! lies in memory where the system has such a place, so that what is compared is work, not a disk.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench talks, and fails by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "starts the program it is compared with")]

use cairn_types::{Action, Find, Status};
use cairn_world::{Performed, Settings, Workspace, World};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const FOLDERS: usize = 250;
const FILES_PER_FOLDER: usize = 20;
const ROUNDS: usize = 31;

/// One thing to find, and how ripgrep is asked for it.
struct Case {
    name: &'static str,
    glob: Option<&'static str>,
    text: Option<&'static str>,
    rg: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "rare literal",
        glob: None,
        text: Some("needle_7f3a"),
        rg: &["-n", "-F", "needle_7f3a"],
    },
    Case { name: "common literal", glob: None, text: Some("result"), rg: &["-n", "-F", "result"] },
    Case {
        name: "a line in every file",
        glob: None,
        text: Some("value 1 of module"),
        rg: &["-n", "-F", "value 1 of module"],
    },
    Case {
        name: "regex with classes",
        glob: None,
        text: Some(r"/fn [a-z]+_[0-9]+_5[0-9]\(\w+: u32\)/"),
        rg: &["-n", r"fn [a-z]+_[0-9]+_5[0-9]\(\w+: u32\)"],
    },
    Case {
        name: "any case",
        glob: None,
        text: Some("/NEEDLE_7F3A/i"),
        rg: &["-n", "-i", "NEEDLE_7F3A"],
    },
    Case { name: "glob alone", glob: Some("*.toml"), text: None, rg: &["--files", "-g", "*.toml"] },
];

fn main() {
    // `cargo test --all-targets` starts this as well; only `cargo bench` says so.
    if !std::env::args().any(|arg| arg == "--bench") {
        return println!("timings are taken by cargo bench");
    }
    let holder = match tempfile::tempdir_in("/dev/shm") {
        Ok(holder) => holder,
        Err(_) => tempfile::tempdir().unwrap(),
    };
    let bytes = grow(holder.path());
    let world = World::new(
        Workspace::open(holder.path()).unwrap(),
        Settings::new("/bin/sh".into(), Vec::new()),
    );
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rg = ripgrep();
    println!(
        "{} files, {bytes} bytes, {ROUNDS} rounds each, medians in ms",
        FOLDERS * FILES_PER_FOLDER
    );
    let start_up = rg
        .as_deref()
        .map(|rg| median((0..ROUNDS).map(|_| asked(rg, holder.path(), &["--version"])).collect()));
    match start_up {
        Some(start_up) => println!("rg starts in {:.2} ms\n", ms(start_up)),
        None => println!("rg was not found on PATH or in target/rg/bin: its columns stay empty\n"),
    }
    println!("| find | cairn | rg | rg --sort path | ratio | ratio without rg's start |");
    println!("|---|---|---|---|---|---|");
    for case in CASES {
        let action = Action::Find(Find {
            glob: case.glob.map(str::to_owned),
            text: case.text.map(str::to_owned),
            ..Find::default()
        });
        let mut times = [const { Vec::new() }; 3];
        let mut done = ask(&runtime, &world, &action);
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            done = ask(&runtime, &world, &action);
            times[0].push(begun.elapsed());
            if let Some(rg) = &rg {
                let args = [&["--hidden"], case.rg].concat();
                times[1].push(asked(rg, holder.path(), &args));
                times[2].push(asked(rg, holder.path(), &[&["--sort", "path"], &*args].concat()));
            }
        }
        if let Some(rg) = &rg {
            same(case, rg, holder.path(), &done.text);
        }
        println!("{}", row(case.name, times.map(median), start_up));
    }
}

fn row(name: &str, [ours, plain, sorted]: [Duration; 3], start_up: Option<Duration>) -> String {
    let Some(start_up) = start_up else {
        return format!("| {name} | {:.1} | | | | |", ms(ours));
    };
    let best = plain.min(sorted);
    format!(
        "| {name} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} |",
        ms(ours),
        ms(plain),
        ms(sorted),
        ms(ours) / ms(best),
        ms(ours) / ms(best.saturating_sub(start_up)).max(0.001),
    )
}

fn ask(runtime: &tokio::runtime::Runtime, world: &World, action: &Action) -> Performed {
    let cancel = CancellationToken::new();
    let done = runtime.block_on(world.look(action, "", &cancel));
    assert_eq!(done.status, Status::OK, "{action:?}: {}", done.text);
    done
}

/// Fails unless both found the same number of results, or we stopped counting.
fn same(case: &Case, rg: &Path, tree: &Path, told: &str) {
    let theirs = output(rg, tree, &[&["--hidden"], case.rg].concat()).lines().count();
    let rows = told.lines().filter(|line| case.text.is_none() || line.contains(":\t"));
    let (rows, last) = (rows.count(), told.lines().last().unwrap_or_default());
    let ours = match last.split_once(" more").map(|(n, _)| n.parse::<usize>()) {
        Some(Ok(more)) => rows + more - usize::from(case.text.is_none()),
        Some(Err(_)) => return assert!(theirs > 10_000, "{}: {theirs}", case.name),
        None => rows,
    };
    assert_eq!(ours, theirs, "{}", case.name);
}

/// How long ripgrep takes from its start until its last byte was read.
fn asked(rg: &Path, tree: &Path, args: &[&str]) -> Duration {
    let begun = Instant::now();
    output(rg, tree, args);
    begun.elapsed()
}

fn output(rg: &Path, tree: &Path, args: &[&str]) -> String {
    let output = Command::new(rg)
        .args(args)
        .current_dir(tree)
        .stdin(Stdio::null())
        .env("RIPGREP_CONFIG_PATH", "")
        .output()
        .unwrap();
    assert!(output.status.success() && !output.stdout.is_empty(), "rg {args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn ripgrep() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rg/bin");
    std::env::split_paths(&path).chain([built]).map(|dir| dir.join("rg")).find(|rg| rg.is_file())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A tree like that of a project: packages with sources, a few with rules of their own, folders that
/// the rules leave out. Says how many bytes of it are looked at.
fn grow(root: &Path) -> usize {
    let put = |path: &str, content: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        content.len()
    };
    put(".git/HEAD", "ref: refs/heads/main\n");
    put(".gitignore", "target/\nnode_modules/\n*.log\n*.o\n/build\n.env\n!keep.log\n");
    let mut bytes = 0;
    for folder in 0..FOLDERS {
        let path = format!("packages/p{}/src/m{folder}", folder % 25);
        if folder < 25 {
            put(&format!("packages/p{folder}/.gitignore"), "/dist\n*.tmp\ngenerated/**\n");
            put(&format!("packages/p{folder}/dist/out.js"), "result needle_7f3a\n");
            put(&format!("packages/p{folder}/target/debug/x.log"), "result needle_7f3a\n");
        }
        for file in 0..FILES_PER_FOLDER {
            let kind = ["rs", "rs", "rs", "ts", "py", "md", "toml"][file % 7];
            bytes += put(&format!("{path}/file{file}.{kind}"), &source(folder, file));
        }
    }
    bytes
}

/// Some lines of code, between 0.5 and 16 KB of them.
fn source(folder: usize, file: usize) -> String {
    let mut text = String::new();
    let functions = 3 + (folder * 31 + file * 17) % 60;
    for n in 0..functions {
        let _ = writeln!(text, "/// Computes value {n} of module {folder}, file {file}.");
        let _ = writeln!(text, "pub fn compute_{folder}_{n}(input: u32) -> Option<u64> {{");
        let _ =
            writeln!(text, "    let scaled = u64::from(input).checked_mul({});", n * 7 + folder);
        let _ = writeln!(text, "    // {} is kept for callers that page through rows", n * 13);
        if n % 2 == 0 {
            let _ = writeln!(text, "    let result = scaled?.checked_add({file})?;");
        }
        let _ = writeln!(text, "    scaled.filter(|value| *value > {n})\n}}\n");
    }
    if (folder * FILES_PER_FOLDER + file).is_multiple_of(397) {
        let _ = writeln!(text, "// needle_7f3a");
    }
    text
}
