//! What is asked of a model and what it answers, in words no provider owns.

use cairn_types::{Finish, PicoUsd, Usage};
use serde::{Deserialize, Serialize};
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

/// A piece of what a model is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Text(Arc<str>),
    /// A picture. A model that takes none gets a line that says so.
    Image {
        /// Its type, such as `image/png`.
        mime: Arc<str>,
        /// Its bytes, as in a file.
        data: Arc<[u8]>,
    },
    /// A document, such as a PDF. A model that takes none gets a line that says so.
    Document {
        /// Its type, such as `application/pdf`.
        mime: Arc<str>,
        /// Its name, for the model.
        name: Arc<str>,
        /// Its bytes, as in a file.
        data: Arc<[u8]>,
    },
}

/// What a model thought, and the provider's own block that lets it go on from there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// Who made it, `wire:model`: nobody else is ever sent it.
    pub origin: String,
    /// The words, for people; never sent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The provider's block as it came, JSON; `None` when there is nothing to send back.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared")]
    pub sealed: Option<Arc<str>>,
    /// Where it stood: 0 before the text, `1 + k` before, or on, the call `k`, counted from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub at: usize,
}

impl Thought {
    /// Thoughts as they are kept, a JSON array; empty for none.
    #[must_use]
    pub fn write_all(thoughts: &[Thought]) -> String {
        match thoughts {
            [] => String::new(),
            thoughts => serde_json::to_string(thoughts).unwrap_or_default(),
        }
    }

    /// Thoughts that were kept. What cannot be read, because its content was freed for instance, is
    /// as good as none: a model then begins to think afresh.
    #[must_use]
    pub fn read_all(text: &str) -> Vec<Thought> {
        serde_json::from_str(text).unwrap_or_default()
    }
}

fn is_first(at: &usize) -> bool {
    *at == 0
}

/// A shared text as JSON.
mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(
        text: &Option<Arc<str>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Arc::from))
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Someone speaks to the model.
    User {
        /// What is said and shown.
        parts: Vec<Part>,
    },
    /// The model spoke.
    Assistant {
        /// Its words, if it said any.
        text: Option<Arc<str>>,
        /// Its calls, in order.
        calls: Vec<CallText>,
        /// What it thought, in order.
        thoughts: Vec<Thought>,
    },
    /// What became of a call.
    Result {
        /// The call's id.
        call: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// What the model is shown.
        parts: Vec<Part>,
        /// Whether the call could not be done.
        failed: bool,
    },
}

impl Message {
    /// Words to the model.
    #[must_use]
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Message::User { parts: vec![Part::Text(text.into())] }
    }

    /// Its text: what was said, without pictures, documents, calls and thoughts.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Message::User { parts } | Message::Result { parts, .. } => text_of(parts),
            Message::Assistant { text, .. } => text.as_deref().unwrap_or("").to_owned(),
        }
    }
}

fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(&**text),
        Part::Image { .. } | Part::Document { .. } => None,
    });
    texts.collect()
}

/// How much a model shall think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effort {
    /// Thinking is not asked for. A model that always thinks still does.
    #[default]
    Off,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// As most tasks deserve.
    Medium,
    /// A lot.
    High,
}

impl Effort {
    /// The tokens it may take, for the APIs that want a number.
    #[must_use]
    pub fn budget(self) -> u64 {
        match self {
            Effort::Off => 0,
            Effort::Minimal => 1024,
            Effort::Low => 4096,
            Effort::Medium => 10_240,
            Effort::High => 32_768,
        }
    }

    /// The effort that this word means; `Off` for none and for a word that is no effort.
    #[must_use]
    pub fn of_word(word: Option<&str>) -> Effort {
        [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High]
            .into_iter()
            .find(|effort| effort.word() == word)
            .unwrap_or_default()
    }

    /// The word for it; `None` for `Off`.
    #[must_use]
    pub fn word(self) -> Option<&'static str> {
        match self {
            Effort::Off => None,
            Effort::Minimal => Some("minimal"),
            Effort::Low => Some("low"),
            Effort::Medium => Some("medium"),
            Effort::High => Some("high"),
        }
    }
}

/// One question to a model: the whole conversation so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The system message; empty for none.
    pub system: Arc<str>,
    /// A JSON array of `{"name","description","parameters"}`; empty, or `[]`, for no tools.
    pub tools: Arc<str>,
    /// The messages, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// How much to think.
    pub effort: Effort,
    /// The longest answer in tokens, thinking included; the model's own limit when `None`.
    pub max_output: Option<u64>,
    /// A JSON Schema that the answer's text must follow, where the provider can enforce it.
    pub schema: Option<Arc<str>>,
    /// The same form as a grammar in GBNF, for those that take that instead (`Constraint::Gbnf`).
    pub grammar: Option<Arc<str>>,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the model said.
    pub text: String,
    /// What it thought aloud, where the provider shows that.
    pub reasoning: String,
    /// What has to be sent back for it to go on thinking.
    pub thoughts: Vec<Thought>,
    /// What it wants done.
    pub calls: Vec<CallText>,
    /// Why it stopped. With `Length` the last call may be cut.
    pub finish: Finish,
    /// What it took; `None` when the provider did not say.
    pub usage: Option<Usage>,
    /// What that costs; `None` when the usage or the price is unknown.
    pub cost: Option<PicoUsd>,
    /// How many requests it took.
    pub attempts: u32,
    /// Who answered, `provider/name`, when it is not the model that was asked.
    pub model: Option<String>,
    /// Bytes of it that are not UTF-8 were replaced by U+FFFD.
    pub is_replaced: bool,
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
        /// Why the last one failed, and who is asked next when that is another model.
        why: String,
    },
}
