//! Streams that ops opened: that one ended is told with the turn's end, and one that was to wake its run opens
//! one more loop, which uses up what is left to the loop that opened the stream.

use crate::admit::Recording;
use crate::state::{Engine, Lap};
use crate::view::Item;
use cairn_types::{Body, Coord, PicoUsd, Prompt, Stream, StreamState, Writer};

/// What loops used up of what a loop may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) turns: u32,
    pub(crate) cost: Option<PicoUsd>,
    pub(crate) worked_ms: u64,
}

impl Lap {
    /// What it used up, with what was used up before.
    pub(crate) fn spent(&self) -> Spent {
        let cost = match (self.before.cost, self.cost) {
            (Some(before), Some(own)) => Some(PicoUsd(before.0.saturating_add(own.0))),
            (before, own) => before.or(own),
        };
        Spent {
            turns: self.before.turns.saturating_add(self.turn),
            cost,
            worked_ms: self.before.worked_ms.saturating_add(self.worked_ms),
        }
    }
}

impl Engine {
    /// A stream is over. Of what somebody ended, or a person sent to the background, the model hears elsewhere.
    pub(crate) fn stream_is_over(&mut self, stream: &Stream) {
        self.background.streams.remove(&stream.at);
        let is_sent = self.background.sent.contains_key(&stream.at);
        self.sent_is_over(stream);
        let is_news = !matches!(stream.state, StreamState::Removed | StreamState::Stopped);
        if is_sent || !is_news {
            return;
        }
        let item = Item::Ended(stream.clone());
        match &mut self.lap {
            // The prompt comes first.
            Some(lap) if lap.asked.is_some() || lap.has_open_ops() || lap.turn == 0 => {
                lap.news.push(item);
            }
            _ => self.transcript.items.push(item),
        }
    }

    /// Whether the model has not been told that a stream is over.
    #[must_use]
    pub fn is_unheard(&self, row: Coord) -> bool {
        let is_reply = |item: &&Item| matches!(item, Item::Assistant { .. });
        let mut unheard = self.transcript.items.iter().rev().take_while(|item| !is_reply(item));
        unheard.any(|item| matches!(item, Item::Ended(stream) if stream.at == row))
    }

    /// A stream that was to wake its run is over: one more loop.
    #[must_use]
    pub fn woken(&self, of: Coord, text: &str) -> Recording {
        let mut recording = Recording::default();
        let (text, writer) = (recording.keep(text), Writer::System);
        let lap = self.next_lap();
        let (media, of) = (Vec::new(), Some(of));
        recording.facts.push(Body::Prompt(Prompt { lap, text, media, writer, from: None, of }));
        recording
    }
}
