//! Bare repositories among changes: a folder with `HEAD`, `objects` and `refs` is one to git, which then obeys its
//! `config` and runs its `hooks`. Decides nothing.

use crate::git::guarded::Ground;
use cairn_types::{Change, FileKind};
use std::collections::BTreeMap;
use std::path::Path;

/// What makes a folder a repository, or says what git runs there.
const PARTS: [&str; 8] =
    ["head", "objects", "refs", "commondir", "config", "config.worktree", "hooks", "info"];
/// What of it says what git runs.
const OBEYED: [&str; 5] = ["config", "config.worktree", "commondir", "hooks", "info/attributes"];
/// Folders that git ignores and that hold what others wrote: they are asked about as before.
const DEPENDENCIES: [&str; 5] = ["node_modules", ".venv", "site-packages", "vendor", "target"];
/// So many folders of what comes whole are looked through.
const MAX_FOLDERS: usize = 100_000;

/// Finds what changes of bare repositories count as.
pub(crate) struct BareRepositories<'a> {
    ground: &'a Ground<'a>,
}

impl<'a> BareRepositories<'a> {
    pub(crate) fn new(ground: &'a Ground<'a>) -> BareRepositories<'a> {
        BareRepositories { ground }
    }

    /// For each such change its place in the list, and the file of git's own that it counts as.
    pub(crate) fn found(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (folder, parts) in self.folders() {
            if !self.is_repository(&folder, |path| self.ground.is_there_after(path)) {
                continue;
            }
            let was = self.is_repository(&folder, |path| self.ground.is_there_before(path));
            let is_obeyed = |name: &&str| self.ground.is_there_after(&joined(&folder, name));
            let becomes = !was && OBEYED.iter().any(is_obeyed);
            for (at, rest) in parts {
                let name = OBEYED.iter().find(|name| is_in(&rest, name));
                match name {
                    Some(_) => found.push((at, joined(&folder, &format!(".git/{rest}")))),
                    None if becomes && !rest.contains('/') => {
                        found.push((at, joined(&folder, ".git/config")));
                    }
                    None => {}
                }
            }
        }
        let whole = |(_, change): &(usize, &Change)| is_whole_directory(change);
        for (at, change) in self.ground.changes.iter().enumerate().filter(whole) {
            let made = self.ground.in_layer(&change.path).and_then(|top| repository_in(&top));
            found.extend(made.map(|inner| {
                let folder = joined(&change.path, &inner);
                (at, joined(&folder, ".git/config"))
            }));
        }
        found
    }

    /// The folders of which a part is changed that matters, with the places of those changes and their paths in the
    /// folder. None in a repository's own `.git`, whose names say all.
    fn folders(&self) -> BTreeMap<String, Vec<(usize, String)>> {
        let mut folders: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        let files = self.ground.changes.iter().enumerate();
        for (at, change) in files.filter(|(_, change)| change.entry().is_none()) {
            let path = change.path.as_str();
            let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
            for start in starts {
                let rest = &path[start..];
                let part = rest.split('/').next().unwrap_or_default().to_lowercase();
                if part == ".git" {
                    break;
                }
                if PARTS.contains(&part.as_str()) {
                    let folder = path[..start].trim_end_matches('/').to_owned();
                    folders.entry(folder).or_default().push((at, rest.to_owned()));
                }
            }
        }
        folders
    }

    fn is_repository(&self, folder: &str, is_there: impl Fn(&str) -> bool) -> bool {
        let has = |name: &str| is_there(&joined(folder, name));
        has("HEAD") && (has("objects") && has("refs") || has("commondir"))
    }
}

/// Whether a path is this one, or lies in it.
fn is_in(path: &str, name: &str) -> bool {
    let path = path.to_lowercase();
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn joined(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// Whether it brings a directory with all that is in it.
fn is_whole_directory(change: &Change) -> bool {
    let after = change.after.as_ref();
    after.is_some_and(|after| after.kind == FileKind::Directory && after.aside.is_some())
}

/// The first bare repository in a folder on the disk that has something to obey, by its path in it.
fn repository_in(top: &Path) -> Option<String> {
    let mut todo = vec![top.to_owned()];
    for _ in 0..MAX_FOLDERS {
        let folder = todo.pop()?;
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_skipped = DEPENDENCIES.contains(&name.as_str()) || name == ".git";
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_skipped {
                todo.push(entry.path());
            }
            names.push(name);
        }
        let has = |name: &str| names.iter().any(|one| one == name);
        let is_one = has("HEAD") && (has("objects") && has("refs") || has("commondir"));
        if is_one && OBEYED.iter().any(|name| has(name)) {
            return folder.strip_prefix(top).ok().map(|inner| inner.to_string_lossy().into_owned());
        }
    }
    None
}
