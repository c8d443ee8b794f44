//! The four readers that are fuzzed, in one shape: a text and a setting go in, what was heard comes out.

use crate::corpus::{self, NONCE};
use cairn_surface::envelope::{Reject, Stage, Turn};
use cairn_surface::native::message::{self, Message};
use cairn_surface::native::{self, Tool};
use cairn_surface::{Position, Reading, envelope, heredoc, tags};

/// How many ops may be taken of a reply, as runs have it. An op of ten letters takes a KiB, so where thousands may be taken
/// the bound on memory does not hold.
const CAPS: [usize; 5] = [50, 0, 1, 3, 32];

/// Tools from outside.
const TOOLS: &str = r#"[{"name":"weather.today","parameters":{"type":"object","properties":{"place":{"type":"string"},
    "days":{"type":"integer"},"exact":{"type":"boolean"},"hours":{"type":"array"},"options":{"type":"object"},
    "either":{"type":["integer","null"]}},"required":["place"],"additionalProperties":false}},{"name":"ping"},
    {"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}]"#;

/// A reader, and what its fuzzing starts from.
pub struct Target {
    pub name: &'static str,
    pub read: fn(&str, u64) -> Heard,
    pub corpus: Vec<String>,
    pub words: Vec<String>,
}

/// What a reader made of a text.
#[derive(Debug, PartialEq)]
pub enum Heard {
    Reply { reading: Reading, cap: usize },
    Decision(Reading),
    Message(Message),
}

pub fn tags() -> Target {
    let read = |text: &str, setting: u64| {
        let cap = CAPS[setting as usize % CAPS.len()];
        Heard::Reply { reading: tags::parse(text, cap), cap }
    };
    Target { name: "tags", read, corpus: corpus::tags(), words: corpus::tag_words() }
}

pub fn heredoc() -> Target {
    let read = |text: &str, setting: u64| {
        let cap = CAPS[setting as usize % CAPS.len()];
        Heard::Reply { reading: heredoc::parse(text, cap), cap }
    };
    Target { name: "heredoc", read, corpus: corpus::heredoc(), words: corpus::heredoc_words() }
}

pub fn envelope() -> Target {
    let read = |text: &str, setting: u64| {
        let tools: Vec<&'static Tool> = native::tools().iter().collect();
        let stage = if setting & 1 == 0 { Stage::First } else { Stage::Next };
        let tools = if setting & 6 == 0 { &tools[..3] } else { &tools[..] };
        let turn = Turn { nonce: NONCE, tools, stage, requires_tool: setting & 8 == 0 };
        Heard::Decision(envelope::parse(text, &turn))
    };
    Target { name: "envelope", read, corpus: corpus::envelope(), words: corpus::json_words() }
}

pub fn native_message() -> Target {
    let read = |text: &str, setting: u64| {
        Heard::Message(message::read(text, (setting & 3 == 0).then_some(TOOLS)))
    };
    Target { name: "native", read, corpus: corpus::messages(), words: corpus::json_words() }
}

impl Heard {
    /// Every place that is named.
    pub fn places(&self) -> Vec<Position> {
        match self {
            Heard::Reply { reading, .. } | Heard::Decision(reading) => {
                let ops = reading.ops.iter().map(|op| op.at);
                let repairs = reading.repairs.iter().map(|repair| repair.at);
                ops.chain(repairs).chain(reading.problems.iter().map(|one| one.at)).collect()
            }
            Heard::Message(message) => {
                let calls = message.calls.iter().map(|call| call.at);
                let repairs = message.repairs.iter().map(|repair| repair.at);
                calls.chain(repairs).chain(message.problems.iter().map(|one| one.at)).collect()
            }
        }
    }

    /// What is wrong with it in itself.
    pub fn fault(&self) -> Option<&'static str> {
        match self {
            Heard::Reply { reading, cap } => {
                (reading.ops.len() > *cap).then_some("more ops than may be taken")
            }
            Heard::Decision(reading) => {
                let codes = Reject::ALL.map(Reject::code);
                let said = reading.ops.len() + usize::from(reading.terminal.is_some());
                let is_one = said + reading.problems.len() == 1
                    && reading.ops.iter().all(|op| op.parsed.action.is_ok())
                    && reading.problems.iter().all(|trouble| codes.contains(&trouble.kind));
                (!is_one).then_some("not one op, one end or one reject")
            }
            Heard::Message(message) => {
                let says = !message.calls.is_empty() || !message.problems.is_empty();
                (says == message.terminal.is_some())
                    .then_some("neither a call, a problem nor an end, or two of them")
            }
        }
    }

    /// What sort of reading it is: the kinds of what is in it, each once.
    pub fn sort(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = match self {
            Heard::Reply { reading, .. } | Heard::Decision(reading) => {
                let ops = reading.ops.iter().map(|op| op.tool);
                let repairs = reading.repairs.iter().map(|repair| repair.kind);
                ops.chain(repairs).chain(reading.problems.iter().map(|one| one.kind)).collect()
            }
            Heard::Message(message) => {
                let calls = message.calls.iter().map(|call| call.name.as_str());
                let repairs = message.repairs.iter().map(|repair| repair.kind);
                calls.chain(repairs).chain(message.problems.iter().map(|one| one.kind)).collect()
            }
        };
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}
