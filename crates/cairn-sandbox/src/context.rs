//! Where commands run. A context carries a command out and hands on what it prints; what is kept of that, and
//! what passes a filter, is the same in all of them.

use crate::confine::Confined;
use crate::run::carry_out;
use crate::{End, SandboxError, Spec, Wanted};
use cairn_types::SandboxLayer;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A place where commands run: this machine, a sandbox on it, and whatever else can start a command, hand on
/// its output and end all that it started.
pub trait Context: fmt::Debug + Send + Sync {
    /// Runs a command to its end and hands on what it prints. When this is over, or dropped, everything the
    /// command started has ended; once `cancel` is, that takes a quarter of a second at most.
    fn carry_out<'a>(
        &'a self,
        spec: &'a Spec,
        cancel: &'a CancellationToken,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> Carrying<'a>;
}

/// A command that is being carried out.
pub type Carrying<'a> = Pin<Box<dyn Future<Output = Result<Over, SandboxError>> + Send + 'a>>;

/// How a command ended, without what it printed.
#[derive(Debug)]
pub struct Over {
    /// How it ended.
    pub end: End,
    /// What held its processes and what it was kept in.
    pub layers: Vec<SandboxLayer>,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The beginning of stderr, where it was taken apart.
    pub errors: Vec<u8>,
    /// What it wanted to reach, where it has a way out.
    pub wanted: Wanted,
    /// How many processes the system ended meanwhile, because commands had all the memory they may have.
    pub starved: u64,
}

/// This machine: a command can do what its user can. Only its processes are held together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

impl Host {
    /// This machine, for a command.
    #[must_use]
    pub fn context() -> Arc<dyn Context> {
        Arc::new(Host)
    }
}

impl Context for Host {
    fn carry_out<'a>(
        &'a self,
        spec: &'a Spec,
        cancel: &'a CancellationToken,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> Carrying<'a> {
        Box::pin(carry_out(spec, None, cancel, sink))
    }
}

impl Context for Confined {
    fn carry_out<'a>(
        &'a self,
        spec: &'a Spec,
        cancel: &'a CancellationToken,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> Carrying<'a> {
        Box::pin(carry_out(spec, Some(self), cancel, sink))
    }
}
