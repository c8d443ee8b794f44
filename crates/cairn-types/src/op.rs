//! Ops by name, who asks for them, in what grammar, and what they may change. What an op does in
//! full is an `Action`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The ops the kernel performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpName {
    /// Look for entries or text.
    Find,
    /// Read an entry.
    Read,
    /// Create or change an entry.
    Edit,
    /// Make an entry like another.
    Copy,
    /// Give an entry another address.
    Move,
    /// Remove an entry.
    Kill,
    /// Show rows again that were folded.
    Open,
    /// Show of rows only where they stand.
    Fold,
    /// Say something to whoever listens, or to what an address names.
    Send,
    /// Run a command.
    Exec,
    /// Keep a list of what is to be done.
    Todo,
    /// Put something to a person.
    Consult,
    /// Take back what ops changed, or what taking back changed.
    Undo,
    /// Call a tool from outside.
    Call,
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OpName::Find => "find",
            OpName::Read => "read",
            OpName::Edit => "edit",
            OpName::Copy => "copy",
            OpName::Move => "move",
            OpName::Kill => "kill",
            OpName::Open => "open",
            OpName::Fold => "fold",
            OpName::Send => "send",
            OpName::Exec => "exec",
            OpName::Todo => "todo",
            OpName::Consult => "consult",
            OpName::Undo => "undo",
            OpName::Call => "call",
        })
    }
}

/// What an op may change. Declared by the tool, never guessed from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Nothing, and reads nothing.
    Pure,
    /// Nothing; reads.
    Read,
    /// Entries of the session's world.
    World,
    /// Anything on this machine.
    Host,
    /// Anything beyond this machine.
    Network,
}

impl Effect {
    /// Whether neighbouring ops of this effect may run side by side.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        self <= Effect::Read
    }
}

/// Who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writer {
    /// The model.
    Model,
    /// A person or program at a client.
    Client,
    /// A plugin.
    Plugin,
    /// The runtime itself.
    System,
}

/// How a model writes ops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// The provider's tool calls.
    Native,
    /// Tags, as in XML.
    Tags,
    /// Statements between `<<WORD` and `:WORD`.
    Heredoc,
    /// One JSON object that repeats what it was given.
    Envelope,
    /// No model writes here: a person or program at a client does.
    Client,
}

impl Surface {
    /// Those that a model writes on.
    pub const ALL: [Surface; 4] =
        [Surface::Native, Surface::Tags, Surface::Heredoc, Surface::Envelope];

    /// Whether ops are read from what a model says, and it says when the work is over.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Surface::Tags | Surface::Heredoc | Surface::Envelope)
    }

    /// The view that serves it unless another is wanted.
    #[must_use]
    pub fn view(self) -> View {
        if self.is_text() { View::Packet } else { View::Transcript }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Surface::Native => "native",
            Surface::Tags => "tags",
            Surface::Heredoc => "heredoc",
            Surface::Envelope => "envelope",
            Surface::Client => "client",
        })
    }
}

/// Why a word names no surface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown surface {0:?}; use one of native, tags, heredoc, envelope")]
pub struct NoSuchSurface(pub String);

impl FromStr for Surface {
    type Err = NoSuchSurface;
    fn from_str(text: &str) -> Result<Self, NoSuchSurface> {
        let named = Surface::ALL.into_iter().find(|surface| surface.to_string() == text);
        named.ok_or_else(|| NoSuchSurface(text.to_owned()))
    }
}

/// Whether a run's model calls tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolUse {
    /// As it likes.
    #[default]
    Free,
    /// At least once in each loop.
    Required,
    /// Never: it is told of none, and whatever it answers is the answer.
    None,
}

impl ToolUse {
    /// Whether it is as usual.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == ToolUse::Free
    }
}

/// How a run's log becomes messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Append-only chat turns.
    Transcript,
    /// The state as it stands, made anew each turn.
    Packet,
}

/// What a run may do at all, each more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Look, change nothing.
    ReadOnly,
    /// Look, and say what would be done.
    Plan,
    /// Look and change; every change is asked about.
    Act,
    /// Look and change; changes of files are not asked about.
    AcceptEdits,
}

impl Mode {
    /// Whether anything may be changed in it.
    #[must_use]
    pub fn may_act(self) -> bool {
        matches!(self, Mode::Act | Mode::AcceptEdits)
    }
}

/// What holds besides the mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// No files and no commands: the run has no project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_repo: bool,
    /// Nothing beyond this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_web: bool,
    /// Nobody reviews: what would be asked about is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_proposals: bool,
    /// The agent asks nobody anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_interaction: bool,
    /// Somebody can be asked, even where everything was allowed beforehand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub someone: bool,
    /// Much may be removed unasked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub large_deletions: bool,
}

impl Flags {
    /// Whether nothing does.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Flags::default()
    }
}

/// Who answers when an op asks for leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// Somebody at a client.
    Ask,
    /// Everybody said yes beforehand (`--yolo`).
    Yolo,
    /// There is nobody: what needs asking is refused.
    Nobody,
}

/// Where a row stands in its run: loop, turn, op, each from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Coord {
    /// Which loop.
    pub lap: u32,
    /// Which turn of the loop.
    pub turn: u32,
    /// Which op of the turn.
    pub seq: u32,
}

/// Why a text is not a coordinate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a coordinate; one looks like 1/2/3 (loop, turn, op)")]
pub struct CoordError(pub String);

impl fmt::Display for Coord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.lap, self.turn, self.seq)
    }
}

impl FromStr for Coord {
    type Err = CoordError;
    fn from_str(text: &str) -> Result<Self, CoordError> {
        let bad = || CoordError(text.to_owned());
        let numbers: Vec<u32> =
            text.split('/').map(|p| p.parse().map_err(|_| bad())).collect::<Result<_, _>>()?;
        match numbers[..] {
            [lap, turn, seq] => Ok(Coord { lap, turn, seq }),
            _ => Err(bad()),
        }
    }
}

impl TryFrom<String> for Coord {
    type Error = CoordError;
    fn try_from(text: String) -> Result<Self, CoordError> {
        text.parse()
    }
}

impl From<Coord> for String {
    fn from(coord: Coord) -> String {
        coord.to_string()
    }
}
