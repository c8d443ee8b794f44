//! The transcript view: a run's log as chat items. It only grows; an item once there changes only when its
//! run folds or opens it.

use cairn_types::{Call, ContentRef, Coord, Media, Reply, Status, Stream};

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
    /// What others changed.
    News(ContentRef),
    /// What others changed, folded: only its address is shown.
    FoldedNews {
        /// Its number among what others changed.
        n: u32,
        /// The text the model reads once it is opened.
        text: ContentRef,
    },
    /// The model's reply.
    Assistant {
        /// What it said.
        text: Option<ContentRef>,
        /// The calls it made.
        calls: Vec<Call>,
        /// What has to be sent back for it to go on thinking.
        thoughts: Option<ContentRef>,
        /// What of it could not be read.
        problems: Option<ContentRef>,
    },
    /// What became of a command that a person had sent to the background.
    Over {
        /// Its row.
        row: Coord,
        /// What the model is told.
        content: ContentRef,
    },
    /// A stream that an op opened is over.
    Ended(Stream),
    /// What became of a call.
    Result {
        /// Its row.
        at: Coord,
        /// The call's id.
        call: String,
        /// What the model is told.
        content: ContentRef,
        /// What it is shown with that.
        media: Vec<Media>,
        /// What became of it.
        status: Status,
        /// The path or address that it shows or changed, where it is one.
        of: Option<String>,
        /// Only where it stands is shown.
        folded: bool,
    },
}

impl Item {
    /// Words alone.
    #[must_use]
    pub fn words(text: ContentRef) -> Item {
        Item::User { text, media: Vec::new() }
    }

    /// How many bytes its texts, calls and pictures have.
    pub(crate) fn bytes(&self) -> u64 {
        let all = |media: &[Media]| media.iter().map(|one| one.content.bytes).sum::<u64>();
        match self {
            Item::User { text, media } => text.bytes + all(media),
            Item::Assistant { text, calls, .. } => {
                let args: u64 = calls.iter().map(|call| call.args.bytes).sum();
                args + text.map_or(0, |text| text.bytes)
            }
            Item::Over { content, .. } | Item::News(content) => content.bytes,
            Item::Ended(_) => 64,
            Item::Result { folded: true, .. } | Item::FoldedNews { .. } => 0,
            Item::Result { content, media, .. } => content.bytes + all(media),
        }
    }

    pub(crate) fn of_reply(reply: &Reply) -> Item {
        Item::Assistant {
            text: reply.text,
            calls: reply.calls.clone(),
            thoughts: reply.thoughts,
            problems: reply.problems,
        }
    }
}
