//! What all wire formats share in reading an answer: it is put together from pieces, whole or not,
//! and never completed by us. Knows no format.

use crate::{Answer, CallText, Delta, Thought};
use cairn_types::{Finish, Usage};
use serde_json::Value;
use std::fmt::Debug;

/// Whom to tell what streams in.
pub(crate) type OnDelta<'a> = &'a mut (dyn FnMut(Delta) + Send);

/// Why a piece of an answer cannot be taken.
#[derive(Debug)]
pub(crate) enum Problem {
    /// It says that something went wrong at the provider.
    Error(Value),
    /// It is no piece of an answer.
    NotAChunk(serde_json::Error),
}

/// An answer as far as it has come. It is whole when the server said so.
pub(crate) trait Assembly: Debug + Send {
    /// Takes the data of one event, or a whole answer in one object.
    fn take(&mut self, data: &[u8], on_delta: OnDelta<'_>) -> Result<(), Problem>;

    /// Whether the server said why it stopped, so that nothing of the answer is missing.
    fn is_whole(&self) -> bool;

    /// Whether the server said that nothing more will come.
    fn is_done(&self) -> bool;

    /// What was said. Only to be asked for when it is whole.
    fn finish(self: Box<Self>) -> Said;
}

/// What a model said, in the format's own words no longer.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) calls: Vec<CallText>,
    /// Why it stopped, as the server said it.
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: Option<Usage>,
    /// What the ids of calls begin with that have none.
    pub(crate) id: String,
}

impl Said {
    /// Where a thought stands that comes now.
    pub(crate) fn place(&self) -> usize {
        match self.text.is_empty() && self.calls.is_empty() {
            true => 0,
            false => 1 + self.calls.len(),
        }
    }

    /// The answer, after so many requests.
    pub(crate) fn answer(self, attempts: u32) -> Answer {
        // Some servers say `stop` although there are calls, and the other way round.
        let finish = match self.finish.unwrap_or(Finish::Stop) {
            Finish::Stop | Finish::Calls if self.calls.is_empty() => Finish::Stop,
            Finish::Stop | Finish::Calls => Finish::Calls,
            other => other,
        };
        let prefix = if self.id.is_empty() { "call" } else { &self.id };
        Answer {
            text: self.text,
            reasoning: self.reasoning,
            thoughts: self.thoughts,
            calls: name_calls(self.calls, prefix),
            finish,
            usage: self.usage,
            cost: None,
            attempts,
            model: None,
            is_replaced: false,
        }
    }
}

/// Gives every call an id of its own where the server did not.
fn name_calls(given: Vec<CallText>, prefix: &str) -> Vec<CallText> {
    let mut calls: Vec<CallText> = Vec::with_capacity(given.len());
    for (n, call) in given.into_iter().enumerate() {
        let taken = call.id.is_empty() || calls.iter().any(|c| c.id == call.id);
        let id = if taken { format!("{prefix}_{}", n + 1) } else { call.id };
        calls.push(CallText { id, ..call });
    }
    calls
}

/// An event's data without what means nothing to a format: nothing at all, and the mark of the end
/// that some servers send in every format.
pub(crate) fn substance(data: &[u8]) -> Option<&[u8]> {
    Some(data.trim_ascii()).filter(|data| !data.is_empty() && !is_last(data))
}

/// Whether an event says that nothing of the answer follows, as some servers do in every format.
pub(crate) fn is_last(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]"
}

/// Whether an event brings nothing of an answer and only says that the server still works: one without data, or
/// Anthropic's `ping`.
pub(crate) fn is_keepalive(data: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        r#type: std::borrow::Cow<'a, str>,
    }
    let data = data.trim_ascii();
    // A ping is short; what is longer need not be read twice.
    let kind = || serde_json::from_slice::<Kind<'_>>(data).ok();
    data.is_empty() || (data.len() < 256 && kind().is_some_and(|kind| kind.r#type == "ping"))
}

#[cfg(test)]
mod tests {
    use crate::http::Wire;
    use crate::scripted::{Script, render, render_whole};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const SCRIPT: &str = r#"{"cairn_script": 1, "name": "s", "replies": [
        {"think": "a b", "say": "c d", "calls": [{"tool": "f", "args": {"a": 1}}, {"tool": "g"}],
         "usage": {"input": 10, "output": 5}}]}"#;

    fn events(wire: Wire) -> Vec<Value> {
        let reply = Script::parse(SCRIPT).unwrap().reply(0, "").unwrap();
        let stream = String::from_utf8(render(wire, &reply, "m")).unwrap();
        let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
        let whole = serde_json::from_slice(&render_whole(wire, &reply, "m")).unwrap();
        let mut events: Vec<Value> = data.filter_map(|d| serde_json::from_str(d).ok()).collect();
        if wire == Wire::Chat {
            let detail = json!({"type": "reasoning.text", "text": "a", "index": 0});
            let delta = json!({"reasoning_details": [detail.clone(), detail]});
            events.push(json!({"choices": [{"delta": delta}]}));
        }
        events.push(whole);
        events
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = || {
            prop_oneof![
                Just(Value::Null),
                any::<bool>().prop_map(Value::from),
                any::<i64>().prop_map(Value::from),
                proptest::sample::select(vec![
                    "",
                    "text",
                    "thinking",
                    "tool_use",
                    "reasoning",
                    "message"
                ])
                .prop_map(Value::from),
            ]
        };
        prop_oneof![
            leaf(),
            proptest::collection::vec(leaf(), 0..3).prop_map(Value::from),
            leaf().prop_map(|v| json!({"type": v, "index": null, "text": 1})),
        ]
    }

    /// Puts something else at the `n`th place of a value, counted over everything within it.
    fn replace(value: &mut Value, n: &mut usize, with: &Value) {
        if *n == 0 {
            *value = with.clone();
        }
        *n = n.wrapping_sub(1);
        match value {
            Value::Array(list) => list.iter_mut().for_each(|v| replace(v, n, with)),
            Value::Object(map) => map.values_mut().for_each(|v| replace(v, n, with)),
            _ => {}
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_a_server_sends_is_read_or_refused(
            changes in proptest::collection::vec((0..40_usize, 0..30_usize, anything()), 0..8),
            echo in any::<bool>(),
        ) {
            for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini] {
                let mut events = events(wire);
                for (event, place, with) in &changes {
                    let count = events.len();
                    replace(&mut events[event % count], &mut place.clone(), with);
                }
                let mut reply = wire.assembly("o", echo);
                for event in events {
                    let _ = reply.take(event.to_string().as_bytes(), &mut |_| {});
                }
                let whole = reply.is_whole();
                let answer = reply.finish().answer(1);
                let ids: std::collections::BTreeSet<_> = answer.calls.iter().map(|c| &c.id).collect();
                prop_assert!(!whole || ids.len() == answer.calls.len());
            }
        }
    }
}
