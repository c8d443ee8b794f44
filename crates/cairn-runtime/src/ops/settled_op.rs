//! Recordings that end with the outcome of an op, as they are built and completed.

use cairn_engine::Recording;
use cairn_types::{Body, Change, ContentRef, Coord, Media, Outcome, Settled, Status};
use cairn_world::Performed;

/// The outcome of an op that is about to be recorded, with what is recorded before it.
pub(crate) struct SettledOp {
    before: Vec<Body>,
    outcome: Outcome,
    contents: Vec<Vec<u8>>,
}

impl SettledOp {
    /// An op that comes to a status and a text.
    pub(crate) fn told(
        at: Coord,
        status: Status,
        text: impl Into<Vec<u8>>,
        settled: Settled,
    ) -> SettledOp {
        let mut recording = Recording::default();
        let result = recording.keep(text);
        let outcome = Outcome::told(at, (status, result), settled);
        SettledOp { before: Vec::new(), outcome, contents: recording.contents }
    }

    /// An op as it was performed. What is spooled of its output is not part of a recording.
    pub(crate) fn performed(at: Coord, done: Performed, settled: Settled) -> SettledOp {
        let mut recording = Recording { contents: done.contents, ..Recording::default() };
        let result = recording.keep(done.text);
        let media = done.media.into_iter().map(|shown| Media {
            mime: shown.mime.to_owned(),
            name: shown.name,
            content: recording.keep(shown.bytes),
        });
        let outcome = Outcome {
            at,
            status: done.status,
            exit: done.exit,
            result,
            media: media.collect(),
            own: None,
            output: done.output,
            changes: done.changes,
            seen: done.seen,
            layers: done.layers,
            stream: done.stream,
            letter: done.letter,
            settled,
            ms: done.ms,
        };
        SettledOp { before: Vec::new(), outcome, contents: recording.contents }
    }

    /// Takes a recording apart that ends with an outcome; any other is given back.
    pub(crate) fn from_recording(mut recording: Recording) -> Result<SettledOp, Recording> {
        match recording.facts.pop() {
            Some(Body::Outcome(outcome)) => {
                let Recording { facts: before, contents, .. } = recording;
                Ok(SettledOp { before, outcome, contents })
            }
            last => {
                recording.facts.extend(last);
                Err(recording)
            }
        }
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    pub(crate) fn with_changes(self, changes: Vec<Change>) -> SettledOp {
        SettledOp { outcome: Outcome { changes, ..self.outcome }, ..self }
    }

    pub(crate) fn with_ms(self, ms: u64) -> SettledOp {
        SettledOp { outcome: Outcome { ms, ..self.outcome }, ..self }
    }

    /// Records the hash of the original result, where the model reads another text.
    pub(crate) fn with_own_text(mut self, own: ContentRef) -> SettledOp {
        self.outcome.own = (own != self.outcome.result).then_some(own.hash);
        self
    }

    /// The same refusal, with what the op's command printed before it was refused. An op that succeeded stays as it is.
    pub(crate) fn having_printed(mut self, ran: &Performed) -> SettledOp {
        let SettledOp { outcome, contents, .. } = &mut self;
        let told = contents.iter().find(|bytes| ContentRef::of(bytes) == outcome.result);
        let Some(told) = told.filter(|_| outcome.status != Status::OK) else { return self };
        let told = String::from_utf8_lossy(told);
        let text = format!("{}\nnothing of what it changed is kept: {told}", ran.text).into_bytes();
        outcome.exit = ran.exit;
        outcome.output.clone_from(&ran.output);
        outcome.layers.clone_from(&ran.layers);
        outcome.result = ContentRef::of(&text);
        contents.push(text);
        contents.extend(ran.contents.iter().cloned());
        self
    }

    pub(crate) fn into_recording(self) -> Recording {
        self.into_recording_as(Body::Outcome)
    }

    /// The recording, whose last fact is what this makes of the outcome.
    pub(crate) fn into_recording_as(self, fact: impl FnOnce(Outcome) -> Body) -> Recording {
        let SettledOp { before: mut facts, outcome, contents } = self;
        facts.push(fact(outcome));
        Recording { facts, contents, ..Recording::default() }
    }
}
