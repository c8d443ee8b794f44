//! The fact that the model is about to be asked, as the runtime completes it before it is recorded.

use cairn_engine::Recording;
use cairn_types::{Ask, Body, Hash, Visible};

/// A request of the model that is about to be recorded, with what is recorded before it.
pub(crate) struct PreparedAsk {
    recording: Recording,
    ask: Ask,
}

impl PreparedAsk {
    /// Takes a recording apart that ends with a request of the model; any other is given back.
    pub(crate) fn from_recording(mut recording: Recording) -> Result<PreparedAsk, Recording> {
        match recording.facts.pop() {
            Some(Body::Ask(ask)) => Ok(PreparedAsk { recording, ask }),
            last => {
                recording.facts.extend(last);
                Err(recording)
            }
        }
    }

    /// Shows the model what a file or an entry says now, with the hash of all of it if that is shown.
    pub(crate) fn show(&mut self, path: String, shown: String, hash: Option<Hash>) {
        let content = self.recording.keep(shown);
        self.ask.visible.push(Visible { path, content, hash });
    }

    /// What the model is shown.
    pub(crate) fn visible(&self) -> &[Visible] {
        &self.ask.visible
    }

    /// The same, whose reply must repeat this.
    pub(crate) fn with_nonce(self, nonce: String) -> PreparedAsk {
        PreparedAsk { ask: Ask { nonce: Some(nonce), ..self.ask }, ..self }
    }

    /// The same, whose reply has at most this many tokens.
    pub(crate) fn with_max_output(self, max_output: Option<u64>) -> PreparedAsk {
        PreparedAsk { ask: Ask { max_output, ..self.ask }, ..self }
    }

    pub(crate) fn into_recording(mut self) -> Recording {
        self.recording.facts.push(Body::Ask(self.ask));
        self.recording
    }
}
