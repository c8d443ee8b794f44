//! A field that is named like a secret is one: its type is `Secret`, not text that can be printed.

use anyhow::Result;
use std::path::Path;

const NAMES: [&str; 6] = ["key", "api_key", "token", "secret", "password", "proxy"];
const TEXTS: [&str; 4] = ["String", "Option<String>", "Arc<str>", "Box<str>"];

/// The fields that could be printed.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in crate::files(root, &["crates"], ".rs")? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        let fields = text.lines().filter_map(field).filter(|(field, kind)| is_plain(field, kind));
        problems.extend(fields.map(|(field, _)| {
            format!("{name} has a field {field:?} that can be printed; make it a Secret")
        }));
    }
    Ok(problems)
}

/// The name and type of the field that a line declares.
fn field(line: &str) -> Option<(&str, &str)> {
    let (left, kind) = line.trim().strip_suffix(',')?.split_once(": ")?;
    Some((left.rsplit(' ').next()?, kind))
}

fn is_plain(field: &str, kind: &str) -> bool {
    NAMES.contains(&field) && TEXTS.contains(&kind)
}
