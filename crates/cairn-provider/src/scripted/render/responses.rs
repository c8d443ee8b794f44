//! Writes a scripted reply as a server of the Responses API would send it.

use super::{named_event, pieces};
use crate::scripted::{Reply, ScriptedCall, words};
use cairn_types::{Finish, Usage};
use serde_json::{Value, json};

/// The events so far, which are numbered.
struct Stream {
    out: Vec<u8>,
    number: u64,
}

impl Stream {
    fn send(&mut self, mut event: Value) {
        event["sequence_number"] = json!(self.number);
        self.number += 1;
        named_event(&mut self.out, &event);
    }
}

pub(super) fn stream(reply: &Reply, model: &str) -> Vec<u8> {
    let mut stream = Stream { out: Vec::new(), number: 0 };
    let begun = response(reply, model, "in_progress", Vec::new());
    stream.send(json!({"type": "response.created", "response": begun}));
    stream.send(json!({"type": "response.in_progress", "response": begun}));
    let items = items(reply);
    for (index, item) in items.iter().enumerate() {
        match item["type"].as_str() {
            Some("reasoning") => reasoning(&mut stream, reply, item, index),
            Some("message") => message(&mut stream, reply, item, index),
            _ => call(&mut stream, item, index),
        }
        stream.send(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    let whole = whole(reply, model);
    let kind = format!("response.{}", whole["status"].as_str().unwrap_or_default());
    stream.send(json!({"type": kind, "response": whole}));
    stream.out
}

pub(super) fn whole(reply: &Reply, model: &str) -> Value {
    let (status, reason) = match reply.finish() {
        Finish::Stop | Finish::Calls => ("completed", Value::Null),
        Finish::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
        Finish::Filtered => ("incomplete", json!({"reason": "content_filter"})),
    };
    let mut whole = response(reply, model, status, items(reply));
    whole["incomplete_details"] = reason;
    if let Some(usage) = &reply.usage {
        whole["usage"] = usage_object(usage);
    }
    whole
}

fn response(reply: &Reply, model: &str, status: &str, output: Vec<Value>) -> Value {
    json!({
        "id": format!("resp_script_{}", reply.number), "object": "response", "created_at": 0,
        "status": status, "error": null, "incomplete_details": null, "instructions": null,
        "metadata": {}, "model": model, "output": output, "parallel_tool_calls": true,
        "temperature": null, "tool_choice": "auto", "tools": [], "top_p": null,
    })
}

fn items(reply: &Reply) -> Vec<Value> {
    let id = |kind: &str| format!("{kind}_script_{}", reply.number);
    let mut items = Vec::new();
    if let Some(thought) = &reply.reasoning {
        items.push(json!({
            "type": "reasoning", "id": id("rs"), "encrypted_content": reply.seal(),
            "summary": [{"type": "summary_text", "text": thought}],
        }));
    }
    if let Some(text) = &reply.say {
        items.push(json!({
            "type": "message", "id": id("msg"), "role": "assistant", "status": "completed",
            "content": [output_text(text)],
        }));
    }
    let call = |call: &ScriptedCall| {
        json!({
            "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
            "name": call.tool, "arguments": *call.args_text(), "status": "completed",
        })
    };
    items.extend(reply.calls.iter().map(call));
    items
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

/// An item as it is when it begins: the same, with nothing in the field that then grows.
fn begin(stream: &mut Stream, item: &Value, index: usize, grows: &str, empty: Value) {
    let mut item = item.clone();
    item[grows] = empty;
    stream.send(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
}

fn reasoning(stream: &mut Stream, reply: &Reply, item: &Value, index: usize) {
    begin(stream, item, index, "summary", json!([]));
    let event = |kind: &str, key: &str, value: Value| {
        let kind = format!("response.reasoning_summary_{kind}");
        let mut event = json!({
            "type": kind, "item_id": item["id"], "output_index": index, "summary_index": 0,
        });
        event[key] = value;
        event
    };
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    stream.send(event("part.added", "part", part("")));
    for word in words(reply.reasoning.as_deref()) {
        stream.send(event("text.delta", "delta", word.into()));
    }
    let text = reply.reasoning.as_deref().unwrap_or("");
    stream.send(event("text.done", "text", text.into()));
    stream.send(event("part.done", "part", part(text)));
}

fn message(stream: &mut Stream, reply: &Reply, item: &Value, index: usize) {
    begin(stream, item, index, "content", json!([]));
    let event = |kind: &str, key: &str, value: Value| {
        let mut event = json!({
            "type": format!("response.{kind}"), "item_id": item["id"], "output_index": index,
            "content_index": 0,
        });
        event[key] = value;
        event
    };
    stream.send(event("content_part.added", "part", output_text("")));
    for word in words(reply.say.as_deref()) {
        stream.send(event("output_text.delta", "delta", word.into()));
    }
    let text = reply.say.as_deref().unwrap_or("");
    stream.send(event("output_text.done", "text", text.into()));
    stream.send(event("content_part.done", "part", output_text(text)));
}

fn call(stream: &mut Stream, item: &Value, index: usize) {
    begin(stream, item, index, "arguments", "".into());
    let args = item["arguments"].as_str().unwrap_or("");
    let event = |kind: &str, key: &str, value: &str| {
        let kind = format!("response.function_call_arguments.{kind}");
        let mut event = json!({"type": kind, "item_id": item["id"], "output_index": index});
        event[key] = value.into();
        event
    };
    for piece in pieces(args) {
        stream.send(event("delta", "delta", piece));
    }
    stream.send(event("done", "arguments", args));
}

fn usage_object(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}
