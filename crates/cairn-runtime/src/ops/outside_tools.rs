//! Tools that a program adds to a run: what they are, and who performs a call of one.

use cairn_surface::{NewTool, ToolProblem, Toolbox};
use cairn_types::{Status, ToolCall, ToolSource, ToolSpec};
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a call comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The status of its row.
    pub status: Status,
    /// What the model reads.
    pub text: String,
}

impl ToolAnswer {
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
    /// Performs one. Where the run is stopped, `cancel` is cancelled and the answer still waited for.
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

    /// Performs a call. A tool that the run began with may be gone.
    pub(crate) fn call(&self, call: ToolCall, cancel: &CancellationToken) -> ToolFuture {
        match self.handlers.get(&call.tool) {
            Some(handler) => handler.call(call, cancel.clone()),
            None => {
                let text = format!("the tool {} is not there any more", call.tool);
                let answer = ToolAnswer { status: Status::NOT_IMPLEMENTED, text };
                Box::pin(std::future::ready(answer))
            }
        }
    }
}
