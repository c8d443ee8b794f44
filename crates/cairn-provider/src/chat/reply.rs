//! Puts an answer together from its chunks, whatever the server's habits. Never completes one: an
//! answer is whole when the server said why it stopped, and not before.

use crate::read::{Assembly, OnDelta, Problem, Said};
use crate::{CallText, Delta, Thought};
use cairn_types::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Piece>,
    message: Option<Piece>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Piece {
    content: Option<Value>,
    refusal: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    args: String,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    origin: String,
    echo: bool,
    text: String,
    reasoning: String,
    details: Vec<Value>,
    calls: Vec<Slot>,
    finish: Option<Finish>,
    usage: Option<Usage>,
    call_after_finish: bool,
    done: bool,
}

impl Assembly for Reply {
    /// A whole answer is a chunk that holds everything.
    fn take(&mut self, data: &[u8], on_delta: OnDelta<'_>) -> Result<(), Problem> {
        match data.trim_ascii() {
            b"[DONE]" => self.done = true,
            b"" => {}
            data => {
                let chunk = serde_json::from_slice(data).map_err(Problem::NotAChunk)?;
                self.take_chunk(chunk, on_delta)?;
            }
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some() && (self.done || !self.call_after_finish)
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Said {
        let thoughts = self.thoughts();
        let call = |s: Slot| CallText { id: s.id, name: s.name, args: s.args.into() };
        Said {
            text: self.text,
            reasoning: self.reasoning,
            thoughts,
            calls: self.calls.into_iter().map(call).collect(),
            finish: self.finish,
            usage: self.usage,
            id: String::new(),
        }
    }
}

impl Reply {
    /// An answer of this origin. With `echo` its reasoning is wanted back.
    pub(crate) fn new(origin: &str, echo: bool) -> Self {
        Self { origin: origin.to_owned(), echo, ..Self::default() }
    }

    fn thoughts(&self) -> Vec<Thought> {
        let thought = |text: String, sealed: &Value| Thought {
            origin: self.origin.clone(),
            text,
            sealed: Some(sealed.to_string().into()),
            at: 0,
        };
        if self.details.is_empty() && self.echo && !self.reasoning.is_empty() {
            let echo = serde_json::json!({"reasoning_content": self.reasoning});
            return vec![thought(self.reasoning.clone(), &echo)];
        }
        let text = |d: &Value| d.get("text").or(d.get("summary"))?.as_str().map(str::to_owned);
        self.details.iter().map(|d| thought(text(d).unwrap_or_default(), d)).collect()
    }

    fn take_chunk(&mut self, chunk: Chunk, on_delta: OnDelta<'_>) -> Result<(), Problem> {
        if let Some(error) = chunk.error {
            return Err(Problem::Error(error));
        }
        self.usage = chunk.usage.as_ref().and_then(usage).or(self.usage);
        for choice in chunk.choices.into_iter().flatten() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(piece) = choice.delta.or(choice.message) {
                self.take_piece(piece, on_delta);
            }
            match choice.finish_reason.as_deref() {
                None | Some("") => {}
                Some("error") => return Err(Problem::Error(Value::Null)),
                Some(reason) => self.finish = Some(finish(reason)),
            }
        }
        Ok(())
    }

    fn take_piece(&mut self, piece: Piece, on_delta: OnDelta<'_>) {
        for detail in piece.reasoning_details.into_iter().flatten() {
            self.take_detail(detail);
        }
        let thought = piece.reasoning_content.or(piece.reasoning).map(words).unwrap_or_default();
        if !thought.is_empty() {
            self.reasoning.push_str(&thought);
            on_delta(Delta::Reasoning(thought));
        }
        for text in [piece.content, piece.refusal].into_iter().flatten().map(words) {
            if !text.is_empty() {
                self.text.push_str(&text);
                on_delta(Delta::Text(text));
            }
        }
        for call in piece.tool_calls.into_iter().flatten() {
            self.call_after_finish |= self.finish.is_some();
            self.take_call(call);
        }
    }

    /// Details come in pieces that name the one they belong to by type and index; their texts go
    /// on, everything else is told once.
    fn take_detail(&mut self, piece: Value) {
        let same = |d: &Value| d["type"] == piece["type"] && d["index"] == piece["index"];
        let begun = match piece.get("index").is_some() {
            true => self.details.iter_mut().rfind(|d| d.is_object() && same(d)),
            false => None,
        };
        let (Some(begun), Some(more)) = (begun, piece.as_object()) else {
            return self.details.push(piece);
        };
        for (key, value) in more {
            match (key.as_str(), begun.get_mut(key), value) {
                (_, _, Value::Null) => {}
                ("text" | "summary" | "data", Some(Value::String(text)), Value::String(more)) => {
                    text.push_str(more);
                }
                _ => begun[key.as_str()] = value.clone(),
            }
        }
    }

    fn take_call(&mut self, piece: CallPiece) {
        let id = piece.id.unwrap_or_default();
        let (name, args) = match piece.function {
            Some(f) => (f.name.unwrap_or_default(), f.arguments.map(argument_text)),
            None => Default::default(),
        };
        let place = match self.slot_of(piece.index, &id, &name) {
            Some(place) => place,
            None => {
                self.calls.push(Slot { index: piece.index, ..Slot::default() });
                self.calls.len() - 1
            }
        };
        let slot = &mut self.calls[place];
        if slot.id.is_empty() {
            slot.id = id;
        }
        // A name comes whole or in pieces; some servers repeat the whole one in every chunk.
        if slot.name != name {
            slot.name.push_str(&name);
        }
        slot.args.push_str(&args.unwrap_or_default());
    }

    /// The call that a piece goes on with. A new id together with a name begins a new call even
    /// under an index that is taken, since some servers number every call 0; a new id alone does
    /// not, since some make up another one for each piece.
    fn slot_of(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let place = match index {
            Some(index) => self.calls.iter().rposition(|s| s.index == Some(index))?,
            None if id.is_empty() => self.calls.len().checked_sub(1)?,
            None => match self.calls.iter().position(|s| s.id == id) {
                Some(place) => return Some(place),
                None => self.calls.len().checked_sub(1)?,
            },
        };
        let slot = &self.calls[place];
        let other_id = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
        let unmarked = index.is_none() && id.is_empty();
        let begins = !name.is_empty() && (other_id || (unmarked && !slot.args.is_empty()));
        (!begins).then_some(place)
    }
}

/// Text is a string, or a list of parts that hold one each.
fn words(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Array(parts) => {
            parts.iter().filter_map(|p| p.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// Arguments are text that holds JSON; sloppy servers send the JSON itself.
fn argument_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        json => json.to_string(),
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "length" | "max_tokens" => Finish::Length,
        "content_filter" => Finish::Filtered,
        "tool_calls" | "function_call" | "tool_use" => Finish::Calls,
        _ => Finish::Stop,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let at = |path: &str| value.pointer(path).and_then(Value::as_u64);
    let (input, output) = (at("/prompt_tokens"), at("/completion_tokens"));
    input.or(output)?;
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: at("/prompt_tokens_details/cached_tokens")
            .or_else(|| at("/prompt_cache_hit_tokens"))
            .unwrap_or(0),
        cache_write: at("/prompt_tokens_details/cache_write_tokens").unwrap_or(0),
        reasoning: at("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write;

    fn check(chunks: &[&str], expected: Expect) {
        let mut reply = Box::new(Reply::new("chat:m", false));
        for chunk in chunks {
            reply.take(chunk.as_bytes(), &mut |_| {}).unwrap();
        }
        assert!(reply.is_whole());
        let answer = reply.finish().answer(1);
        let mut out = format!("{:?} {:?}", answer.finish, answer.text);
        if !answer.reasoning.is_empty() {
            let _ = write!(out, " thought {:?}", answer.reasoning);
        }
        for CallText { id, name, args } in &answer.calls {
            let _ = write!(out, " {id}={name}({args})");
        }
        if let Some(u) = answer.usage {
            let _ = write!(
                out,
                " {}+{} cached {} thought {}",
                u.input, u.output, u.cache_read, u.reasoning
            );
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn answers_are_read_whatever_the_servers_habits() {
        let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        // Plain text, usage in a chunk of its own.
        check(
            &[
                r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}],"usage":null}"#,
                r#"{"choices":[{"delta":{"content":"b"}}]}"#,
                stop,
                r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":1}}}"#,
                "[DONE]",
            ],
            expect![[r#"Stop "ab" 7+3 cached 5 thought 1"#]],
        );
        // Usage in the chunk that finishes, no [DONE], a second choice that nobody asked for.
        check(
            &[
                r#"{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"z"},"finish_reason":"stop"}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":null}}"#,
            ],
            expect![[r#"Length "a" 1+2 cached 0 thought 0"#]],
        );
        // Both names of reasoning; text in parts.
        check(
            &[
                r#"{"choices":[{"delta":{"reasoning_content":"x","content":null}}]}"#,
                r#"{"choices":[{"delta":{"reasoning":"y","content":""}}]}"#,
                r#"{"choices":[{"delta":{"content":[{"type":"text","text":"p"},{"type":"text","text":"q"}]}}]}"#,
                stop,
            ],
            expect![[r#"Stop "pq" thought "xy""#]],
        );
        check(
            &[r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"content_filter"}]}"#],
            expect![[r#"Filtered "x""#]],
        );
    }

    #[test]
    fn calls_are_put_together_whatever_the_servers_habits() {
        let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        let calls = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
        // Two calls in pieces, mixed; `stop` although there are calls.
        check(
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","type":"function","function":{"name":"f","arguments":""}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"j","function":{"name":"g","arguments":"{"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}},{"index":1,"function":{"arguments":"}"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
                stop,
            ],
            expect![[r#"Calls "" i=f({"a":1}) j=g({})"#]],
        );
        // Whole calls at once: without an index, without an id, arguments as an object, both number 0.
        check(
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"id":"i","function":{"name":"f","arguments":"{}"}},{"id":"j","function":{"name":"f","arguments":{"b": [1]}}}]}}]}"#,
                calls,
            ],
            expect![[r#"Calls "" i=f({}) j=f({"b":[1]})"#]],
        );
        check(
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]}}]}"#,
                calls,
            ],
            expect![[r#"Calls "" call_1=f({}) call_2=g({})"#]],
        );
        check(
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{}"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"j","function":{"name":"f","arguments":"{}"}}]}}]}"#,
                calls,
            ],
            expect![[r#"Calls "" i=f({}) j=f({})"#]],
        );
        // The id and the name again in every piece, or another id for every piece.
        check(
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":" "}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"k","function":{"name":null,"arguments":"}"}}]}}]}"#,
                calls,
            ],
            expect![[r#"Calls "" i=f({ })"#]],
        );
        // Arguments that are no JSON are the surface's to judge.
        check(
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{\"a\":"}}]},"finish_reason":"tool_calls"}]}"#,
            ],
            expect![[r#"Calls "" i=f({"a":)"#]],
        );
    }
    #[test]
    fn thoughts_are_kept_as_they_came_where_they_are_wanted_back() {
        let thoughts = |echo, pieces: &[&str]| {
            let mut reply = Box::new(Reply::new("chat:m", echo));
            for piece in pieces {
                let chunk =
                    format!(r#"{{"choices":[{{"delta":{piece},"finish_reason":"stop"}}]}}"#);
                reply.take(chunk.as_bytes(), &mut |_| {}).unwrap();
            }
            let thoughts = reply.finish().answer(1).thoughts;
            thoughts.iter().map(|t| t.sealed.as_deref().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let pieces = [
            r#"{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"signature":null}]}"#,
            r#"{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0,"signature":"s"}]}"#,
            r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","index":1}]}"#,
        ];
        let details = [
            r#"{"type":"reasoning.text","text":"ab","index":0,"signature":"s"}"#,
            r#"{"type":"reasoning.encrypted","data":"xyz","index":1}"#,
        ];
        assert_eq!(thoughts(false, &pieces), details);
        let odd = r#"{"reasoning_details":["odd",{"index":null,"text":"a"},7]}"#;
        assert_eq!(thoughts(false, &[odd]), [r#""odd""#, r#"{"index":null,"text":"a"}"#, "7"]);
        let spoken = [r#"{"reasoning_content":"hm "}"#, r#"{"reasoning_content":"yes"}"#];
        assert!(thoughts(false, &spoken).is_empty());
        assert_eq!(thoughts(true, &spoken), [r#"{"reasoning_content":"hm yes"}"#]);
    }
}
