//! The repositories whose settings are in force in the world's folders: found by names and files, without git.

use crate::folders::roots::Roots;
use crate::git::settings::{read_text, without_dots};
use cairn_text::git_config::{GitSetting, parse_git_config};
use std::collections::HashSet;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// So deep beneath `modules` a repository of a submodule is looked for, since its name may have several parts.
const MAX_MODULE_DEPTH: u32 = 4;
/// The settings of so many repositories are read.
const MAX_REPOSITORIES: usize = 200;

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

/// The repositories that were found.
#[derive(Debug, Default)]
pub(crate) struct GitRepositories {
    /// Those whose settings are read.
    pub(crate) found: Vec<GitRepository>,
    /// Where the files are of those that are too many to read their settings.
    pub(crate) not_read: Vec<PathBuf>,
}

impl GitRepositories {
    fn push(&mut self, repository: GitRepository) {
        if self.found.contains(&repository) {
            return;
        }
        match self.found.len() < MAX_REPOSITORIES {
            true => self.found.push(repository),
            false => self.not_read.push(repository.worktree),
        }
    }

    /// Adds a repository, those of its submodules, and where its settings say that its files are elsewhere.
    fn push_with_submodules(&mut self, repository: GitRepository) {
        if self.found.contains(&repository) {
            return;
        }
        let worktree = configured_worktree(&repository.common);
        let modules = repository.common.join("modules");
        let worktree = worktree.filter(|named| *named != repository.worktree);
        let elsewhere = worktree.map(|worktree| GitRepository { worktree, ..repository.clone() });
        self.push(repository);
        elsewhere.into_iter().for_each(|repository| self.push(repository));
        self.push_modules(&modules, 0);
    }

    /// The repositories of submodules, whose files are where their `core.worktree` says.
    fn push_modules(&mut self, folder: &Path, depth: u32) {
        for path in directories_in(folder) {
            if is_git_directory(&path) {
                let worktree = configured_worktree(&path).unwrap_or_else(|| path.clone());
                let modules = path.join("modules");
                self.push(repository_of(path, &worktree));
                self.push_modules(&modules, depth + 1);
            } else if depth < MAX_MODULE_DEPTH {
                self.push_modules(&path, depth + 1);
            }
        }
    }
}

/// The repositories that the world's folders lie in or are, with their submodules, and then those at and above these
/// directories with theirs.
pub(crate) fn find_git_repositories(roots: &Roots, near: &HashSet<PathBuf>) -> GitRepositories {
    let mut repositories = GitRepositories::default();
    for root in roots.all() {
        let around = root.path().ancestors().find_map(repository_at);
        around.into_iter().for_each(|one| repositories.push_with_submodules(one));
    }
    let mut near: Vec<&PathBuf> = near.iter().collect();
    near.sort();
    let mut looked_at: HashSet<&Path> = HashSet::new();
    for root in roots.all() {
        for directory in near.iter().filter(|directory| directory.starts_with(root.path())) {
            let inner = directory.ancestors().take_while(|above| *above != root.path());
            for above in inner {
                if !looked_at.insert(above) {
                    break;
                }
                let here = repository_at(above);
                here.into_iter().for_each(|one| repositories.push_with_submodules(one));
            }
        }
    }
    repositories
}

/// The directories in a directory, in the order of their names. No link is followed.
fn directories_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_directory =
        |entry: &DirEntry| entry.file_type().is_ok_and(|file_type| file_type.is_dir());
    let mut found: Vec<PathBuf> = entries.filter(is_directory).map(|entry| entry.path()).collect();
    found.sort();
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

/// Where the files of a repository are by its own `core.worktree`.
fn configured_worktree(own: &Path) -> Option<PathBuf> {
    let settings = parse_git_config(&read_text(&own.join("config"))?);
    let is_it = |one: &GitSetting| one.section == "core" && one.name == "worktree";
    let value = settings.into_iter().rfind(is_it)?.value?;
    Some(without_dots(&own.join(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::workspace::Workspace;
    use std::fs;

    fn make_repository(own: &Path) {
        for folder in ["objects", "refs"] {
            fs::create_dir_all(own.join(folder)).unwrap();
        }
        fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn submodules_come_first_and_those_that_are_too_many_are_named() {
        let holder = tempfile::tempdir().unwrap();
        let top = holder.path().canonicalize().unwrap();
        make_repository(&top.join(".git"));
        let module = top.join(".git/modules/lib/one");
        make_repository(&module);
        fs::write(module.join("config"), "[core]\n\tworktree = ../../../../lib\n").unwrap();
        let near: HashSet<PathBuf> =
            (0..MAX_REPOSITORIES + 5).map(|n| top.join(format!("sub/{n:04}"))).collect();
        near.iter().for_each(|one| make_repository(&one.join(".git")));
        let roots = Roots::new(Workspace::open(&top).unwrap());
        let GitRepositories { found, not_read } = find_git_repositories(&roots, &near);
        assert_eq!(found.len(), MAX_REPOSITORIES);
        let worktrees: Vec<&Path> = found.iter().map(|one| one.worktree.as_path()).collect();
        assert_eq!(worktrees[..3], [&*top, &top.join("lib"), &top.join("sub/0000")]);
        assert_eq!(not_read.len(), 7);
        assert_eq!(not_read[0], top.join("sub/0198"));
    }
}
