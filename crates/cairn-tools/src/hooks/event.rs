//! What a hook is told, as a value and as the JSON that people's scripts read.

use super::calls;
use cairn_types::{Action, Approval, Change, Coord, HookEvent, Mode, RunId, SessionId, Status};
use serde_json::{Map, Value, json};

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
    /// An op is about to be decided on.
    PreToolUse(Call),
    /// An op was performed.
    PostToolUse(Call, Done),
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
    pub tool: &'static str,
    /// What it does.
    pub action: Action,
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
            What::PreToolUse(_) => HookEvent::PreToolUse,
            What::PostToolUse(..) => HookEvent::PostToolUse,
            What::Stop { .. } => HookEvent::Stop,
            What::SessionEnd { .. } => HookEvent::SessionEnd,
        }
    }

    /// The op it is about.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match &self.what {
            What::PreToolUse(call) | What::PostToolUse(call, _) => Some(call),
            _ => None,
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
        match &self.what {
            What::SessionStart { resumed } => {
                put("source", json!(if *resumed { "resume" } else { "startup" }));
            }
            What::UserPromptSubmit { prompt } => put("prompt", json!(prompt)),
            What::PreToolUse(_) => {}
            What::PostToolUse(call, done) => put("tool_response", response(call, done)),
            What::Stop { is_again, last } => {
                put("stop_hook_active", json!(is_again));
                put("last_assistant_message", json!(last));
            }
            What::SessionEnd { status } => {
                put("reason", json!("other"));
                put("status", json!(status.0));
            }
        }
        Value::Object(said)
    }
}

fn response(call: &Call, done: &Done) -> Value {
    let mut said = json!({
        "status": done.status.0,
        "success": done.status.0 < 400,
        "text": done.text,
        "changes": done.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(),
    });
    if let Action::Exec { .. } = call.action {
        said["stdout"] = json!(done.text);
        said["stderr"] = json!("");
        said["exit"] = json!(done.exit);
        said["interrupted"] = json!(done.exit.is_none());
    }
    said
}
