//! A command that runs beside its caller, who may look at what it printed so far.

use crate::kept::{Keep, Kept, Printed};
use crate::run::run_filtered;
use crate::{Finished, Over, SandboxError, Spec};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A command in the background. Dropping this ends it, with everything it started, as soon as the
/// runtime it was started in comes to it.
#[derive(Debug)]
pub struct Running {
    kept: Arc<Mutex<Kept>>,
    cancel: CancellationToken,
    task: JoinHandle<Result<Over, SandboxError>>,
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Starts it, in the runtime of the caller.
    #[must_use]
    pub fn start(mut spec: Spec) -> Running {
        let kept = Arc::new(Mutex::new(Kept::new(spec.keep.clone())));
        let cancel = CancellationToken::new();
        let (shared, cancelled) = (Arc::clone(&kept), cancel.clone());
        let task = tokio::spawn(async move {
            run_filtered(&mut spec, &cancelled, &mut |chunk| lock(&shared).push(chunk)).await
        });
        Running { kept, cancel, task }
    }

    /// Whether it is over by itself.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Looks at what it printed so far.
    pub fn look<T>(&self, look: impl FnOnce(Printed<'_>) -> T) -> T {
        look(lock(&self.kept).printed())
    }

    /// Ends it, unless it is over, and says how it ended.
    pub async fn end(mut self) -> Result<Finished, SandboxError> {
        self.cancel.cancel();
        let over = (&mut self.task).await;
        let over = over.map_err(|e| SandboxError::Watch { source: io::Error::other(e) })??;
        let kept = std::mem::replace(&mut *lock(&self.kept), Kept::new(Keep::default()));
        Ok(over.with(kept))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}
