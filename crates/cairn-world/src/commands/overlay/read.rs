//! Walks an upper directory beside the workspace and gathers what differs. Never walks the workspace, which
//! `gone` does where something in it is gone; changes nothing there.

use super::gathered::{Gathered, Told};
use super::layer::{self, Item, Origin, What};
use super::sides::{self, MOST_READ, Place, Side, kind};
use super::tree::Tree;
use super::vouch::{Around, Vouch};
use super::{OWN_DIRECTORY, Terms};
use crate::folders::path;
use crate::folders::workspace::{Workspace, refusal};
use crate::git::ignored::GitJudge;
use crate::settled::Refusal;
use cairn_types::FileKind;
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

/// A longer path cannot be opened as one.
const MAX_PATH: usize = 4000;

/// Reads one upper directory.
pub(super) struct Reader<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) upper: OwnedFd,
    pub(super) terms: &'a Terms<'a>,
    pub(super) vouch: Vouch<'a>,
    pub(super) judge: GitJudge<'a>,
    pub(super) gathered: Gathered,
    /// How many bytes have been read.
    pub(super) read: u64,
}

/// What an upper directory lies over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// A directory that shows through.
    Merged,
    /// A directory that does not.
    Replaced,
    /// No directory.
    Nothing,
}

/// A directory that is still to be read.
pub(super) struct Visit {
    pub(super) path: String,
    over: Over,
    is_foreign: bool,
    pub(super) ignored: Option<String>,
    origin: Origin,
}

/// A directory that is being read.
pub(super) struct Here<'a> {
    pub(super) visit: &'a Visit,
    upper: OwnedFd,
    pub(super) lower: Option<OwnedFd>,
    pub(super) around: Around,
}

/// One thing in it, and what it lies over.
pub(super) struct Met<'a> {
    pub(super) path: &'a str,
    pub(super) name: &'a str,
    pub(super) item: &'a Item,
    pub(super) lower: Option<Stat>,
    pub(super) ignored: Option<String>,
}

impl Here<'_> {
    pub(super) fn stat(&self, name: &str) -> Result<Option<Stat>, Errno> {
        let Some(lower) = &self.lower else { return Ok(None) };
        match rustix::fs::statat(lower, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

impl Reader<'_> {
    /// Reads all of it.
    pub(super) fn walk(&mut self) -> Result<(), Refusal> {
        let root = Visit {
            path: ".".to_owned(),
            over: Over::Merged,
            is_foreign: false,
            ignored: None,
            origin: Origin::New,
        };
        let mut todo = vec![root];
        while let Some(visit) = todo.pop() {
            self.directory(&visit, &mut todo)?;
        }
        self.root_mode();
        self.gathered.pieces.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }

    /// A changed mode of the workspace itself is not committed: it has no path of its own.
    fn root_mode(&mut self) {
        let mode = |stat: Result<Stat, Errno>| stat.ok().map(|stat| stat.st_mode & 0o7777);
        let upper = mode(rustix::fs::fstat(&self.upper));
        if upper != mode(rustix::fs::fstat(self.workspace.root.handle())) {
            self.gathered.leave_out(".", "the mode of the workspace itself");
        }
    }

    fn directory(&mut self, visit: &Visit, todo: &mut Vec<Visit>) -> Result<(), Refusal> {
        let refuse = |e: Errno| refusal(&visit.path, e);
        let upper = layer::open(self.upper.as_fd(), visit.path.as_bytes()).map_err(refuse)?;
        let lower = match visit.over {
            Over::Nothing => None,
            Over::Merged | Over::Replaced => self.workspace.root.open_directory(&visit.path).ok(),
        };
        let mut around =
            Around { is_foreign: visit.is_foreign, is_still: visit.over == Over::Nothing };
        match lower.as_ref().map(rustix::fs::fstat) {
            Some(Ok(stat)) => {
                around.is_still = self.vouch.is_still(&stat);
                around.is_foreign |=
                    !self.vouch.is_same_directory(&visit.path, &stat, visit.origin);
            }
            Some(Err(_)) => around.is_foreign = true,
            None => around.is_foreign |= visit.over != Over::Nothing,
        }
        let items = layer::items(&upper).map_err(refuse)?;
        let here = Here { visit, upper, lower, around };
        for item in &items {
            self.item(&here, item, todo)?;
        }
        if visit.over == Over::Replaced {
            self.rest(&here, &items)?;
        }
        Ok(())
    }

    fn item(&mut self, here: &Here<'_>, item: &Item, todo: &mut Vec<Visit>) -> Result<(), Refusal> {
        let Ok(name) = std::str::from_utf8(&item.name) else {
            let shown = String::from_utf8_lossy(&item.name);
            let path = path::joined(&here.visit.path, &shown);
            self.gathered.leave_out(&path, "its name is not UTF-8");
            return Ok(());
        };
        let path = path::joined(&here.visit.path, name);
        if path.len() > MAX_PATH {
            let begin: String = path.chars().take(64).collect();
            self.gathered.leave_out(&format!("{begin}…"), "its path is too long");
            return Ok(());
        }
        if path == OWN_DIRECTORY {
            self.gathered.leave_out(&path, "it is Cairn's own");
            return Ok(());
        }
        if self.workspace.private.hides(path.as_bytes()) {
            self.gathered.leave_out(&path, "it is private");
            return Ok(());
        }
        let lower = here.stat(name).map_err(|e| refusal(&path, e))?;
        let ignored = here.visit.ignored.clone().or_else(|| self.ignored(&path, item, lower));
        let met = Met { path: &path, name, item, lower, ignored };
        match (item.what, met.lower.as_ref().map(kind)) {
            (What::Gone, None) => Ok(()),
            (What::Gone, Some(_)) => self.gone(here, &met),
            (What::Special(what), _) => {
                self.gathered.leave_out(&path, what);
                Ok(())
            }
            (_, Some(None)) => {
                self.gathered.leave_out(&path, "it takes the place of a special file");
                Ok(())
            }
            (What::Directory | What::Opaque, _) => self.folder(here, met, todo),
            (What::File | What::Link, Some(Some(FileKind::Directory))) => self.turned(here, &met),
            (What::File | What::Link, _) => self.file(here, &met),
        }
    }

    /// The path itself, if all that stood or stands there is ignored.
    pub(super) fn ignored(&self, path: &str, item: &Item, lower: Option<Stat>) -> Option<String> {
        let upper = match item.what {
            What::Gone => None,
            What::Directory | What::Opaque => Some(true),
            What::File | What::Link | What::Special(_) => Some(false),
        };
        let lower = lower.map(|stat| kind(&stat) == Some(FileKind::Directory));
        let sides = [upper, lower];
        let mut sides = sides.iter().flatten();
        sides
            .all(|is_directory| self.terms.census.ignores(&self.judge, path, *is_directory))
            .then(|| path.to_owned())
    }

    /// A file or link in the place of nothing, or of a file or link.
    fn file(&mut self, here: &Here<'_>, met: &Met<'_>) -> Result<(), Refusal> {
        let before = match &met.lower {
            None => None,
            Some(stat) => Some(self.lower_side(here, met, stat)?),
        };
        let after = self.upper_side(here, met)?;
        let is_unchanged = |reader: &Self, after: &Side| {
            before.as_ref().is_some_and(|before| reader.is_unchanged(here, met, (before, after)))
        };
        if is_unchanged(self, &after) {
            return Ok(());
        }
        let (after, is_tamed) = self.tamed(met, after);
        if is_tamed && is_unchanged(self, &after) {
            return Ok(());
        }
        if !self.vouch.is_as_it_was(here.around, met.path, met.lower.as_ref()) {
            self.gathered.conflict(met.path, met.ignored.as_ref());
            return Ok(());
        }
        self.push(met.path, met.ignored.clone(), (before, Some(after)));
        self.note_links(met.path, met.lower.as_ref(), met.ignored.as_ref());
        Ok(())
    }

    /// Whether something was copied up and left as it was.
    fn is_unchanged(
        &self,
        here: &Here<'_>,
        met: &Met<'_>,
        (before, after): (&Side, &Side),
    ) -> bool {
        if !before.is_as(after) {
            return false;
        }
        if after.state.kind == FileKind::Symlink || after.state.hash.is_some() {
            return true;
        }
        let (Some(stat), Some(lower)) = (&met.lower, &here.lower) else { return false };
        if met.ignored.is_some() {
            // What was written since has another time than what nobody touched.
            return met.item.origin != Origin::New
                && before.state.mtime_ns == after.state.mtime_ns
                && self.vouch.is_older(stat);
        }
        let below =
            Place { dir: lower.as_fd(), name: met.name, path: met.path, stat, is_ours: false };
        let above = Place { dir: here.upper.as_fd(), stat: &met.item.stat, is_ours: true, ..below };
        sides::same_bytes(below, above)
    }

    /// A directory.
    fn folder(
        &mut self,
        here: &Here<'_>,
        met: Met<'_>,
        todo: &mut Vec<Visit>,
    ) -> Result<(), Refusal> {
        let below = met.lower.as_ref().and_then(kind);
        let over = match (below, met.item.what) {
            (Some(FileKind::Directory), What::Opaque) => Over::Replaced,
            // In a directory that shows nothing of what lies beneath, no other does either.
            (Some(FileKind::Directory), _) => here.visit.over,
            _ => Over::Nothing,
        };
        if met.ignored.is_some() && over != Over::Merged {
            return self.whole(here, &met);
        }
        let mut is_foreign = here.around.is_foreign;
        let after = Side::named_directory(here.upper.as_fd(), met.name, &met.item.stat);
        let (after, _) = self.tamed(&met, after);
        let vouched = self.vouch.is_as_it_was(here.around, met.path, met.lower.as_ref());
        match (&met.lower, below) {
            // It was copied from a directory that is gone by now.
            (None, _) if met.item.origin != Origin::New => {
                is_foreign = true;
                let was = self.terms.census.directory(met.path);
                if was.is_some_and(|was| !was.looks_like(&met.item.stat)) {
                    self.gathered.conflict(met.path, met.ignored.as_ref());
                }
            }
            (Some(stat), Some(FileKind::Directory)) => {
                let before = match &here.lower {
                    Some(lower) => Side::named_directory(lower.as_fd(), met.name, stat),
                    None => Side::directory(stat),
                };
                match before.is_as(&after) {
                    true => {}
                    false if !vouched => self.gathered.conflict(met.path, met.ignored.as_ref()),
                    false => self.push(met.path, met.ignored.clone(), (Some(before), Some(after))),
                }
            }
            _ if !vouched => self.gathered.conflict(met.path, met.ignored.as_ref()),
            (None, _) => self.push(met.path, met.ignored.clone(), (None, Some(after))),
            (Some(stat), _) => {
                let before = self.lower_side(here, &met, stat)?;
                self.push(met.path, met.ignored.clone(), (Some(before), Some(after)));
                self.note_links(met.path, met.lower.as_ref(), met.ignored.as_ref());
            }
        }
        let (path, origin) = (met.path.to_owned(), met.item.origin);
        todo.push(Visit { path, over, is_foreign, ignored: met.ignored, origin });
        Ok(())
    }

    /// An ignored directory that is all new: one change at its top.
    fn whole(&mut self, here: &Here<'_>, met: &Met<'_>) -> Result<(), Refusal> {
        let before = match &met.lower {
            None => self.vouch.is_as_it_was(here.around, met.path, None).then_some(None),
            Some(stat) => self.vouched_side(here, met, stat)?.map(Some),
        };
        let Some(before) = before else {
            self.gathered.conflict(met.path, met.ignored.as_ref());
            return Ok(());
        };
        let tree = Tree::at((self.upper.as_fd(), self.workspace), met.path, |_| ());
        for (path, why) in &tree.left_out {
            self.gathered.leave_out(path, why);
        }
        let (after, _) =
            Side::whole(&met.item.stat, tree).tamed(&met.item.stat, met.lower.as_ref());
        self.push(met.path, met.ignored.clone(), (before, Some(after)));
        Ok(())
    }

    /// What lies beneath something ignored, moved whole; none when it was touched.
    pub(super) fn vouched_side(
        &mut self,
        here: &Here<'_>,
        met: &Met<'_>,
        stat: &Stat,
    ) -> Result<Option<Side>, Refusal> {
        if kind(stat) == Some(FileKind::Directory) {
            let same = !here.around.is_foreign
                && self.vouch.is_same_directory(met.path, stat, Origin::New);
            let tree = self.vouch.untouched_tree(met.path);
            return Ok(tree.filter(|_| same).map(|tree| Side::whole(stat, tree)));
        }
        let same = self.vouch.is_as_it_was(here.around, met.path, Some(stat));
        Ok(if same { Some(self.lower_side(here, met, stat)?) } else { None })
    }

    /// A directory that became a file or a link.
    fn turned(&mut self, here: &Here<'_>, met: &Met<'_>) -> Result<(), Refusal> {
        let Some(stat) = &met.lower else { return Ok(()) };
        let after = self.upper_side(here, met)?;
        let (after, _) = self.tamed(met, after);
        let before = match met.ignored {
            Some(_) => self.vouched_side(here, met, stat)?,
            None => self.removed(here, met.path, stat)?,
        };
        match before {
            Some(before) => self.push(met.path, met.ignored.clone(), (Some(before), Some(after))),
            None => self.gathered.conflict(met.path, met.ignored.as_ref()),
        }
        Ok(())
    }

    fn lower_side(&self, here: &Here<'_>, met: &Met<'_>, stat: &Stat) -> Result<Side, Refusal> {
        let Some(lower) = &here.lower else { return Ok(Side::directory(stat)) };
        let (name, path) = (met.name, met.path);
        let place = Place { dir: lower.as_fd(), name, path, stat, is_ours: false };
        Side::of(place, self.room(met.ignored.as_ref()))
    }

    fn upper_side(&self, here: &Here<'_>, met: &Met<'_>) -> Result<Side, Refusal> {
        let (name, path, stat) = (met.name, met.path, &met.item.stat);
        let place = Place { dir: here.upper.as_fd(), name, path, stat, is_ours: true };
        Side::of(place, self.room(met.ignored.as_ref()))
    }

    /// What stands in the upper directory, without what would let it act as somebody; that is told.
    fn tamed(&mut self, met: &Met<'_>, after: Side) -> (Side, bool) {
        let (after, is_tamed) = after.tamed(&met.item.stat, met.lower.as_ref());
        if is_tamed {
            self.gathered.leave_out(met.path, layer::ACTS);
        }
        (after, is_tamed)
    }

    /// How large a file may be that is read.
    pub(super) fn room(&self, ignored: Option<&String>) -> Option<u64> {
        ignored.is_none().then(|| MOST_READ.saturating_sub(self.read))
    }

    pub(super) fn push(
        &mut self,
        path: &str,
        ignored: Option<String>,
        sides: (Option<Side>, Option<Side>),
    ) {
        let bytes =
            |side: &Option<Side>| side.as_ref().and_then(|s| s.bytes.as_ref()).map_or(0, Vec::len);
        self.read += (bytes(&sides.0) + bytes(&sides.1)) as u64;
        let trash = self.workspace.root.op_path(&format!("{}/{}", super::TRASH, self.terms.name));
        let told = Told { path: self.workspace.root.op_path(path), trash: &trash };
        self.gathered.push(path, &told, ignored, sides);
    }

    /// Remembers a file that has other names, which stay as they are.
    pub(super) fn note_links(
        &mut self,
        path: &str,
        lower: Option<&Stat>,
        ignored: Option<&String>,
    ) {
        let is_file = |stat: &&Stat| kind(stat) == Some(FileKind::File) && stat.st_nlink > 1;
        if ignored.is_none() && lower.filter(is_file).is_some() {
            self.gathered.hard_links.push(path.to_owned());
        }
    }
}
