//! Puts an answer together from its events. Never completes one: an answer is whole when the server
//! said that the response is completed, or why it is not.

use crate::read::{Assembly, OnDelta, Problem, Said, substance};
use crate::{CallText, Delta, Thought};
use cairn_types::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    r#type: String,
    delta: Option<Value>,
    item: Option<Value>,
    output_index: Option<u64>,
    summary_index: Option<u64>,
    response: Option<Response>,
    error: Option<Value>,
    code: Option<Value>,
    message: Option<Value>,
    object: Option<Value>,
}

#[derive(Deserialize)]
struct Response {
    status: Option<String>,
    output: Option<Vec<Value>>,
    usage: Option<Value>,
    error: Option<Value>,
    incomplete_details: Option<Value>,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    origin: String,
    /// Items that are done, with their places.
    items: Vec<(u64, Value)>,
    finish: Option<Finish>,
    usage: Option<Usage>,
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
        let delta = || event.delta.as_ref().and_then(Value::as_str).unwrap_or("").to_owned();
        match event.r#type.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
                on_delta(Delta::Text(delta()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                on_delta(Delta::Reasoning(delta()));
            }
            "response.reasoning_summary_part.added" if event.summary_index > Some(0) => {
                on_delta(Delta::Reasoning(BETWEEN.to_owned()));
            }
            "response.output_item.done" => {
                let place = event.output_index.unwrap_or(self.items.len() as u64);
                self.items.push((place, event.item.unwrap_or_default()));
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                return event.response.map_or(Ok(()), |response| self.end(response));
            }
            "error" => {
                let error = serde_json::json!({"code": event.code, "message": event.message});
                return Err(Problem::Error(error));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, response: Response) -> Result<(), Problem> {
        if let Some(error) = response.error.filter(|error| !error.is_null()) {
            return Err(Problem::Error(error));
        }
        // Some servers leave the list empty, having told every item before.
        let output = response.output.unwrap_or_default();
        if !output.is_empty() {
            self.items = (0..).zip(output).collect();
        }
        self.items.sort_by_key(|(place, _)| *place);
        self.usage = response.usage.as_ref().and_then(usage);
        let why = response.incomplete_details.unwrap_or_default();
        self.finish = match (response.status.as_deref(), why["reason"].as_str()) {
            (Some("failed" | "cancelled"), _) => return Err(Problem::Error(Value::Null)),
            (_, Some("content_filter")) => Some(Finish::Filtered),
            (Some("incomplete"), _) => Some(Finish::Length),
            _ => Some(Finish::Stop),
        };
        Ok(())
    }

    /// A whole answer in one object is told as if it had streamed.
    fn tell(&self, on_delta: OnDelta<'_>) {
        for (_, item) in &self.items {
            let (thought, said) = (thought_text(item), said_text(item));
            if !thought.is_empty() {
                on_delta(Delta::Reasoning(thought));
            }
            if !said.is_empty() {
                on_delta(Delta::Text(said));
            }
        }
    }
}

impl Assembly for Reply {
    fn take(&mut self, data: &[u8], on_delta: OnDelta<'_>) -> Result<(), Problem> {
        let Some(data) = substance(data) else { return Ok(()) };
        let event: Event = serde_json::from_slice(data).map_err(Problem::NotAChunk)?;
        if event.object.as_ref().is_some_and(|object| object == "response") {
            let response = serde_json::from_slice(data).map_err(Problem::NotAChunk)?;
            self.end(response)?;
            self.tell(on_delta);
            return Ok(());
        }
        self.take_event(event, on_delta)
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        self.finish.is_some()
    }

    fn finish(self: Box<Self>) -> Said {
        let mut said = Said { finish: self.finish, usage: self.usage, ..Said::default() };
        for (_, item) in self.items {
            match item["type"].as_str() {
                Some("message") => said.text.push_str(&said_text(&item)),
                Some("function_call") => said.calls.push(call(&item)),
                Some("reasoning") => {
                    let text = thought_text(&item);
                    said.reasoning.push_str(&text);
                    let (origin, at) = (self.origin.clone(), said.place());
                    said.thoughts.push(Thought { origin, text, sealed: sealed(item), at });
                }
                _ => {}
            }
        }
        said
    }
}

/// What stands between two parts of a summary.
const BETWEEN: &str = "\n\n";

/// An item that can be sent back: without its encrypted content a server that keeps nothing does
/// not know it again.
fn sealed(mut item: Value) -> Option<std::sync::Arc<str>> {
    item["encrypted_content"].as_str()?;
    if let Some(item) = item.as_object_mut() {
        item.shift_remove("status");
    }
    Some(item.to_string().into())
}

fn said_text(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    let is_message = item["type"] == "message";
    let text = |part: &Value| part["text"].as_str().or(part["refusal"].as_str()).map(str::to_owned);
    parts.filter(|_| is_message).filter_map(text).collect()
}

fn thought_text(item: &Value) -> String {
    if item["type"] != "reasoning" {
        return String::new();
    }
    let texts = |key: &str| -> Vec<String> {
        let parts = item[key].as_array().into_iter().flatten();
        parts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
    };
    match texts("summary") {
        summary if summary.is_empty() => texts("content").concat(),
        summary => summary.join(BETWEEN),
    }
}

fn call(item: &Value) -> CallText {
    let word = |key: &str| item[key].as_str().unwrap_or("").to_owned();
    CallText { id: word("call_id"), name: word("name"), args: word("arguments").into() }
}

fn usage(usage: &Value) -> Option<Usage> {
    let at = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    let (input, output) = (at("/input_tokens"), at("/output_tokens"));
    input.or(output)?;
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: at("/input_tokens_details/cached_tokens").unwrap_or(0),
        cache_write: at("/input_tokens_details/cache_write_tokens").unwrap_or(0),
        reasoning: at("/output_tokens_details/reasoning_tokens").unwrap_or(0),
    })
}
