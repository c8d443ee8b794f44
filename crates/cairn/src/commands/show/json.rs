//! A row, turn, loop or run as one JSON object: all that people are shown, with the texts themselves.
//! A text that was freed is null.

use crate::commands::diff;
use crate::output::to_wire;
use anyhow::Result;
use cairn_engine::{ChangesRow, Recorded, Row, RowReceipt, Rows};
use cairn_store::{RunRow, Store};
use cairn_types::{
    Address, Body, ContentRef, Coord, Decision, Fact, Hooked, Intent, Outcome, Proposal, Reply,
    Stream,
};
use serde_json::{Map, Value, json};

/// Where things are looked up.
pub struct Shown<'a> {
    /// The store.
    pub store: &'a Store,
    /// The run.
    pub run: &'a RunRow,
    /// Its facts.
    pub facts: &'a [Fact],
    /// Its rows.
    pub rows: Rows<'a>,
}

impl Shown<'_> {
    fn text(&self, of: &ContentRef) -> Value {
        self.store.content(&of.hash).map_or(Value::Null, |b| json!(String::from_utf8_lossy(&b)))
    }

    /// What a model wrote as arguments: as JSON where it is that.
    fn args(&self, of: &ContentRef) -> Value {
        let bytes = self.store.content(&of.hash).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_else(|_| self.text(of))
    }

    /// An object that says which thing of the run it is.
    fn object(&self, word: &str, at: &str) -> Map<String, Value> {
        let (run, session) = (&self.run.id, &self.run.session);
        let address = format!("log://{run}/{at}");
        let mut object = Map::new();
        object.insert("address".to_owned(), json!(address.trim_end_matches('/')));
        object.insert("session".to_owned(), json!(session));
        object.insert("run".to_owned(), json!(run));
        if !at.is_empty() {
            object.insert(word.to_owned(), json!(at));
        }
        object
    }

    /// One of a thing's channels.
    pub fn channel(&self, word: &str, at: &str, (channel, of): (&str, &ContentRef)) -> Value {
        let mut object = self.object(word, at);
        object.insert("channel".to_owned(), json!(channel));
        object.insert("bytes".to_owned(), json!(of.bytes));
        object.insert("text".to_owned(), self.text(of));
        Value::Object(object)
    }

    /// A row.
    pub fn row(&self, row: &Row<'_>) -> Result<Value> {
        let mut object = self.object("row", &row.at.to_string());
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        let stored = row.facts.iter().map(|fact| Ok(json!(fact.to_stored()?)));
        put("outcome", row.result().map_or(Value::Null, |done| self.outcome(row, done)));
        put("stream", row.stream.map_or(Value::Null, stream));
        for (key, value) in row.intent.map(|intent| self.intent(intent)).unwrap_or_default() {
            put(&key, value);
        }
        put("proposals", row.questions.iter().map(|of| self.proposal(*of)).collect());
        put("decisions", row.decisions.iter().map(|of| self.decision(*of)).collect());
        let began = row.begins.iter().map(|of| json!({"at": of.fact.at, "again": of.again}));
        put("began", began.collect());
        put("hooks", row.hooks.iter().map(|of| hook(*of)).collect());
        put("facts", stored.collect::<Result<_>>()?);
        Ok(Value::Object(object))
    }

    /// What others changed.
    pub fn changes(&self, row: &ChangesRow<'_>) -> Result<Value> {
        let mut object = self.object("row", &row.place().to_string());
        let said = [
            ("at", json!(row.delta.fact.at)),
            ("noticed", json!(row.delta.noticed)),
            ("result", self.text(&row.delta.text)),
            ("facts", json!([row.delta.fact.to_stored()?])),
        ];
        object.extend(said.map(|(key, value)| (key.to_owned(), value)));
        Ok(Value::Object(object))
    }

    fn intent(&self, intent: Recorded<'_, Intent>) -> Map<String, Value> {
        let said = json!({
            "at": intent.fact.at,
            "writer": intent.writer,
            "tool": intent.tool,
            "target": intent.target,
            "effect": intent.effect,
            "input": self.args(&intent.input),
            "repairs": intent.repairs,
            "of": intent.of,
        });
        match said {
            Value::Object(said) => said,
            _ => Map::new(),
        }
    }

    fn proposal(&self, proposal: Recorded<'_, Proposal>) -> Value {
        let shown = self.text(&proposal.shown);
        let items: Vec<_> = proposal.items.iter().map(to_wire::item).collect();
        json!({"at": proposal.fact.at, "id": proposal.id, "kind": proposal.kind, "shown_hash": proposal.shown_hash, "shown": shown, "items": items, "by_item": proposal.by_item})
    }

    fn decision(&self, decision: Recorded<'_, Decision>) -> Value {
        json!({
            "at": decision.fact.at,
            "verdict": decision.verdict,
            "by": decision.by.to_string(),
            "items": decision.items,
            "texts": decision.texts.iter().map(|of| json!({"path": of.path, "text": self.text(&of.content)})).collect::<Vec<_>>(),
            "words": decision.words.as_ref().map(|words| self.text(words)),
            "remember": decision.remember,
            "gates": decision.gates,
        })
    }

    fn outcome(&self, row: &Row<'_>, done: Recorded<'_, Outcome>) -> Value {
        let changes = done.changes.iter().map(
            |change| json!({"path": change.path, "kind": change.kind, "diff": diff::of(self.store, change)}),
        );
        let receipt = |RowReceipt { id, hash }: &RowReceipt| json!({"id": id, "hash": hash});
        json!({
            "at": done.fact.at,
            "status": done.status,
            "exit": done.exit,
            "settled": done.settled,
            "layers": done.layers,
            "result": self.text(&done.result),
            "output_bytes": done.output.as_ref().map(|output| output.bytes),
            "changes": changes.collect::<Vec<_>>(),
            "ms": done.ms,
            "receipt": row.receipt.as_ref().map(receipt),
        })
    }

    /// A turn, from its reply.
    pub fn turn(&self, reply: &Reply) -> Value {
        let (lap, turn) = (reply.lap, reply.turn);
        let calls = (1..).zip(&reply.calls).map(|(seq, call)| {
            let row = Coord { lap, turn, seq }.to_string();
            json!({"row": row, "id": call.id, "tool": call.name, "input": self.args(&call.args)})
        });
        let said = json!({
            "model": reply.model,
            "text": reply.text.as_ref().map(|text| self.text(text)),
            "reasoning": reply.reasoning.as_ref().map(|text| self.text(text)),
            "written": reply.written.as_ref().map(|text| self.text(text)),
            "problems": reply.problems.as_ref().map(|text| {
                let text = self.text(text);
                serde_json::from_str::<Value>(text.as_str().unwrap_or_default()).unwrap_or_default()
            }),
            "repairs": reply.repairs,
            "calls": calls.collect::<Vec<_>>(),
            "finish": reply.finish,
            "usage": reply.usage.map(to_wire::usage),
            "cost": reply.cost,
            "attempts": reply.attempts,
            "ms": reply.ms,
        });
        let mut object = self.object("turn", &format!("{lap}/{turn}"));
        if let Value::Object(said) = said {
            object.extend(said);
        }
        Value::Object(object)
    }

    /// The run and all its loops.
    pub fn run(&self) -> Value {
        let mut object = self.object("run", "");
        let RunRow { name, parent, created_at, imported, .. } = self.run;
        let laps = self.facts.iter().filter_map(|fact| match &fact.body {
            Body::Prompt(prompt) => Some(self.lap(prompt.lap)),
            _ => None,
        });
        let said = [
            ("name", json!(name)),
            ("parent", json!(parent)),
            ("created_at", json!(created_at)),
            ("imported", json!(imported)),
            ("loops", laps.collect()),
            ("changes", self.rows.changes().map(|row| changes_in_list(&row)).collect()),
        ];
        object.extend(said.map(|(key, value)| (key.to_owned(), value)));
        Value::Object(object)
    }

    /// A loop: what was asked, how it ended, and its rows.
    pub fn lap(&self, lap: u32) -> Value {
        let mut object = self.object("loop", &lap.to_string());
        let mut end = Value::Null;
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("loop", json!(lap));
        for fact in self.facts {
            match &fact.body {
                Body::Prompt(prompt) if prompt.lap == lap => {
                    put("at", json!(fact.at));
                    put("prompt", self.text(&prompt.text));
                }
                Body::End(of) if of.lap == lap => {
                    end = json!({"at": fact.at, "status": of.status, "why": of.why});
                }
                _ => {}
            }
        }
        let rows = self.rows.iter().filter(|row| row.at.lap == lap).filter_map(in_list);
        put("end", end);
        put("rows", rows.collect());
        Value::Object(object)
    }
}

/// A row in the list of its loop's.
fn in_list(row: &Row<'_>) -> Option<Value> {
    let (intent, done) = (row.intent?, row.result());
    Some(json!({
        "address": Address::row(&intent.fact.run, row.at),
        "row": row.at.to_string(),
        "tool": intent.tool,
        "target": intent.target,
        "status": done.map(|done| done.status),
        "exit": done.and_then(|done| done.exit),
    }))
}

/// What others changed, in the list of its run's.
fn changes_in_list(row: &ChangesRow<'_>) -> Value {
    json!({
        "address": Address::row(&row.delta.fact.run, row.place()),
        "row": row.place().to_string(),
        "at": row.delta.fact.at,
        "noticed": row.delta.noticed,
    })
}

fn stream(of: Recorded<'_, Stream>) -> Value {
    json!({"at": of.fact.at, "state": of.state, "exit": of.exit, "why": of.why, "ms": of.ms})
}

fn hook(of: Recorded<'_, Hooked>) -> Value {
    json!({"at": of.fact.at, "event": of.event, "name": of.name, "said": to_wire::said(&of.answer), "problem": of.answer.problem, "ms": of.ms})
}
