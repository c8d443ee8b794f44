//! Puts an answer together from its chunks. Never completes one: an answer is whole when the server
//! said why it stopped, and not before.

use crate::read::{Assembly, OnDelta, Problem, Said, substance};
use crate::{CallText, Delta, Thought};
use cairn_types::{Finish, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: Option<Vec<Candidate>>,
    usage_metadata: Option<Value>,
    prompt_feedback: Option<Value>,
    response_id: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    index: Option<u64>,
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
    function_call: Option<Call>,
    thought_signature: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    id: Option<String>,
    name: Option<String>,
    args: Option<Value>,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    origin: String,
    said: Said,
}

impl Reply {
    /// An answer of this origin.
    pub(crate) fn new(origin: &str) -> Self {
        Self { origin: origin.to_owned(), ..Self::default() }
    }

    fn take_chunk(&mut self, chunk: Chunk, on_delta: OnDelta<'_>) -> Result<(), Problem> {
        if let Some(error) = chunk.error {
            return Err(Problem::Error(error));
        }
        if let Some(id) = chunk.response_id {
            self.said.id = id;
        }
        self.said.usage = chunk.usage_metadata.as_ref().and_then(usage).or(self.said.usage);
        // A question that was blocked has no answer at all.
        if chunk.prompt_feedback.is_some_and(|feedback| !feedback["blockReason"].is_null()) {
            self.said.finish = Some(Finish::Filtered);
        }
        for candidate in chunk.candidates.into_iter().flatten() {
            if candidate.index.unwrap_or(0) != 0 {
                continue;
            }
            for part in candidate.content.and_then(|c| c.parts).into_iter().flatten() {
                self.take_part(part, on_delta);
            }
            if let Some(reason) = candidate.finish_reason.as_deref() {
                let stopped = stop(reason, candidate.finish_message)?;
                self.said.finish = stopped.or(self.said.finish);
            }
        }
        Ok(())
    }

    fn take_part(&mut self, part: Part, on_delta: OnDelta<'_>) {
        let (text, is_thought) = (part.text.unwrap_or_default(), part.thought.unwrap_or(false));
        let (mut sealed, mut at) = (None, 0);
        if let Some(call) = part.function_call {
            at = 1 + self.said.calls.len();
            sealed = part.thought_signature.map(|sign| json!({"thoughtSignature": sign}));
            self.said.calls.push(CallText {
                id: call.id.unwrap_or_default(),
                name: call.name.unwrap_or_default(),
                args: call.args.map_or_else(|| "{}".into(), |args| args.to_string().into()),
            });
        } else if let Some(sign) = part.thought_signature {
            let mut kept = json!({"text": text, "thoughtSignature": sign});
            if is_thought {
                kept["thought"] = json!(true);
            }
            sealed = Some(kept);
        }
        if let Some(sealed) = sealed {
            self.said.thoughts.push(Thought {
                origin: self.origin.clone(),
                text: if is_thought { text.clone() } else { String::new() },
                sealed: Some(sealed.to_string().into()),
                at,
            });
        }
        match (text.is_empty(), is_thought) {
            (true, _) => {}
            (false, true) => {
                self.said.reasoning.push_str(&text);
                on_delta(Delta::Reasoning(text));
            }
            (false, false) => {
                self.said.text.push_str(&text);
                on_delta(Delta::Text(text));
            }
        }
    }
}

impl Assembly for Reply {
    /// A whole answer is a chunk that holds everything, or a list of all chunks.
    fn take(&mut self, data: &[u8], on_delta: OnDelta<'_>) -> Result<(), Problem> {
        let Some(data) = substance(data) else { return Ok(()) };
        let chunks: Vec<Chunk> = match data.starts_with(b"[") {
            true => serde_json::from_slice(data).map_err(Problem::NotAChunk)?,
            false => vec![serde_json::from_slice(data).map_err(Problem::NotAChunk)?],
        };
        chunks.into_iter().try_for_each(|chunk| self.take_chunk(chunk, on_delta))
    }

    fn is_whole(&self) -> bool {
        self.said.finish.is_some()
    }

    /// The API has no last word but the end of the response.
    fn is_done(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Said {
        self.said
    }
}

fn stop(reason: &str, message: Option<String>) -> Result<Option<Finish>, Problem> {
    Ok(match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => None,
        "STOP" => Some(Finish::Stop),
        "MAX_TOKENS" => Some(Finish::Length),
        // The model wrote something that is no call; it does so now and then, and not twice.
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "OTHER" => {
            let message = message.unwrap_or_else(|| format!("the answer ended with {reason}"));
            return Err(Problem::Error(json!({"message": message, "status": reason})));
        }
        _ => Some(Finish::Filtered),
    })
}

fn usage(usage: &Value) -> Option<Usage> {
    let at = |key: &str| usage[key].as_u64();
    let prompt = at("promptTokenCount")?;
    let reasoning = at("thoughtsTokenCount").unwrap_or(0);
    Some(Usage {
        input: prompt.saturating_add(at("toolUsePromptTokenCount").unwrap_or(0)),
        output: reasoning.saturating_add(at("candidatesTokenCount").unwrap_or(0)),
        cache_read: at("cachedContentTokenCount").unwrap_or(0),
        cache_write: 0,
        reasoning,
    })
}
