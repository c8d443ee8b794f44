//! Project chores: `cargo xtask tidy` checks what no compiler does.

#![allow(clippy::print_stderr, reason = "a chore talks to whoever runs it")]

mod crates;
mod keys;
mod licences;
mod promises;
mod sizes;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default();
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy(&root),
        _ => {
            eprintln!("usage: cargo xtask tidy");
            ExitCode::from(2)
        }
    }
}

/// A check finds problems, or cannot look.
type Check = fn(&Path) -> anyhow::Result<Vec<String>>;

const CHECKS: [Check; 6] =
    [crates::check, keys::check, sources::check, sizes::check, promises::check, licences::check];

fn tidy(root: &Path) -> ExitCode {
    let mut problems = Vec::new();
    for check in CHECKS {
        match check(root) {
            Ok(found) => problems.extend(found),
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    for problem in &problems {
        eprintln!("tidy: {problem}");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All files beneath these folders with this ending, in order.
fn files(root: &Path, folders: &[&str], ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" {
                todo.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
