//! What a client is told, one JSON object per line.

use serde::{Deserialize, Serialize};

/// An event with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
    /// The session.
    pub session: String,
    /// The run.
    pub run: String,
    /// The fact's place in the run; absent on ephemeral events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// When the fact was recorded, milliseconds since 1970; absent on ephemeral events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[allow(
    missing_docs,
    reason = "ARCHITECTURE.md has the table; the fields are named as the facts' are"
)]
pub enum Event {
    #[serde(rename = "run/started")]
    RunStarted {
        name: Option<String>,
        /// How the model writes ops: `native`, `tags`, `heredoc` or `envelope`.
        #[serde(default)]
        surface: String,
        /// Whether it is told what a small model can hold.
        #[serde(default)]
        small: bool,
        /// The tools it was given.
        #[serde(default)]
        tools: Vec<String>,
    },
    #[serde(rename = "run/driven")]
    RunDriven {
        holder: String,
        model: String,
        mode: String,
        approval: String,
        max_turns: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_cost: Option<u64>,
    },
    #[serde(rename = "prompt/taken")]
    PromptTaken { r#loop: u32, text: String },
    #[serde(rename = "steer/taken")]
    SteerTaken {
        text: String,
        /// `client`, `model` where another run said it, or `system` where the model is told of a cap.
        #[serde(default)]
        writer: String,
    },
    /// Others changed something, and the model is told.
    #[serde(rename = "world/changed")]
    WorldChanged {
        text: String,
        /// Of each path and source: `{path, source, kind, before, after, edits}`.
        changes: serde_json::Value,
    },
    #[serde(rename = "turn/asked")]
    TurnAsked { r#loop: u32, turn: u32 },
    #[serde(rename = "text/delta")]
    TextDelta { offset: u64, text: String },
    #[serde(rename = "reasoning/delta")]
    ReasoningDelta { offset: u64, text: String },
    #[serde(rename = "turn/retrying")]
    TurnRetrying { attempt: u32, wait_ms: u64, why: String },
    #[serde(rename = "turn/replied")]
    TurnReplied {
        r#loop: u32,
        turn: u32,
        model: String,
        text: String,
        calls: u64,
        usage: Option<Usage>,
        cost: Option<u64>,
        ms: u64,
        /// What of it could not be read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        problems: Vec<Problem>,
        /// What was mended in it that belongs to no op.
        #[serde(default)]
        repairs: Vec<String>,
    },
    #[serde(rename = "turn/failed")]
    TurnFailed { r#loop: u32, turn: u32, class: String, message: String, attempts: u32 },
    #[serde(rename = "op/requested")]
    OpRequested {
        op_at: String,
        tool: String,
        target: String,
        effect: String,
        repairs: Vec<String>,
        /// The row of the command in the background whose changes these are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    #[serde(rename = "proposal/opened")]
    ProposalOpened {
        proposal: String,
        op_at: String,
        kind: String,
        shown: String,
        shown_hash: String,
        items: Vec<Item>,
        /// Whether items can be taken one by one and other texts be given.
        #[serde(default)]
        by_item: bool,
        offers: Vec<String>,
        /// The hosts that are asked about, of a question of kind `network`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hosts: Vec<String>,
    },
    #[serde(rename = "proposal/decided")]
    ProposalDecided {
        op_at: String,
        proposal: Option<String>,
        verdict: String,
        by: String,
        words: Option<String>,
        /// The word on each item.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<Choice>,
        /// The files for which another text was given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        texts: Vec<String>,
    },
    #[serde(rename = "op/reaching")]
    OpReaching { op_at: String, hosts: Vec<String> },
    #[serde(rename = "op/began")]
    OpBegan { op_at: String, changes: Vec<Change>, again: bool },
    #[serde(rename = "op/running")]
    OpRunning { op_at: String },
    #[serde(rename = "op/output")]
    OpOutput { op_at: String, text: String },
    /// How many of its changes an op on many files has made.
    #[serde(rename = "op/progress")]
    OpProgress { op_at: String, done: u64, total: u64 },
    /// A stream that goes on brought something.
    #[serde(rename = "stream/event")]
    StreamEvent { op_at: String, text: String },
    #[serde(rename = "op/settled")]
    OpSettled {
        op_at: String,
        status: u16,
        exit: Option<i32>,
        text: String,
        changes: Vec<Change>,
        layers: Vec<String>,
        settled: String,
        receipt: Option<String>,
        ms: u64,
    },
    #[serde(rename = "op/performed")]
    OpPerformed { op_at: String, status: u16, exit: Option<i32>, ms: u64 },
    #[serde(rename = "hook/answered")]
    HookAnswered {
        event: String,
        name: String,
        op_at: Option<String>,
        said: Vec<String>,
        text: String,
        problem: Option<String>,
        ms: u64,
    },
    #[serde(rename = "op/ended")]
    OpEnded { op_at: String, state: String, exit: Option<i32>, why: String, ms: u64 },
    #[serde(rename = "loop/aborted")]
    LoopAborted { why: String },
    #[serde(rename = "loop/ended")]
    LoopEnded {
        r#loop: u32,
        status: u16,
        /// `strikes`, `cycle`, `turns`, `cost` or `time`, where such a rule ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rail: Option<String>,
        why: String,
        anchor: Option<String>,
    },
    #[serde(rename = "fact")]
    Fact { kind: String },
    #[serde(rename = "notice")]
    Notice { text: String },
    #[serde(rename = "result")]
    Result(RunResult),
}

/// The last event: how it all went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResult {
    /// `done`, `failed`, `cancelled`, `limit`, `stopped`, `approval-needed`, `paused`.
    pub status: String,
    /// Replies in the whole run.
    pub turns: u64,
    /// Tokens of the whole run.
    pub usage: Usage,
    /// What the whole run cost, 10⁻¹² US dollars; null when no price is known.
    pub cost: Option<u64>,
    /// The same for people, such as `$0.0123`.
    #[serde(default)]
    pub cost_shown: Option<String>,
    /// What the last loop cost, 10⁻¹² US dollars; null when no price is known.
    #[serde(default)]
    pub loop_cost: Option<u64>,
    /// Replies of which nobody knows what they cost; they are not in `cost`.
    #[serde(default)]
    pub unpriced_turns: u64,
    /// How long this command took.
    pub duration_ms: u64,
    /// The exit code that follows.
    pub exit_code: u8,
    /// The model's last words.
    pub answer: String,
    /// Why it did not end well; empty when it did.
    pub why: String,
    /// Hash of the newest checkpoint.
    pub anchor: Option<String>,
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Sent, cached ones included.
    pub input: u64,
    /// Received, reasoning included.
    pub output: u64,
    /// Of `input`, from the provider's cache.
    pub cache_read: u64,
    /// Of `input`, into the provider's cache.
    pub cache_write: u64,
    /// Of `output`, reasoning.
    pub reasoning: u64,
}

/// A place of a reply that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What is wrong there, a word.
    pub kind: String,
    /// Its line, from 1.
    pub line: u64,
    /// Its column in characters, from 1.
    pub column: u64,
    /// The same in a sentence.
    pub note: String,
    /// The lines as they were written.
    pub snippet: String,
}

/// A part of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its number, from 1.
    pub item: u32,
    /// One line.
    pub label: String,
    /// What would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// What changes with it: the place that a moved file leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Change>,
}

/// The word on a part of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Its number.
    pub item: u32,
    /// Taken or left.
    pub accepted: bool,
}

/// A path's change, by hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path beneath the root.
    pub path: String,
    /// `created`, `modified`, `deleted`.
    pub kind: String,
    /// BLAKE3 before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// BLAKE3 after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}
