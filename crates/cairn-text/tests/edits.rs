//! The edit language, case by case: what an edit makes of a file, or in which words it is refused.
//! Each folder of `edits` holds `before` (absent: no file), `edit`, and one of `after`, `refused` and
//! `deleted`; `notes` where something was tolerated.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

use cairn_text::patch::{self, Patched};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The files of one case.
fn case(folder: &Path) -> BTreeMap<String, String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (name(&path), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

/// What an edit comes to, as the files that should stand beside it.
fn came_to(before: Option<&str>, edit: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut put = |name: &str, text: String| files.insert(name.to_owned(), text);
    match patch::apply(before, edit) {
        Ok(Patched::Deleted) => drop(put("deleted", String::new())),
        Ok(Patched::Edited(edited)) => {
            let lines = edited.content.lines().count().max(1);
            for (first, last) in &edited.spans {
                assert!(1 <= *first && first <= last && *last <= lines + 1, "{:?}", edited.spans);
            }
            put("after", edited.content);
            if !edited.notes.is_empty() {
                put("notes", edited.notes.join("\n") + "\n");
            }
        }
        Err(problem) => drop(put("refused", format!("{problem}\n"))),
    }
    files
}

#[test]
fn every_edit_comes_to_what_stands_beside_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edits");
    let mut folders: Vec<_> =
        std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 130, "only {} cases", folders.len());
    let mut wrong = String::new();
    for (number, folder) in (1..).zip(&folders) {
        let name = folder.file_name().unwrap().to_string_lossy();
        assert_eq!(name, format!("{number:03}"), "cases are numbered without gaps");
        let mut files = case(folder);
        let before = files.remove("before");
        let edit = files.remove("edit").unwrap_or_else(|| panic!("{name} has no edit"));
        let got = came_to(before.as_deref(), &edit);
        if got != files {
            let _ = write!(wrong, "\n{name}\n{edit}\nexpected {files:#?}\ngot {got:#?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
