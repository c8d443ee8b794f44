//! Puts an answer together from its events. Never completes one: an answer is whole when every block
//! that began has ended and the server said that the message has.

use crate::read::{Assembly, OnDelta, Problem, Said, substance};
use crate::{CallText, Delta, Thought};
use cairn_types::{Finish, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    r#type: String,
    index: Option<u64>,
    message: Option<Value>,
    content_block: Option<Value>,
    delta: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
    content: Option<Vec<Value>>,
    stop_reason: Option<String>,
}

/// One block of the answer.
#[derive(Debug)]
struct Block {
    index: u64,
    /// As it began; the texts of a thinking block are put back into it.
    start: Value,
    text: String,
    args: String,
    signature: String,
    ended: bool,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    origin: String,
    blocks: Vec<Block>,
    finish: Option<Finish>,
    usage: Tokens,
    done: bool,
}

/// Tokens as they are told: in pieces, each of which is the newest word on what it names.
#[derive(Debug, Default)]
struct Tokens {
    fresh: Option<u64>,
    cache_read: u64,
    cache_write: u64,
    output: Option<u64>,
    thinking: u64,
}

impl Reply {
    /// An answer of this origin.
    pub(crate) fn new(origin: &str) -> Self {
        Self { origin: origin.to_owned(), ..Self::default() }
    }

    fn take_event(&mut self, event: Event, on_delta: OnDelta<'_>) -> Result<(), Problem> {
        if let Some(error) = event.error {
            return Err(Problem::Error(error));
        }
        let index = event.index.unwrap_or(0);
        match event.r#type.as_str() {
            "message_start" => {
                let message = event.message.unwrap_or_default();
                self.usage.take(&message["usage"]);
            }
            "content_block_start" => {
                self.begin(index, event.content_block.unwrap_or_default(), on_delta);
            }
            "content_block_delta" => self.go_on(index, &event.delta.unwrap_or_default(), on_delta),
            "content_block_stop" => {
                if let Some(block) = self.block(index) {
                    block.ended = true;
                }
            }
            "message_delta" => {
                self.stop(event.delta.unwrap_or_default()["stop_reason"].as_str());
                self.usage.take(&event.usage.unwrap_or_default());
            }
            "message_stop" => self.done = true,
            "message" => self.take_whole(event, on_delta),
            // `ping`, and whatever the API grows: it says so itself that more will come.
            _ => {}
        }
        Ok(())
    }

    fn take_whole(&mut self, message: Event, on_delta: OnDelta<'_>) {
        for (index, content) in (0..).zip(message.content.unwrap_or_default()) {
            self.begin(index, content, on_delta);
            if let Some(block) = self.block(index) {
                block.ended = true;
            }
        }
        self.stop(message.stop_reason.as_deref());
        self.usage.take(&message.usage.unwrap_or_default());
        self.done = true;
    }

    fn block(&mut self, index: u64) -> Option<&mut Block> {
        self.blocks.iter_mut().rfind(|block| block.index == index)
    }

    fn begin(&mut self, index: u64, start: Value, on_delta: OnDelta<'_>) {
        let word = |key: &str| start[key].as_str().unwrap_or("").to_owned();
        let (text, signature) = (word("text") + &word("thinking"), word("signature"));
        match start["type"].as_str() {
            _ if text.is_empty() => {}
            Some("text") => on_delta(Delta::Text(text.clone())),
            Some("thinking") => on_delta(Delta::Reasoning(text.clone())),
            _ => {}
        }
        let args = String::new();
        self.blocks.push(Block { index, start, text, args, signature, ended: false });
    }

    fn go_on(&mut self, index: u64, delta: &Value, on_delta: OnDelta<'_>) {
        let Some(block) = self.block(index) else { return };
        let word = |key: &str| delta[key].as_str().unwrap_or("");
        let (text, thinking) = (word("text"), word("thinking"));
        block.text.push_str(text);
        block.text.push_str(thinking);
        block.args.push_str(word("partial_json"));
        block.signature.push_str(word("signature"));
        if !text.is_empty() {
            on_delta(Delta::Text(text.to_owned()));
        }
        if !thinking.is_empty() {
            on_delta(Delta::Reasoning(thinking.to_owned()));
        }
    }

    fn stop(&mut self, reason: Option<&str>) {
        self.finish = match reason {
            None => self.finish,
            Some("max_tokens" | "model_context_window_exceeded") => Some(Finish::Length),
            Some("refusal") => Some(Finish::Filtered),
            Some("tool_use") => Some(Finish::Calls),
            Some(_) => Some(Finish::Stop),
        };
    }
}

impl Assembly for Reply {
    fn take(&mut self, data: &[u8], on_delta: OnDelta<'_>) -> Result<(), Problem> {
        let Some(data) = substance(data) else { return Ok(()) };
        let event = serde_json::from_slice(data).map_err(Problem::NotAChunk)?;
        self.take_event(event, on_delta)
    }

    fn is_whole(&self) -> bool {
        self.done && self.finish.is_some() && self.blocks.iter().all(|block| block.ended)
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Said {
        let usage = self.usage.usage();
        let mut said = Said { finish: self.finish, usage, ..Said::default() };
        for block in self.blocks {
            match block.start["type"].as_str() {
                Some("text") => said.text.push_str(&block.text),
                Some("tool_use") => said.calls.push(block.into_call()),
                Some("thinking" | "redacted_thinking") => {
                    said.reasoning.push_str(&block.text);
                    let at = said.place();
                    said.thoughts.push(block.into_thought(&self.origin, at));
                }
                _ => {}
            }
        }
        said
    }
}

impl Block {
    fn into_call(self) -> CallText {
        let word = |key: &str| self.start[key].as_str().unwrap_or("").to_owned();
        let (id, name) = (word("id"), word("name"));
        let args = match (self.args.is_empty(), &self.start["input"]) {
            (false, _) => self.args,
            (true, Value::Null) => "{}".to_owned(),
            (true, input) => input.to_string(),
        };
        CallText { id, name, args: args.into() }
    }

    fn into_thought(mut self, origin: &str, at: usize) -> Thought {
        if self.start["type"] == "thinking" {
            self.start["thinking"] = json!(self.text);
            self.start["signature"] = json!(self.signature);
        }
        Thought {
            origin: origin.to_owned(),
            text: self.text,
            sealed: Some(self.start.to_string().into()),
            at,
        }
    }
}

impl Tokens {
    fn take(&mut self, usage: &Value) {
        let at = |key: &str| usage[key].as_u64();
        self.fresh = at("input_tokens").or(self.fresh);
        self.output = at("output_tokens").or(self.output);
        self.cache_read = at("cache_read_input_tokens").unwrap_or(self.cache_read);
        self.cache_write = at("cache_creation_input_tokens").unwrap_or(self.cache_write);
        let thinking = usage["output_tokens_details"]["thinking_tokens"].as_u64();
        self.thinking = thinking.unwrap_or(self.thinking);
    }

    /// The API tells cached tokens apart; here `input` counts them all.
    fn usage(&self) -> Option<Usage> {
        self.fresh.or(self.output)?;
        let cached = self.cache_read.saturating_add(self.cache_write);
        Some(Usage {
            input: cached.saturating_add(self.fresh.unwrap_or(0)),
            output: self.output.unwrap_or(0),
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.thinking,
        })
    }
}
