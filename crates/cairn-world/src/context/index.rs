//! The head of a git index, versions 2 to 4: how many entries there are, and whether some are in
//! conflict. Names and hashes are passed over; what is read is bounded.

use std::io::{BufRead, BufReader, Read};

/// The bytes of a SHA-1, which entries hold unless the repository says otherwise.
pub(super) const SHA1: usize = 20;
/// How much of an index is looked through for conflicts.
const MOST_BYTES: u64 = 16 << 20;
/// The bytes of an entry before its hash: times, device, inode, mode, owner, size.
const STAT: usize = 40;
/// Set when two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;
/// A side of a conflict; 0 for a file without one.
const STAGE: u16 = 0x3000;
/// The length of the name; all of them set when it is longer than they can say.
const NAME: u16 = 0x0fff;

/// What an index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// How many entries: one per tracked file, up to three for one in conflict.
    pub entries: u32,
    /// Whether some are in conflict; absent when it was too long to look.
    pub conflicts: Option<bool>,
}

/// Reads the head of an index whose entries hold hashes of so many bytes. Absent when it is none.
pub(super) fn read(file: impl Read, hash_bytes: usize) -> Option<Index> {
    let mut input = BufReader::with_capacity(64 << 10, file.take(MOST_BYTES));
    let mut head = [0; 12];
    input.read_exact(&mut head).ok()?;
    let number =
        |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (version, entries) = (number(4), number(8));
    if head[..4] != *b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let conflicts = conflicts(&mut input, version, entries, hash_bytes);
    Some(Index { entries, conflicts })
}

/// Whether an entry is in conflict; absent when the entries end before their count.
fn conflicts(
    input: &mut impl BufRead,
    version: u32,
    entries: u32,
    hash_bytes: usize,
) -> Option<bool> {
    let mut fixed = [0; STAT + 32 + 2];
    let fixed = fixed.get_mut(..STAT + hash_bytes + 2)?;
    for _ in 0..entries {
        input.read_exact(fixed).ok()?;
        let flags = u16::from_be_bytes([fixed[fixed.len() - 2], fixed[fixed.len() - 1]]);
        if flags & STAGE != 0 {
            return Some(true);
        }
        let extended = if flags & EXTENDED != 0 { 2 } else { 0 };
        pass(input, extended)?;
        if version == 4 {
            pass_number(input)?;
            pass_name(input)?;
            continue;
        }
        let name = match flags & NAME {
            NAME => pass_name(input)? - 1,
            name => pass(input, usize::from(name))?,
        };
        // Zeros, at least one, up to a multiple of eight; `pass_name` has taken the first.
        let ended = usize::from(flags & NAME == NAME);
        pass(input, 8 - (fixed.len() + extended + name) % 8 - ended)?;
    }
    Some(false)
}

/// Passes over so many bytes.
fn pass(input: &mut impl BufRead, bytes: usize) -> Option<usize> {
    let mut left = bytes;
    while left > 0 {
        let here = input.fill_buf().ok()?.len().min(left);
        if here == 0 {
            return None;
        }
        input.consume(here);
        left -= here;
    }
    Some(bytes)
}

/// Passes over a name and the zero after it; how many bytes that were.
fn pass_name(input: &mut impl BufRead) -> Option<usize> {
    let mut passed = 0;
    loop {
        let here = input.fill_buf().ok()?;
        let (taken, ended) = match memchr::memchr(0, here) {
            Some(at) => (at + 1, true),
            None if here.is_empty() => return None,
            None => (here.len(), false),
        };
        input.consume(taken);
        passed += taken;
        if ended {
            return Some(passed);
        }
    }
}

/// Passes over a number whose bytes but the last have their highest bit set.
fn pass_number(input: &mut impl BufRead) -> Option<()> {
    loop {
        let byte = *input.fill_buf().ok()?.first()?;
        input.consume(1);
        if byte & 0x80 == 0 {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An index as git writes it, as far as it is read here.
    fn written(version: u32, hash_bytes: usize, entries: &[(usize, u16, bool)]) -> Vec<u8> {
        let count = u32::try_from(entries.len()).unwrap();
        let mut out = [b"DIRC".as_slice(), &version.to_be_bytes(), &count.to_be_bytes()].concat();
        for (name, stage, is_extended) in entries {
            let begun = out.len();
            let is_extended = *is_extended && version > 2;
            let length = u16::try_from(*name).unwrap().min(NAME);
            let flags = length | stage << 12 | if is_extended { EXTENDED } else { 0 };
            out.extend(vec![0xff; STAT + hash_bytes]);
            out.extend(flags.to_be_bytes());
            out.extend(vec![0; if is_extended { 2 } else { 0 }]);
            if version == 4 {
                out.extend([0x81, 0x00]);
            }
            out.extend(vec![b'n'; *name]);
            let length = out.len() - begun;
            out.extend(vec![0; if version == 4 { 1 } else { 8 - length % 8 }]);
        }
        out
    }

    proptest! {
        #[test]
        fn entries_are_counted_and_conflicts_found_in_every_version(
            version in 2..=4u32,
            hash_bytes in prop_oneof![Just(SHA1), Just(32)],
            names in prop::collection::vec((1..5000usize, any::<bool>()), 1..40),
            conflict in prop::option::of((any::<prop::sample::Index>(), 1..=3u16)),
        ) {
            let mut entries: Vec<_> = names.into_iter().map(|(name, ext)| (name, 0, ext)).collect();
            if let Some((at, stage)) = conflict {
                let at = at.index(entries.len());
                entries[at].1 = stage;
            }
            let bytes = written(version, hash_bytes, &entries);
            let expected = Index {
                entries: u32::try_from(entries.len()).unwrap(),
                conflicts: Some(conflict.is_some()),
            };
            prop_assert_eq!(read(&bytes[..], hash_bytes), Some(expected));
        }

        #[test]
        fn no_bytes_are_too_strange_to_read(version in 2..=4u8, bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let head = [b'D', b'I', b'R', b'C', 0, 0, 0, version];
            let _ = read(&[&head, &bytes[..]].concat()[..], SHA1);
            let _ = read(&bytes[..], 32);
        }
    }
}
