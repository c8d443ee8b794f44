//! Words for a run: of whoever drives it, of the engine itself, and of others, which wait their turn.

use crate::admit::Recording;
use crate::state::Engine;
use cairn_types::{Body, Origin, Prompt, Steer, Writer};

impl Engine {
    /// Somebody outside the run said something to it: words for the running loop, or a loop of its own.
    #[must_use]
    pub fn heard(&self, text: &str, writer: Writer, from: Origin) -> Recording {
        let mut recording = Recording::default();
        let from = Some(from);
        let is_running = |lap: &&crate::Lap| lap.aborted.is_none() && lap.fault.is_none();
        let text = recording.keep(text);
        recording.facts.push(match self.lap.as_ref().filter(is_running) {
            Some(_) => Body::Steer(Steer { text, writer, begun: None, from }),
            None => {
                let lap = self.next_lap();
                Body::Prompt(Prompt { lap, text, media: Vec::new(), writer, from, of: None })
            }
        });
        recording
    }

    pub(crate) fn steered(&mut self, Steer { text, writer, begun, from }: &Steer) {
        let Some(lap) = &mut self.lap else { return };
        let text = *text;
        if *writer == Writer::System {
            lap.spending.told_left = Some(lap.turn.saturating_add(1));
            self.told_with_prompt(&[text]);
        } else if lap.asked.is_some() || lap.has_open_ops() {
            lap.waiting.add_words(text);
            lap.waiting.steered |= from.is_none();
            let begun = lap.ops.iter_mut().find(|op| Some(op.intent.at) == *begun);
            begun.into_iter().for_each(|op| op.has_run = true);
        } else {
            lap.goes_on();
            self.told_with_prompt(&[text]);
        }
    }
}
