//! What guarded and protected names lead to that are links: `cairn.toml`, `.husky`, `AGENTS.md` and their like, at the
//! roots and in the folders on the way to what is changed. Looks at names and links only, and decides nothing.

use crate::folders::path::{joined, shown};
use crate::folders::roots::Roots;
use crate::folders::workspace::Workspace;
use crate::git::settings::without_dots;
use cairn_types::{is_in_dependency_folder, is_protected};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// So many names in a folder are looked at.
const MAX_NAMES: usize = 20_000;
/// So deep in a folder whose name is protected links are looked for.
const MAX_DEPTH: u32 = 3;
/// So many links may follow each other.
const MAX_LINKS: usize = 40;
/// Folders that are ordinary but for what they hold under these names.
const HOLDERS: [(&str, &[&str]); 3] = [
    (".github", &["workflows", "actions"]),
    (".cargo", &["config", "config.toml"]),
    (".ci", &["run"]),
];
/// What counts in a folder of settings or hooks that a link leads to, where that folder is a root itself.
const AT_ROOT: [&str; 8] = [
    "hooks.toml",
    "pre-commit",
    "pre-push",
    "commit-msg",
    "prepare-commit-msg",
    "post-checkout",
    "post-commit",
    "post-merge",
];

/// Something that a link with a guarded or protected name leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkedName {
    /// Where it is: absolute, in a folder of the world.
    pub(crate) path: PathBuf,
    /// The link's path as it is told: what a change there counts as.
    pub(crate) counts_as: String,
}

impl LinkedName {
    /// Says to a person why it is asked about.
    pub(crate) fn told(&self, changed: &str) -> String {
        let (changed, link) = (shown(changed.as_bytes()), shown(self.counts_as.as_bytes()));
        format!("{changed} is what {link} leads to\n")
    }
}

/// What names lead to that are links, at the roots, in these directories and in those above them.
pub(crate) fn find_linked_names(roots: &Roots, near: &HashSet<PathBuf>) -> Vec<LinkedName> {
    let mut finder = LinkFinder { roots, found: Vec::new() };
    for root in roots.all() {
        let inside = near.iter().filter(|directory| directory.starts_with(root.path()));
        let on_the_way = inside
            .flat_map(|inner| inner.ancestors().take_while(|above| above.starts_with(root.path())));
        let mut directories: HashSet<&Path> = on_the_way.collect();
        directories.insert(root.path());
        for directory in directories {
            finder.look_into(root, directory, 0);
        }
    }
    finder.found.sort_by(|one, other| one.path.cmp(&other.path));
    finder.found.dedup();
    finder.found
}

struct LinkFinder<'a> {
    roots: &'a Roots,
    found: Vec<LinkedName>,
}

impl LinkFinder<'_> {
    /// Looks at the names in a directory; `depth` is how deep it lies in a protected one.
    fn look_into(&mut self, folder: &Workspace, directory: &Path, depth: u32) {
        let Ok(inner) = directory.strip_prefix(folder.path()) else { return };
        let Some(inner) = inner.to_str() else { return };
        if inner.split('/').any(|part| part == ".git") {
            return;
        }
        let Ok(entries) = std::fs::read_dir(directory) else { return };
        for entry in entries.take(MAX_NAMES).flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let lower = name.to_lowercase();
            let held = HOLDERS.iter().find(|(holder, _)| *holder == lower).map(|(_, held)| *held);
            let path = joined(if inner.is_empty() { "." } else { inner }, &name);
            let is_meant = is_protected(&path) && lower != ".git";
            if !(is_meant || held.is_some()) || is_in_dependency_folder(&path) {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() && is_meant {
                self.push(&entry.path(), &folder.root.op_path(&path), None);
            } else if kind.is_symlink() {
                for name in held.into_iter().flatten() {
                    let told = folder.root.op_path(&joined(&path, name));
                    self.push(&entry.path(), &told, Some(name));
                }
            } else if kind.is_dir() && depth < MAX_DEPTH && lower != "trash" {
                self.look_into(folder, &entry.path(), depth + 1);
            }
        }
    }

    /// Remembers what a link leads to, or what is called so in there: each link on the way, and the last.
    fn push(&mut self, link: &Path, counts_as: &str, within: Option<&str>) {
        for target in targets_of(link) {
            let target = within.map_or(target.clone(), |name| target.join(name));
            match self.roots.all().any(|root| root.path().starts_with(&target)) {
                true => AT_ROOT.iter().for_each(|name| self.push_one(target.join(name), counts_as)),
                false => self.push_one(target, counts_as),
            }
        }
    }

    fn push_one(&mut self, path: PathBuf, counts_as: &str) {
        if self.roots.all().any(|root| path.starts_with(root.path())) {
            self.found.push(LinkedName { path, counts_as: counts_as.to_owned() });
        }
    }
}

/// Where a link leads, link by link, each in the real path of its folder as far as that is there.
fn targets_of(link: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut at = link.to_owned();
    while let Ok(target) = std::fs::read_link(&at) {
        let Some(folder) = at.parent() else { break };
        let next = folder.join(target);
        let real = next.parent().and_then(|folder| folder.canonicalize().ok());
        let name = next.file_name();
        at = match (real, name) {
            (Some(real), Some(name)) => real.join(name),
            _ => next.canonicalize().unwrap_or_else(|_| without_dots(&next)),
        };
        if found.contains(&at) || found.len() >= MAX_LINKS {
            break;
        }
        found.push(at.clone());
    }
    found
}
