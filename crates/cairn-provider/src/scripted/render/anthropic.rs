//! Writes a scripted reply as a server of the Anthropic Messages API would send it.

use super::{named_event, object, pieces};
use crate::scripted::{Reply, words};
use cairn_types::{Finish, Usage};
use serde_json::{Value, json};

pub(super) fn stream(reply: &Reply, model: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut begun = message(reply, model, json!([]), Value::Null);
    if let Some(usage) = reply.usage {
        begun["usage"] = usage_object(&Usage { output: 1, reasoning: 0, ..usage });
    }
    named_event(&mut out, &json!({"type": "message_start", "message": begun}));
    named_event(&mut out, &json!({"type": "ping"}));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        let mut send = |event: Value| named_event(&mut out, &event);
        send(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            send(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        send(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    if reply.reasoning.is_some() {
        let thinking = words(reply.reasoning.as_deref())
            .map(|w| json!({"type": "thinking_delta", "thinking": w}));
        let seal = json!({"type": "signature_delta", "signature": reply.seal()});
        let start = json!({"type": "thinking", "thinking": "", "signature": ""});
        block(start, thinking.chain([seal]).collect());
    }
    if reply.say.is_some() {
        let said = words(reply.say.as_deref()).map(|w| json!({"type": "text_delta", "text": w}));
        block(json!({"type": "text", "text": "", "citations": null}), said.collect());
    }
    for call in &reply.calls {
        let start = json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": {}});
        let args = call.args_text();
        let args = pieces(&args)
            .into_iter()
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        block(start, args.collect());
    }
    let delta = json!({"stop_reason": stop_word(reply.finish()), "stop_sequence": null});
    let mut end = json!({"type": "message_delta", "delta": delta});
    if let Some(usage) = &reply.usage {
        end["usage"] = usage_object(usage);
    }
    named_event(&mut out, &end);
    named_event(&mut out, &json!({"type": "message_stop"}));
    out
}

pub(super) fn whole(reply: &Reply, model: &str) -> Value {
    let mut content = Vec::new();
    if let Some(thinking) = &reply.reasoning {
        content.push(json!({"type": "thinking", "thinking": thinking, "signature": reply.seal()}));
    }
    if let Some(text) = &reply.say {
        content.push(json!({"type": "text", "text": text, "citations": null}));
    }
    for call in &reply.calls {
        let input = object(&call.args_text());
        content.push(json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": input}));
    }
    let mut whole = message(reply, model, content.into(), stop_word(reply.finish()).into());
    if let Some(usage) = &reply.usage {
        whole["usage"] = usage_object(usage);
    }
    whole
}

fn message(reply: &Reply, model: &str, content: Value, stop: Value) -> Value {
    json!({
        "id": format!("msg_script_{}", reply.number), "type": "message", "role": "assistant",
        "model": model, "content": content, "stop_reason": stop, "stop_sequence": null,
    })
}

fn stop_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Calls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Filtered => "refusal",
    }
}

/// The API tells cached tokens apart.
fn usage_object(usage: &Usage) -> Value {
    let cached = usage.cache_read + usage.cache_write;
    json!({
        "input_tokens": usage.input.saturating_sub(cached),
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    })
}
