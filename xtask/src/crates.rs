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
        for used in dependencies(&manifest) {
            let Some(above) = table.iter().position(|known| known == used) else { continue };
            let alone = name == "cairn-protocol" || (used == "cairn-protocol" && name != "cairn");
            if above >= place || alone {
                problems.push(format!("{name} may not use {used}; see the crate table"));
            }
        }
    }
    Ok(problems)
}

/// What a crate depends on outside its tests.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let tables = manifest.split("\n[").filter(|table| table.starts_with("dependencies]"));
    tables.flat_map(str::lines).filter_map(|line| line.split_once(".workspace").map(|(n, _)| n))
}

fn table(root: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md"))?;
    let section =
        text.split("\n## Crates").nth(1).context("ARCHITECTURE.md has no section Crates")?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    Ok(names.map(str::to_owned).collect())
}
