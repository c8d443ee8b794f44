//! Files that rules keep from being read, found on disk for commands: there they exist and cannot be read. All
//! files are looked at, members or not.

use crate::folders::roots::Roots;
use crate::folders::workspace::Workspace;
use crate::settled::Refusal;
use crate::{Confine, Settings, World};
use cairn_text::glob::{PathGlob, Stance};
use cairn_types::{PrivatePlaces, Status};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many files are kept from commands at most.
const MOST: usize = 500;
/// So many names are looked at outside of all folders and behind links.
const MOST_OUTSIDE: usize = 50_000;
/// So many links are in a path at most: Linux follows no more.
const MOST_LINKS: u32 = 40;

impl World {
    /// Finds out whether commands can be kept from reading what rules keep from being read: they are confined,
    /// and the files are not too many. Where not, none is kept from them, and they have to be asked about.
    #[must_use]
    pub fn keep_unread(&mut self) -> bool {
        let Settings { unreadable, private, confine, .. } = self.settings.as_ref();
        let can = match confine {
            _ if unreadable.is_empty() => false,
            Confine::Overlay(sandbox, _) | Confine::Direct(sandbox) => {
                expand(&self.locations.roots, unreadable, private).is_ok()
                    && sandbox.can_keep_unread()
            }
            Confine::Open | Confine::Refused(_) => false,
        };
        if !can {
            let settings = self.settings.as_ref().clone();
            self.settings = Arc::new(Settings { unreadable: Arc::default(), ..settings });
        }
        can
    }
}

/// The files that these globs name, by their absolute paths. Refused where they are too many.
pub(crate) fn expand(
    roots: &Roots,
    globs: &[PathGlob],
    private: &PrivatePlaces,
) -> Result<Vec<PathBuf>, Refusal> {
    expand_within(roots, globs, private, MOST_OUTSIDE)
}

/// The same, looking at so many names outside of the folders and behind links.
fn expand_within(
    roots: &Roots,
    globs: &[PathGlob],
    private: &PrivatePlaces,
    left: usize,
) -> Result<Vec<PathBuf>, Refusal> {
    let mut search = Search {
        globs,
        private,
        folders: roots.laid().chain(roots.seen()).map(Workspace::path).collect(),
        found: Vec::new(),
        left,
        walked: HashSet::new(),
    };
    if globs.is_empty() {
        return Ok(search.found);
    }
    for root in roots.laid().chain(roots.seen()) {
        search.walk(Some(root), Visit::at(root.path()))?;
    }
    for glob in globs.iter().filter(|glob| glob.as_str().starts_with('/')) {
        let begin = literal(glob);
        if !roots.laid().any(|root| begin.starts_with(root.path())) {
            search.walk(None, Visit::at(&begin))?;
        }
        search.walk_linked(None, &begin)?;
    }
    for glob in globs.iter().filter(|glob| !glob.as_str().starts_with('/')) {
        for root in roots.laid().chain(roots.seen()) {
            search.walk_linked(Some(root), &root.path().join(literal(glob)))?;
        }
    }
    search.found.sort();
    search.found.dedup();
    Ok(search.found)
}

struct Search<'a> {
    globs: &'a [PathGlob],
    private: &'a PrivatePlaces,
    /// All folders that commands work in.
    folders: Vec<&'a Path>,
    found: Vec<PathBuf>,
    /// So many names are still looked at outside of the folders and behind links.
    left: usize,
    walked: HashSet<WalkedFolder>,
}

/// Something to look at.
struct Visit {
    real: PathBuf,
    /// By what name rules mean it: the links that lead there are still in it.
    named: PathBuf,
    /// How many links were followed in that name.
    links: u32,
}

impl Visit {
    fn at(path: &Path) -> Visit {
        Visit { real: path.to_owned(), named: path.to_owned(), links: 0 }
    }
}

/// A real folder as rules see it under one of its names. The same one again would find the same files.
#[derive(PartialEq, Eq, Hash)]
struct WalkedFolder {
    real: PathBuf,
    /// Per rule, where in it names beneath the folder go on; `None` where the rule is about other paths.
    places: Vec<Option<Vec<usize>>>,
    /// The name, where the places do not say all.
    named: Option<PathBuf>,
}

impl Search<'_> {
    /// Looks at a path and everything beneath it. A link to a folder is followed where rules may mean something
    /// by its name.
    fn walk(&mut self, root: Option<&Workspace>, begin: Visit) -> Result<(), Refusal> {
        let mut todo = vec![begin];
        while let Some(Visit { real, named, links }) = todo.pop() {
            if real != named || !self.is_in_folders(&real) {
                self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
            }
            // What is private is not seen at all.
            let Ok(meta) = std::fs::symlink_metadata(&real) else { continue };
            if self.private.covering(&real).is_some() && !self.private.leads_to_opened(&real) {
                continue;
            }
            if meta.is_dir() {
                if self.is_to_be_walked(root, &real, &named) {
                    let entries = std::fs::read_dir(&real).into_iter().flatten().flatten();
                    todo.extend(entries.map(|entry| Visit {
                        real: entry.path(),
                        named: named.join(entry.file_name()),
                        links,
                    }));
                }
            } else if self.is_named(root, &named) {
                self.add(&real, meta.is_symlink())?;
            } else if meta.is_symlink() && self.may_lead(root, &named) {
                let target = real.canonicalize().ok().filter(|target| target.is_dir());
                let target =
                    target.filter(|to| self.is_in_folders(to) || self.is_meant(root, &named));
                let target = target
                    .filter(|to| links < MOST_LINKS && !self.is_walked_by_itself(root, to, &named));
                todo.extend(target.map(|real| Visit { real, named, links: links + 1 }));
            }
        }
        Ok(())
    }

    /// Whether rules may mean something in a folder that was not looked at for them yet.
    fn is_to_be_walked(&mut self, root: Option<&Workspace>, real: &Path, named: &Path) -> bool {
        if real.ends_with(".cairn/trash") || real.ends_with(".git/objects") {
            return false;
        }
        self.may_lead(root, named) && {
            let walked = self.walked_folder(root, real, named);
            self.walked.insert(walked)
        }
    }

    fn walked_folder(&self, root: Option<&Workspace>, real: &Path, named: &Path) -> WalkedFolder {
        let (absolute, told) = (named.to_string_lossy(), told(root, named));
        let mut says_all = true;
        let mut places_in = |glob: &PathGlob| {
            let is_absolute = glob.as_str().starts_with('/');
            let path = if is_absolute { Some(&*absolute) } else { told.as_deref() }?;
            let places = glob.places_beneath(path);
            says_all &= places.is_some();
            places
        };
        let places = self.globs.iter().map(&mut places_in).collect();
        let named = (!says_all).then(|| named.to_owned());
        WalkedFolder { real: real.to_owned(), places, named }
    }

    /// Whether a folder that a link leads to is walked by its own name, and rules mean the same in it by both names.
    fn is_walked_by_itself(&self, root: Option<&Workspace>, real: &Path, named: &Path) -> bool {
        let is_beneath = root.is_some_and(|root| real.starts_with(root.path()));
        is_beneath && {
            let linked = self.walked_folder(root, real, named);
            linked.named.is_none() && linked == self.walked_folder(root, real, real)
        }
    }

    fn is_in_folders(&self, real: &Path) -> bool {
        self.folders.iter().any(|folder| real.starts_with(folder))
    }

    /// Whether a rule means a link by its name, and not all that lies at any depth.
    fn is_meant(&self, root: Option<&Workspace>, named: &Path) -> bool {
        let Some(told) = told(root, named) else { return true };
        let relative = self.globs.iter().filter(|glob| !glob.as_str().starts_with('/'));
        let absolute = self.globs.iter().filter(|glob| glob.as_str().starts_with('/'));
        let is_further = |glob: &PathGlob, path: &str, from: &str| {
            glob.stance(path) != Stance::Apart
                && glob.places_beneath(path).is_none_or(|at| Some(at) != glob.places_beneath(from))
        };
        relative.into_iter().any(|glob| is_further(glob, &told, "."))
            || absolute.into_iter().any(|glob| is_further(glob, &named.to_string_lossy(), "/"))
    }

    /// Looks at the folder that a rule begins in, where a link leads there from elsewhere.
    fn walk_linked(&mut self, root: Option<&Workspace>, named: &Path) -> Result<(), Refusal> {
        let Ok(real) = named.canonicalize() else { return Ok(()) };
        match real != named && real.is_dir() {
            true => self.walk(root, Visit { real, named: named.to_owned(), links: 1 }),
            false => Ok(()),
        }
    }

    /// Adds a file; a link is known by what it leads to, and a directory that it leads to by its files.
    fn add(&mut self, path: &Path, is_link: bool) -> Result<(), Refusal> {
        let mut todo = match is_link {
            true => path.canonicalize().into_iter().collect(),
            false => vec![path.to_owned()],
        };
        while let Some(path) = todo.pop() {
            let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
            if meta.is_file() {
                self.found.push(path);
            } else if meta.is_dir() {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                todo.extend(entries.map(|entry| entry.path()));
            }
            if self.found.len() > MOST || todo.len() > MOST_OUTSIDE {
                return Err(too_many());
            }
        }
        Ok(())
    }

    fn is_named(&self, root: Option<&Workspace>, path: &Path) -> bool {
        let absolute = path.to_string_lossy();
        let told = told(root, path);
        self.globs
            .iter()
            .any(|glob| glob.matches(&absolute) || told.as_deref().is_some_and(|t| glob.matches(t)))
    }

    /// Whether something that a glob names may be in a directory.
    fn may_lead(&self, root: Option<&Workspace>, directory: &Path) -> bool {
        let absolute = directory.to_string_lossy();
        let told = told(root, directory);
        self.globs.iter().any(|glob| match (glob.as_str().starts_with('/'), &told) {
            (false, Some(told)) if told != "." => glob.stance(told) != Stance::Apart,
            (false, Some(_)) => true,
            (false, None) => false,
            (true, _) => glob.stance(&absolute) != Stance::Apart,
        })
    }
}

/// A path as rules mean it in a folder.
fn told(folder: Option<&Workspace>, path: &Path) -> Option<String> {
    let folder = folder?;
    let inner = path.strip_prefix(folder.path()).ok()?.to_string_lossy();
    Some(folder.root.op_path(&inner))
}

/// The part of an absolute glob that is no pattern: a directory that holds all it names, or the path itself.
fn literal(glob: &PathGlob) -> PathBuf {
    let parts = Path::new(glob.as_str()).components();
    parts
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{', '\\']))
        .collect()
}

fn too_many() -> Refusal {
    let text = format!(
        "it is not run: rules keep more than {MOST} files from being read, which cannot be kept from a command"
    );
    Refusal::new(Status::REFUSED, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_go_round_are_walked_to_an_end_and_hide_nothing() {
        let holder = tempfile::tempdir().unwrap();
        let top = holder.path().canonicalize().unwrap();
        for path in ["real/k.pem", "a/[x]/plain", "a/~y/plain"] {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), "x").unwrap();
        }
        for (to, at) in
            [("../..", "a/[x]/up"), ("../..", "a/~y/up"), ("../../real", "a/[x]/private")]
        {
            std::os::unix::fs::symlink(to, top.join(at)).unwrap();
        }
        let roots = Roots::new(Workspace::open(&top).unwrap());
        let found = |rule: &str| {
            let globs = [PathGlob::parse(rule).unwrap()];
            expand(&roots, &globs, &PrivatePlaces::default())
        };
        let key = Ok(vec![top.join("real/k.pem")]);
        for rule in
            ["**/private/*.pem", "a/*/private/**", "a/*/up/real/k.pem", "**/up/**/up/real/*"]
        {
            assert_eq!(found(rule).map_err(|_| ()), key, "{rule}");
        }
        // Where a brace has a slash the places in the rule are not known: it ends, and is refused.
        assert!(found("**/{private/k,x}.pem").is_err());
    }

    #[test]
    fn links_between_folders_of_the_project_cost_nothing_where_rules_mean_the_same_by_both_names() {
        let holder = tempfile::tempdir().unwrap();
        let top = holder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("z/private")).unwrap();
        std::fs::create_dir(top.join("a")).unwrap();
        for n in 0..30 {
            std::fs::write(top.join(format!("z/private/{n}.pem")), "x").unwrap();
        }
        for at in ["a/link", "z/link", "zz"] {
            std::os::unix::fs::symlink(top.join("z/private"), top.join(at)).unwrap();
        }
        let roots = Roots::new(Workspace::open(&top).unwrap());
        let count = |rule: &str, left: usize| {
            let globs = [PathGlob::parse(rule).unwrap()];
            let found = expand_within(&roots, &globs, &PrivatePlaces::default(), left);
            found.map(|found| found.len()).ok()
        };
        assert_eq!(count("**/*.pem", 0), Some(30));
        assert_eq!(count("**/other/*.pem", 0), Some(0));
        assert_eq!(count("zz/*.pem", 10), None, "a link that is meant by its own name");
        assert_eq!(count("zz/*.pem", 40), Some(30));
    }
}
