//! The only crate that starts processes. It runs shell commands, awaited or in the background, confines
//! what they may see and touch, and sees to it that everything a command started has ended with it, or when
//! this process is killed. What a command is given leave to do is not decided here. A person's editor is
//! started here, too.

mod confine;
mod context;
mod disk_signals;
mod editor;
mod enter;
mod environment;
mod group;
mod guard;
mod ids;
mod kept;
pub mod network;
mod own;
mod report;
mod run;
mod running;
mod signals;
mod spool;
mod start;
mod way_out;

pub use confine::{Access, Can, Confined, Level, Place, Sandbox, Surroundings, can};
pub use context::{Carrying, Context, Host, Over};
pub use disk_signals::handle_disk_signals;
pub use editor::edit;
pub use environment::{environment, names_secret, shell};
pub use kept::{Ends, Keep, Kept, OnDisk, Printed};
pub use own::{Own, clear};
pub use run::run;
pub use running::Running;
pub use signals::is_signal_ignored;
pub use spool::{Seam, Spool, Spooled};
pub use way_out::Wanted;

use cairn_types::{Hash, SandboxLayer};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A command to run.
#[derive(Debug)]
pub struct Spec {
    /// What the shell is given to run; its last argument, unless it is empty.
    pub command: String,
    /// The shell, or another program that takes what it shall run.
    pub shell: PathBuf,
    /// What it is given before the command: `-c --` of a shell.
    pub flags: Vec<String>,
    /// The directory it runs in, as a handle, so that no path is looked up again.
    pub cwd: OwnedFd,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// When to end it.
    pub timeout: Duration,
    /// How long output is still awaited after everything ended.
    pub grace: Duration,
    /// How much of its output to keep.
    pub keep: Keep,
    /// How its processes are held together.
    pub way: Way,
    /// Where it runs.
    pub context: Arc<dyn Context>,
    /// What its output passes before anyone sees, keeps, counts or hashes it.
    pub filter: Option<Box<dyn Filter>>,
    /// What it reads on stdin.
    pub input: Input,
    /// How stderr is taken.
    pub errors: Errors,
}

/// What an output passes, piece by piece.
pub trait Filter: fmt::Debug + Send + Sync {
    /// Takes a piece; gives what can be handed on.
    fn push(&mut self, piece: &[u8]) -> Vec<u8>;

    /// There is no more: gives the rest.
    fn finish(&mut self) -> Vec<u8>;
}

impl Spec {
    /// What a shell is given before a command.
    #[must_use]
    pub fn shell_flags() -> Vec<String> {
        vec!["-c".to_owned(), "--".to_owned()]
    }
}

/// What a command reads on stdin.
#[derive(Debug, Default)]
pub enum Input {
    /// Nothing: it is at its end at once.
    #[default]
    Nothing,
    /// These bytes.
    Bytes(Vec<u8>),
    /// What comes here, as it comes.
    From(OwnedFd),
}

/// How a command's stderr is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Errors {
    /// With stdout, as one stream in the order of writing.
    #[default]
    Joined,
    /// By itself; this many bytes of its beginning are kept, the others are read and dropped.
    Apart(usize),
}

/// How a command's processes are held together so that all of them can be ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Way {
    /// A PID namespace where the kernel grants one, otherwise a subreaper.
    #[default]
    Best,
    /// A subreaper: a guardian that adopts and ends every orphan.
    Subreaper,
}

/// A command that ran and ended.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// The beginning of its output.
    pub head: Vec<u8>,
    /// The end of its output, without what `head` holds. Both together are the whole output unless
    /// `bytes` is more.
    pub tail: Vec<u8>,
    /// More of both ends, when there was too much for memory.
    pub spool: Option<Spool>,
    /// How many bytes it printed, exactly, as they left the filter.
    pub bytes: u64,
    /// BLAKE3 of all of them.
    pub hash: Hash,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// What held its processes and what it was kept in: `pid-namespace`, `landlock` and so on.
    pub layers: Vec<SandboxLayer>,
    /// The beginning of stderr, where it was taken apart.
    pub errors: Vec<u8>,
    /// What it wanted to reach, where it has a way out.
    pub wanted: Wanted,
    /// How many processes of this sandbox's commands the kernel ended meanwhile, because they had as much
    /// memory as they may.
    pub starved: u64,
}

impl Finished {
    /// What is kept of its output.
    #[must_use]
    pub fn printed(&self) -> Printed<'_> {
        let Finished { head, tail, spool, bytes, .. } = self;
        Printed { head, tail, spool: spool.as_ref(), bytes: *bytes }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Its time was up.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// Why a command could not be run, or what became of it is unknown.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A text that cannot be handed to a process.
    #[error("{what} holds a NUL byte and cannot be handed to a process; remove it")]
    Nul {
        /// Which text.
        what: &'static str,
    },
    /// The system refused something needed to start it. Nothing was run.
    #[error("the command could not be started: {step}: {source}")]
    Start {
        /// What was refused.
        step: &'static str,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// Something that confines it cannot be had here. Nothing was run.
    #[error(
        "the command was not run, because it could not be confined: {what}: {source}; see `cairn doctor`"
    )]
    Layer {
        /// What was refused.
        what: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The shell could not be executed. Nothing was run.
    #[error("{} could not be executed: {source}; name an existing shell", .shell.display())]
    Shell {
        /// The shell.
        shell: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// Waiting for it, or reading from it, failed. It was ended.
    #[error("the command was ended because watching it failed: {source}")]
    Watch {
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// Its guardian was killed by someone else, so how it ended is unknown.
    #[error(
        "the command's guardian process was killed from outside; how the command ended is unknown"
    )]
    GuardianKilled,
    /// Something it started could not be ended.
    #[error("a process the command started could not be ended; look for it with ps")]
    WouldNotEnd,
}
