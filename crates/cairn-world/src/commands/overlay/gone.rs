//! What a command removed: things that are gone, what is gone of a directory that another replaced, and all
//! that was in a directory that goes. Walks the workspace there, and changes nothing.

use super::layer::{Item, Origin, What};
use super::read::{Here, Met, Reader};
use super::sides::{Place, Side, kind};
use super::tree::Tree;
use super::vouch::Around;
use crate::folders::path;
use crate::folders::walk::names;
use crate::folders::workspace::refusal;
use crate::settled::Refusal;
use cairn_types::FileKind;
use rustix::fs::{AtFlags, Stat};
use std::os::fd::AsFd;

impl Reader<'_> {
    /// Something that was removed.
    pub(super) fn gone(&mut self, here: &Here<'_>, met: &Met<'_>) -> Result<(), Refusal> {
        let Some(stat) = &met.lower else { return Ok(()) };
        let before = match (kind(stat), &met.ignored) {
            (None, _) => {
                self.gathered.leave_out(met.path, "a special file is not removed");
                return Ok(());
            }
            (Some(FileKind::Directory), None) => self.removed(here, met.path, stat)?,
            (Some(_), _) => self.vouched_side(here, met, stat)?,
        };
        match before {
            Some(before) => self.push(met.path, met.ignored.clone(), (Some(before), None)),
            None => self.gathered.conflict(met.path, met.ignored.as_ref()),
        }
        self.note_links(met.path, met.lower.as_ref(), met.ignored.as_ref());
        Ok(())
    }

    /// What is gone of a directory that another one replaced.
    pub(super) fn rest(&mut self, here: &Here<'_>, items: &[Item]) -> Result<(), Refusal> {
        let Some(lower) = &here.lower else { return Ok(()) };
        let mut found = names(lower).map_err(|e| refusal(&here.visit.path, e))?;
        found.sort();
        for name in found.iter().filter(|name| !items.iter().any(|item| item.name == name.bare())) {
            let Ok(text) = std::str::from_utf8(name.bare()) else {
                let shown = String::from_utf8_lossy(name.bare());
                let path = path::joined(&here.visit.path, &shown);
                self.gathered.leave_out(&path, "its name is not UTF-8, so it stays");
                continue;
            };
            let path = path::joined(&here.visit.path, text);
            let Some(stat) = here.stat(text).map_err(|e| refusal(&path, e))? else { continue };
            let item =
                Item { name: name.bare().to_owned(), stat, what: What::Gone, origin: Origin::New };
            let inherited = here.visit.ignored.clone();
            let ignored = inherited.or_else(|| self.ignored(&path, &item, Some(stat)));
            let met = Met { path: &path, name: text, item: &item, lower: Some(stat), ignored };
            self.gone(here, &met)?;
        }
        Ok(())
    }

    /// Everything in an ordinary directory that goes, as changes, and the directory itself as it was:
    /// as a whole if something in it cannot be named by itself. None when it was touched itself.
    pub(super) fn removed(
        &mut self,
        here: &Here<'_>,
        top: &str,
        stat: &Stat,
    ) -> Result<Option<Side>, Refusal> {
        let mut todo = vec![(top.to_owned(), here.around)];
        let mut found: Vec<(String, Around, Stat, Option<String>)> = Vec::new();
        while let Some((path, around)) = todo.pop() {
            let Some(inside) = self.inside(&path) else {
                // Nobody may look into it, or something in it has no name that can be told.
                let tree = self.vouch.untouched_tree(top);
                let same = self.vouch.is_as_it_was(here.around, top, Some(stat));
                return Ok(tree.filter(|_| same).map(|tree| Side::whole(stat, tree)));
            };
            let (directory, inside) = inside;
            let around = Around {
                is_foreign: around.is_foreign
                    || !self.vouch.is_same_directory(&path, &directory, Origin::New),
                is_still: self.vouch.is_still(&directory),
            };
            for (name, stat) in inside {
                let path = path::joined(&path, &name);
                let is_directory = kind(&stat) == Some(FileKind::Directory);
                let census = self.terms.census;
                let is_ignored = census.ignores(&self.judge, &path, is_directory);
                let ignored = is_ignored.then(|| path.clone());
                if is_directory && ignored.is_none() {
                    todo.push((path.clone(), around));
                }
                found.push((path, around, stat, ignored));
            }
        }
        found.into_iter().try_for_each(|one| self.gone_inside(one))?;
        let same = self.vouch.is_as_it_was(here.around, top, Some(stat));
        let (directory, name) = path::split(top);
        let dir = self.workspace.root.open_directory(directory).map_err(|e| refusal(top, e))?;
        Ok(same.then(|| Side::named_directory(dir.as_fd(), name, stat)))
    }

    /// One thing in a directory that goes.
    fn gone_inside(
        &mut self,
        (path, around, stat, ignored): (String, Around, Stat, Option<String>),
    ) -> Result<(), Refusal> {
        let is_directory = kind(&stat) == Some(FileKind::Directory);
        let whole = is_directory && ignored.is_some();
        let tree = match whole {
            true => self.vouch.untouched_tree(&path),
            false => Some(Tree::default()),
        };
        let same = match whole {
            true => !around.is_foreign && self.vouch.is_same_directory(&path, &stat, Origin::New),
            false => self.vouch.is_as_it_was(around, &path, Some(&stat)),
        };
        let Some(tree) = tree.filter(|_| same) else {
            // The directory it is in goes, so it is not passed over as other ignored things are.
            self.gathered.conflict(&path, None);
            return Ok(());
        };
        let side = match whole {
            true => Side::whole(&stat, tree),
            false => {
                let (directory, name) = path::split(&path);
                let dir =
                    self.workspace.root.open_directory(directory).map_err(|e| refusal(&path, e))?;
                let place =
                    Place { dir: dir.as_fd(), name, path: &path, stat: &stat, is_ours: false };
                match is_directory {
                    true => Side::named_directory(place.dir, name, &stat),
                    false => Side::of(place, self.room(ignored.as_ref()))?,
                }
            }
        };
        self.note_links(&path, Some(&stat), ignored.as_ref());
        self.push(&path, ignored, (Some(side), None));
        Ok(())
    }

    /// A directory of the workspace and what is in it; none when not all of that can be told.
    fn inside(&self, path: &str) -> Option<(Stat, Vec<(String, Stat)>)> {
        let dir = self.workspace.root.open_directory(path).ok()?;
        let stat = rustix::fs::fstat(&dir).ok()?;
        let mut found = names(&dir).ok()?;
        found.sort();
        let inside = found.into_iter().map(|name| {
            let name = String::from_utf8(name.into_bytes()).ok()?;
            let stat = rustix::fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            kind(&stat).map(|_| (name, stat))
        });
        Some((stat, inside.collect::<Option<Vec<_>>>()?))
    }
}
