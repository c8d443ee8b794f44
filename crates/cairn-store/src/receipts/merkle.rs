//! The RFC 6962 tree over receipt hashes, kept as the roots of its perfect subtrees: one more leaf
//! costs the same whatever the number of leaves.

use crate::receipts::digest::sha256;

/// A tree's right edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frontier {
    count: u64,
    /// Roots of the perfect subtrees, largest first: one for each bit set in `count`.
    peaks: Vec<[u8; 32]>,
}

impl Frontier {
    /// One more receipt.
    pub(crate) fn push(&mut self, receipt: &[u8; 32]) {
        let mut node = sha256(&[&[0], receipt]);
        let mut size = self.count;
        while size & 1 == 1
            && let Some(left) = self.peaks.pop()
        {
            node = sha256(&[&[1], &left, &node]);
            size >>= 1;
        }
        self.peaks.push(node);
        self.count += 1;
    }

    /// How many receipts it holds.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The tree's root.
    pub(crate) fn root(&self) -> [u8; 32] {
        let mut peaks = self.peaks.iter().rev();
        let Some(last) = peaks.next() else { return sha256(&[]) };
        peaks.fold(*last, |right, left| sha256(&[&[1], left, &right]))
    }

    /// As it is kept beside a checkpoint.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.peaks.concat()
    }

    /// As it was kept.
    pub(crate) fn from_bytes(count: u64, bytes: &[u8]) -> Option<Frontier> {
        let (peaks, rest) = bytes.as_chunks::<32>();
        let fits = rest.is_empty() && peaks.len() == count.count_ones() as usize;
        fits.then(|| Frontier { count, peaks: peaks.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6962 §2.1, word for word.
    fn slow_root(leaves: &[[u8; 32]]) -> [u8; 32] {
        match leaves {
            [] => sha256(&[]),
            [leaf] => sha256(&[&[0], leaf]),
            _ => {
                let half = leaves.len().next_power_of_two() / 2;
                let (left, right) = leaves.split_at(half);
                sha256(&[&[1], &slow_root(left), &slow_root(right)])
            }
        }
    }

    #[test]
    fn the_frontier_has_the_root_of_the_whole_tree() {
        let leaves: Vec<[u8; 32]> = (0..70u8).map(|i| sha256(&[&[i]])).collect();
        let mut frontier = Frontier::default();
        for (n, leaf) in leaves.iter().enumerate() {
            assert_eq!(frontier.root(), slow_root(&leaves[..n]), "{n} leaves");
            frontier.push(leaf);
            let kept = Frontier::from_bytes(frontier.count(), &frontier.to_bytes());
            assert_eq!(kept.as_ref(), Some(&frontier));
        }
        assert_eq!(Frontier::from_bytes(3, &[0; 32]), None);
    }
}
