//! The transcript view: a run's log as chat items. It only grows; an item once there never changes.

use cairn_types::{Call, ContentRef, Reply};

/// One item of the transcript, by hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A person's or client's words.
    User(ContentRef),
    /// The model's reply.
    Assistant {
        /// What it said.
        text: Option<ContentRef>,
        /// The calls it made.
        calls: Vec<Call>,
        /// What has to be sent back for it to go on thinking.
        thoughts: Option<ContentRef>,
    },
    /// What became of a call.
    Result {
        /// The call's id.
        call: String,
        /// What the model is told.
        content: ContentRef,
        /// Whether the op could not be done.
        failed: bool,
    },
}

impl Item {
    pub(crate) fn of_reply(reply: &Reply) -> Item {
        let (text, calls, thoughts) = (reply.text, reply.calls.clone(), reply.thoughts);
        Item::Assistant { text, calls, thoughts }
    }
}
