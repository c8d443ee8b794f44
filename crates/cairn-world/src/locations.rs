//! What a path or an address names: a file in one of the folders, or an entry of a scheme. Looks at it and
//! changes it; how an op is worked out is its own module's.

use crate::caught::caught;
use crate::changes::apply::{self, Contents, List, OnProgress, inverse};
use crate::changes::{aside, state};
use crate::entries::scheme::Schemes;
use crate::entries::{self, misspelled};
use crate::folders::roots::Roots;
use crate::folders::walk;
use crate::folders::workspace::refusal;
use crate::git::ignored;
use crate::settled::{Probe, Refusal};
use cairn_types::{Action, Change, FileState, Status, scheme_of};
use std::sync::Arc;

/// The folders and the schemes of a world.
#[derive(Debug, Clone)]
pub struct Locations {
    pub(crate) roots: Arc<Roots>,
    pub(crate) schemes: Arc<Schemes>,
}

impl Locations {
    /// The names in a directory, given as it really is.
    pub fn names_in(&self, path: &str) -> Result<Vec<String>, Refusal> {
        let refuse = |e| refusal(path, e);
        let dir = self.roots.root_of(path).open_directory(path).map_err(refuse)?;
        let names = walk::names(&dir).map_err(refuse)?;
        Ok(names
            .into_iter()
            .map(|n| String::from_utf8_lossy(&n.into_bytes()).into_owned())
            .collect())
    }

    /// What stands at a path or an address, given as it really is.
    pub fn state(&self, path: &str) -> Result<Option<FileState>, Refusal> {
        self.state_among(path, &[])
    }

    /// What stands at a path or an address. A file that was moved and not written is returned as the one of `known`
    /// that it is, and is not read.
    pub fn state_among(
        &self,
        path: &str,
        known: &[&FileState],
    ) -> Result<Option<FileState>, Refusal> {
        match self.schemes.address(path) {
            Some(_) => entries::state(&self.schemes, path),
            None => {
                Ok(state::among(self.roots.root_of(path), path, known)?.map(|(state, _)| state))
            }
        }
    }

    /// Whether anything stands at a path or an address, as an op names it. What cannot be looked at counts.
    #[must_use]
    pub fn is_there(&self, path: &str) -> bool {
        let found = || match self.schemes.address(path) {
            Some(uri) => entries::there(&self.schemes, &uri?).map(drop),
            None => self.roots.of(path).open_existing(path).map(drop),
        };
        caught(found).is_ok_and(|found| {
            found.err().is_none_or(|refusal| refusal.status != Status::NOT_FOUND)
        })
    }

    /// Whether what a state of this path tells of, which is moved and not written, lies aside.
    #[must_use]
    pub fn lies_aside(&self, path: &str, state: &FileState) -> bool {
        aside::lies(self.roots.root_of(path), state)
    }

    /// The bytes of the file or the entry at a path or an address, given as it really is.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Refusal> {
        match self.schemes.address(path) {
            Some(uri) => Ok(entries::there(&self.schemes, &uri?)?.content),
            None => state::bytes_at(self.roots.root_of(path), path),
        }
    }

    /// Refuses what names a file or an entry in a way that nobody means.
    pub(crate) fn refuse_misnamed(&self, action: &Action) -> Result<(), Refusal> {
        refuse_tags(action)?;
        misspelled::refuse(&self.schemes, action)
    }

    /// Refuses changes of files that are only read.
    pub(crate) fn refuse_read_only(&self, changes: &[Change]) -> Result<(), Refusal> {
        let mut files = changes.iter().filter(|change| change.entry().is_none());
        files.try_for_each(|one| self.roots.refuse_read_only(&one.path))
    }

    /// How far these changes came, by what is on disk now. Removes what an unfinished write left behind.
    pub(crate) fn probe(&self, expected: &[Change]) -> Probe {
        let (entries, files): (Vec<_>, Vec<_>) =
            expected.iter().cloned().partition(|change| change.entry().is_some());
        let of_files = (!files.is_empty()).then(|| apply::probe(&self.roots, &files));
        let found = [entries::probe(&self.schemes, &entries), of_files];
        found.into_iter().flatten().reduce(entries::together).unwrap_or(Probe::Neither)
    }

    /// Makes these changes, all or none. Files first, since only they can be found to be somebody else's while
    /// they are made; of entries those that the store keeps are made with the outcome.
    pub(crate) fn make(
        &self,
        changes: &[Change],
        list: List,
        contents: &Contents<'_>,
        progress: OnProgress<'_>,
    ) -> Result<Vec<Change>, Refusal> {
        if let (List::Afresh, Some(address)) = (list, entries::stale(&self.schemes, changes)) {
            let text = format!("{address} was changed meanwhile");
            return Err(Refusal::new(Status::CONFLICT, text));
        }
        let (entries, files): (Vec<_>, Vec<_>) =
            changes.iter().cloned().partition(|change| change.entry().is_some());
        let placed = ignored::placed(&files, |path| self.roots.absolute(path));
        self.roots.main().ignored.keep_before(&placed, contents);
        let mut made = apply::apply(&self.roots, &files, list, contents, progress)?;
        if let Err(refusal) = entries::apply(&self.schemes, &entries, contents) {
            // What could not be put back is in the row of whoever finds it changed.
            let back: Vec<Change> = made.iter().rev().map(inverse).collect();
            let _ = apply::apply(&self.roots, &back, List::GoOn, contents, &mut |_, _| {});
            return Err(refusal);
        }
        made.extend(entries);
        Ok(made)
    }
}

/// Refuses to tag a file, which has nowhere to keep it.
fn refuse_tags(action: &Action) -> Result<(), Refusal> {
    let (tags, path) = match action {
        Action::Edit(edit) => (&edit.tags, edit.path.as_deref()),
        Action::Copy(carry) | Action::Move(carry) => (&carry.tags, Some(carry.to.as_str())),
        _ => return Ok(()),
    };
    match path.filter(|path| !tags.is_empty() && scheme_of(path).is_none()) {
        None => Ok(()),
        Some(path) => {
            let text = format!("{path} is a file, and files have no tags");
            Err(Refusal::new(Status::BAD_REQUEST, text))
        }
    }
}
