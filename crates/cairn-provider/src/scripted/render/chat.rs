//! Writes a scripted reply as a server of the Chat Completions API would send it.

use super::pieces;
use crate::scripted::{Reply, words};
use cairn_types::{Finish, Usage};
use serde_json::{Value, json};

pub(super) fn stream(reply: &Reply, model: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut send = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0,
            "model": model, "choices": choices, "usage": usage,
        });
        out.extend_from_slice(format!("data: {chunk}\n\n").as_bytes());
    };
    let mut delta = |delta: Value| {
        let choice = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
        send(choice, Value::Null);
    };
    delta(json!({"role": "assistant", "content": ""}));
    for piece in words(reply.reasoning.as_deref()) {
        delta(json!({"reasoning_content": piece}));
    }
    for piece in words(reply.say.as_deref()) {
        delta(json!({"content": piece}));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let function = json!({"name": call.tool, "arguments": ""});
        let begin =
            json!({"index": index, "id": call.id, "type": "function", "function": function});
        delta(json!({"tool_calls": [begin]}));
        for piece in pieces(&call.args_text()) {
            delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
        }
    }
    let end = json!([{"index": 0, "delta": {}, "finish_reason": finish_word(reply.finish())}]);
    send(end, Value::Null);
    if let Some(usage) = &reply.usage {
        send(json!([]), usage_object(usage));
    }
    out.extend_from_slice(b"data: [DONE]\n\n");
    out
}

pub(super) fn whole(reply: &Reply, model: &str) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.say});
    if let Some(reasoning) = &reply.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            let function = json!({"name": call.tool, "arguments": *call.args_text()});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    let finish = finish_word(reply.finish());
    let mut whole = json!({
        "id": "chatcmpl-script", "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    });
    if let Some(usage) = &reply.usage {
        whole["usage"] = usage_object(usage);
    }
    whole
}

fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "length",
        Finish::Filtered => "content_filter",
    }
}

fn usage_object(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}
