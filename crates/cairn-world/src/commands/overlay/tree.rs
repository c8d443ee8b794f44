//! What is in a directory that is moved whole: how much, what of it is asked about by its name, and what
//! is not kept. Changes nothing.

use super::gathered::Count;
use super::layer::{self, special};
use super::sides;
use crate::folders::path;
use crate::folders::root_directory::entry;
use crate::folders::ruled::Met;
use crate::folders::walk::names;
use crate::folders::workspace::Workspace;
use cairn_types::{FileKind, is_guarded, is_irreplaceable, is_precious};
use rustix::fs::{AtFlags, OFlags, Stat};
use std::os::fd::BorrowedFd;

/// Files by which a directory says of itself that it can be built again.
const CACHE_MARKS: [&[u8]; 2] = [b"CACHEDIR.TAG", b"pyvenv.cfg"];

/// What is beneath a directory, and the directory itself.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) count: Count,
    /// What is asked about although all of it is ignored, the outermost of each.
    pub(super) precious: Vec<String>,
    /// What rules name in it: of each the first.
    pub(super) ruled: Vec<String>,
    /// What is not moved with it, and what that is.
    pub(super) left_out: Vec<(String, &'static str)>,
}

impl Tree {
    /// Looks at a directory of the workspace or of what lies over it, with all that is in it.
    pub(super) fn at(
        (root, workspace): (BorrowedFd<'_>, &Workspace),
        top: &str,
        mut see: impl FnMut(&Stat),
    ) -> Tree {
        let (mut tree, mut met) = (Tree::default(), Met::default());
        each(root, top, &mut |path, stat, is_cache| {
            see(stat);
            tree.add(path, stat, is_cache);
            let path = String::from_utf8_lossy(path);
            met.look(&workspace.ruled, &path, || workspace.root.op_path(&path));
        });
        tree.ruled = met.into_paths();
        tree
    }

    fn add(&mut self, path: &[u8], stat: &Stat, is_cache: bool) {
        self.count.add(counted(stat));
        let text = String::from_utf8_lossy(path);
        let is_asked = |path: &str| {
            // What only says of itself that it can be built again may not hold what says what runs.
            let is_exempt = is_cache && !is_guarded(path);
            is_irreplaceable(path) || (is_precious(path) && !is_exempt)
        };
        if begins(&text, is_asked) {
            self.precious.push(text.into_owned());
        }
        let why = match special(stat) {
            None if layer::acting_bits(stat) != 0 => Some(layer::ACTS),
            // The mark of something that is gone.
            Some(_) if layer::is_gone(stat) => None,
            special => special,
        };
        self.left_out.extend(why.map(|why| (path::shown(path), why)));
    }
}

/// Whether a path is such a one, and the directory that it is in is not.
fn begins(path: &str, is_such: impl Fn(&str) -> bool) -> bool {
    is_such(path) && !path.rsplit_once('/').is_some_and(|(directory, _)| is_such(directory))
}

fn counted(stat: &Stat) -> Count {
    match sides::kind(stat) {
        Some(FileKind::File) => Count { files: 1, bytes: sides::size(stat) },
        Some(FileKind::Symlink) => Count { files: 1, bytes: 0 },
        Some(FileKind::Directory) | None => Count::default(),
    }
}

/// Looks at everything beneath a directory, and at itself; the last argument says that it lies in a directory
/// that says of itself that it can be built again.
fn each(root: BorrowedFd<'_>, path: &str, see: &mut dyn FnMut(&[u8], &Stat, bool)) {
    let mut todo = vec![(path.as_bytes().to_owned(), false)];
    if let Ok(stat) = rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW) {
        see(path.as_bytes(), &stat, false);
    }
    while let Some((path, is_cache)) = todo.pop() {
        let Ok(dir) = entry(root, &path, OFlags::RDONLY | OFlags::DIRECTORY) else { continue };
        let names = names(&dir).unwrap_or_default();
        let is_cache = is_cache || names.iter().any(|name| CACHE_MARKS.contains(&name.bare()));
        for name in names {
            let bare = name.bare();
            let inside = [&path, b"/".as_slice(), bare].concat();
            if let Ok(stat) = rustix::fs::statat(&dir, bare, AtFlags::SYMLINK_NOFOLLOW) {
                see(&inside, &stat, is_cache);
            }
            if name.directory().is_some() {
                todo.push((inside, is_cache));
            }
        }
    }
}
