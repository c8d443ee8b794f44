//! Lines of a text as numbers: which of them are new is told without the text that was there before.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A longer text has no marks.
pub(super) const LONGEST: usize = 1 << 20;
/// More lines than this are not compared one by one.
const MOST: usize = 20_000;

/// A mark of each line.
pub(super) fn of(text: &[u8]) -> Vec<u32> {
    let mut marks = Vec::with_capacity(text.len() / 32 + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = match memchr::memchr(b'\n', rest) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &[][..]),
        };
        marks.push(mark(line));
        rest = after;
    }
    marks
}

/// Eight bytes at a time, since every line of every member is marked once.
fn mark(line: &[u8]) -> u32 {
    const MANY: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = MANY ^ line.len() as u64;
    let mut chunks = line.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(MANY).rotate_left(29);
    }
    let mut word = [0; 8];
    word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(MANY);
    (sum >> 32) as u32
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
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_found_by_marks_alone() {
        let check = |before: &str, after: &str, expected: &[(usize, usize)]| {
            let found = spans(&of(before.as_bytes()), &of(after.as_bytes()));
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
