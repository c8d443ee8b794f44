//! Cairn's words as plain data. No I/O, no async, no clock: every other crate speaks these types.

mod action;
mod address;
mod budget;
mod canonical;
mod change;
mod command;
mod content;
pub mod delta;
mod fact;
mod fact_contents;
mod fact_order;
mod gate;
mod hook;
mod host_access;
mod id;
mod layer;
mod letter;
mod op;
mod open_name;
mod policy;
mod private;
mod proposal;
mod protected;
mod receipt;
mod scheme;
mod secret;
#[cfg(test)]
mod serialised_names;
mod status;
mod stream;
mod tool_spec;
mod turn;
mod unread_parts;
mod uri;
mod usage;

pub use action::{
    Action, Carry, Consult, Edit, EditBody, Exchange, Exec, Find, Post, Read, TodoItem, TodoState,
};
pub use address::{Address, AddressError, RowAddress, RowPlace};
pub use budget::{Budgets, Exceeded};
pub use canonical::{CanonicalError, canonical, to_canonical};
pub use change::{Aside, Change, ChangeKind, EntryState, FileAttribute, FileKind, FileState};
pub use command::{CommandLine, Joint, Redirect, RedirectKind, ShellWord, Simple};
pub use content::{ContentRef, Hash, HashError};
pub use delta::Delta;
pub use fact::{
    Abort, Begin, Body, Caps, CommandOutput, Drive, End, Fact, FactError, ForkPoint, Intent,
    LostFacts, Media, Outcome, Problem, Prompt, Rail, Ran, Reach, RunStarted, Seen, Settled, Steer,
    StoredFact,
};
pub use fact_contents::{FactText, changed_contents_in, contents_in, hashes_in};
pub use fact_order::{FactOrder, MisplacedFact};
pub use gate::{Gate, GateVerdict, GateWord};
pub use hook::{
    HookAnswer, HookEvent, HookMay, HookPlan, HookSays, HookWord, Hooked, NoSuchEvent,
    is_event_elsewhere,
};
pub use host_access::HostAccess;
pub use id::{IdError, RunId, SessionId};
pub use layer::SandboxLayer;
pub use letter::{Letter, Origin};
pub use op::{
    Approval, Coord, CoordError, Effect, Flags, Mode, NoSuchSurface, OpName, Surface, ToolUse,
    View, Writer,
};
pub use policy::{Policy, PolicyRule, Removed, RuleFrom, RuleWord, Subject};
pub use private::{PRIVATE_IN_HOME, PRIVATE_OF_MACHINE, PrivatePlaces, SETTINGS_IN_HOME};
pub use proposal::{
    By, Decision, EditedText, ItemChoice, Proposal, ProposalId, ProposalItem, ProposalKind,
    Remember, Verdict,
};
pub use protected::{
    is_guarded, is_in_dependency_folder, is_irreplaceable, is_precious, is_protected,
    repository_of_object,
};
pub use receipt::{CheckpointPayload, Commitment, FactSpan, FileRef, Head, ReceiptPayload};
pub use scheme::{Channel, FEEDS, Manifest, Scope, built_in, is_feed, is_stream};
pub use secret::Secret;
pub use status::Status;
pub use stream::{Stream, StreamState};
pub use tool_spec::{ToolCall, ToolSource, ToolSpec};
pub use turn::{Ask, Call, Fault, Finish, Reply, Visible};
pub use unread_parts::{UnreadPart, UnreadParts};
pub use uri::{LONGEST_ADDRESS, Place, Uri, UriError, scheme_of};
pub use usage::{PicoUsd, Usage};
