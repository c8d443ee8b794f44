//! What is asked of a model and what it answers, in words no provider owns.

use cairn_types::{Finish, Usage};
use std::sync::Arc;
use std::time::Duration;

/// A call as the model wrote it: its arguments are text until a surface has read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallText {
    /// The call's id, which its result names.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments, verbatim; not necessarily JSON.
    pub args: Arc<str>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Someone speaks to the model.
    User {
        /// The words.
        text: Arc<str>,
    },
    /// The model spoke.
    Assistant {
        /// Its words, if it said any.
        text: Option<Arc<str>>,
        /// Its calls, in order.
        calls: Vec<CallText>,
    },
    /// What became of a call.
    Result {
        /// The call's id.
        call: String,
        /// What the model is shown.
        text: Arc<str>,
    },
}

/// One question to a model: the whole conversation so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The system message; empty for none.
    pub system: Arc<str>,
    /// A JSON array of `{"name","description","parameters"}`; empty, or `[]`, for no tools.
    pub tools: Arc<str>,
    /// The messages, oldest first.
    pub messages: Vec<Arc<Message>>,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the model said.
    pub text: String,
    /// What it thought aloud, where the provider shows that.
    pub reasoning: String,
    /// What it wants done.
    pub calls: Vec<CallText>,
    /// Why it stopped. With `Length` the last call may be cut.
    pub finish: Finish,
    /// What it took; `None` when the provider did not say.
    pub usage: Option<Usage>,
    /// How many requests it took.
    pub attempts: u32,
}

/// A piece of an answer on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More of the text.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// The attempt failed and another follows: everything streamed so far is void.
    Retrying {
        /// The attempt that follows, so 2 after the first failure.
        attempt: u32,
        /// How long until then.
        wait: Duration,
        /// Why the last one failed.
        why: String,
    },
}
