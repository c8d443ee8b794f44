//! A text that grows and is no command's: as much of it is kept, in the same way, and with a marker in the place of
//! each secret. Where it comes from is not known here.

use crate::commands::background::Over;
use crate::commands::output;
use crate::look::read::Lines;
use crate::settled::Performed;
use cairn_sandbox::{Ends, Keep, Kept, Printed};
use cairn_text::scrub::{Scrubber, Window};
use cairn_types::{Read, Status, StreamState};
use std::io;

/// A text that grows.
#[derive(Debug)]
pub struct Growing {
    kept: Kept,
    /// What it passes before anyone sees, keeps, counts or hashes it.
    window: Window,
}

impl Growing {
    /// Nothing of it came yet.
    #[must_use]
    pub fn new(keep: Keep, scrubber: &Scrubber) -> Growing {
        Growing { kept: Kept::new(keep), window: scrubber.window() }
    }

    /// Takes its next piece; gives what may be seen of it.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let seen = self.window.push(piece);
        self.kept.push(&seen);
        seen
    }

    /// All that is kept of what came so far.
    pub fn whole(&mut self) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        output::each(self.kept.printed(), &mut |piece| whole.extend_from_slice(piece))?;
        Ok(whole)
    }

    /// Lines of what came so far, under this name.
    #[must_use]
    pub fn lines(&mut self, name: &str, read: &Read) -> Performed {
        let mut lines = Lines::new(read);
        match output::each(self.kept.printed(), &mut |piece| lines.take(piece)) {
            Ok(()) => lines.told(name),
            Err(e) => Performed::told(Status::FAILED, format!("what came cannot be read: {e}")),
        }
    }

    /// It is over: what is kept of it, with how it came to its end and what there is to say of that.
    pub async fn over(mut self, (state, why): (StreamState, String), ms: u64) -> Over {
        self.kept.push(&self.window.finish());
        let Ends { head, tail, spool, bytes, hash } = self.kept.finish();
        let printed = Printed { head: &head, tail: &tail, spool: None, bytes };
        let output::Kept { output, contents, spooled } =
            output::keep_ends(spool, printed, hash).await;
        let (exit, layers) = (None, Vec::new());
        Over { state, exit, why, output: Some(output), contents, spooled, layers, ms }
    }
}
