//! Which lines of an old text a new one keeps, and which it changes. What is kept is left as the
//! file has it, however the edit spelled it.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// Middles with more pairs of lines than this are not compared line by line.
const MAX_PAIRS: usize = 4_000_000;

/// One stretch of an edit, as ranges of old and of new lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// These old lines stay.
    Kept(Range<usize>),
    /// These old lines become these new ones. Either may be empty.
    Changed(Range<usize>, Range<usize>),
}

/// How `old` becomes `new`, in order. A kept line is equal in both.
pub(super) fn parts(old: &[&str], new: &[&str]) -> Vec<Part> {
    let head = same_head(old, new);
    let tail = same_tail(&old[head..], &new[head..]);
    let (middle_old, middle_new) = (head..old.len() - tail, head..new.len() - tail);
    let mut parts = Vec::new();
    if head > 0 {
        parts.push(Part::Kept(0..head));
    }
    middle(&mut parts, (old, middle_old.clone()), (new, middle_new));
    if tail > 0 {
        parts.push(Part::Kept(middle_old.end..old.len()));
    }
    parts
}

/// How many lines two texts begin with in common.
pub(super) fn same_head(a: &[&str], b: &[&str]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// How many lines two texts end with in common.
pub(super) fn same_tail(a: &[&str], b: &[&str]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

fn middle(parts: &mut Vec<Part>, old: (&[&str], Range<usize>), new: (&[&str], Range<usize>)) {
    let ((old, o), (new, n)) = (old, new);
    if o.is_empty() && n.is_empty() {
        return;
    }
    if o.len().saturating_mul(n.len()) > MAX_PAIRS {
        parts.push(Part::Changed(o, n));
        return;
    }
    let shift = |range: Range<usize>, by: usize| range.start + by..range.end + by;
    for op in capture_diff_slices(Algorithm::Myers, &old[o.clone()], &new[n.clone()]) {
        let (from, to) = (shift(op.old_range(), o.start), shift(op.new_range(), n.start));
        match (op, parts.last_mut()) {
            (DiffOp::Equal { .. }, _) => parts.push(Part::Kept(from)),
            // Neighbouring changes are one change: which part of it came first is an accident.
            (_, Some(Part::Changed(a, b))) => {
                a.end = from.end.max(a.end);
                b.end = to.end.max(b.end);
            }
            _ => parts.push(Part::Changed(from, to)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_cover_both_sides_in_order(old in "[aé日😀]{0,12}", new in "[aé日😀]{0,12}") {
            let split = |text: &'static str| text.split("").filter(|s| !s.is_empty());
            let old: Vec<&str> = split(Box::leak(old.into_boxed_str())).collect();
            let new: Vec<&str> = split(Box::leak(new.into_boxed_str())).collect();
            let (mut from, mut made) = (0, Vec::new());
            for part in parts(&old, &new) {
                let (gone, lines) = match part {
                    Part::Kept(range) => (range.clone(), &old[range]),
                    Part::Changed(gone, range) => (gone, &new[range]),
                };
                prop_assert_eq!(gone.start, from);
                from = gone.end;
                made.extend_from_slice(lines);
            }
            prop_assert_eq!(from, old.len());
            prop_assert_eq!(made, new);
        }
    }
}
