//! Streams that ops opened: that one ended is told with the turn's end, and one that was to wake its run opens
//! one more loop, which uses up what is left to the loop that opened the stream.

use crate::admit::Recording;
use crate::lap_spending::Spent;
use crate::state::{Engine, Lap};
use crate::view::Item;
use cairn_types::{Body, Coord, Prompt, Stream, StreamState, Writer};

impl Lap {
    /// What it used up, with what was used up before.
    pub(crate) fn spent(&self) -> Spent {
        self.spending.spent_after(self.turn)
    }
}

impl Engine {
    /// A stream is over. Of what somebody ended, or a person sent to the background, the model hears elsewhere.
    pub(crate) fn stream_is_over(&mut self, stream: &Stream) {
        self.background.streams.remove(&stream.at);
        let is_sent = self.background.sent.contains_key(&stream.at);
        self.background.took_end(stream);
        let is_news = !matches!(stream.state, StreamState::Removed | StreamState::Stopped);
        if is_sent || !is_news {
            return;
        }
        let item = Item::Ended(stream.clone());
        match &mut self.lap {
            // The prompt comes first.
            Some(lap) if lap.asked.is_some() || lap.has_open_ops() || lap.turn == 0 => {
                lap.waiting.add_news(item);
            }
            _ => self.model_view.items.push(item),
        }
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
