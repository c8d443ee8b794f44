//! The envelope: a reply is exactly one JSON object that calls one tool, or says that the work is over, and that
//! repeats the turn's nonce. Reading it is strict; what is refused asks for nothing. Knows no tool by name.

mod cut;
mod frame;
mod grammar;
mod layout;
mod parse;
mod schema;
mod teach;

pub use cut::{Cut, STEP_BYTES, TURN_BYTES, budget, cut};
pub use grammar::grammar;
pub use parse::{LONGEST_REPLY, LONGEST_TARGET, parse};
pub use schema::{NONCE_PATTERN, Nonce, schema};
pub use teach::{instructions, requirements};

use crate::native::{self, Tool};
use cairn_types::Action;
use layout::{Layout, layouts};
use serde_json::{Map, Value, json};

/// The field that says which tool.
const TOOL: &str = "tool";
/// The field that holds its arguments.
const ARGS: &str = "args";
/// The field that repeats the turn's nonce.
const NONCE: &str = "nonce";
/// The field that says what a decision is.
const ACTION: &str = "action";
/// The decision that the work is over.
const FINAL: &str = "final";

/// What a reply may be.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// What it must repeat.
    pub nonce: &'a str,
    /// The tools that it may call.
    pub tools: &'a [&'static Tool],
    /// Where in the work it stands.
    pub stage: Stage,
    /// On the first turn: whether it must call one.
    pub requires_tool: bool,
}

/// Where in the work a reply stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing was done yet: a call.
    First,
    /// Something was done: a decision, another call or the end.
    Next,
}

impl Turn<'_> {
    /// Whether the reply may say that the work is over. Where there are no tools it can say nothing else.
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.stage == Stage::Next || !self.requires_tool || self.tools.is_empty()
    }

    /// Whether a reply says first what it is.
    fn is_decision(&self) -> bool {
        self.stage == Stage::Next
    }
}

/// Why a reply is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reject {
    /// It is not one JSON object of the right form, and nothing else.
    InvalidFormat,
    /// It calls a tool that the turn does not have.
    UnknownTool,
    /// The tool does not take these arguments.
    InvalidArgs,
    /// It is more than one object.
    Multiple,
    /// It does not repeat the turn's nonce.
    NonceInvalid,
    /// It is too long.
    OutputLimit,
}

impl Reject {
    /// All of them.
    pub const ALL: [Reject; 6] = [
        Reject::InvalidFormat,
        Reject::UnknownTool,
        Reject::InvalidArgs,
        Reject::Multiple,
        Reject::NonceInvalid,
        Reject::OutputLimit,
    ];

    /// Its code, a stable word.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Reject::InvalidFormat => "tool_call_invalid_format",
            Reject::UnknownTool => "tool_call_unknown_tool",
            Reject::InvalidArgs => "tool_call_invalid_args",
            Reject::Multiple => "tool_call_multiple",
            Reject::NonceInvalid => "tool_call_nonce_invalid",
            Reject::OutputLimit => "tool_call_output_limit",
        }
    }
}

/// The reply that asks for an op; nothing where the turn would not take it.
#[must_use]
pub fn print(op: &Action, turn: &Turn<'_>) -> Option<String> {
    let (tool, args) = native::call_among(turn.tools, op)?;
    let text = call(tool, args, turn);
    match &parse(&text, turn).ops[..] {
        [read] if read.parsed.action.as_ref() == Ok(op) => Some(text),
        _ => None,
    }
}

/// The reply that says that the work is over.
#[must_use]
pub fn print_final(turn: &Turn<'_>) -> String {
    json!({ ACTION: FINAL, NONCE: turn.nonce }).to_string()
}

fn call(tool: &Tool, args: Map<String, Value>, turn: &Turn<'_>) -> String {
    let args = in_order(tool, args);
    match turn.is_decision() {
        true => json!({ ACTION: TOOL, TOOL: tool.name, ARGS: args, NONCE: turn.nonce }),
        false => json!({ TOOL: tool.name, ARGS: args, NONCE: turn.nonce }),
    }
    .to_string()
}

/// Arguments in the order of the grammar.
fn in_order(tool: &Tool, mut args: Map<String, Value>) -> Map<String, Value> {
    let layouts = layouts(tool);
    let fits = |layout: &&Layout| layout.fits(&args);
    let Some(layout) = layouts.iter().find(fits) else { return args };
    let take = |slot: &layout::Slot| args.remove_entry(slot.param.name);
    layout.slots().filter_map(take).collect()
}
