//! The project's folder, those that a person opened besides it, and its repository's own where that lies
//! elsewhere. A path belongs to exactly one: an
//! absolute one to the folder it lies in, any other to the project's.

use crate::commands::rehearse;
use crate::folders::root_directory::{RootDirectory, WorldError};
use crate::folders::ruled::Ruled;
use crate::folders::unread::Unread;
use crate::folders::workspace::Workspace;
use crate::git::ignored::{self, IgnoreState};
use crate::git::outer::{self, Whose};
use crate::membership::{Members, Membership};
use crate::settled::{Prepared, Refusal};
use cairn_types::{Change, Hash, PrivatePlaces};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All folders of a world.
#[derive(Debug)]
pub(crate) struct Roots {
    main: Workspace,
    others: Vec<Workspace>,
    /// The own directory of the project's repository, where that lies outside. Only commands come to it.
    repository: Option<Workspace>,
    /// The same where the project is a part of it: commands only look at it.
    seen: Option<Workspace>,
}

impl Roots {
    pub(crate) fn new(main: Workspace) -> Roots {
        Roots { main, others: Vec::new(), repository: None, seen: None }
    }

    /// Keeps to rules, in every folder: paths that must not be read, and those on whose change there are
    /// some.
    pub(crate) fn keep_to(&mut self, unread: &Unread, ruled: &Ruled) {
        let all = std::iter::once(&mut self.main).chain(&mut self.others);
        for workspace in all.chain(&mut self.repository) {
            (workspace.unread, workspace.ruled) = (unread.clone(), ruled.clone());
        }
    }

    /// Keeps to what is a member, in every folder.
    pub(crate) fn keep_members(&mut self, membership: &Membership) {
        let ignored = Arc::new(IgnoreState::new(&membership.global_excludes));
        let all = std::iter::once(&mut self.main).chain(&mut self.others);
        for workspace in all.chain(&mut self.repository) {
            workspace.members = Members::new(membership);
            workspace.ignored = Arc::clone(&ignored);
        }
    }

    /// Counts the precious files that git would no longer ignore after what was prepared, and says which.
    pub(crate) fn count_exposed(&self, prepared: &mut Prepared) {
        let placed = ignored::placed(&prepared.changes, |path| self.absolute(path));
        // Made at the first question: most changes touch no rule file, and hashing all contents takes its time.
        let by_hash: OnceCell<HashMap<Hash, &Vec<u8>>> = OnceCell::new();
        let hashed = || prepared.contents.iter().map(|bytes| (Hash::of(bytes), bytes)).collect();
        let by_hash =
            |hash: &Hash| by_hash.get_or_init(hashed).get(hash).map(|bytes| (*bytes).clone());
        let rehearsed = prepared.rehearsed.as_deref();
        let layers = rehearsed.map(|layers| rehearse::layers(self, layers)).unwrap_or_default();
        let layers = layers.into_iter().map(|(folder, upper)| (folder.path(), upper)).collect();
        let contents = ignored::NewContents { by_hash: &by_hash, layers };
        let exposed: Vec<String> =
            self.all().flat_map(|root| ignored::exposed(root, &placed, &contents)).collect();
        prepared.removed.exposed = exposed.len() as u64;
        if !exposed.is_empty() {
            prepared.shown.push_str(&ignored::told_exposed(&exposed));
        }
    }

    /// Where something is, given as it is told.
    pub(crate) fn absolute(&self, told: &str) -> PathBuf {
        self.root_of(told).absolute_path(told)
    }

    /// Keeps private places out of every folder.
    pub(crate) fn keep_private(&mut self, places: &Arc<PrivatePlaces>) {
        let all = std::iter::once(&mut self.main).chain(&mut self.others);
        for workspace in all.chain(&mut self.repository) {
            workspace.keep_private(places);
        }
    }

    /// Opens one more folder. Paths in it are told as absolute ones.
    pub(crate) fn add(&mut self, folder: &Path) -> Result<(), WorldError> {
        self.others.push(Workspace::open_besides(folder)?);
        Ok(())
    }

    /// Opens the own directory of the project's repository, where that lies outside all folders. One that
    /// cannot be opened is not there.
    pub(crate) fn add_repository(&mut self, home: Option<&Path>) {
        let Some(outer) = outer::of(self.main.path(), home) else { return };
        if self.others.iter().any(|other| outer.path.starts_with(other.path())) {
            return;
        }
        let Ok(mut opened) = Workspace::open_besides(&outer.path) else { return };
        match outer.whose {
            Whose::Worktree(own) => {
                opened.repository = Some(own);
                self.repository = Some(opened);
            }
            Whose::Part => self.seen = Some(opened),
        }
    }

    /// What a command over an overlay only looks at.
    pub(crate) fn seen(&self) -> Option<&Workspace> {
        self.seen.as_ref()
    }

    /// All of them, the project's first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Workspace> + Clone {
        std::iter::once(&self.main).chain(&self.others)
    }

    /// All that a command over an overlay can change.
    pub(crate) fn laid(&self) -> impl Iterator<Item = &Workspace> + Clone {
        self.all().chain(&self.repository)
    }

    pub(crate) fn main(&self) -> &Workspace {
        &self.main
    }

    /// The folder that a path belongs to. One that belongs to none is the project's to refuse.
    pub(crate) fn of(&self, path: &str) -> &Workspace {
        let holds =
            |other: &&Workspace| path.starts_with('/') && other.root.contains_path(Path::new(path));
        self.others.iter().chain(&self.repository).find(holds).unwrap_or(&self.main)
    }

    /// The directory of the folder that a path belongs to.
    pub(crate) fn root_of(&self, path: &str) -> &RootDirectory {
        &self.of(path).root
    }

    /// Counts what a change made as a member of its folder.
    pub(crate) fn count_made(&self, change: &Change) {
        let folder = self.of(&change.path);
        folder.members.count_made(&folder.root, change);
    }

    /// Refuses to change what is only read, given as it really is.
    pub(crate) fn refuse_read_only(&self, real: &str) -> Result<(), Refusal> {
        let folder = self.of(real);
        folder.members.refuse_read_only(&folder.root, real)
    }
}
