//! The project's folder and those that a person opened besides it. A path belongs to exactly one: an
//! absolute one to the folder it lies in, any other to the project's.

use crate::unread::Unread;
use crate::workspace::{Workspace, WorldError};
use std::path::Path;

/// All folders of a world.
#[derive(Debug)]
pub(crate) struct Roots {
    main: Workspace,
    others: Vec<Workspace>,
}

impl Roots {
    pub(crate) fn new(main: Workspace) -> Roots {
        Roots { main, others: Vec::new() }
    }

    /// Keeps paths from being read, in every folder.
    pub(crate) fn keep_from_reading(&mut self, unread: &Unread) {
        for workspace in std::iter::once(&mut self.main).chain(&mut self.others) {
            workspace.unread = unread.clone();
        }
    }

    /// Opens one more folder. Paths in it are told as absolute ones.
    pub(crate) fn add(&mut self, folder: &Path) -> Result<(), WorldError> {
        self.others.push(Workspace::open_besides(folder)?);
        Ok(())
    }

    /// All of them, the project's first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Workspace> + Clone {
        std::iter::once(&self.main).chain(&self.others)
    }

    pub(crate) fn main(&self) -> &Workspace {
        &self.main
    }

    /// The folder that a path belongs to. One that belongs to none is the project's to refuse.
    pub(crate) fn of(&self, path: &str) -> &Workspace {
        let holds = |other: &&Workspace| path.starts_with('/') && other.holds(Path::new(path));
        self.others.iter().find(holds).unwrap_or(&self.main)
    }
}
