//! The repository that a project belongs to and whose own directory lies outside it: of a linked worktree,
//! or of a folder in a repository. Found by names and files alone; nothing is taken from a project that
//! could make it up. Runs no git and changes nothing.

use rustix::fs::Stat;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A longer file names nothing.
const MOST: u64 = 4 << 10;
/// How a repository's own directory is called where what lies in it is known to be git's by its path.
const GIT: &str = ".git";

/// A repository's own directory outside a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outer {
    /// Where it really is.
    pub(crate) path: PathBuf,
    pub(crate) whose: Whose,
}

/// What the project is to the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A worktree, whose own files lie in this directory beneath the repository's. All that git looks at is
    /// there, so what it does counts like anything a command does.
    Worktree(String),
    /// A part. The rest is not shown, so for git it is gone: what it writes down would remove that, and it only
    /// looks.
    Part,
}

/// The repository of a project, if its own directory lies outside. `home` is not looked into: a repository
/// there is a person's, and not the project's.
pub(crate) fn of(project: &Path, home: Option<&Path>) -> Option<Outer> {
    let found = match fs::symlink_metadata(project.join(GIT)) {
        Ok(git) if git.is_file() => worktree(project),
        Ok(_) => None,
        Err(_) => above(project, home),
    }?;
    let is_apart = !found.path.starts_with(project) && !project.starts_with(&found.path);
    // Times are compared, so they must be of one clock.
    let there = stat(&found.path)?;
    let is_here = stat(project)?.st_dev == there.st_dev;
    let is_own = [rustix::process::getuid().as_raw(), 0].contains(&there.st_uid);
    (is_apart && is_here && is_own && is_git(&found.path)).then_some(found)
}

/// The repository of a linked worktree. Any file can name any directory; only one that names the project
/// in turn is its own.
fn worktree(project: &Path) -> Option<Outer> {
    let named = text(&project.join(GIT))?;
    let own = project.join(named.strip_prefix("gitdir: ")?).canonicalize().ok()?;
    let back = own.join(text(&own.join("gitdir"))?).canonicalize().ok()?;
    let path = own.join(text(&own.join("commondir"))?).canonicalize().ok()?;
    let name = own.strip_prefix(path.join("worktrees")).ok()?.to_str()?;
    let is_its = back == project.join(GIT) && !name.is_empty() && !name.contains('/');
    // By another name nobody would see that hooks and configuration in it are git's.
    let whose = match path.file_name().is_some_and(|name| name == GIT) {
        true => Whose::Worktree(format!("worktrees/{name}")),
        false => Whose::Part,
    };
    is_its.then_some(Outer { path, whose })
}

/// The repository of a directory above the project, as git would find it.
fn above(project: &Path, home: Option<&Path>) -> Option<Outer> {
    let home = home.and_then(|home| home.canonicalize().ok());
    let is_inner = |above: &&Path| above.parent().is_some() && home.as_deref() != Some(*above);
    let mut above = project.ancestors().skip(1).take_while(is_inner);
    let git = above.find_map(|above| fs::symlink_metadata(above.join(GIT)).ok().map(|_| above))?;
    let path = git.join(GIT);
    let is_plain = fs::symlink_metadata(&path).is_ok_and(|git| git.is_dir());
    is_plain.then_some(Outer { path, whose: Whose::Part })
}

fn is_git(directory: &Path) -> bool {
    let is_directory = |name: &str| directory.join(name).is_dir();
    is_directory("objects") && is_directory("refs") && directory.join("HEAD").is_file()
}

fn stat(path: &Path) -> Option<Stat> {
    rustix::fs::stat(path).ok()
}

/// What a small file says.
fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    let is_file = fs::symlink_metadata(path).ok()?.is_file();
    File::open(path).ok().filter(|_| is_file)?.take(MOST).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository at `r`, and what else is made: `file=text`, or a directory. Where the one of a project is
    /// found.
    fn found(made: &[&str], project: &str) -> Option<(String, Whose)> {
        let holder = tempfile::tempdir().unwrap();
        let root = holder.path().canonicalize().unwrap();
        let base = [
            "r/.git/objects/",
            "r/.git/refs/",
            "r/.git/HEAD=ref: refs/heads/main",
            "r/sub/in/",
            "home/p/",
        ];
        for thing in base.iter().chain(made) {
            let thing = thing.replace("ROOT", root.to_str().unwrap());
            let (path, text) = thing.split_once('=').unwrap_or((&thing, ""));
            let path = root.join(path);
            match thing.ends_with('/') {
                true => fs::create_dir_all(path).unwrap(),
                false => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, format!("{text}\n")).unwrap();
                }
            }
        }
        let outer = of(&root.join(project), Some(&root.join("home")))?;
        Some((outer.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), outer.whose))
    }

    const LINKED: [&str; 3] = [
        "w/.git=gitdir: ROOT/r/.git/worktrees/w",
        "r/.git/worktrees/w/gitdir=ROOT/w/.git",
        "r/.git/worktrees/w/commondir=../..",
    ];

    #[test]
    fn a_repository_is_found_where_git_finds_it_and_vouches_for_the_project() {
        let git = || "r/.git".to_owned();
        assert_eq!(found(&[], "r"), None);
        assert_eq!(found(&[], "r/sub/in"), Some((git(), Whose::Part)));
        assert_eq!(found(&LINKED, "w"), Some((git(), Whose::Worktree("worktrees/w".to_owned()))));
        // A nearer one is the project's, whatever it is.
        assert_eq!(found(&["r/sub/.git/"], "r/sub/in"), None);
        assert_eq!(found(&["r/sub/.git=gitdir: ../.git"], "r/sub/in"), None);
        assert_eq!(found(&["r/sub/in/.git/"], "r/sub/in"), None);
        // A person's own home is not a project's repository.
        let home = ["home/.git/objects/", "home/.git/refs/", "home/.git/HEAD=x"];
        assert_eq!(found(&home, "home/p"), None);
    }

    #[test]
    fn a_file_that_names_a_directory_opens_none_that_does_not_name_it_too() {
        let named = "w/.git=gitdir: ROOT/r/.git/worktrees/w";
        assert_eq!(found(&[named, "r/.git/worktrees/w/commondir=../.."], "w"), None);
        let elsewhere = "r/.git/worktrees/w/gitdir=ROOT/other/.git";
        assert_eq!(found(&[named, elsewhere, "other/.git=", LINKED[2]], "w"), None);
        assert_eq!(found(&["w/.git=gitdir: ROOT/home"], "w"), None);
        assert_eq!(found(&["w/.git=gitdir: ROOT/r/.git"], "w"), None);
        let common = "r/.git/worktrees/w/commondir=ROOT/home";
        assert_eq!(found(&[named, LINKED[1], common], "w"), None);
    }

    #[test]
    fn a_repository_by_another_name_is_only_looked_at() {
        let bare = [
            "b.git/objects/",
            "b.git/refs/",
            "b.git/HEAD=x",
            "w/.git=gitdir: ../b.git/worktrees/w",
            "b.git/worktrees/w/gitdir=../../../w/.git",
            "b.git/worktrees/w/commondir=../..",
        ];
        assert_eq!(found(&bare, "w"), Some(("b.git".to_owned(), Whose::Part)));
    }
}
