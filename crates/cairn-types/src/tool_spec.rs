//! What is known of a tool that is not built in: its name, what a model is told of it, and what a call of it may do.

use crate::{Effect, Subject};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool from outside, as its source describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// The name that a provider is told: letters, digits, `-` and `_`, at most 64.
    pub wire_name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub input_schema: Value,
    /// What a call may change. Without it a call may change anything on this machine, and is not repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Whether calling it twice is the same as calling it once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeatable: bool,
    /// The arguments that name files or addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Where it comes from.
    pub source: ToolSource,
}

/// Where a tool that is not built in comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolSource {
    /// The program that embeds Cairn.
    Embedder,
}

/// A call of a tool from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, as its schema takes them.
    pub arguments: Map<String, Value>,
}

impl ToolSpec {
    /// What a call may change.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect.unwrap_or(Effect::Host)
    }

    /// Whether a call may be made again by itself, after a crash.
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        self.is_repeatable && self.effect.is_some()
    }

    /// The files and addresses that a call names: what it reads, or what it may change.
    #[must_use]
    pub fn subject(&self, call: &ToolCall) -> Subject {
        let texts = self.targets.iter().filter_map(|name| call.arguments.get(name));
        let paths: Vec<String> = texts.filter_map(Value::as_str).map(str::to_owned).collect();
        match self.effect().is_read_only() {
            true => Subject { reads: paths, ..Subject::default() },
            false => Subject { writes: paths, ..Subject::default() },
        }
    }
}
