//! No surface names a tool: what a tool is called, and how it is written, is said by its type and its skin alone.

use cairn_surface::native;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => sources(&path, found),
            path => found.push(path),
        }
    }
}

// keeps: surfaces-alike
#[test]
fn no_surface_names_a_tool_a_tag_or_a_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: Vec<PathBuf> =
        ["any.rs", "brief.rs", "asides.rs", "prose.rs"].map(|name| root.join(name)).to_vec();
    for surface in ["tags", "heredoc", "envelope"] {
        sources(&root.join(surface), &mut found);
    }
    let skins = || native::skins().iter();
    let names: Vec<&str> = native::tools()
        .iter()
        .map(|tool| tool.name)
        .chain(skins().flat_map(|skin| skin.tags.iter().chain(skin.words).copied()))
        .collect();
    assert!(names.len() > 30 && found.len() > 25, "{} names, {} files", names.len(), found.len());
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        for name in &names {
            let is_named = code.contains(&format!("\"{name}\""));
            assert!(!is_named, "{} names {name}", path.display());
        }
    }
}
