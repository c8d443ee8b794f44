//! Keeps the beginning and the end of an output, counts and hashes all of it. A short output is held
//! in memory and touches no file; of a long one memory holds a bounded part of each end, and files
//! hold more where there is a place for them.

use crate::spool::Spool;
use cairn_types::Hash;
use std::collections::VecDeque;
use std::path::PathBuf;

/// How much of an output is kept, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keep {
    /// How many bytes of each end memory holds. An output of twice as many is whole.
    pub in_memory: usize,
    /// Where more of a longer output is kept; nowhere when absent.
    pub on_disk: Option<OnDisk>,
}

/// What files keep of an output too long for memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDisk {
    /// The directory. Nothing with a name stays in it.
    pub directory: PathBuf,
    /// How many bytes of the output's beginning.
    pub head: u64,
    /// How many bytes of the output's end.
    pub tail: u64,
}

/// What is kept of an output, while it grows.
#[derive(Debug)]
pub struct Kept {
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    spool: Option<Spool>,
    bytes: u64,
    hasher: blake3::Hasher,
}

/// What is kept of an output that may still go on.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    /// Its beginning.
    pub head: &'a [u8],
    /// Its end, without what `head` holds.
    pub tail: &'a [u8],
    /// More of both, when there was too much for memory.
    pub spool: Option<&'a Spool>,
    /// How many bytes there were, exactly.
    pub bytes: u64,
}

/// An output that has come to its end.
#[derive(Debug)]
pub struct Ends {
    /// Its beginning.
    pub head: Vec<u8>,
    /// Its end, without what `head` holds.
    pub tail: Vec<u8>,
    /// More of both, when there was too much for memory.
    pub spool: Option<Spool>,
    /// How many bytes there were, exactly.
    pub bytes: u64,
    /// BLAKE3 of all of them.
    pub hash: Hash,
}

impl Kept {
    /// Nothing of it came yet.
    #[must_use]
    pub fn new(keep: Keep) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self { keep, head, tail, spool: None, bytes: 0, hasher: blake3::Hasher::new() }
    }

    /// Takes its next piece.
    pub fn push(&mut self, chunk: &[u8]) {
        let keep = self.keep.in_memory;
        self.bytes += chunk.len() as u64;
        self.hasher.update(chunk);
        if self.bytes > 2 * keep as u64 {
            self.spool(chunk);
        }
        let (head, rest) = chunk.split_at(chunk.len().min(keep - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(keep)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(keep);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Adds a chunk to the files, which are made when memory no longer holds everything. A disk that
    /// fails or is full takes nothing from the command: what memory holds is then all that is kept.
    fn spool(&mut self, chunk: &[u8]) {
        let Some(on_disk) = &self.keep.on_disk else { return };
        let spooled = match &mut self.spool {
            Some(spool) => spool.push(chunk),
            None => Spool::new(&on_disk.directory, on_disk.head, on_disk.tail).and_then(|spool| {
                let spool = self.spool.insert(spool);
                let (first, second) = self.tail.as_slices();
                [&self.head, first, second, chunk].into_iter().try_for_each(|part| spool.push(part))
            }),
        };
        if spooled.is_err() {
            self.spool = None;
            self.keep.on_disk = None;
        }
    }

    /// Looks at what is kept so far.
    pub fn printed(&mut self) -> Printed<'_> {
        let tail = self.tail.make_contiguous();
        Printed { head: &self.head, tail, spool: self.spool.as_ref(), bytes: self.bytes }
    }

    /// There is no more.
    #[must_use]
    pub fn finish(self) -> Ends {
        let Self { head, tail, spool, bytes, hasher, .. } = self;
        Ends { head, tail: tail.into(), spool, bytes, hash: Hash(*hasher.finalize().as_bytes()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seam;
    use std::os::unix::fs::FileExt;

    fn on_disk(directory: &tempfile::TempDir, head: u64, tail: u64) -> Option<OnDisk> {
        Some(OnDisk { directory: directory.path().join("spool"), head, tail })
    }

    fn kept(keep: Keep, all: &[u8], chunk: usize) -> Ends {
        let mut kept = Kept::new(keep);
        all.chunks(chunk).for_each(|c| kept.push(c));
        kept.finish()
    }

    #[test]
    fn both_ends_are_kept_in_memory_whatever_the_chunks() {
        let all: Vec<u8> = (0..=255).collect();
        for (length, in_memory) in [(0, 4), (3, 4), (8, 4), (9, 4), (256, 5), (256, 0)] {
            for chunk in [1, 2, 3, 10, 300] {
                let keep = Keep { in_memory, on_disk: None };
                let ends = kept(keep, &all[..length], chunk);
                let first = length.min(in_memory);
                assert_eq!(ends.head, &all[..first]);
                assert_eq!(ends.tail, &all[first.max(length.saturating_sub(in_memory))..length]);
                assert_eq!((ends.bytes, ends.hash), (length as u64, Hash::of(&all[..length])));
            }
        }
    }

    #[test]
    fn more_of_both_ends_is_kept_in_files_and_joined_with_nothing_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let all: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
        for (length, head, tail) in [
            (9, 40, 40),
            (80, 40, 40),
            (81, 40, 40),
            (1000, 64, 7),
            (40_000, 100, 999),
            (50, 20, 1),
        ] {
            for chunk in [1, 3, 64, 5000] {
                let all = &all[..length];
                let keep = Keep { in_memory: 4, on_disk: on_disk(&directory, head, tail) };
                let spool = kept(keep, all, chunk).spool.unwrap();
                let missing = length.saturating_sub((head + tail) as usize);
                assert_eq!(spool.missing(), missing as u64);
                let (first, last) = match missing {
                    0 => (all, &all[length..]),
                    _ => (&all[..head as usize], &all[length - tail as usize..]),
                };
                let (end, start) = spool.edges().unwrap();
                assert!(missing == 0 || first.ends_with(&end) && last.starts_with(&start));
                let seam = match missing {
                    0 => Seam::default(),
                    _ => Seam { cut: 2, between: b"...".to_vec(), skip: 1 },
                };
                let expected = match missing {
                    0 => all.to_vec(),
                    _ => [&first[..first.len() - 2], b"...", &last[1..]].concat(),
                };
                let mut before = Vec::new();
                spool.each(&seam, &mut |piece| before.extend_from_slice(piece)).unwrap();
                assert_eq!(before, expected, "{length} {head} {tail} by {chunk}");
                let joined = spool.join(&seam).unwrap();
                let mut bytes = vec![0; joined.content.bytes as usize];
                joined.file.read_exact_at(&mut bytes, 0).unwrap();
                assert_eq!(bytes, expected, "{length} {head} {tail} by {chunk}");
                assert_eq!(joined.content, cairn_types::ContentRef::of(&expected));
            }
        }
        assert_eq!(std::fs::read_dir(directory.path().join("spool")).unwrap().count(), 0);
    }

    #[test]
    fn a_short_output_touches_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let keep = Keep { in_memory: 4, on_disk: on_disk(&directory, 40, 40) };
        assert!(kept(keep, &[1; 8], 3).spool.is_none());
        assert!(!directory.path().join("spool").exists());
    }

    #[test]
    fn where_no_file_can_be_had_memory_still_keeps_both_ends() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("spool"), "in the way").unwrap();
        let keep = Keep { in_memory: 4, on_disk: on_disk(&directory, 40, 40) };
        let all: Vec<u8> = (0..100).collect();
        let ends = kept(keep, &all, 7);
        assert!(ends.spool.is_none());
        assert_eq!((&*ends.head, &*ends.tail), (&all[..4], &all[96..]));
        assert_eq!((ends.bytes, ends.hash), (100, Hash::of(&all)));
    }
}
