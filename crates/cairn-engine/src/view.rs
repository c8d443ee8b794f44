//! The transcript view: a run's log as chat items. It only grows; an item once there never changes.

use cairn_types::{Call, ContentRef, Media, Reply};

/// One item of the transcript, by hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A person's or client's words.
    User {
        /// The words.
        text: ContentRef,
        /// What came with them.
        media: Vec<Media>,
    },
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
        /// What it is shown with that.
        media: Vec<Media>,
        /// Whether the op could not be done.
        failed: bool,
    },
}

impl Item {
    /// Words alone.
    #[must_use]
    pub fn words(text: ContentRef) -> Item {
        Item::User { text, media: Vec::new() }
    }

    pub(crate) fn of_reply(reply: &Reply) -> Item {
        let (text, calls, thoughts) = (reply.text, reply.calls.clone(), reply.thoughts);
        Item::Assistant { text, calls, thoughts }
    }
}
