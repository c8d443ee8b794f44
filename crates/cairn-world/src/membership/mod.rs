//! Which paths are members of the project, and what ops may do with those that are not: nothing. The one
//! place where that is refused. Membership is a view for the model; commands reach past it. What members were
//! when they were last looked at is in `survey`.

mod judge;
pub(crate) mod survey;

pub(crate) use judge::{Ground, Judge, Judged, Stands};

use crate::folders::path;
use crate::folders::root_directory::RootDirectory;
use crate::folders::workspace::Workspace;
use crate::git::ignored::GlobalExcludes;
use crate::settled::Refusal;
use cairn_text::glob::{PathGlob, plain};
use cairn_types::{Change, ChangeKind, Status};
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// What is a member, besides what git and files of rules say.
#[derive(Debug, Clone, Default)]
pub struct Membership {
    /// Members whatever rules say. A glob that may match at any depth does not reach into directories
    /// that are left out.
    pub add: Vec<PathGlob>,
    /// No members, whatever else says so.
    pub ignore: Vec<PathGlob>,
    /// Not changed by ops on files, nor made.
    pub read_only: Vec<PathGlob>,
    /// In a repository only what git tracks is a member.
    pub tracked: bool,
    /// The person's global excludes, which git reads in every repository.
    pub global_excludes: GlobalExcludes,
}

/// The membership of one folder.
#[derive(Debug, Default)]
pub(crate) struct Members {
    terms: Arc<Membership>,
    /// What changes made, by its path beneath the root.
    made: RwLock<Arc<BTreeSet<String>>>,
}

impl Members {
    pub(crate) fn new(terms: &Membership) -> Members {
        Members { terms: Arc::new(terms.clone()), ..Members::default() }
    }

    fn made(&self) -> Arc<BTreeSet<String>> {
        Arc::clone(&self.made.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What a change made is a member from then on; what is gone is not. What git ignores is built by
    /// commands and stays what it is.
    pub(crate) fn count_made(&self, root: &RootDirectory, change: &Change) {
        let path = root.inner_path(&change.path);
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        match change.kind {
            ChangeKind::Created if !change.ignored => {
                Arc::make_mut(&mut made).insert(path.to_owned());
            }
            ChangeKind::Deleted if !made.is_empty() => {
                let beneath = format!("{path}/");
                let made = Arc::make_mut(&mut made);
                made.remove(path);
                let inside = made.range(beneath.clone()..);
                let inside = inside.take_while(|one| one.starts_with(&beneath));
                let inside: Vec<String> = inside.cloned().collect();
                for one in &inside {
                    made.remove(one);
                }
            }
            _ => {}
        }
    }

    /// Refuses to change what is only read, given as it really is.
    pub(crate) fn refuse_read_only(&self, root: &RootDirectory, real: &str) -> Result<(), Refusal> {
        let globs = &self.terms.read_only;
        if globs.iter().any(|glob| judge::names(root, glob, root.inner_path(real))) {
            let text = format!("{real} is only read: the setting membership.read_only names it");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        Ok(())
    }
}

impl Workspace {
    /// Refuses to look at what is no member. `real` is where the path that was given leads. A directory that
    /// only leads to members may be looked at.
    pub(crate) fn refuse_stranger(
        &self,
        given: &str,
        real: &str,
        is_directory: bool,
    ) -> Result<(), Refusal> {
        self.refuse(given, real, is_directory, |stands| stands != Stands::Not)
    }

    /// Refuses to remove or move what is no member itself.
    pub(crate) fn refuse_taking(
        &self,
        given: &str,
        real: &str,
        is_directory: bool,
    ) -> Result<(), Refusal> {
        self.refuse(given, real, is_directory, |stands| stands == Stands::Member)
    }

    fn refuse(
        &self,
        given: &str,
        real: &str,
        is_directory: bool,
        may: impl FnOnce(Stands) -> bool,
    ) -> Result<(), Refusal> {
        let judge = Judge::new(self);
        let found = judge.find(real, is_directory)?;
        let Some(why) = found.judged.why().filter(|_| !may(found.judged.stands)) else {
            return Ok(());
        };
        let what = match plain(&self.root.op_path(&self.relative(given)?)) == plain(real) {
            true => given.to_owned(),
            false => format!("{given} leads to {real}, which"),
        };
        let why = judge.told(&found, why);
        let text = format!("{what} is not a member of the project: {why}");
        Err(Refusal::new(Status::REFUSED, text))
    }
}

/// How many were no members, as words.
pub(crate) fn counted(strangers: usize) -> Option<String> {
    match strangers {
        0 => None,
        1 => Some("1 that is not a member".to_owned()),
        n => Some(format!("{n} that are not members")),
    }
}

/// The directories that something lies in, from a path beneath another; that one itself is the empty path.
pub(crate) fn around(rest: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(rest), |rest| match path::split(rest) {
        (".", "") => None,
        (".", _) => Some(""),
        (directory, _) => Some(directory),
    })
    .skip(1)
}
