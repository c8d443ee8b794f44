//! A text that comes in pieces: what may be the beginning of a secret is held back until more of it
//! has come. What is held is bounded by the longest secret that is waited for.

use super::{Scrubber, What};

/// How much of what was handed on is looked back at, to tell where a word begins.
const BEHIND: usize = 3;

/// Takes pieces, hands on what is decided.
#[derive(Debug, Clone)]
pub struct Window {
    scrubber: Scrubber,
    /// The last bytes that are decided, then those that are not.
    held: Vec<u8>,
    decided: usize,
    /// A secret longer than any that is waited for goes on as long as its class does.
    goes_on: Option<fn(u8) -> bool>,
}

impl Window {
    pub(super) fn new(scrubber: Scrubber) -> Self {
        Self { scrubber, held: Vec::new(), decided: 0, goes_on: None }
    }

    /// Takes a piece; gives what can be shown now.
    #[must_use]
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.take(piece, false)
    }

    /// There is no more: gives the rest, and is ready for another text.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.take(b"", true);
        *self = Window::new(self.scrubber.clone());
        rest
    }

    /// How many bytes are held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len() - self.decided
    }

    fn take(&mut self, piece: &[u8], is_end: bool) -> Vec<u8> {
        let more = match self.goes_on {
            Some(class) => {
                let n = piece.iter().take_while(|b| class(**b)).count();
                if n < piece.len() {
                    self.goes_on = None;
                }
                &piece[n..]
            }
            None => piece,
        };
        self.held.extend_from_slice(more);
        let (mut out, mut done, mut goes_on) = (Vec::new(), self.decided, None);
        let mut behind = 0;
        let (scrubber, held) = (&self.scrubber, &self.held);
        let decided = scrubber.each(held, done, is_end, |found| {
            behind = found.to;
            if found.what != What::Marker {
                out.extend_from_slice(&held[done..found.from]);
                out.extend_from_slice(scrubber.marker(held, found).as_bytes());
                done = found.to;
                goes_on = found.goes_on;
            }
        });
        let decided = decided.max(done);
        out.extend_from_slice(&held[done..decided]);
        if goes_on.is_some() {
            self.goes_on = goes_on;
        }
        // A secret that was found is no part of the word behind it.
        let behind = behind.max(decided.saturating_sub(BEHIND));
        self.held.drain(..behind);
        self.decided = decided - behind;
        out
    }
}
