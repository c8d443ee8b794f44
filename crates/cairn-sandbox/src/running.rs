//! A command that runs beside its caller, who may look at what it printed so far.

use crate::kept::{Keep, Kept, Printed};
use crate::run::run_filtered;
use crate::{Finished, Input, Over, SandboxError, Spec};
use rustix::fs::OFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A command in the background. Dropping this ends it, with everything it started, as soon as the
/// runtime it was started in comes to it.
#[derive(Debug)]
pub struct Running {
    kept: Arc<Mutex<Kept>>,
    cancel: CancellationToken,
    /// Cancelled once it is over.
    over: CancellationToken,
    task: JoinHandle<Result<Over, SandboxError>>,
    /// Where it is written to; none when nobody can, or its input has ended.
    input: AsyncMutex<Option<pipe::Sender>>,
}

/// How long it may take to take what is written to it.
const PATIENCE: Duration = Duration::from_secs(10);

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Starts it, in the runtime of the caller.
    #[must_use]
    pub fn start(spec: Spec) -> Running {
        Running::telling(spec, |_| {})
    }

    /// The same; what is written to it later, it reads on stdin, and `on_output` sees what it prints.
    pub fn listening(
        mut spec: Spec,
        on_output: impl FnMut(&[u8]) + Send + 'static,
    ) -> io::Result<Running> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::fs::fcntl_setfl(&write, OFlags::NONBLOCK)?;
        let sender = pipe::Sender::from_owned_fd(write)?;
        spec.input = Input::From(read);
        let mut running = Running::telling(spec, on_output);
        running.input = AsyncMutex::new(Some(sender));
        Ok(running)
    }

    /// Writes to its stdin; nothing to write ends it. Fails where nobody can write, where it was ended, or
    /// nobody reads it for long.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut input = self.input.lock().await;
        if bytes.is_empty() {
            return match input.take() {
                Some(_) => Ok(()),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            };
        }
        let Some(sender) = input.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        match tokio::time::timeout(PATIENCE, sender.write_all(bytes)).await {
            Ok(written) => written,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// The same; `on_output` sees every byte that passes the filter as it comes.
    #[must_use]
    pub fn telling(mut spec: Spec, mut on_output: impl FnMut(&[u8]) + Send + 'static) -> Running {
        let kept = Arc::new(Mutex::new(Kept::new(spec.keep.clone())));
        let (cancel, over) = (CancellationToken::new(), CancellationToken::new());
        let (shared, cancelled) = (Arc::clone(&kept), cancel.clone());
        let tells = over.clone().drop_guard();
        let task = tokio::spawn(async move {
            let mut sink = |chunk: &[u8]| {
                if !chunk.is_empty() {
                    lock(&shared).push(chunk);
                    on_output(chunk);
                }
            };
            let over = run_filtered(&mut spec, &cancelled, &mut sink).await;
            drop(tells);
            over
        });
        Running { kept, cancel, over, task, input: AsyncMutex::new(None) }
    }

    /// Whether it is over by itself.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Waits until it is over.
    pub async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Begins to end it; it is over a little later.
    pub fn cancel(&self) {
        self.cancel.cancel();
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
