//! Writes a scripted reply as a server of the Gemini API would send it.

use super::object;
use crate::scripted::{Reply, ScriptedCall, words};
use cairn_types::{Finish, Usage};
use serde_json::{Value, json};

pub(super) fn stream(reply: &Reply, model: &str) -> Vec<u8> {
    let mut parts: Vec<Value> = words(reply.reasoning.as_deref())
        .map(|w| json!({"text": w, "thought": true}))
        .chain(words(reply.say.as_deref()).map(|w| json!({"text": w})))
        .collect();
    parts.extend(signed(reply));
    let mut out = Vec::new();
    let mut send = |chunk: Value| {
        out.extend_from_slice(format!("data: {chunk}\n\n").as_bytes());
    };
    for part in parts {
        send(chunk(reply, model, &[part]));
    }
    send(end(chunk(reply, model, &[json!({"text": ""})]), reply));
    out
}

pub(super) fn whole(reply: &Reply, model: &str) -> Value {
    let mut parts = Vec::new();
    if let Some(thought) = &reply.reasoning {
        parts.push(json!({"text": thought, "thought": true}));
    }
    if let Some(text) = &reply.say {
        parts.push(json!({"text": text}));
    }
    parts.extend(signed(reply));
    end(chunk(reply, model, &parts), reply)
}

/// The calls, the first of them with the seal; without calls the seal stands on a part of its own.
fn signed(reply: &Reply) -> Vec<Value> {
    let call = |call: &ScriptedCall| {
        let args = object(&call.args_text());
        json!({"functionCall": {"id": call.id, "name": call.tool, "args": args}})
    };
    let mut parts: Vec<Value> = reply.calls.iter().map(call).collect();
    if reply.reasoning.is_some() {
        if parts.is_empty() {
            parts.push(json!({"text": ""}));
        }
        parts[0]["thoughtSignature"] = json!(reply.seal());
    }
    parts
}

fn chunk(reply: &Reply, model: &str, parts: &[Value]) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": model, "responseId": format!("script_{}", reply.number),
    })
}

fn end(mut chunk: Value, reply: &Reply) -> Value {
    chunk["candidates"][0]["finishReason"] = json!(match reply.finish() {
        Finish::Stop | Finish::Calls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filtered => "SAFETY",
    });
    if let Some(usage) = &reply.usage {
        chunk["usageMetadata"] = usage_object(usage);
    }
    chunk
}

fn usage_object(usage: &Usage) -> Value {
    json!({
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    })
}
