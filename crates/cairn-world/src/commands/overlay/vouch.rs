//! Whether what lies beneath a changed path is what the overlay was mounted over. In doubt it is not,
//! so that nothing a person did meanwhile is ever written over.

use super::census::{Census, Had, Identity};
use super::layer::Origin;
use super::mark::{Age, Mark, Own};
use super::sides;
use super::tree::Tree;
use crate::folders::workspace::Workspace;
use cairn_types::FileKind;
use rustix::fs::Stat;

/// What is known of how the workspace was.
#[derive(Debug)]
pub(super) struct Vouch<'a> {
    /// The workspace.
    pub(super) workspace: &'a Workspace,
    pub(super) census: &'a Census,
    pub(super) own: &'a Own,
    pub(super) mark: &'a Mark,
    /// The clock was set back: nothing is sure.
    pub(super) in_doubt: bool,
}

/// The directory that something lies in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// It is another one than it was, or lies in such a one.
    pub(super) is_foreign: bool,
    /// Nothing came or went in it, or there is none.
    pub(super) is_still: bool,
}

impl Vouch<'_> {
    /// Whether what stands at a path now, or that nothing does, is what a command saw.
    pub(super) fn is_as_it_was(&self, around: Around, path: &str, now: Option<&Stat>) -> bool {
        if self.in_doubt || around.is_foreign {
            return false;
        }
        match (self.census.had(path), now) {
            (Had::Nothing, now) => now.is_none(),
            (Had::This(_), None) => false,
            (Had::This(Some(inode)), Some(now)) if inode != now.st_ino => {
                // A directory that something is mounted on has two numbers.
                self.census.directory(path) == Some(Identity::of(now))
            }
            (Had::Unknown, None) => around.is_still,
            (Had::This(_) | Had::Unknown, Some(now)) => self.is_untouched(path, now),
        }
    }

    fn is_untouched(&self, path: &str, now: &Stat) -> bool {
        match (sides::kind(now), self.census.directory(path)) {
            // Times of directories change with what is in them.
            (Some(FileKind::Directory), Some(was)) => was == Identity::of(now),
            _ => self.is_older(now),
        }
    }

    /// Whether something was last changed before the overlay was made.
    pub(super) fn is_older(&self, now: &Stat) -> bool {
        match self.mark.age(now) {
            Age::Before => true,
            Age::Doubtful => self.own.has(now),
            Age::After => false,
        }
    }

    /// Whether a directory is still the one a command saw, whatever came and went in it.
    pub(super) fn is_same_directory(&self, path: &str, now: &Stat, origin: Origin) -> bool {
        if self.in_doubt {
            return false;
        }
        if let Some(is_same) = self.census.is_same_one(self.workspace.root.handle(), path, now) {
            return is_same;
        }
        match (self.census.had(path), origin) {
            (Had::Nothing, _) => false,
            (Had::This(Some(inode)), _) => inode == now.st_ino,
            (_, Origin::CopiedFrom(inode)) => inode == now.st_ino,
            (_, Origin::New | Origin::Copied) => self.mark.age(now) == Age::Before,
        }
    }

    /// What is beneath a directory of the workspace, if none of it was touched.
    pub(super) fn untouched_tree(&self, path: &str) -> Option<Tree> {
        let mut untouched = !self.in_doubt;
        let at = (self.workspace.root.handle(), self.workspace);
        let tree = Tree::at(at, path, |stat| untouched &= self.is_older(stat));
        untouched.then_some(tree)
    }

    /// Whether nothing came or went in a directory.
    pub(super) fn is_still(&self, directory: &Stat) -> bool {
        self.mark.age(directory) == Age::Before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::overlay::{Scratch, written};
    use cairn_types::Change;

    #[test]
    fn what_was_changed_in_the_very_tick_is_vouched_for_only_if_we_wrote_it() {
        let holder = tempfile::tempdir().unwrap();
        let (root, scratch) = (holder.path().join("root"), holder.path().join("scratch"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&scratch).unwrap();
        std::fs::write(root.join("f"), "f").unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let scratch = Scratch::new(&scratch, &workspace).unwrap();
        let mut census = Census::new();
        census.take(&workspace, scratch.mark()).unwrap();
        let stat = |name: &str| rustix::fs::stat(root.join(name)).unwrap();
        let around = Around { is_foreign: false, is_still: true };
        let (at_f, f) = (Mark::of(&stat("f")), stat("f"));
        let check = |own: &Own, in_doubt: bool, expected: bool| {
            let workspace = &workspace;
            let vouch = Vouch { workspace, census: &census, own, mark: &at_f, in_doubt };
            assert_eq!(vouch.is_as_it_was(around, "f", Some(&f)), expected, "{own:?} {in_doubt}");
        };
        let mut own = Own::default();
        check(&own, false, false);
        own.extend(written(&workspace.root, &[Change::between("f".to_owned(), None, None)]));
        check(&own, false, true);
        check(&own, true, false);
        own.clear();
        check(&own, false, false);
    }
}
