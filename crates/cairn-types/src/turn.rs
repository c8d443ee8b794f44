//! A turn's two ends as facts: what the model is asked with, and what it answers, or why there is no answer.

use crate::{ContentRef, Hash, PicoUsd, Usage};
use serde::{Deserialize, Serialize};

/// `ask`: the model is about to be asked. Words that arrive after this one wait for its reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The loop.
    pub lap: u32,
    /// The turn.
    pub turn: u32,
    /// How many items of the view the model is shown.
    pub messages: u64,
    /// The longest answer in tokens, where a budget says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// What a reply must repeat to count, where the surface asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// Whatever it answers is the answer: it is told of no tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// What it is shown as it stands now, where the view shows that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<Visible>,
}

/// A file or an entry that the model is shown as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visible {
    /// The path or address.
    pub path: String,
    /// What is shown of it.
    pub content: ContentRef,
    /// The hash of all of it, where all of it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
}

/// `reply`: a whole answer of the model, never half of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The loop.
    pub lap: u32,
    /// The turn.
    pub turn: u32,
    /// The model that answered, `provider/name`.
    pub model: String,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<ContentRef>,
    /// What it thought, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ContentRef>,
    /// What has to be sent back for it to go on thinking: a JSON array of `{origin, text, sealed,
    /// at}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thoughts: Option<ContentRef>,
    /// The tool calls it made, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Why it stopped.
    pub finish: Finish,
    /// Tokens, where the provider reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Money, where a price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<PicoUsd>,
    /// How many requests it took.
    pub attempts: u32,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The words that its ops were read from, where the surface is a text; `text` is what is left of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<ContentRef>,
    /// What could not be read of them: a JSON array of `{kind, line, column, note, snippet}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problems: Option<ContentRef>,
    /// Repairs that belong to none of its ops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// It says that nothing more is to be done: what it answers next is the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

/// A tool call, its arguments verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id for it.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them.
    pub args: ContentRef,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model had said what it wanted.
    #[default]
    Stop,
    /// It wants tools.
    Calls,
    /// It ran into its length limit: its last call may be cut.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

/// `fault`: the model could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The loop.
    pub lap: u32,
    /// The turn.
    pub turn: u32,
    /// The class of the fault, a stable word.
    pub class: String,
    /// A sentence for a person.
    pub message: String,
    /// How many requests were made.
    pub attempts: u32,
}
