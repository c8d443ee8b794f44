//! Facts: the closed, append-only set of everything the engine consumes. Additive only; a kind this
//! version does not know is kept as it is.

use crate::{
    Approval, Ask, Budgets, Change, ContentRef, Coord, Decision, Delta, Effect, Fault, Flags, Hash,
    HookPlan, Hooked, HostAccess, Letter, Manifest, Mode, OpName, Origin, PicoUsd, Policy,
    Proposal, Reply, RunId, SandboxLayer, SessionId, Status, Stream, Subject, Surface, ToolUse,
    View, Writer,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One fact of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place in the run, from 1 without gaps.
    pub n: u64,
    /// When it was recorded, milliseconds since 1970.
    pub at: u64,
    /// The engine version that recorded it.
    pub engine: String,
    /// What it says.
    pub body: Body,
}

/// A fact as it is stored: its body still text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFact {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place in the run.
    pub n: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// The engine version that recorded it.
    pub engine: String,
    /// Its kind.
    pub kind: String,
    /// The version of its body's shape.
    pub v: u32,
    /// Its body, canonical JSON.
    pub body: Value,
}

/// Why a stored fact cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("fact {n} of run {run} ({kind}) cannot be read: {why}")]
pub struct FactError {
    /// The run.
    pub run: RunId,
    /// The fact's place.
    pub n: u64,
    /// Its kind.
    pub kind: String,
    /// What is wrong with it.
    pub why: String,
}

macro_rules! bodies {
    ($($(#[doc = $doc:literal])* $kind:literal => $variant:ident($type:ty)),* $(,)?) => {
        /// What a fact says.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Body {
            $($(#[doc = $doc])* $variant($type),)*
            /// A kind of a later version, kept as it is.
            Unknown {
                /// Its kind.
                kind: String,
                /// Its version.
                v: u32,
                /// Its body.
                body: Value,
            },
        }

        /// The names that bodies of every kind are written with.
        #[cfg(test)]
        pub(crate) fn names_by_kind() -> std::collections::BTreeSet<String> {
            let mut names = std::collections::BTreeSet::new();
            $(names.extend(crate::serialised_names::names_of::<$type>($kind));)*
            names
        }

        /// A body of each kind that has all its fields.
        #[cfg(test)]
        pub(crate) fn filled_bodies() -> Vec<Body> {
            vec![$(Body::$variant(crate::serialised_names::filled::<$type>($kind)),)*]
        }

        impl Body {
            /// The kind, as stored.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Body::$variant(_) => $kind,)*
                    Body::Unknown { kind, .. } => kind,
                }
            }

            /// The version of the body's shape, as stored.
            #[must_use]
            pub fn v(&self) -> u32 {
                match self {
                    Body::Unknown { v, .. } => *v,
                    _ => 1,
                }
            }

            pub(crate) fn to_value(&self) -> Result<Value, serde_json::Error> {
                match self {
                    $(Body::$variant(body) => serde_json::to_value(body),)*
                    Body::Unknown { body, .. } => Ok(body.clone()),
                }
            }

            fn from_value(kind: &str, v: u32, body: Value) -> Result<Body, serde_json::Error> {
                Ok(match (kind, v) {
                    $(($kind, 1) => Body::$variant(serde_json::from_value(body)?),)*
                    _ => Body::Unknown { kind: kind.to_owned(), v, body },
                })
            }
        }
    };
}

bodies! {
    /// The run began.
    "run" => Run(RunStarted),
    /// A process took the run to drive it.
    "drive" => Drive(Drive),
    /// A prompt was taken: one loop, queued.
    "prompt" => Prompt(Prompt),
    /// Words for the running loop.
    "steer" => Steer(Steer),
    /// The running loop shall stop.
    "abort" => Abort(Abort),
    /// The model is about to be asked.
    "ask" => Ask(Ask),
    /// The model replied.
    "reply" => Reply(Reply),
    /// The model could not be had.
    "fault" => Fault(Fault),
    /// An op was asked for.
    "intent" => Intent(Intent),
    /// An op is held until someone decides.
    "proposal" => Proposal(Proposal),
    /// Who allowed or refused an op.
    "decision" => Decision(Decision),
    /// A command is about to run that may reach hosts.
    "reach" => Reach(Reach),
    /// An effect is about to happen.
    "begin" => Begin(Begin),
    /// What happened, before the hooks that look at results had their word.
    "performed" => Performed(Outcome),
    /// What happened.
    "outcome" => Outcome(Outcome),
    /// A hook answered.
    "hook" => Hook(Hooked),
    /// A command in the background is over.
    "stream" => Stream(Stream),
    /// Others changed something.
    "delta" => Delta(Delta),
    /// A loop ended.
    "end" => End(End),
}

impl Fact {
    /// The fact as it is stored.
    pub fn to_stored(&self) -> Result<StoredFact, FactError> {
        Ok(StoredFact {
            run: self.run.clone(),
            n: self.n,
            at: self.at,
            engine: self.engine.clone(),
            kind: self.body.kind().to_owned(),
            v: self.body.v(),
            body: self.body.to_value().map_err(|e| self.error(&e))?,
        })
    }

    fn error(&self, why: &serde_json::Error) -> FactError {
        FactError {
            run: self.run.clone(),
            n: self.n,
            kind: self.body.kind().to_owned(),
            why: why.to_string(),
        }
    }
}

impl TryFrom<StoredFact> for Fact {
    type Error = FactError;
    fn try_from(stored: StoredFact) -> Result<Self, FactError> {
        let StoredFact { run, n, at, engine, kind, v, body } = stored;
        match Body::from_value(&kind, v, body) {
            Ok(body) => Ok(Fact { run, n, at, engine, body }),
            Err(e) => Err(FactError { run, n, kind, why: e.to_string() }),
        }
    }
}

/// `run`: what a run is made of. Everything the model is told that is not a message stands here,
/// so that a newer binary does not change the beginning of an older run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The session whose world it works on.
    pub session: SessionId,
    /// A person's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The system message.
    pub system: ContentRef,
    /// The tools' schemas, a JSON array; on a text surface how they are called.
    pub tools: ContentRef,
    /// How the model writes ops.
    pub surface: Surface,
    /// How the log becomes messages.
    pub view: View,
    /// The tools it is given, where a text says how to call them; `tools` is that text then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    /// Whether it calls tools.
    #[serde(default, skip_serializing_if = "ToolUse::is_free")]
    pub tool_use: ToolUse,
    /// Its model is a small one: it is told less, and reminded more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub small: bool,
    /// The tools that are not built in, a JSON array of what is known of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolbox: Option<ContentRef>,
}

/// Where a fork left its parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkPoint {
    /// The parent run.
    pub run: RunId,
    /// Its last fact that the fork shares.
    pub n: u64,
}

/// `drive`: who drives the run from here on, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drive {
    /// The lease's epoch; a driver with an older one cannot write.
    pub epoch: u64,
    /// The process, for people: `pid 4711 on host`.
    pub holder: String,
    /// The model, `provider/name`.
    pub model: String,
    /// What may be done.
    pub mode: Mode,
    /// How far an approved plan may widen that; absent where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_plan: Option<Mode>,
    /// Who answers questions.
    pub approval: Approval,
    /// What is ruled out besides.
    #[serde(default, skip_serializing_if = "Flags::is_none")]
    pub flags: Flags,
    /// The rules in force.
    #[serde(default)]
    pub policy: Policy,
    /// The limits in force.
    pub caps: Caps,
    /// What may be used up.
    #[serde(default, skip_serializing_if = "Budgets::is_none")]
    pub budgets: Budgets,
    /// Folders besides the project's that a person opened, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// How the model is asked, as far as that decides the bytes it is sent, JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// How much the model shall think, where something is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The JSON Schema that its answers must follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<ContentRef>,
    /// The hooks it asks, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookPlan>,
    /// The schemes it has besides those that every world has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<Manifest>,
    /// The newest receipt of the session then, empty where it has none: what is older did not change under
    /// a run that begins here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// What the database lacked of the run that this one was forked from, where the fork was made to go on
    /// without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostFacts>,
}

/// Facts of a run that were recorded and that its database does not have any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostFacts {
    /// The run.
    pub run: RunId,
    /// The last fact that was recorded of it.
    pub last: u64,
    /// The hash of its last receipt; zeros where it had none.
    pub receipt: String,
    /// What is missing, in words.
    pub why: String,
}

/// Limits of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Turns per loop.
    pub turns: u32,
    /// Ops per reply.
    pub ops: u32,
    /// Money per loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<PicoUsd>,
}

/// `prompt`: a loop, queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its number, from 1.
    pub lap: u32,
    /// What was asked.
    pub text: ContentRef,
    /// Pictures and documents that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
    /// Who asked.
    pub writer: Writer,
    /// Where it comes from, of words that were said to the run from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
    /// The op whose stream ended, where that is what it is about: it uses up what is left to the loop of that op.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Coord>,
}

/// A picture or a document that a model is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Its type, such as `image/png`.
    pub mime: String,
    /// Its name, for the model.
    pub name: String,
    /// Its bytes.
    pub content: ContentRef,
}

/// `steer`: words for the running loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steer {
    /// The words.
    pub text: ContentRef,
    /// Who said them.
    pub writer: Writer,
    /// The op whose command ran over an overlay then, or had run and was not decided on: it had begun,
    /// though nothing else says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<Coord>,
    /// Where they come from, if they were said to the run from elsewhere. Then nothing is skipped for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
}

/// `abort`: the running loop shall stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abort {
    /// Who stopped it.
    pub writer: Writer,
    /// In a few words.
    pub why: String,
}

/// `intent`: an op was asked for. A second one with the same place is what a hook made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Its place.
    pub at: Coord,
    /// The provider's id of the call.
    pub call: String,
    /// Who asks.
    pub writer: Writer,
    /// In what grammar.
    pub surface: Surface,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The arguments as the model wrote them.
    pub input: ContentRef,
    /// The op; absent when the call makes no sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<OpName>,
    /// What it works on, cut to a line.
    pub target: String,
    /// What it touches, as far as rules look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// What it may change.
    pub effect: Effect,
    /// Whether doing it twice is the same as doing it once.
    pub repeatable: bool,
    /// The row of the command in the background whose changes these are. Nobody called for it: it is
    /// what that command comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Coord>,
    /// Repairs made in reading it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// Its end was not written: where it ends is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unclosed: bool,
    /// How it says that the work stands, where it says that to whoever listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Status>,
    /// Why it cannot be performed, when it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// Why a call makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The status its row gets.
    pub status: Status,
    /// What the model is told.
    pub message: ContentRef,
}

/// `reach`: a command is about to run over an overlay and may reach these hosts. What it does there is not
/// undone with the overlay, so it is not run again by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The op.
    pub at: Coord,
    /// The hosts.
    pub hosts: Vec<HostAccess>,
}

/// `begin`: an effect is about to happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// The op.
    pub at: Coord,
    /// What will change, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Whether an earlier beginning of the same op was lost in a crash.
    #[serde(default)]
    pub again: bool,
    /// What the model is told once it is done, where that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<ContentRef>,
    /// How the command ended whose changes these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
}

/// How a command ended that ran over an overlay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Its exit code, when it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Its whole output: count and hash, and the parts that were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<CommandOutput>,
    /// The sandbox layers that were in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<SandboxLayer>,
}

/// `outcome`: what happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The op.
    pub at: Coord,
    /// Its status.
    pub status: Status,
    /// A command's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// What the model is told.
    pub result: ContentRef,
    /// Pictures and documents that the model is shown with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
    /// BLAKE3 of the op's own result, where instructions of a directory are told after it, or a
    /// row is named that has it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Hash>,
    /// The command's whole output: count and hash, and the parts that were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<CommandOutput>,
    /// What changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// The files it showed the model, as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
    /// The sandbox layers in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<SandboxLayer>,
    /// The address of the stream that it opened and that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// What it said to another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<Letter>,
    /// How it is known.
    pub settled: Settled,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

impl Outcome {
    /// One that is all said by a status and a text.
    #[must_use]
    pub fn told(at: Coord, (status, result): (Status, ContentRef), settled: Settled) -> Outcome {
        Outcome {
            at,
            status,
            exit: None,
            result,
            media: Vec::new(),
            own: None,
            output: None,
            changes: Vec::new(),
            seen: Vec::new(),
            layers: Vec::new(),
            stream: None,
            letter: None,
            settled,
            ms: 0,
        }
    }

    /// Whether its command ran over an overlay.
    #[must_use]
    pub fn ran_over_overlay(&self) -> bool {
        self.layers.contains(&SandboxLayer::Overlay)
    }

    /// Whether it goes on in the background because a person sent it there: only such a command runs there
    /// over an overlay.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        self.status == Status::RUNNING && self.ran_over_overlay()
    }
}

/// A file the model was shown, in whole or in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Its path beneath the root.
    pub path: String,
    /// BLAKE3 of all of it, as it was.
    pub hash: Hash,
    /// Not all of it was shown.
    #[serde(default, skip_serializing_if = "is_whole")]
    pub part: bool,
}

fn is_whole(part: &bool) -> bool {
    !part
}

/// A command's output, which may be longer than what was kept of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOutput {
    /// How many bytes it printed.
    pub bytes: u64,
    /// BLAKE3 of all of them.
    pub hash: Hash,
    /// The first and the last part, joined by a line that says what is missing.
    pub kept: ContentRef,
}

/// How an outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Settled {
    /// It was performed and seen to end.
    Performed,
    /// It was not performed: refused, aborted, skipped, or senseless.
    NotPerformed,
    /// A crash came between; the files show that it happened.
    FoundDone,
    /// A crash came between; a person said that it happened.
    SaidDone,
    /// A crash came between; nobody knows.
    Indeterminate,
}

/// `end`: a loop ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The loop.
    pub lap: u32,
    /// How: 200 done, 403 a hook refused the prompt, 429 a cap was reached, 499 aborted or ended for
    /// getting nowhere, 500 the model could not be had.
    pub status: Status,
    /// The rail that ended it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail: Option<Rail>,
    /// A sentence for a person; empty when done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A rule that ends a loop which would go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rail {
    /// Turn after turn had a call that could not act.
    Strikes,
    /// The same calls came to the same results, again and again.
    Cycle,
    /// It had its turns.
    Turns,
    /// It cost what it may, or its session did.
    Cost,
    /// It worked as long as it may.
    Time,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_kind_from_the_future_is_kept_as_it_is() {
        let stored = StoredFact {
            run: RunId::new(1, 1),
            n: 7,
            at: 5,
            engine: "9.0.0".into(),
            kind: "dream".into(),
            v: 3,
            body: json!({"depth": 4}),
        };
        let fact = Fact::try_from(stored.clone()).unwrap();
        assert!(matches!(fact.body, Body::Unknown { v: 3, .. }));
        assert_eq!(fact.to_stored().unwrap(), stored);
    }
}
