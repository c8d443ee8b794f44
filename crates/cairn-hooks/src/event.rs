//! What a hook is told, as a value and as the JSON that people's scripts read.

use super::calls;
use cairn_types::{
    Action, Approval, Change, Coord, HookEvent, Mode, RunId, SessionId, Status, Verdict,
};
use serde_json::{Map, Value, json};

/// The kind of notification there is; a matcher of `Notification` is about that.
pub(super) const PERMISSION_PROMPT: &str = "permission_prompt";

/// Something that happened, or is about to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where.
    pub place: Place,
    /// What.
    pub what: What,
}

/// Where something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The session.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// The project's root.
    pub root: String,
    /// What may be done.
    pub mode: Mode,
    /// Who answers questions.
    pub approval: Approval,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A process took the run, and its first loop is about to begin.
    SessionStart {
        /// The run existed before.
        resumed: bool,
    },
    /// A loop is about to begin.
    UserPromptSubmit {
        /// What was asked.
        prompt: String,
    },
    /// The model is about to be asked.
    TurnStart(Request),
    /// The model called a tool that there is not, or with arguments that cannot be read.
    UnknownTool(Senseless),
    /// An op is about to be decided on.
    PreToolUse(Call),
    /// A person is about to be asked about an op.
    PermissionRequest {
        /// The op.
        call: Call,
        /// What the person would be shown.
        shown: String,
        /// The hosts that it wants to reach, where that is the question.
        hosts: Vec<String>,
    },
    /// A question is put, and a person is waited for.
    Notification {
        /// The question's name.
        proposal: String,
        /// What it is about, in one line.
        message: String,
    },
    /// A question was decided.
    Decided(Call, Word),
    /// An op that changes something was allowed and is about to begin.
    Accepting {
        /// The op.
        call: Call,
        /// Whose word it was.
        by: String,
    },
    /// An op was performed.
    PostToolUse(Call, Done),
    /// An op was tried and failed.
    PostToolUseFailure(Call, Done),
    /// All ops of a turn are settled.
    TurnEnd {
        /// The turn.
        turn: u32,
        /// Its ops, and the status of each.
        ops: Vec<(Coord, String, Status)>,
    },
    /// The model has said its last word.
    Stop {
        /// Hooks kept this loop going before.
        is_again: bool,
        /// The last word.
        last: String,
    },
    /// Nothing is left to do.
    SessionEnd {
        /// How the last loop ended.
        status: Status,
    },
}

/// An op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its place.
    pub at: Coord,
    /// The tool's own name.
    pub tool: String,
    /// What it does.
    pub action: Action,
}

/// What the model is about to be asked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The turn, from 1.
    pub turn: u32,
    /// The model, `provider/name`.
    pub model: String,
    /// How many messages it is sent.
    pub messages: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// A call that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Senseless {
    /// Its place.
    pub at: Coord,
    /// The tool, as the model wrote it.
    pub tool: String,
    /// The arguments, as the model wrote them.
    pub args: String,
    /// Whether there is such a tool.
    pub is_known: bool,
    /// What the model would be told.
    pub error: String,
}

/// The word on a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The question's name.
    pub proposal: String,
    /// The word.
    pub verdict: Verdict,
    /// Whose it is.
    pub by: String,
    /// What was said with it.
    pub words: Option<String>,
}

/// What became of an op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its status.
    pub status: Status,
    /// A command's exit code.
    pub exit: Option<i32>,
    /// What the model would be told.
    pub text: String,
    /// What changed.
    pub changes: Vec<Change>,
}

impl Event {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> HookEvent {
        match self.what {
            What::SessionStart { .. } => HookEvent::SessionStart,
            What::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
            What::TurnStart(_) => HookEvent::TurnStart,
            What::UnknownTool(_) => HookEvent::UnknownTool,
            What::PreToolUse(_) => HookEvent::PreToolUse,
            What::PermissionRequest { .. } => HookEvent::PermissionRequest,
            What::Notification { .. } => HookEvent::Notification,
            What::Decided(..) => HookEvent::Decided,
            What::Accepting { .. } => HookEvent::Accepting,
            What::PostToolUse(..) => HookEvent::PostToolUse,
            What::PostToolUseFailure(..) => HookEvent::PostToolUseFailure,
            What::TurnEnd { .. } => HookEvent::TurnEnd,
            What::Stop { .. } => HookEvent::Stop,
            What::SessionEnd { .. } => HookEvent::SessionEnd,
        }
    }

    /// The op it is about, where that is one that makes sense.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match &self.what {
            What::PreToolUse(call)
            | What::PermissionRequest { call, .. }
            | What::Decided(call, _)
            | What::Accepting { call, .. }
            | What::PostToolUse(call, _)
            | What::PostToolUseFailure(call, _) => Some(call),
            What::SessionStart { .. }
            | What::UserPromptSubmit { .. }
            | What::TurnStart(_)
            | What::UnknownTool(_)
            | What::Notification { .. }
            | What::TurnEnd { .. }
            | What::Stop { .. }
            | What::SessionEnd { .. } => None,
        }
    }

    /// As a command reads it on stdin: the names and shapes that scripts know from elsewhere.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Place { session, run, root, mode, approval } = &self.place;
        let mode = match (approval, mode) {
            (Approval::Yolo, Mode::Act | Mode::AcceptEdits) => "bypassPermissions",
            (_, Mode::AcceptEdits) => "acceptEdits",
            (_, Mode::Act) => "default",
            (_, Mode::Plan | Mode::ReadOnly) => "plan",
        };
        let mut said = Map::new();
        let mut put = |key: &str, value: Value| drop(said.insert(key.to_owned(), value));
        put("hook_event_name", json!(self.kind().name()));
        put("session_id", json!(session.to_string()));
        put("run_id", json!(run.to_string()));
        put("transcript_path", json!("/dev/null"));
        put("cwd", json!(root));
        put("permission_mode", json!(mode));
        if let Some(call) = self.call() {
            put("tool_name", json!(calls::shown_name(call)));
            put("tool_input", calls::shown_input(call, root));
            put("tool_use_id", json!(call.at.to_string()));
            put("cairn_tool", json!(call.tool));
        }
        said.extend(self.what.own_fields());
        Value::Object(said)
    }
}

impl What {
    /// What only this event has.
    fn own_fields(&self) -> Map<String, Value> {
        let fields = match self {
            What::SessionStart { resumed } => {
                json!({"source": if *resumed { "resume" } else { "startup" }})
            }
            What::UserPromptSubmit { prompt } => json!({"prompt": prompt}),
            What::TurnStart(Request { turn, model, messages, bytes }) => {
                json!({"turn": turn, "model": model, "messages": messages, "bytes": bytes})
            }
            What::UnknownTool(call) => senseless(call),
            What::PreToolUse(_) => json!({}),
            What::PermissionRequest { shown, hosts, .. } if hosts.is_empty() => {
                json!({"proposal_shown": shown})
            }
            What::PermissionRequest { shown, hosts, .. } => {
                json!({"proposal_shown": shown, "hosts": hosts})
            }
            What::Notification { proposal, message } => json!({
                "message": message, "notification_type": PERMISSION_PROMPT, "proposal": proposal,
            }),
            What::Decided(_, Word { proposal, verdict, by, words }) => {
                json!({"proposal": proposal, "verdict": verdict, "by": by, "words": words})
            }
            What::Accepting { by, .. } => json!({"by": by}),
            What::PostToolUse(call, done) => json!({"tool_response": response(call, done)}),
            What::PostToolUseFailure(call, done) => json!({
                "tool_response": response(call, done),
                "error": done.text,
                "is_interrupt": done.status == Status::CANCELLED,
            }),
            What::TurnEnd { turn, ops } => {
                let op = |(at, tool, status): &(Coord, String, Status)| json!({"tool_use_id": at.to_string(), "cairn_tool": tool, "status": status.0});
                json!({"turn": turn, "ops": ops.iter().map(op).collect::<Vec<_>>()})
            }
            What::Stop { is_again, last } => {
                json!({"stop_hook_active": is_again, "last_assistant_message": last})
            }
            What::SessionEnd { status } => json!({"reason": "other", "status": status.0}),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

fn senseless(call: &Senseless) -> Value {
    let input = serde_json::from_str(&call.args).unwrap_or_else(|_| json!(call.args));
    json!({
        "tool_name": call.tool,
        "tool_input": input,
        "tool_use_id": call.at.to_string(),
        "reason": if call.is_known { "invalid" } else { "unknown" },
        "error": call.error,
    })
}

fn response(call: &Call, done: &Done) -> Value {
    let mut said = json!({
        "status": done.status.0,
        "success": done.status.0 < 400,
        "text": done.text,
        "changes": done.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(),
    });
    if let Action::Exec(_) = call.action {
        said["stdout"] = json!(done.text);
        said["stderr"] = json!("");
        said["exit"] = json!(done.exit);
        said["interrupted"] = json!(done.exit.is_none());
    }
    said
}
