//! Writes a scripted reply as a server of each API would send it, split the way servers split: text
//! word by word, arguments in pieces.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use super::Reply;
use crate::http::Wire;
use serde_json::Value;

/// The reply as a stream of events. It tells a usage only when the script claims one.
#[must_use]
pub fn render(wire: Wire, reply: &Reply, model: &str) -> Vec<u8> {
    match wire {
        Wire::Chat => chat::stream(reply, model),
        Wire::Responses => responses::stream(reply, model),
        Wire::Anthropic => anthropic::stream(reply, model),
        Wire::Gemini => gemini::stream(reply, model),
    }
}

/// The reply as one object, as servers send it when no stream was asked for.
#[must_use]
pub fn render_whole(wire: Wire, reply: &Reply, model: &str) -> Vec<u8> {
    let whole = match wire {
        Wire::Chat => chat::whole(reply, model),
        Wire::Responses => responses::whole(reply, model),
        Wire::Anthropic => anthropic::whole(reply, model),
        Wire::Gemini => gemini::whole(reply, model),
    };
    whole.to_string().into_bytes()
}

/// Three pieces or so, never within a character.
fn pieces(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut out = Vec::new();
    while !rest.is_empty() {
        let mut cut = (text.len() / 3 + 1).min(rest.len());
        while !rest.is_char_boundary(cut) {
            cut += 1;
        }
        let (piece, left) = rest.split_at(cut);
        out.push(piece);
        rest = left;
    }
    out
}

/// Arguments where a format wants an object; a text that holds none is wrapped.
fn object(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => object,
        _ => serde_json::json!({"text": text}),
    }
}

/// An event with a name, as most of the newer APIs send them.
fn named_event(out: &mut Vec<u8>, event: &Value) {
    let name = event["type"].as_str().unwrap_or("message");
    out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
}
