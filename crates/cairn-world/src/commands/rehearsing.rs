//! A command that is running over an overlay: what it printed so far, how it is ended, and what it comes
//! to when it is over. A person may send it to the background meanwhile; its overlay stays its own.

use crate::commands::background::{self, Over};
use crate::commands::exec;
use crate::commands::rehearse::{Known, Rehearsed, beside, settle};
use crate::folders::roots::Roots;
use crate::git::guarded::mark_guarded;
use crate::git::settings::GitConfigFiles;
use crate::settled::{Performed, Prepared};
use cairn_sandbox::{End, Finished, Running, SandboxError};
use cairn_types::{Exec, Read, SandboxLayer, StreamState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What sees a command's output as it comes.
pub type OnOutput = Box<dyn FnMut(&[u8]) + Send>;

/// A command that is running over an overlay. Dropping it ends it and forgets what it changed.
#[derive(Debug)]
pub struct Rehearsing {
    pub(crate) running: Running,
    pub(crate) run: Exec,
    pub(crate) timeout: Duration,
    pub(crate) begun: Instant,
    /// What was known of it before it ran.
    pub(crate) prepared: Prepared,
    pub(crate) rehearsed: Rehearsed,
    /// Nothing of what it changes is looked at.
    pub(crate) discards: bool,
    pub(crate) roots: Arc<Roots>,
    pub(crate) known: Arc<Known>,
    /// Where the person's own git configuration is.
    pub(crate) git_config: GitConfigFiles,
}

/// A command over an overlay that is over.
#[derive(Debug)]
pub struct Ended {
    /// How it came to its end; `Stopped` when it was cancelled.
    pub state: StreamState,
    /// What there is to say beyond that and its exit code.
    pub why: String,
    /// What it would change. The command's own outcome is in `ran`, or in `settled` where nothing is left
    /// to decide.
    pub prepared: Prepared,
}

impl Ended {
    /// How the command ended and what it printed, taken out of what it would change.
    pub fn over(&mut self) -> Over {
        let over = Over { state: self.state, ..Over::failed(self.why.clone()) };
        let Prepared { ran, settled, .. } = &mut self.prepared;
        let Some(ran) = ran.as_mut().or(settled.as_mut()) else { return over };
        Over {
            exit: ran.exit,
            output: ran.output.clone(),
            contents: std::mem::take(&mut ran.contents),
            spooled: ran.spooled.take(),
            layers: ran.layers.clone(),
            ms: ran.ms,
            ..over
        }
    }
}

impl Rehearsing {
    /// Waits until it is over.
    pub async fn over(&self) {
        self.running.over().await;
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.running.is_over()
    }

    /// Begins to end it.
    pub fn cancel(&self) {
        self.running.cancel();
    }

    /// From here on other things are done while it runs. What is known of the folders as it found them
    /// is kept for it: whatever is written from now on, also by ourselves, is written beside it.
    pub fn leave(&mut self) {
        self.rehearsed.known = Some(self.known.apart());
    }

    /// Lines of what it printed so far, under this name.
    #[must_use]
    pub fn lines(&self, name: &str, read: &Read) -> Performed {
        background::lines(&self.running, name, read)
    }

    /// All that is kept of what it printed so far.
    pub fn printed(&self) -> std::io::Result<Vec<u8>> {
        background::printed(&self.running)
    }

    /// Ends it, unless it is over, and says what it would change. `row` is where all that it printed
    /// can be read.
    pub async fn end(self: Box<Self>, row: &str) -> Ended {
        let Rehearsing {
            running,
            run,
            timeout,
            begun,
            mut prepared,
            rehearsed,
            discards,
            roots,
            known,
            git_config,
        } = *self;
        let finished = running.end().await;
        let (state, why) = ending(&finished);
        let mut ran = exec::ended(finished, timeout, row).await;
        ran.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        if discards {
            if !ran.layers.is_empty() {
                ran.layers.push(SandboxLayer::Overlay);
            }
            match ran.status.is_success() {
                true => prepared.ran = Some(ran),
                false => prepared.settled = Some(ran),
            }
            return Ended { state, why, prepared };
        }
        let settled = beside(move || {
            let found = known.read(&roots, &rehearsed);
            settle(&mut prepared, &run, (ran, found, rehearsed));
            roots.count_exposed(&mut prepared);
            mark_guarded(&roots, &git_config, &mut prepared);
            prepared
        });
        let prepared = settled.await.unwrap_or_else(|refusal| {
            let settled = Some(refusal.into());
            Prepared { settled, ..Prepared::default() }
        });
        Ended { state, why, prepared }
    }
}

fn ending(finished: &Result<Finished, SandboxError>) -> (StreamState, String) {
    match finished.as_ref().map(|finished| finished.end) {
        Ok(End::Exited(_)) => (StreamState::Exited, String::new()),
        Ok(End::Signalled(signal)) => (StreamState::Exited, exec::signalled(signal)),
        Ok(End::TimedOut) => (StreamState::TimedOut, String::new()),
        Ok(End::Cancelled) => (StreamState::Stopped, String::new()),
        Err(problem) => (StreamState::Failed, problem.to_string()),
    }
}
