//! What a request asks, in each wire format: which format it is, how far the conversation has come
//! and what was said last. Answers nothing.

use cairn_provider::http::Wire;
use cairn_provider::scripted::turn_of;
use serde_json::Value;

/// Where a request stands in its script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// How often the model has spoken.
    pub(crate) spoken: usize,
    /// The last message's text; of several results the last.
    pub(crate) last: String,
    /// Whether a stream is wanted.
    pub(crate) stream: bool,
    /// The model's name.
    pub(crate) model: Option<String>,
}

/// The format that is spoken at this path.
pub(crate) fn wire(path: &str) -> Option<Wire> {
    let (_, end) = path.rsplit_once('/')?;
    match end {
        "completions" if path.ends_with("/chat/completions") => Some(Wire::Chat),
        "responses" => Some(Wire::Responses),
        "messages" => Some(Wire::Anthropic),
        _ if end.ends_with(":streamGenerateContent") => Some(Wire::Gemini),
        _ if end.ends_with(":generateContent") => Some(Wire::Gemini),
        _ => None,
    }
}

/// Reads a request.
pub(crate) fn read(wire: Wire, path: &str, body: &Value) -> Asked {
    let none = Vec::new();
    let list = |key: &str| body[key].as_array().unwrap_or(&none);
    let mut asked = match wire {
        Wire::Chat => of_messages(list("messages"), "assistant"),
        Wire::Anthropic => of_messages(list("messages"), "assistant"),
        Wire::Gemini => of_messages(list("contents"), "model"),
        Wire::Responses => of_items(&body["input"]),
    };
    asked.stream = match wire {
        Wire::Gemini => path.ends_with(":streamGenerateContent"),
        Wire::Chat | Wire::Responses | Wire::Anthropic => body["stream"] == true,
    };
    if let Some(turn) = turn_of(&asked.last) {
        asked.spoken = turn.saturating_sub(1);
    }
    asked.model = match wire {
        Wire::Gemini => path.rsplit('/').next().and_then(|m| m.split(':').next()),
        Wire::Chat | Wire::Responses | Wire::Anthropic => body["model"].as_str(),
    }
    .map(str::to_owned);
    asked
}

fn of_messages(messages: &[Value], role: &str) -> Asked {
    let spoken = messages.iter().filter(|m| m["role"] == role).count();
    let last = messages.last().map(|m| text(&m["content"]) + &text(&m["parts"]));
    Asked { spoken, last: last.unwrap_or_default(), stream: false, model: None }
}

/// The model's turns are what stands between two items that are not its own.
fn of_items(input: &Value) -> Asked {
    let none = Vec::new();
    let items = input.as_array().unwrap_or(&none);
    let own = |item: &Value| {
        item["role"] == "assistant"
            || matches!(item["type"].as_str(), Some("reasoning" | "function_call"))
    };
    let begins = |n: usize| own(&items[n]) && (n == 0 || !own(&items[n - 1]));
    let last = items.last().map(|item| text(&item["content"]) + &text(&item["output"]));
    Asked {
        spoken: (0..items.len()).filter(|n| begins(*n)).count(),
        last: last.or_else(|| input.as_str().map(str::to_owned)).unwrap_or_default(),
        stream: false,
        model: None,
    }
}

/// A text: a string, or the texts in a list of parts. Of results in it, the last one's.
fn text(content: &Value) -> String {
    let parts = match content {
        Value::String(text) => return text.clone(),
        Value::Array(parts) => parts,
        _ => return String::new(),
    };
    let result = |part: &Value| match part["type"].as_str() {
        Some("tool_result") => Some(text(&part["content"])),
        _ => {
            let response = part["functionResponse"]["response"].as_object()?;
            Some(response.values().map(text).collect())
        }
    };
    match parts.iter().rev().find_map(result) {
        Some(result) => result,
        None => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_place_in_a_script_is_found_in_every_format() {
        let check = |path: &str, body: Value, spoken, last: &str| {
            let asked = read(wire(path).unwrap(), path, &body);
            assert_eq!((asked.spoken, asked.last.as_str()), (spoken, last), "{path}");
            assert_eq!((asked.stream, asked.model.as_deref()), (true, Some("m")), "{path}");
        };
        let chat = json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": []},
            {"role": "tool", "content": "one"}, {"role": "tool", "content": "two"},
        ]);
        check(
            "/v1/chat/completions",
            json!({"model": "m", "stream": true, "messages": chat}),
            1,
            "two",
        );
        let messages = json!([
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": []},
            {"role": "user", "content": [
                {"type": "tool_result", "content": [{"type": "text", "text": "one"}]},
                {"type": "tool_result", "content": "two"},
            ]},
        ]);
        check(
            "/v1/messages",
            json!({"model": "m", "stream": true, "messages": messages}),
            1,
            "two",
        );
        let input = json!([
            {"role": "user", "content": "go"}, {"type": "reasoning"}, {"type": "function_call"},
            {"type": "function_call"}, {"type": "function_call_output", "output": "one"},
            {"type": "function_call_output", "output": [{"type": "input_text", "text": "two"}]},
        ]);
        check("/v1/responses", json!({"model": "m", "stream": true, "input": input}), 1, "two");
        let contents = json!([
            {"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": []},
            {"role": "user", "parts": [
                {"functionResponse": {"response": {"output": "one"}}},
                {"functionResponse": {"response": {"error": "two"}}}, {"inlineData": {}},
            ]},
        ]);
        let path = "/v1beta/models/m:streamGenerateContent";
        check(path, json!({"contents": contents}), 1, "two");
    }
}
