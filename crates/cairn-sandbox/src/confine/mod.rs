//! What a command may see and touch: a root of its own that shows the machine's programs read-only and its
//! workspace, no network but its own loopback, and a short list of system calls. Nothing here decides
//! which level a command gets.

mod build;
mod closed;
mod ground;
mod home;
mod landlock;
mod layout;
mod mask;
mod probe;
mod restrict;
mod seccomp;
mod settings;
mod sockets;
mod steps;
mod unreadable;
mod within;

pub(crate) use layout::Held;
pub use layout::{Access, Place, Sandbox, Surroundings};
pub use probe::{Can, can};

use build::seal;
pub(crate) use build::{Stage, build, enter};
pub(crate) use landlock::make as make_rules;
use restrict::counts_processes;
pub(crate) use restrict::{cap_processes, give_up, limit_processes, loopback_up, pass_listener};
pub(crate) use steps::{Confining, Root};

use crate::SandboxError;
use crate::network::Reach;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much a command is kept from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only its processes are held together: it can do what its user can.
    Open,
    /// It sees programs, toolchains and its workspace, and writes only there and in places of its own.
    #[default]
    Workspace,
    /// The same without debuggers, capabilities and writable caches.
    Strict,
}

impl Level {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Level::Open => "open",
            Level::Workspace => "workspace",
            Level::Strict => "strict",
        }
    }

    /// The level of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Level> {
        [Level::Open, Level::Workspace, Level::Strict]
            .into_iter()
            .find(|level| level.word() == word)
    }
}

/// How one command is confined.
#[derive(Debug, Clone)]
pub struct Confined {
    /// What it sees of the machine.
    pub sandbox: Arc<Sandbox>,
    /// What it works on.
    pub places: Vec<Place>,
    /// Files that it finds and cannot read.
    pub unreadable: Vec<PathBuf>,
    /// The directory it runs in, as it sees it.
    pub cwd: PathBuf,
    /// What it may reach through a proxy; without one it has no way out at all.
    pub reach: Option<Reach>,
}

impl Confined {
    /// The place written to that another one lies in.
    fn written_around(&self, inner: &Place) -> Option<&Place> {
        let is_around = |place: &&Place| {
            place.access == Access::Write
                && inner.path != place.path
                && inner.path.starts_with(&place.path)
        };
        self.places.iter().find(is_around)
    }

    /// Whether a place is only read and lies in one that is written to.
    pub(crate) fn is_within_written(&self, place: &Place) -> bool {
        place.access == Access::Read && self.written_around(place).is_some()
    }

    /// The paths of what is only read within a place that is written to, the outer ones first.
    pub(crate) fn read_only_within(&self, place: &Place) -> impl Iterator<Item = &Path> {
        let is_inner = |inner: &&Place| {
            let around = self.written_around(inner).filter(|_| inner.access == Access::Read);
            around.is_some_and(|around| around.path == place.path)
        };
        let mut inner: Vec<&Path> =
            self.places.iter().filter(is_inner).map(|inner| inner.path.as_path()).collect();
        inner.sort_unstable();
        inner.into_iter()
    }

    /// The places that lie in no place written to.
    pub(crate) fn outer_places(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| !self.is_within_written(place))
    }
}

/// What a stage that failed was for, and why.
pub(crate) fn failed(root: &Root, stage: Stage, source: io::Error) -> SandboxError {
    let what = match stage {
        build::PRIVATE => "a mount namespace of its own".to_owned(),
        build::BASE => "a root of its own".to_owned(),
        build::ENTER => "entering its own root".to_owned(),
        build::DIRECTORY => "its directory".to_owned(),
        stage::IDS => "a user namespace of its own".to_owned(),
        stage::LOOPBACK => "a network namespace of its own".to_owned(),
        stage::LISTENER => "a socket for its proxy".to_owned(),
        stage::RULES => "Landlock".to_owned(),
        stage::GIVE_UP => "giving up privileges".to_owned(),
        stage::PROC => "sealing its /proc".to_owned(),
        stage::FILTER => "a filter of system calls".to_owned(),
        other => usize::try_from(other - build::STEPS)
            .ok()
            .and_then(|n| root.steps.get(n))
            .map_or_else(|| "a layer".to_owned(), steps::Step::told),
    };
    SandboxError::Layer { what, source }
}

/// Stages besides those of building the root.
pub(crate) mod stage {
    use super::Stage;
    /// The ids of the namespace were not mapped.
    pub(crate) const IDS: Stage = 5;
    /// Loopback could not be brought up.
    pub(crate) const LOOPBACK: Stage = 6;
    /// Landlock's rules could not be made, or not be put in force.
    pub(crate) const RULES: Stage = 7;
    /// Privileges could not be given up.
    pub(crate) const GIVE_UP: Stage = 8;
    /// Its `/proc` could not be sealed.
    pub(crate) const PROC: Stage = 9;
    /// The filter of system calls could not be set.
    pub(crate) const FILTER: Stage = 10;
    /// The socket for its proxy could not be made or handed over.
    pub(crate) const LISTENER: Stage = 11;
}
