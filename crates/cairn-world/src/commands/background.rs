//! Commands in the background: what they printed so far, and how they came to their end.

use crate::commands::{exec, output};
use crate::look::read::Lines;
use crate::settled::{Performed, Refusal};
use cairn_sandbox::{End, Running, Spooled};
use cairn_types::{CommandOutput, Read, SandboxLayer, Status, StreamState};
use std::io;

/// A command in the background. Dropping it ends it.
#[derive(Debug)]
pub struct Background(Running);

/// A command in the background that is over.
#[derive(Debug)]
pub struct Over {
    /// How it came to its end; `Stopped` when it was ended by whoever held it.
    pub state: StreamState,
    /// Its exit code, when it ended by itself.
    pub exit: Option<i32>,
    /// What there is to say beyond that.
    pub why: String,
    /// Its output, unless what became of it is unknown.
    pub output: Option<CommandOutput>,
    /// The bytes behind `output.kept`, unless they are spooled.
    pub contents: Vec<Vec<u8>>,
    /// The file behind `output.kept`, when there was too much for memory.
    pub spooled: Option<Spooled>,
    /// What held its processes.
    pub layers: Vec<SandboxLayer>,
    /// How long it ran, in milliseconds.
    pub ms: u64,
}

impl Background {
    pub(crate) fn new(running: Running) -> Background {
        Background(running)
    }

    /// Whether it is over by itself.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Lines of what it printed so far, under this name.
    #[must_use]
    pub fn lines(&self, name: &str, read: &Read) -> Performed {
        lines(&self.0, name, read)
    }

    /// Writes to its stdin; an empty text ends that.
    pub async fn write(&self, text: &str) -> Result<(), Refusal> {
        self.0.write(text.as_bytes()).await.map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe => Refusal::new(Status::GONE, "nothing reads its input"),
            io::ErrorKind::TimedOut => {
                Refusal::new(Status::TIMED_OUT, "it does not read its input")
            }
            _ => Refusal::new(Status::FAILED, format!("its input cannot be written: {e}")),
        })
    }

    /// Waits until it is over.
    pub async fn over(&self) {
        self.0.over().await;
    }

    /// All that is kept of what it printed so far.
    pub fn printed(&self) -> io::Result<Vec<u8>> {
        printed(&self.0)
    }

    /// Ends it, unless it is over, and says how it ended.
    pub async fn end(self) -> Over {
        let mut finished = match self.0.end().await {
            Ok(finished) => finished,
            Err(problem) => return Over::failed(problem.to_string()),
        };
        let starved = exec::starved(finished.starved).trim_end().to_owned();
        let (state, exit, why) = match finished.end {
            End::Exited(code) => (StreamState::Exited, Some(code), starved),
            End::Signalled(signal) if starved.is_empty() => {
                (StreamState::Exited, None, exec::signalled(signal))
            }
            End::Signalled(signal) => {
                (StreamState::Exited, None, format!("{}: {starved}", exec::signalled(signal)))
            }
            End::TimedOut => (StreamState::TimedOut, None, String::new()),
            End::Cancelled => (StreamState::Stopped, None, String::new()),
        };
        let output::Kept { output, contents, spooled } = output::keep(&mut finished).await;
        let (layers, ms) = (finished.layers, finished.ms);
        Over { state, exit, why, output: Some(output), contents, spooled, layers, ms }
    }
}

/// Lines of what a command printed so far, under this name.
pub(crate) fn lines(running: &Running, name: &str, read: &Read) -> Performed {
    let mut lines = Lines::new(read);
    match running.look(|printed| output::each(printed, &mut |piece| lines.take(piece))) {
        Ok(()) => lines.told(name),
        Err(e) => Performed::told(Status::FAILED, format!("what it printed cannot be read: {e}")),
    }
}

/// All that is kept of what a command printed so far.
pub(crate) fn printed(running: &Running) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    running.look(|printed| output::each(printed, &mut |piece| all.extend_from_slice(piece)))?;
    Ok(all)
}

impl Over {
    pub(crate) fn failed(why: String) -> Over {
        Over {
            state: StreamState::Failed,
            exit: None,
            why,
            output: None,
            contents: Vec::new(),
            spooled: None,
            layers: Vec::new(),
            ms: 0,
        }
    }
}
