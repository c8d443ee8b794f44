//! The workspace beneath one directory handle, and the ops over it: find, read, edit, exec. The
//! only crate that opens workspace files. It decides nothing about who may do what.

mod edit;
mod exec;
mod find;
mod path;
mod read;
mod settled;
mod walk;
mod workspace;
mod write;

pub use settled::{Performed, Prepared, Probe};
pub use workspace::{Workspace, WorldError};

use cairn_sandbox::Way;
use cairn_text::shown::clean;
use cairn_types::{Action, Change, Status};
use settled::Refusal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How commands are run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The shell.
    pub shell: PathBuf,
    /// The whole environment of a command.
    pub env: Vec<(String, String)>,
    /// How long a command may take when it does not say.
    pub timeout: Duration,
    /// How long a command may take at most.
    pub timeout_max: Duration,
    /// How a command's processes are held together.
    pub way: Way,
}

impl Settings {
    /// The usual limits, with this shell and environment.
    #[must_use]
    pub fn new(shell: PathBuf, env: Vec<(String, String)>) -> Self {
        let (timeout, timeout_max) = (Duration::from_secs(120), Duration::from_secs(600));
        Self { shell, env, timeout, timeout_max, way: Way::Best }
    }
}

/// A workspace and the means to act on it.
#[derive(Debug, Clone)]
pub struct World {
    workspace: Arc<Workspace>,
    settings: Arc<Settings>,
}

impl World {
    /// A world over this workspace.
    #[must_use]
    pub fn new(workspace: Workspace, settings: Settings) -> World {
        World { workspace: Arc::new(workspace), settings: Arc::new(settings) }
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// What an action would do, without doing anything.
    #[must_use]
    pub fn prepare(&self, action: &Action) -> Prepared {
        match action {
            Action::Edit { path, body } => edit::prepare(&self.workspace, path, body),
            Action::Exec { command, timeout_ms } => {
                exec::prepare(&self.workspace, &self.settings, command, *timeout_ms)
            }
            Action::Find { .. } | Action::Read { .. } => {
                let label = clean(&format!("{} {}", action.op(), action.target()));
                Prepared { label, ..Prepared::default() }
            }
        }
    }

    /// Does it. An edit is refused (409) unless the file is as `expected` says it was; without
    /// `expected` it is taken as it is.
    pub async fn perform(
        &self,
        action: &Action,
        expected: &[Change],
        cancel: &CancellationToken,
        on_output: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Performed {
        let begun = Instant::now();
        let mut performed = match action {
            Action::Edit { path, body } => {
                edit::perform(&self.workspace, path, body, expected).unwrap_or_else(Into::into)
            }
            Action::Exec { command, timeout_ms } => {
                let run = exec::Run { command, timeout_ms: *timeout_ms, cancel };
                exec::perform(&self.workspace, &self.settings, run, on_output).await
            }
            Action::Read { .. } | Action::Find { .. } => self.look(action, cancel).await,
        };
        performed.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        performed
    }

    /// Reads and finds can be long, so they run beside the caller's thread.
    async fn look(&self, action: &Action, cancel: &CancellationToken) -> Performed {
        let (workspace, action) = (Arc::clone(&self.workspace), action.clone());
        let cancelled = cancel.child_token();
        let _stop = cancelled.clone().drop_guard();
        let looked = tokio::task::spawn_blocking(move || match &action {
            Action::Read { path, first, limit } => {
                read::perform(&workspace, path, *first, *limit, &cancelled)
            }
            Action::Find { glob, text, skip } => {
                let (glob, text) = (glob.as_deref(), text.as_deref());
                let query = find::Query { glob, text, ..find::Query::default() };
                find::perform(&workspace, query, *skip, &cancelled)
            }
            Action::Edit { .. } | Action::Exec { .. } => {
                Err(Refusal::new(Status::FAILED, "not a read"))
            }
        });
        looked
            .await
            .unwrap_or_else(|e| Err(Refusal::new(Status::FAILED, format!("it did not end: {e}"))))
            .unwrap_or_else(Into::into)
    }

    /// After a crash: whether these changes happened, by what is on disk now. Removes what an
    /// unfinished write left behind.
    #[must_use]
    pub fn probe(&self, expected: &[Change]) -> Probe {
        write::probe(&self.workspace, expected)
    }
}
