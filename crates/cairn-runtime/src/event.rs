//! What clients are told. A durable event is told only after its fact is committed.

use cairn_types::{Coord, Fact, Proposal};

/// Something to tell a client.
#[derive(Debug, Clone)]
pub enum Event {
    /// A fact is durable.
    Fact {
        /// The fact.
        fact: Box<Fact>,
        /// The text it is about: a prompt, a reply, a result, what a proposal shows.
        text: Option<String>,
        /// The receipt minted with it.
        receipt: Option<String>,
        /// The anchor of the checkpoint signed with it.
        anchor: Option<String>,
    },
    /// A question that an earlier driver put is still open.
    StillOpen {
        /// The question.
        proposal: Proposal,
        /// What is shown with it.
        shown: String,
    },
    /// The model says something; not durable yet.
    Text {
        /// Bytes of this reply's text told before.
        offset: u64,
        /// The piece.
        text: String,
    },
    /// The model thinks something; not durable yet.
    Reasoning {
        /// Bytes of this reply's reasoning told before.
        offset: u64,
        /// The piece.
        text: String,
    },
    /// The model is asked again; what streamed so far is void.
    Retrying {
        /// Which attempt comes next.
        attempt: u32,
        /// After how long.
        wait_ms: u64,
        /// Why.
        why: String,
    },
    /// A command runs over an overlay; nothing of it is durable yet.
    Running(Coord),
    /// A running command printed something.
    Output {
        /// The op.
        at: Coord,
        /// The piece.
        text: String,
    },
    /// How many of its changes an op on many files has made.
    Progress {
        /// The op.
        at: Coord,
        /// How many are made.
        done: u64,
        /// How many there are.
        total: u64,
    },
    /// A stream that goes on brought something.
    Stream {
        /// The op that opened it.
        at: Coord,
        /// The piece.
        text: String,
    },
    /// A sentence for a person.
    Notice(String),
}

/// Where events go. Called in order, from one task; must not block for long.
pub trait Sink: Send + Sync {
    /// Takes one event.
    fn event(&self, event: &Event);
}
