//! From what the runtime tells to what the wire says: one function per noun.

use cairn_protocol::{Change, Choice, Envelope, Event, Item, Problem, Usage};
use cairn_runtime::Event as Told;
use cairn_store::Store;
use cairn_types as t;
use cairn_types::HostAccess;
use cairn_types::SandboxLayer;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where a run's events are told of: which it is, and where its texts lie.
pub struct Place {
    /// Its session.
    pub session: t::SessionId,
    /// The run.
    pub run: t::RunId,
    /// Where its texts lie.
    pub store: Store,
}

impl Place {
    /// The list that a text holds as JSON; empty where it is gone or holds none.
    fn list<T: DeserializeOwned>(&self, content: &t::ContentRef) -> Vec<T> {
        let text = self.store.content(&content.hash).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

/// An event as the wire has it.
pub fn event(told: &Told, place: &Place) -> Envelope {
    let (cursor, at, event) = match told {
        Told::Fact { fact, text, receipt, anchor } => {
            let text = text.clone().unwrap_or_default();
            (Some(fact.n), Some(fact.at), of_fact(&fact.body, text, (receipt, anchor), place))
        }
        Told::Text { offset, text } => {
            ephemeral(Event::TextDelta { offset: *offset, text: text.clone() })
        }
        Told::Reasoning { offset, text } => {
            ephemeral(Event::ReasoningDelta { offset: *offset, text: text.clone() })
        }
        Told::Retrying { attempt, wait_ms, why } => ephemeral(Event::TurnRetrying {
            attempt: *attempt,
            wait_ms: *wait_ms,
            why: why.clone(),
        }),
        Told::Running(at) => ephemeral(Event::OpRunning { op_at: at.to_string() }),
        Told::Output { at, text } => {
            ephemeral(Event::OpOutput { op_at: at.to_string(), text: text.clone() })
        }
        Told::Progress { at, done, total } => {
            ephemeral(Event::OpProgress { op_at: at.to_string(), done: *done, total: *total })
        }
        Told::Stream { at, text } => {
            ephemeral(Event::StreamEvent { op_at: at.to_string(), text: text.clone() })
        }
        Told::StillOpen { proposal, shown } => ephemeral(opened(proposal, shown.clone())),
        Told::Notice(text) => ephemeral(Event::Notice { text: text.clone() }),
    };
    let (session, run) = (place.session.to_string(), place.run.to_string());
    Envelope { event, session, run, cursor, at }
}

fn ephemeral(event: Event) -> (Option<u64>, Option<u64>, Event) {
    (None, None, event)
}

fn of_fact(
    body: &t::Body,
    text: String,
    (receipt, anchor): (&Option<String>, &Option<String>),
    place: &Place,
) -> Event {
    match body {
        t::Body::Run(run) => started(run, place),
        t::Body::Drive(drive) => driven(drive),
        t::Body::Prompt(prompt) => Event::PromptTaken { r#loop: prompt.lap, text },
        t::Body::Delta(delta) => Event::WorldChanged {
            text,
            changes: serde_json::to_value(&delta.noticed).unwrap_or_default(),
        },
        t::Body::Steer(steer) => Event::SteerTaken { text, writer: word(&steer.writer) },
        t::Body::Abort(abort) => Event::LoopAborted { why: abort.why.clone() },
        t::Body::Ask(ask) => Event::TurnAsked { r#loop: ask.lap, turn: ask.turn },
        t::Body::Reply(reply) => replied(reply, text, place),
        t::Body::Fault(fault) => Event::TurnFailed {
            r#loop: fault.lap,
            turn: fault.turn,
            class: fault.class.clone(),
            message: fault.message.clone(),
            attempts: fault.attempts,
        },
        t::Body::Intent(intent) => Event::OpRequested {
            op_at: intent.at.to_string(),
            tool: intent.tool.clone(),
            target: intent.target.clone(),
            effect: word(&intent.effect),
            repairs: intent.repairs.clone(),
            of: intent.of.map(|row| row.to_string()),
        },
        t::Body::Proposal(proposal) => opened(proposal, text),
        t::Body::Decision(decision) => decided(decision, text),
        t::Body::Reach(reach) => Event::OpReaching {
            op_at: reach.at.to_string(),
            hosts: reach.hosts.iter().map(HostAccess::to_string).collect(),
        },
        t::Body::Begin(begin) => Event::OpBegan {
            op_at: begin.at.to_string(),
            changes: begin.changes.iter().map(change).collect(),
            again: begin.again,
        },
        t::Body::Outcome(outcome) => settled(outcome, text, receipt),
        t::Body::Performed(done) => Event::OpPerformed {
            op_at: done.at.to_string(),
            status: done.status.0,
            exit: done.exit,
            ms: done.ms,
        },
        t::Body::Hook(hooked) => answered(hooked, text),
        t::Body::Stream(stream) => Event::OpEnded {
            op_at: stream.at.to_string(),
            state: word(&stream.state),
            exit: stream.exit,
            why: stream.why.clone(),
            ms: stream.ms,
        },
        t::Body::End(end) => Event::LoopEnded {
            r#loop: end.lap,
            status: end.status.0,
            rail: end.rail.as_ref().map(word),
            why: end.why.clone(),
            anchor: anchor.clone(),
        },
        other => Event::Fact { kind: other.kind().to_owned() },
    }
}

fn started(run: &t::RunStarted, place: &Place) -> Event {
    let tools = match run.given.is_empty() && !run.surface.is_text() {
        true => {
            let schemas = place.list::<serde_json::Value>(&run.tools);
            schemas.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
        }
        false => run.given.clone(),
    };
    let surface = run.surface.to_string();
    Event::RunStarted { name: run.name.clone(), surface, small: run.small, tools }
}

fn driven(drive: &t::Drive) -> Event {
    Event::RunDriven {
        holder: drive.holder.clone(),
        model: drive.model.clone(),
        mode: word(&drive.mode),
        approval: word(&drive.approval),
        max_turns: drive.caps.turns,
        max_cost: drive.caps.cost.map(|cost| cost.0),
    }
}

fn replied(reply: &t::Reply, text: String, place: &Place) -> Event {
    let problems: Option<Vec<Problem>> = reply.problems.as_ref().map(|list| place.list(list));
    Event::TurnReplied {
        r#loop: reply.lap,
        turn: reply.turn,
        model: reply.model.clone(),
        text,
        calls: reply.calls.len() as u64,
        usage: reply.usage.map(usage),
        cost: reply.cost.map(|cost| cost.0),
        ms: reply.ms,
        problems: problems.unwrap_or_default(),
        repairs: reply.repairs.clone(),
    }
}

fn opened(proposal: &t::Proposal, shown: String) -> Event {
    Event::ProposalOpened {
        proposal: proposal.id.to_string(),
        op_at: proposal.at.to_string(),
        kind: word(&proposal.kind),
        shown,
        shown_hash: proposal.shown_hash.to_string(),
        items: proposal.items.iter().map(item).collect(),
        by_item: proposal.by_item,
        offers: proposal.offers.clone(),
        hosts: proposal.hosts.clone(),
    }
}

/// A part of a proposal.
pub fn item(item: &t::ProposalItem) -> Item {
    Item {
        item: item.item,
        label: item.label.clone(),
        change: item.change.as_ref().map(change),
        with: item.with.as_ref().map(change),
    }
}

fn decided(decision: &t::Decision, words: String) -> Event {
    Event::ProposalDecided {
        op_at: decision.at.to_string(),
        proposal: decision.proposal.as_ref().map(ToString::to_string),
        verdict: word(&decision.verdict),
        by: decision.by.to_string(),
        words: (!words.is_empty()).then_some(words),
        items: decision
            .items
            .iter()
            .map(|choice| Choice { item: choice.item, accepted: choice.accepted })
            .collect(),
        texts: decision.texts.iter().map(|text| text.path.clone()).collect(),
    }
}

fn settled(outcome: &t::Outcome, text: String, receipt: &Option<String>) -> Event {
    Event::OpSettled {
        op_at: outcome.at.to_string(),
        status: outcome.status.0,
        exit: outcome.exit,
        text,
        changes: outcome.changes.iter().map(change).collect(),
        layers: outcome.layers.iter().map(SandboxLayer::to_string).collect(),
        settled: word(&outcome.settled),
        receipt: receipt.clone(),
        ms: outcome.ms,
    }
}

fn answered(hooked: &t::Hooked, text: String) -> Event {
    Event::HookAnswered {
        event: hooked.event.to_string(),
        name: hooked.name.clone(),
        op_at: hooked.at.map(|at| at.to_string()),
        said: said(&hooked.answer).into_iter().map(str::to_owned).collect(),
        text,
        problem: hooked.answer.problem.clone(),
        ms: hooked.ms,
    }
}

/// What a hook said, in words; none when it said nothing.
pub fn said(answer: &t::HookAnswer) -> Vec<&'static str> {
    let words = [
        (answer.block.is_some(), "block"),
        (answer.substitute.is_some(), "substitute"),
        (answer.input.is_some(), "input"),
        (!answer.context.is_empty(), "context"),
        (answer.word == Some(t::HookWord::Allow), "allow"),
        (answer.word == Some(t::HookWord::Ask), "ask"),
        (answer.stop.is_some(), "stop"),
    ];
    words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect()
}

/// Tokens.
pub fn usage(usage: t::Usage) -> Usage {
    let t::Usage { input, output, cache_read, cache_write, reasoning } = usage;
    Usage { input, output, cache_read, cache_write, reasoning }
}

fn change(change: &t::Change) -> Change {
    let hash = |state: &Option<t::FileState>| Some(state.as_ref()?.hash?.to_string());
    Change {
        path: change.path.clone(),
        kind: word(&change.kind),
        before: hash(&change.before),
        after: hash(&change.after),
    }
}

/// A domain word by its stored name: `act`, `read-only`, `found-done`.
pub fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(serde_json::Value::Object(map)) => {
            map.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}
