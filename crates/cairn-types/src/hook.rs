//! Hooks as plain data: when one is asked, which ones a driver has, and what one answered. How a hook
//! is asked is elsewhere.

use crate::{ContentRef, Coord};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// When a hook is asked. The names are those that people's scripts know, where they know one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HookEvent {
    /// A process took the run, and its first loop is about to begin.
    SessionStart,
    /// A loop is about to begin.
    UserPromptSubmit,
    /// The model is about to be asked.
    TurnStart,
    /// The model called a tool that there is not, or with arguments that cannot be read.
    UnknownTool,
    /// An op reached the gate `hooks`.
    PreToolUse,
    /// A person is about to be asked about an op.
    PermissionRequest,
    /// A run waits for a person: the question is put.
    Notification,
    /// A question was decided.
    Decided,
    /// An op that changes something was allowed and is about to begin.
    Accepting,
    /// An op was performed; what the model is told of it is not recorded yet.
    PostToolUse,
    /// An op was tried and failed; what the model is told of it is not recorded yet.
    PostToolUseFailure,
    /// All ops of a turn are settled.
    TurnEnd,
    /// The model has said its last word in a loop.
    Stop,
    /// Nothing is left to do.
    SessionEnd,
}

/// What an answer may do at an event; anything else in it is dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HookMay {
    /// Refuse, or whatever `block` means there.
    pub block: bool,
    /// Stand in the result's place.
    pub substitute: bool,
    /// Change the op.
    pub input: bool,
    /// Add something for the model.
    pub context: bool,
    /// Say who decides.
    pub word: bool,
    /// Stop the loop.
    pub stop: bool,
}

impl HookMay {
    /// The columns in the order of the fields, `x` where it may.
    const fn of(columns: &[u8; 6]) -> HookMay {
        let [block, substitute, input, context, word, stop] = columns;
        HookMay {
            block: *block == b'x',
            substitute: *substitute == b'x',
            input: *input == b'x',
            context: *context == b'x',
            word: *word == b'x',
            stop: *stop == b'x',
        }
    }
}

impl HookEvent {
    /// All of them, in the order in which they happen.
    pub const ALL: [HookEvent; 14] = [
        HookEvent::SessionStart,
        HookEvent::UserPromptSubmit,
        HookEvent::TurnStart,
        HookEvent::UnknownTool,
        HookEvent::PreToolUse,
        HookEvent::PermissionRequest,
        HookEvent::Notification,
        HookEvent::Decided,
        HookEvent::Accepting,
        HookEvent::PostToolUse,
        HookEvent::PostToolUseFailure,
        HookEvent::TurnEnd,
        HookEvent::Stop,
        HookEvent::SessionEnd,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            HookEvent::SessionStart => "SessionStart",
            HookEvent::UserPromptSubmit => "UserPromptSubmit",
            HookEvent::TurnStart => "TurnStart",
            HookEvent::UnknownTool => "UnknownTool",
            HookEvent::PreToolUse => "PreToolUse",
            HookEvent::PermissionRequest => "PermissionRequest",
            HookEvent::Notification => "Notification",
            HookEvent::Decided => "Decided",
            HookEvent::Accepting => "Accepting",
            HookEvent::PostToolUse => "PostToolUse",
            HookEvent::PostToolUseFailure => "PostToolUseFailure",
            HookEvent::TurnEnd => "TurnEnd",
            HookEvent::Stop => "Stop",
            HookEvent::SessionEnd => "SessionEnd",
        }
    }

    /// Whether what follows waits for leave: a hook that cannot say anything then says no.
    #[must_use]
    pub fn is_gate(self) -> bool {
        matches!(
            self,
            HookEvent::UserPromptSubmit
                | HookEvent::TurnStart
                | HookEvent::PreToolUse
                | HookEvent::Accepting
        )
    }

    /// Whether it is about one op of a tool that there is.
    #[must_use]
    pub fn is_of_op(self) -> bool {
        matches!(
            self,
            HookEvent::PreToolUse
                | HookEvent::PermissionRequest
                | HookEvent::Decided
                | HookEvent::Accepting
                | HookEvent::PostToolUse
                | HookEvent::PostToolUseFailure
        )
    }

    /// What an answer may do.
    #[must_use]
    pub fn may(self) -> HookMay {
        HookMay::of(match self {
            //  block, substitute, input, context, word, stop
            HookEvent::SessionStart | HookEvent::TurnEnd => b"...x.x",
            HookEvent::UserPromptSubmit | HookEvent::TurnStart => b"x..x.x",
            HookEvent::UnknownTool => b"xxxx.x",
            HookEvent::PreToolUse => b"xxxxxx",
            HookEvent::PermissionRequest => b"x.xxxx",
            HookEvent::Accepting | HookEvent::Stop => b"x....x",
            HookEvent::PostToolUse | HookEvent::PostToolUseFailure => b"xx.x.x",
            HookEvent::Notification | HookEvent::Decided | HookEvent::SessionEnd => b"......",
        })
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no event's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no event that hooks are asked at; {hint}", hint = hint(.0))]
pub struct NoSuchEvent(pub String);

fn hint(name: &str) -> String {
    let nearest = HookEvent::ALL.map(HookEvent::name).into_iter().max_by_key(|it| alike(it, name));
    match nearest.filter(|it| alike(it, name) * 2 >= it.len().max(name.len())) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", HookEvent::ALL.map(HookEvent::name).join(", ")),
    }
}

/// How many letters two names have in common at their beginnings and ends.
fn alike(known: &str, given: &str) -> usize {
    let both = || known.bytes().zip(given.bytes());
    let ends = || known.bytes().rev().zip(given.bytes().rev());
    let is = |(a, b): &(u8, u8)| a.eq_ignore_ascii_case(b);
    let all = both().take_while(is).count() + ends().take_while(is).count();
    all.min(known.len().min(given.len()))
}

/// Events of other agents about what Cairn does not do yet.
const ELSEWHERE: [&str; 19] = [
    "ConfigChange",
    "CwdChanged",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "PermissionDenied",
    "PostCompact",
    "PostToolBatch",
    "PreCompact",
    "Setup",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// Whether other agents have an event of this name, and Cairn has not: hooks of it are left out, and
/// that is said.
#[must_use]
pub fn is_event_elsewhere(name: &str) -> bool {
    ELSEWHERE.contains(&name)
}

impl FromStr for HookEvent {
    type Err = NoSuchEvent;
    fn from_str(name: &str) -> Result<HookEvent, NoSuchEvent> {
        let found = HookEvent::ALL.into_iter().find(|event| event.name() == name);
        found.ok_or_else(|| NoSuchEvent(name.to_owned()))
    }
}

/// A hook that a driver has, as far as the engine looks at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookPlan {
    /// When it is asked.
    pub event: HookEvent,
    /// Its name, of which an event has one.
    pub name: String,
    /// The tools it is asked about, where it is about ops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// `hook`: a hook answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooked {
    /// When it was asked.
    pub event: HookEvent,
    /// Its name.
    pub name: String,
    /// The loop it was about, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lap: Option<u32>,
    /// The op it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Coord>,
    /// Whether it was asked once more because a hook had changed the op.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The hosts that a person would be asked about, where that was the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What it said.
    pub answer: HookAnswer,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What a hook says, in its own words. All absent: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookSays {
    /// It shall not be, for this reason.
    pub block: Option<String>,
    /// This stands in the result's place.
    pub substitute: Option<String>,
    /// These arguments, a JSON object, stand in the place of the op's.
    pub input: Option<String>,
    /// This tool is called in the place of one that there is not.
    pub tool: Option<String>,
    /// This is told besides.
    pub context: Vec<String>,
    /// Who decides about the op.
    pub word: Option<HookWord>,
    /// The loop shall stop, for this reason.
    pub stop: Option<String>,
    /// What went wrong with the hook itself, for a person.
    pub problem: Option<String>,
}

/// What a hook said, as it is recorded. All absent: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookAnswer {
    /// It shall not be; this is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<ContentRef>,
    /// This stands in the result's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitute: Option<ContentRef>,
    /// These arguments stand in the place of the op's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<ContentRef>,
    /// This tool is called in the place of one that there is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// This is told besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContentRef>,
    /// Who decides about the op.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<HookWord>,
    /// The loop shall stop, for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// What went wrong with the hook itself, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What a hook says about who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookWord {
    /// Nobody has to be asked, where no rule says otherwise.
    Allow,
    /// A person is asked.
    Ask,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_event_is_told_the_nearest_and_names_are_read_back() {
        for (name, said) in [
            ("PreToolUze", "did you mean PreToolUse?"),
            ("pretooluse", "did you mean PreToolUse?"),
            ("PostToolFailure", "did you mean PostToolUseFailure?"),
            ("OnStop", "did you mean Stop?"),
            ("TurnStarted", "did you mean TurnStart?"),
            ("Quux", "there are SessionStart, UserPromptSubmit, TurnStart,"),
            ("", "there are SessionStart,"),
        ] {
            let error = name.parse::<HookEvent>().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        for event in HookEvent::ALL {
            assert_eq!(event.name().parse(), Ok(event));
            assert!(!is_event_elsewhere(event.name()));
        }
    }
}
