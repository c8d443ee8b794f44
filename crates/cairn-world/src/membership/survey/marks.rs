//! Lines of a text as numbers: which of them are new is told without the text that was there before. They
//! may stay in the file that a survey was read from until somebody asks.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A longer text has no marks.
pub(super) const LONGEST: usize = 1 << 20;
/// More lines than this are not compared one by one.
const MOST: usize = 20_000;
/// Odd, with its bits well spread.
const MANY: u64 = 0x9e37_79b9_7f4a_7c15;

/// A mark of each line of a file, four bytes each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Marks {
    /// They are here.
    Here(Arc<[u8]>),
    /// They are still where the survey was read from.
    There(Place),
}

impl Default for Marks {
    fn default() -> Marks {
        Marks::Here(Arc::default())
    }
}

impl Marks {
    /// Their bytes; `section` is where they are if they are not here.
    pub(super) fn among<'a>(&'a self, section: &'a [u8]) -> &'a [u8] {
        match self {
            Marks::Here(bytes) => bytes,
            Marks::There(place) => place.of(section).unwrap_or_default(),
        }
    }

    /// What they sum up to.
    pub(super) fn sum(&self) -> u64 {
        match self {
            Marks::Here(bytes) => sum(bytes),
            Marks::There(place) => place.sum,
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Marks::Here(bytes) => bytes.len() / 4,
            Marks::There(place) => usize::try_from(place.bytes / 4).unwrap_or(0),
        }
    }
}

/// Where marks are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// How many bytes of other files' marks come before them.
    pub(super) at: u64,
    pub(super) bytes: u64,
    /// What they sum up to.
    pub(super) sum: u64,
}

impl Place {
    fn of(self, section: &[u8]) -> Option<&[u8]> {
        let start = usize::try_from(self.at).ok()?;
        section.get(start..start.checked_add(usize::try_from(self.bytes).ok()?)?)
    }
}

/// The marks of all files, in the file that a survey was read from. It may have another name by now, or none.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) file: File,
    /// Where they begin.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl Kept {
    /// Those of one file; none where they are not what was kept.
    pub(super) fn marks(&self, place: Place) -> Option<Vec<u32>> {
        let bytes = self.read(place.at, place.bytes)?;
        (sum(&bytes) == place.sum).then(|| numbers(&bytes))
    }

    /// All of them, unchecked.
    pub(super) fn section(&self) -> Option<Vec<u8>> {
        self.read(0, self.bytes)
    }

    fn read(&self, at: u64, bytes: u64) -> Option<Vec<u8>> {
        let mut read = vec![0; usize::try_from(bytes).ok()?];
        self.file.read_exact_at(&mut read, self.start.checked_add(at)?).ok()?;
        Some(read)
    }
}

/// Marks as numbers.
pub(super) fn numbers(bytes: &[u8]) -> Vec<u32> {
    let marks = bytes.chunks_exact(4);
    marks.map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

/// A number that is another one as soon as a byte is. Eight bytes at a time, since every line of every member
/// is marked once.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(MANY).rotate_left(29);
    let (mut sum, mut rest) = (MANY ^ bytes.len() as u64, bytes);
    while let Some((word, after)) = rest.split_first_chunk() {
        (sum, rest) = (mix(sum, u64::from_le_bytes(*word)), after);
    }
    // The last eight bytes stand for those that are left, which is quicker than to take fewer.
    let last = bytes.last_chunk().map_or_else(
        || rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        |word| u64::from_le_bytes(*word),
    );
    (sum ^ last).wrapping_mul(MANY)
}

/// Takes a mark of each line.
pub(super) fn take(text: &[u8], marks: &mut Vec<[u8; 4]>) {
    marks.clear();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text) {
        marks.push(mark(&text[start..end]));
        start = end + 1;
    }
    if start < text.len() {
        marks.push(mark(&text[start..]));
    }
}

fn mark(line: &[u8]) -> [u8; 4] {
    ((sum(line) >> 32) as u32).to_le_bytes()
}

/// The lines of a file that is new.
pub(super) fn whole(marks: &Marks) -> Vec<(usize, usize)> {
    match marks.count() {
        0 => Vec::new(),
        count if count > MOST => Vec::new(),
        count => vec![(1, count)],
    }
}

/// The lines, from 1, that are new or stand where others went.
pub(super) fn spans(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    if before.len().max(after.len()) > MOST {
        return Vec::new();
    }
    let mut spans = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, before, after) {
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { new_index, .. } => spans.push((new_index.max(1), new_index.max(1))),
            DiffOp::Insert { new_index, new_len, .. }
            | DiffOp::Replace { new_index, new_len, .. } => {
                spans.push((new_index + 1, new_index + new_len));
            }
        }
    }
    spans
}

#[cfg(test)]
impl Marks {
    /// The marks of a text.
    pub(super) fn of(text: &[u8]) -> Marks {
        let mut marks = Vec::new();
        take(text, &mut marks);
        Marks::Here(marks.as_flattened().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_found_by_marks_alone() {
        let of = |text: &str| {
            let mut marks = vec![[1; 4]];
            take(text.as_bytes(), &mut marks);
            numbers(marks.as_flattened())
        };
        let check = |before: &str, after: &str, expected: &[(usize, usize)]| {
            let found = spans(&of(before), &of(after));
            assert_eq!(found, expected, "{before:?} {after:?}");
        };
        check("a\nb\nc\n", "a\nb\nc\n", &[]);
        check("a\nb\nc\n", "a\nB\nc\n", &[(2, 2)]);
        check("a\nc\n", "a\nb1\nb2\nc\n", &[(2, 3)]);
        check("a\nb\nc\n", "a\nc\n", &[(1, 1)]);
        check("", "a\n", &[(1, 1)]);
        check("a\n", "", &[(1, 1)]);
        check("12345678\n", "12345679\n", &[(1, 1)]);
        check("123456781\n", "123456782\n", &[(1, 1)]);
    }
}
