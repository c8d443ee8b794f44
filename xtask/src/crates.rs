//! The dependency table of ARCHITECTURE.md: a crate uses only crates above it.

use anyhow::{Context, Result};
use std::path::Path;

/// What breaks the table.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let table = table(root)?;
    let mut problems = Vec::new();
    for entry in std::fs::read_dir(root.join("crates"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(place) = table.iter().position(|known| *known == name) else {
            problems.push(format!("ARCHITECTURE.md's crate table does not list {name}"));
            continue;
        };
        let manifest = std::fs::read_to_string(root.join("crates").join(&name).join("Cargo.toml"))?;
        let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for used in normal.lines().filter_map(|line| line.split_once(".workspace").map(|(n, _)| n))
        {
            if table.iter().position(|known| known == used).is_some_and(|used| used >= place) {
                problems.push(format!(
                    "{name} uses {used}, which does not stand above it in the crate table"
                ));
            }
        }
    }
    Ok(problems)
}

fn table(root: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md"))?;
    let section =
        text.split("\n## Crates").nth(1).context("ARCHITECTURE.md has no section Crates")?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    Ok(names.map(str::to_owned).collect())
}
