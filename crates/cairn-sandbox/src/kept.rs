//! Keeps the beginning and the end of an output, counts and hashes all of it. Bounded memory.

use cairn_types::Hash;
use std::collections::VecDeque;

/// What is kept of an output.
#[derive(Debug)]
pub(crate) struct Kept {
    keep_head: usize,
    keep_tail: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl Kept {
    pub(crate) fn new(keep_head: usize, keep_tail: usize) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self { keep_head, keep_tail, head, tail, bytes: 0, hasher: blake3::Hasher::new() }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        self.hasher.update(chunk);
        let (head, rest) = chunk.split_at(chunk.len().min(self.keep_head - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.keep_tail)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.keep_tail);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Head, tail, exact count and hash.
    pub(crate) fn finish(self) -> (Vec<u8>, Vec<u8>, u64, Hash) {
        (self.head, self.tail.into(), self.bytes, Hash(*self.hasher.finalize().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept_whatever_the_chunks() {
        let all: Vec<u8> = (0..=255).collect();
        for (length, head, tail) in
            [(0, 4, 4), (3, 4, 4), (8, 4, 4), (9, 4, 4), (256, 5, 7), (256, 0, 3)]
        {
            for chunk in [1, 2, 3, 10, 300] {
                let mut kept = Kept::new(head, tail);
                all[..length].chunks(chunk).for_each(|c| kept.push(c));
                let (got_head, got_tail, bytes, hash) = kept.finish();
                let first = length.min(head);
                assert_eq!(got_head, &all[..first]);
                assert_eq!(got_tail, &all[first.max(length.saturating_sub(tail))..length]);
                assert_eq!((bytes, hash), (length as u64, Hash::of(&all[..length])));
            }
        }
    }
}
