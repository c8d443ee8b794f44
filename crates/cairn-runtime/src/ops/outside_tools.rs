//! Tools that a program adds to a run: what they are, and who performs a call of one.

use cairn_surface::{NewTool, ToolProblem, Toolbox};
use cairn_types::{Status, ToolCall, ToolSource, ToolSpec};
use futures_util::FutureExt;
use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a call comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The status of its row.
    pub status: Status,
    /// What the model reads.
    pub text: String,
}

/// Of a longer answer the model reads only the beginning.
const MOST_READ: usize = 128 << 10;
/// How long a handler may go on after the run was stopped.
const TIME_TO_END: Duration = Duration::from_secs(3);

impl ToolAnswer {
    /// The answer as a row can have it: of something done or failed, and not too long.
    fn fit_for_row(mut self) -> ToolAnswer {
        // 102 would say that the call goes on in the background.
        if !matches!(self.status.0, 200..=299 | 400..=599) {
            let why = format!("the tool answered with status {}, not 2xx, 4xx or 5xx", self.status);
            self = ToolAnswer::failed(format!("{why}\n{}", self.text));
        }
        let bytes = self.text.len();
        if bytes > MOST_READ {
            let end = (0..=MOST_READ).rev().find(|end| self.text.is_char_boundary(*end));
            self.text.truncate(end.unwrap_or_default());
            self.text.push_str(&format!("\n… cut here; the answer has {bytes} bytes"));
        }
        self
    }

    /// It went well, and this is the result.
    #[must_use]
    pub fn ok(text: impl Into<String>) -> ToolAnswer {
        ToolAnswer { status: Status::OK, text: text.into() }
    }

    /// It failed, and this is why.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> ToolAnswer {
        ToolAnswer { status: Status::FAILED, text: why.into() }
    }
}

/// A call that is being performed.
pub type ToolFuture = Pin<Box<dyn Future<Output = ToolAnswer> + Send>>;

/// Performs the calls of a tool.
pub trait ToolHandler: Send + Sync {
    /// Performs one. When the run is stopped, `cancel` is cancelled, and the answer is waited for a few seconds more.
    fn call(&self, call: ToolCall, cancel: CancellationToken) -> ToolFuture;
}

impl<F, A> ToolHandler for F
where
    F: Fn(ToolCall, CancellationToken) -> A + Send + Sync,
    A: Future<Output = ToolAnswer> + Send + 'static,
{
    fn call(&self, call: ToolCall, cancel: CancellationToken) -> ToolFuture {
        Box::pin(self(call, cancel))
    }
}

/// The tools that a program adds, each with its handler.
#[derive(Clone, Default)]
pub struct OutsideTools {
    toolbox: Toolbox,
    handlers: HashMap<String, Arc<dyn ToolHandler>>,
}

impl fmt::Debug for OutsideTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs().iter().map(|spec| &spec.name)).finish()
    }
}

impl OutsideTools {
    /// Adds a tool of the embedding program.
    pub fn add(
        &mut self,
        tool: NewTool,
        handler: impl ToolHandler + 'static,
    ) -> Result<(), ToolProblem> {
        let name = tool.name.clone();
        self.toolbox.add(tool, ToolSource::Embedder)?;
        self.handlers.insert(name, Arc::new(handler));
        Ok(())
    }

    /// What they are.
    #[must_use]
    pub fn specs(&self) -> &[ToolSpec] {
        self.toolbox.outside()
    }

    pub(crate) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// Performs a call. A tool that the run began with may be gone. Whatever the handler does, there is an answer: also
    /// when it panics, says too much, or does not end when the run is stopped.
    pub(crate) fn call(&self, call: ToolCall, cancel: &CancellationToken) -> ToolFuture {
        let Some(handler) = self.handlers.get(&call.tool).cloned() else {
            let text = format!("the tool {} is not there any more", call.tool);
            let answer = ToolAnswer { status: Status::NOT_IMPLEMENTED, text };
            return Box::pin(std::future::ready(answer));
        };
        let (name, cancel) = (call.tool.clone(), cancel.clone());
        Box::pin(async move {
            let calling = async { handler.call(call, cancel.clone()).await };
            let answered = tokio::select! {
                answered = AssertUnwindSafe(calling).catch_unwind() => answered,
                () = too_late(&cancel) => Ok(ToolAnswer {
                    status: Status::CANCELLED,
                    text: format!("the work was stopped, and {name} did not end; what it did is not known"),
                }),
            };
            match answered {
                Ok(answer) => answer.fit_for_row(),
                Err(_) => ToolAnswer::failed(format!("the tool {name} panicked")),
            }
        })
    }
}

/// Waits until the run was stopped, and a handler has had its time to end.
async fn too_late(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(TIME_TO_END).await;
}
