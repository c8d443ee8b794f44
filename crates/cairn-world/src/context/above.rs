//! The directories between a repository's root and a working root within it. Whose directory it is
//! decides whether it is looked at: above the working root nobody has chosen what lies there.

use super::git::Repository;
use crate::folders::workspace::Workspace;
use rustix::fs::Stat;
use std::path::Path;
use std::sync::Arc;

/// How many directories are climbed.
const HIGHEST: usize = 64;

/// What is above a working root.
#[derive(Debug, Default)]
pub struct Above {
    /// The repository that the working root is in.
    pub repository: Option<Repository>,
    /// The directories from the repository's root down to the working root, without the latter.
    /// Empty when there is no repository.
    pub directories: Vec<Workspace>,
}

/// For whom it is looked.
struct Person<'a> {
    uid: u32,
    home: Option<&'a Path>,
}

impl Workspace {
    /// Looks above this working root for its repository: the nearest directory with a `.git`.
    ///
    /// The working root itself counts whoever owns it; somebody chose it. A directory above it is
    /// passed over when it is neither this user's nor root's, or when everybody may write to it: a
    /// stranger could have put the `.git` and the instructions there. A repository's root must
    /// moreover be this user's own, or lie in their home.
    #[must_use]
    pub fn above(&self, home: Option<&Path>) -> Above {
        self.above_for(&Person { uid: rustix::process::geteuid().as_raw(), home })
    }

    fn above_for(&self, person: &Person<'_>) -> Above {
        if let Some(repository) = Repository::at(&self.root, person.uid) {
            return Above { repository: Some(repository), directories: Vec::new() };
        }
        let mut directories = Vec::new();
        for path in self.path().ancestors().skip(1).take(HIGHEST) {
            let Ok(directory) = Workspace::open(path) else { continue };
            let Ok(stat) = rustix::fs::fstat(directory.root.handle()) else { continue };
            if !person.lets_speak(&stat) {
                continue;
            }
            let repository = Repository::at(&directory.root, person.uid)
                .filter(|_| person.lets_be_a_root(&stat, path));
            let mut directory = directory.with_absolute_paths();
            directory.unread = self.unread.clone();
            directory.keep_private(&self.private.all);
            directory.ignored = Arc::clone(&self.ignored);
            directories.push(directory);
            if repository.is_some() {
                directories.reverse();
                return Above { repository, directories };
            }
        }
        Above::default()
    }
}

impl Person<'_> {
    fn lets_speak(&self, stat: &Stat) -> bool {
        let everybody_writes = stat.st_mode & 0o002 != 0;
        (stat.st_uid == self.uid || stat.st_uid == 0) && !everybody_writes
    }

    fn lets_be_a_root(&self, stat: &Stat, path: &Path) -> bool {
        stat.st_uid == self.uid || self.home.is_some_and(|home| path.starts_with(home))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_directories_of_this_user_and_of_root_speak_and_none_that_everybody_writes_to() {
        let holder = tempfile::tempdir().unwrap();
        let mut stat = rustix::fs::stat(holder.path()).unwrap();
        let person = Person { uid: 1000, home: Some(Path::new("/home/me")) };
        let mut check = |(owner, mode, path): (u32, u32, &str), speaks: bool, is_root: bool| {
            (stat.st_uid, stat.st_mode) = (owner, 0o040_000 | mode);
            let both = person.lets_be_a_root(&stat, Path::new(path)) && person.lets_speak(&stat);
            assert_eq!(
                (person.lets_speak(&stat), both),
                (speaks, is_root),
                "{owner} {mode:o} {path}"
            );
        };
        check((1000, 0o755, "/home/me/p"), true, true);
        check((1000, 0o775, "/srv/p"), true, true);
        check((0, 0o755, "/home/me"), true, true);
        check((0, 0o755, "/srv/p"), true, false);
        check((0, 0o1777, "/tmp"), false, false);
        check((1000, 0o777, "/home/me/p"), false, false);
        check((1001, 0o755, "/home/me/p"), false, false);
        check((1001, 0o755, "/home/met"), false, false);
        check((0, 0o755, "/home/met"), true, false);
    }
}
