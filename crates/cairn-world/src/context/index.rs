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
