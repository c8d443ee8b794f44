//! Files that rules keep from being read, found on disk for commands: there they exist and cannot be read. All
//! files are looked at, members or not.

use crate::roots::Roots;
use crate::settled::Refusal;
use crate::workspace::Workspace;
use crate::{Confine, Settings, World};
use cairn_text::glob::{PathGlob, Stance};
use cairn_types::{PrivatePlaces, Status};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many files are kept from commands at most.
const MOST: usize = 500;
/// So many names are looked at for rules on paths outside of all folders.
const MOST_OUTSIDE: usize = 50_000;

impl World {
    /// Finds out whether commands can be kept from reading what rules keep from being read: they are confined,
    /// and the files are not too many. Where not, none is kept from them, and they have to be asked about.
    #[must_use]
    pub fn keep_unread(&mut self) -> bool {
        let Settings { unreadable, private, confine, .. } = self.settings.as_ref();
        let can = match confine {
            _ if unreadable.is_empty() => false,
            Confine::Overlay(sandbox, _) | Confine::Direct(sandbox) => {
                expand(&self.roots, unreadable, private).is_ok() && sandbox.can_keep_unread()
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
    let mut search = Search { globs, private, found: Vec::new(), left: usize::MAX, linked: None };
    if globs.is_empty() {
        return Ok(search.found);
    }
    for root in roots.laid().chain(roots.seen()) {
        search.walk(Some(root), root.path())?;
    }
    search.left = MOST_OUTSIDE;
    for glob in globs.iter().filter(|glob| glob.as_str().starts_with('/')) {
        let begin = literal(glob);
        if !roots.laid().any(|root| begin.starts_with(root.path())) {
            search.walk(None, &begin)?;
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
    found: Vec<PathBuf>,
    /// So many names are still looked at.
    left: usize,
    /// The folder that is walked as what a link in the way of a rule leads to, and by what name the rule means it.
    linked: Option<(PathBuf, PathBuf)>,
}

impl Search<'_> {
    /// Looks at a path and everything beneath it; no link is followed.
    fn walk(&mut self, root: Option<&Workspace>, begin: &Path) -> Result<(), Refusal> {
        let mut todo = vec![begin.to_owned()];
        while let Some(path) = todo.pop() {
            self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
            // What is private is not seen at all.
            let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
            if self.private.covering(&path).is_some() && !self.private.leads_to_opened(&path) {
                continue;
            }
            if meta.is_dir() {
                if self.may_lead(root, &path) {
                    let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                    todo.extend(entries.map(|entry| entry.path()));
                }
            } else if self.is_named(root, &path) {
                self.add(&path, meta.is_symlink())?;
            }
        }
        Ok(())
    }

    /// Looks at the folder that a rule begins in, where a link leads there from elsewhere.
    fn walk_linked(&mut self, root: Option<&Workspace>, named: &Path) -> Result<(), Refusal> {
        let Ok(real) = named.canonicalize() else { return Ok(()) };
        if real != named && real.is_dir() {
            self.linked = Some((real.clone(), named.to_owned()));
            self.walk(root, &real)?;
            self.linked = None;
        }
        Ok(())
    }

    /// A path as rules name it.
    fn named<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        let linked = self.linked.as_ref();
        let inner =
            linked.and_then(|(real, named)| Some(named.join(path.strip_prefix(real).ok()?)));
        inner.map_or(Cow::Borrowed(path), Cow::Owned)
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
        let path = &*self.named(path);
        let absolute = path.to_string_lossy();
        let told = told(root, path);
        self.globs
            .iter()
            .any(|glob| glob.matches(&absolute) || told.as_deref().is_some_and(|t| glob.matches(t)))
    }

    /// Whether something that a glob names may be in a directory.
    fn may_lead(&self, root: Option<&Workspace>, directory: &Path) -> bool {
        if directory.ends_with(".cairn/trash") || directory.ends_with(".git/objects") {
            return false;
        }
        let directory = &*self.named(directory);
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
fn told(root: Option<&Workspace>, path: &Path) -> Option<String> {
    let root = root?;
    let inner = path.strip_prefix(root.path()).ok()?.to_string_lossy();
    Some(root.told(&inner))
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
