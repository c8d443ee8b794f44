//! A row, turn, loop or run as one JSON object: all that people are shown, with the texts themselves.
//! A text that was freed is null.

use crate::{diff, to_wire};
use anyhow::Result;
use cairn_store::{RunRow, Store};
use cairn_types::{Body, ContentRef, Coord, Decision, Fact, Intent, Outcome, Proposal, Reply};
use serde_json::{Map, Value, json};

/// Where things are looked up.
pub struct Shown<'a> {
    /// The store.
    pub store: &'a Store,
    /// The run.
    pub run: &'a RunRow,
    /// Its facts.
    pub facts: &'a [Fact],
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

    /// A row, from its facts.
    pub fn row(&self, at: Coord, of_row: &[&Fact]) -> Result<Value> {
        let mut row = self.object("row", &at.to_string());
        let mut put = |key: &str, value: Value| row.insert(key.to_owned(), value);
        let (mut proposals, mut decisions, mut began) = (Vec::new(), Vec::new(), Vec::new());
        let (mut facts, mut hooks) = (Vec::new(), Vec::new());
        put("outcome", Value::Null);
        put("stream", Value::Null);
        for fact in of_row {
            match &fact.body {
                Body::Intent(intent) => {
                    for (key, value) in self.intent(fact, intent) {
                        put(&key, value);
                    }
                }
                Body::Proposal(proposal) => proposals.push(self.proposal(fact, proposal)),
                Body::Decision(decision) => decisions.push(self.decision(fact, decision)),
                Body::Begin(begin) => began.push(json!({"at": fact.at, "again": begin.again})),
                // An outcome comes after what was performed, and says it with the hooks' word.
                Body::Performed(outcome) | Body::Outcome(outcome) => {
                    put("outcome", self.outcome(fact, outcome)?);
                }
                Body::Stream(stream) => {
                    let ended = json!({"at": fact.at, "state": stream.state, "exit": stream.exit, "why": stream.why, "ms": stream.ms});
                    put("stream", ended);
                }
                Body::Hook(of) => hooks.push(json!({"at": fact.at, "event": of.event, "name": of.name, "said": to_wire::said(&of.answer), "problem": of.answer.problem, "ms": of.ms})),
                _ => {}
            }
            facts.push(json!(fact.to_stored()?));
        }
        put("proposals", json!(proposals));
        put("decisions", json!(decisions));
        put("began", json!(began));
        put("hooks", json!(hooks));
        put("facts", json!(facts));
        Ok(Value::Object(row))
    }

    fn intent(&self, fact: &Fact, intent: &Intent) -> Map<String, Value> {
        let said = json!({
            "at": fact.at,
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

    fn proposal(&self, fact: &Fact, proposal: &Proposal) -> Value {
        let shown = self.text(&proposal.shown);
        let items: Vec<_> = proposal.items.iter().map(to_wire::item).collect();
        json!({"at": fact.at, "id": proposal.id, "kind": proposal.kind, "shown_hash": proposal.shown_hash, "shown": shown, "items": items, "by_item": proposal.by_item})
    }

    fn decision(&self, fact: &Fact, decision: &Decision) -> Value {
        json!({
            "at": fact.at,
            "verdict": decision.verdict,
            "by": decision.by.to_string(),
            "items": decision.items,
            "texts": decision.texts.iter().map(|of| json!({"path": of.path, "text": self.text(&of.content)})).collect::<Vec<_>>(),
            "words": decision.words.as_ref().map(|words| self.text(words)),
            "remember": decision.remember,
            "gates": decision.gates,
        })
    }

    fn outcome(&self, fact: &Fact, outcome: &Outcome) -> Result<Value> {
        let receipts = self.store.receipts(&fact.run)?;
        let receipt = receipts.iter().find(|receipt| receipt.fact_n == fact.n);
        let changes = outcome.changes.iter().map(
            |change| json!({"path": change.path, "kind": change.kind, "diff": diff::of(self.store, change)}),
        );
        Ok(json!({
            "at": fact.at,
            "status": outcome.status,
            "exit": outcome.exit,
            "settled": outcome.settled,
            "layers": outcome.layers,
            "result": self.text(&outcome.result),
            "output_bytes": outcome.output.as_ref().map(|output| output.bytes),
            "changes": changes.collect::<Vec<_>>(),
            "ms": outcome.ms,
            "receipt": receipt.map(|r| json!({"id": r.receipt_id, "hash": r.hash})),
        }))
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
        ];
        object.extend(said.map(|(key, value)| (key.to_owned(), value)));
        Value::Object(object)
    }

    /// A loop: what was asked, how it ended, and its rows.
    pub fn lap(&self, lap: u32) -> Value {
        let mut object = self.object("loop", &lap.to_string());
        let (mut end, mut rows) = (Value::Null, Vec::<Value>::new());
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("loop", json!(lap));
        for fact in self.facts {
            match &fact.body {
                Body::Prompt(prompt) if prompt.lap == lap => {
                    put("at", json!(fact.at));
                    put("prompt", self.text(&prompt.text));
                }
                Body::Intent(intent) if intent.at.lap == lap => rows.push(json!({
                    "address": format!("log://{}/{}", fact.run, intent.at),
                    "row": intent.at.to_string(),
                    "tool": intent.tool,
                    "target": intent.target,
                    "status": null,
                    "exit": null,
                })),
                Body::Performed(outcome) | Body::Outcome(outcome) if outcome.at.lap == lap => {
                    let at = outcome.at.to_string();
                    for row in rows.iter_mut().filter(|row| row["row"] == at) {
                        row["status"] = json!(outcome.status);
                        row["exit"] = json!(outcome.exit);
                    }
                }
                Body::End(of) if of.lap == lap => {
                    end = json!({"at": fact.at, "status": of.status, "why": of.why});
                }
                _ => {}
            }
        }
        put("end", end);
        put("rows", json!(rows));
        Value::Object(object)
    }
}
