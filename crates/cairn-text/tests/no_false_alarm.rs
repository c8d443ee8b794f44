//! The scrubber over the project's own sources: it finds what was put there to be found, and takes
//! nothing else for a secret.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cairn_text::scrub::Scrubber;
use std::path::{Path, PathBuf};

/// Files that hold secrets on purpose: of tests, and worth nothing.
const MADE_UP: [&str; 7] = [
    "crates/cairn-text/src/scrub/tests.rs",
    "crates/cairn-provider/tests/wires/network.rs",
    "crates/cairn-runtime/tests/runs/letters.rs",
    "crates/cairn-provider/tests/wires/tls/server.key",
    "crates/cairn/src/setup/secrets.rs",
    "crates/cairn/tests/cli/secrets.rs",
    "docs/secrets.md",
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if path.ends_with("target") => {}
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn nothing_in_the_projects_own_sources_is_taken_for_a_secret() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in ["crates", "docs", "xtask", "tools", "sample"] {
        files(&root.join(folder), &mut all);
    }
    let scrubber = Scrubber::default();
    let (mut read, mut alarms) = (0, Vec::new());
    for path in all {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        read += 1;
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        if !MADE_UP.contains(&name.as_str()) && !scrubber.finds(&text).is_empty() {
            alarms.push(name);
        }
    }
    assert!(read > 300, "only {read} files were read");
    assert!(alarms.is_empty(), "{alarms:?} of {read}");
}
