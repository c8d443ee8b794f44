//! The repositories whose settings are in force in the world's folders: found by names and files, without git.

use crate::git_settings::{read_text, without_dots};
use crate::roots::Roots;
use cairn_text::git_config::{GitSetting, parse_git_config};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// So deep beneath `modules` a repository of a submodule is looked for, since its name may have several parts.
const MAX_MODULE_DEPTH: u32 = 4;
/// So many repositories are looked at.
const MAX_REPOSITORIES: usize = 100;

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitRepository {
    /// Its own directory; of a linked worktree the one that is the worktree's.
    pub(crate) own: PathBuf,
    /// The directory with what all worktrees share.
    pub(crate) common: PathBuf,
    /// Where its files are.
    pub(crate) worktree: PathBuf,
}

/// The repositories that the world's folders lie in or are, those at and above these directories, and those of
/// submodules.
pub(crate) fn find_git_repositories(roots: &Roots, near: &HashSet<PathBuf>) -> Vec<GitRepository> {
    let mut found: Vec<GitRepository> = Vec::new();
    let mut looked_at: HashSet<&Path> = HashSet::new();
    for root in roots.all() {
        found.extend(root.path().ancestors().find_map(repository_at));
        for directory in near.iter().filter(|directory| directory.starts_with(root.path())) {
            let inner = directory.ancestors().take_while(|above| *above != root.path());
            for above in inner {
                if !looked_at.insert(above) || found.len() >= MAX_REPOSITORIES {
                    break;
                }
                found.extend(repository_at(above));
            }
        }
    }
    let modules: Vec<PathBuf> = found.iter().map(|one| one.common.join("modules")).collect();
    for folder in modules {
        push_modules(&folder, 0, &mut found);
    }
    // A repository's files may be elsewhere than around it.
    let elsewhere = found.iter().filter_map(|one| {
        let worktree = configured_worktree(&one.common).filter(|named| *named != one.worktree)?;
        Some(GitRepository { worktree, ..one.clone() })
    });
    found.extend(elsewhere.collect::<Vec<_>>());
    found.dedup();
    found
}

/// The repository whose files are in a directory, or that a directory is.
fn repository_at(directory: &Path) -> Option<GitRepository> {
    let dot = directory.join(".git");
    let own = match std::fs::metadata(&dot) {
        Ok(found) if found.is_dir() => dot,
        Ok(_) => {
            let text = read_text(&dot)?;
            let named = text.strip_prefix("gitdir:")?.trim();
            without_dots(&directory.join(named))
        }
        Err(_) if is_git_directory(directory) => directory.to_owned(),
        Err(_) => return None,
    };
    Some(repository_of(own, directory))
}

fn repository_of(own: PathBuf, worktree: &Path) -> GitRepository {
    let named = read_text(&own.join("commondir"));
    let common = named.map_or_else(|| own.clone(), |named| without_dots(&own.join(named.trim())));
    GitRepository { own, common, worktree: worktree.to_owned() }
}

/// Whether a directory is one of git's own by what is in it.
fn is_git_directory(directory: &Path) -> bool {
    let is_directory = |name: &str| directory.join(name).is_dir();
    let has_own = is_directory("objects") && is_directory("refs");
    directory.join("HEAD").is_file() && (has_own || directory.join("commondir").is_file())
}

/// The repositories of submodules, whose files are where their `core.worktree` says.
fn push_modules(folder: &Path, depth: u32, found: &mut Vec<GitRepository>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.take(MAX_REPOSITORIES).flatten() {
        let path = entry.path();
        if found.len() >= MAX_REPOSITORIES || !path.is_dir() {
            continue;
        }
        if !is_git_directory(&path) {
            if depth < MAX_MODULE_DEPTH {
                push_modules(&path, depth + 1, found);
            }
            continue;
        }
        let worktree = configured_worktree(&path).unwrap_or_else(|| path.clone());
        found.push(repository_of(path, &worktree));
    }
}

/// Where the files of a repository are by its own `core.worktree`.
fn configured_worktree(own: &Path) -> Option<PathBuf> {
    let settings = parse_git_config(&read_text(&own.join("config"))?);
    let is_it = |one: &GitSetting| one.section == "core" && one.name == "worktree";
    let value = settings.into_iter().rfind(is_it)?.value?;
    Some(without_dots(&own.join(value)))
}
