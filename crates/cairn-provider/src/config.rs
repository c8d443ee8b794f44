//! What a provider is told besides the request: its limits, its price, what its model can do. Reads
//! nothing from files or the environment.

use cairn_types::{PicoUsd, Usage};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long and how often a provider may be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection stands.
    pub connect: Duration,
    /// From asking until the answer begins. Comments of a stream are no part of an answer.
    pub first_byte: Duration,
    /// Between two events of the answer.
    pub idle: Duration,
    /// Without new data, retries and waits included: also how long a model that is loading or a
    /// provider that asks to slow down is waited for. An answer that goes on may take longer.
    pub deadline: Duration,
    /// From the first broken connection of an ask until it is given up.
    pub gateway: Duration,
    /// From the first trouble at the provider's own end until the ask is given up.
    pub server: Duration,
    /// How many requests one ask may make; 0 counts as 1.
    pub attempts: u32,
    /// How many of them may find that no connection can be made.
    pub unreached: u32,
    /// The longest answer, in bytes on the wire.
    pub max_reply_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            deadline: Duration::from_secs(600),
            gateway: Duration::from_secs(30),
            server: Duration::from_secs(60),
            attempts: 5,
            unreached: u32::MAX,
            max_reply_bytes: 16 << 20,
        }
    }
}

/// What one token costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// A token sent that the provider's cache did not hold.
    pub input: PicoUsd,
    /// A token received.
    pub output: PicoUsd,
    /// A token sent that came from the provider's cache.
    pub cache_read: PicoUsd,
    /// A token sent that the provider's cache took in.
    pub cache_write: PicoUsd,
}

impl Price {
    /// What this usage costs.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> PicoUsd {
        let cached = usage.cache_read.saturating_add(usage.cache_write);
        let of = |tokens: u64, price: PicoUsd| tokens.saturating_mul(price.0);
        let cost = of(usage.input.saturating_sub(cached), self.input)
            .saturating_add(of(usage.cache_read, self.cache_read))
            .saturating_add(of(usage.cache_write, self.cache_write))
            .saturating_add(of(usage.output, self.output));
        PicoUsd(cost)
    }
}

/// What a model can do, as far as it changes what is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abilities {
    /// It takes pictures.
    pub vision: bool,
    /// It takes PDFs.
    pub pdf: bool,
    /// It thinks, and can be told how much.
    pub reasoning: bool,
    /// It takes tools.
    pub tools: bool,
    /// Its window in tokens.
    pub context: Option<u64>,
    /// Its longest answer in tokens.
    pub output: Option<u64>,
    /// What it is sent must say what to cache. Anthropic's own API is always told.
    pub cache_marks: bool,
    /// Over Chat Completions it wants the `reasoning_content` of its calls back.
    pub echo_reasoning: bool,
    /// How it is held to a form over Chat Completions. Left out of what is kept where it is the usual way, so
    /// that what was kept before there were others reads the same.
    #[serde(skip_serializing_if = "Constraint::is_usual")]
    pub constraint: Constraint,
}

/// What an endpoint that speaks Chat Completions takes to hold an answer to a form. The other formats have one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    /// The schema in `response_format`, as OpenAI has it and most others.
    #[default]
    JsonSchema,
    /// The schema itself in `format`, as Ollama has it.
    Ollama,
    /// The grammar in `grammar`, as llama.cpp has it, which takes no schema beside it; where a request has only a
    /// schema, that, in the usual way.
    Gbnf,
    /// Nothing: such fields are refused there.
    None,
}

impl Constraint {
    /// All of them.
    pub const ALL: [Constraint; 4] =
        [Constraint::JsonSchema, Constraint::Ollama, Constraint::Gbnf, Constraint::None];

    /// The constraint as a stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Constraint::JsonSchema => "json_schema",
            Constraint::Ollama => "ollama",
            Constraint::Gbnf => "gbnf",
            Constraint::None => "none",
        }
    }

    /// The constraint that this word means.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Constraint> {
        Constraint::ALL.into_iter().find(|constraint| constraint.word() == word)
    }

    fn is_usual(&self) -> bool {
        *self == Constraint::default()
    }
}

impl Default for Abilities {
    /// Of a model that nobody knows: it takes text and tools.
    fn default() -> Self {
        Self {
            vision: false,
            pdf: false,
            reasoning: false,
            tools: true,
            context: None,
            output: None,
            cache_marks: false,
            echo_reasoning: false,
            constraint: Constraint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_their_own_prices() {
        let [input, output, cache_read, cache_write] = [10, 100, 1, 12].map(PicoUsd);
        let price = Price { input, output, cache_read, cache_write };
        let usage = Usage { input: 50, output: 2, cache_read: 40, cache_write: 5, reasoning: 1 };
        assert_eq!(price.of(&usage), PicoUsd(5 * 10 + 40 + 5 * 12 + 200));
    }
}
