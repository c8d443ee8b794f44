//! Every source file says in its first line what it owns, and leaves nothing unfinished behind.

use anyhow::Result;
use std::path::Path;

const LONGEST: usize = 700;

/// What the source files lack.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in crate::files(root, &["crates", "xtask"], ".rs")? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if !text.starts_with("//! ") {
            problems.push(format!("{name} does not open with a //! line that says what it owns"));
        }
        if text.lines().count() > LONGEST {
            problems.push(format!("{name} is longer than {LONGEST} lines: it holds two ideas"));
        }
        // Spelled in two halves, so that this file does not find itself.
        for left in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ig", "nore")] {
            if text.contains(left) {
                problems.push(format!("{name} has {left} left in it"));
            }
        }
    }
    Ok(problems)
}
