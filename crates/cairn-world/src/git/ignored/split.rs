//! The `link` extension of a split index: which entries of the shared index are deleted and which are replaced.
//! Reads the compressed bitmaps (EWAH) that git writes; reads no file.

/// How many bits a word has.
const WORD: usize = 64;

/// What a split index says of the shared index that it extends.
#[derive(Debug)]
pub(super) struct SharedLink<'a> {
    /// The name of the shared index's file, beside the split one.
    pub(super) file: String,
    bitmaps: &'a [u8],
}

/// Positions of entries in the shared index, in ascending order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedEntries {
    pub(super) deleted: Vec<usize>,
    pub(super) replaced: Vec<usize>,
}

impl<'a> SharedLink<'a> {
    /// Reads the body of the extension. `Some(None)` if the index is not a split one: the hash is of zeros.
    pub(super) fn read(body: &'a [u8], hash: usize) -> Option<Option<SharedLink<'a>>> {
        let (name, bitmaps) = body.split_at_checked(hash)?;
        let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_split = name.iter().any(|byte| *byte != 0);
        Some(is_split.then(|| SharedLink { file: format!("sharedindex.{hex}"), bitmaps }))
    }

    /// Decodes which of so many entries of the shared index are changed. `None` if the bitmaps are not understood.
    pub(super) fn changed_entries(&self, entries: usize) -> Option<ChangedEntries> {
        if self.bitmaps.is_empty() {
            return Some(ChangedEntries::default());
        }
        let (deleted, rest) = decode_bitmap(self.bitmaps, entries)?;
        let (replaced, rest) = decode_bitmap(rest, entries)?;
        rest.is_empty().then_some(ChangedEntries { deleted, replaced })
    }
}

/// Decodes one bitmap into the positions that are set, and what follows it. `None` if it is malformed or names a
/// position that is not below `limit`.
fn decode_bitmap(bytes: &[u8], limit: usize) -> Option<(Vec<usize>, &[u8])> {
    let four = |at: usize| -> Option<usize> {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(four)).ok()
    };
    let end = four(4)?.checked_mul(8)?.checked_add(8)?;
    let mut words = bytes.get(8..end)?.as_chunks::<8>().0.iter().copied().map(u64::from_be_bytes);
    // After the words: where the last marker stands.
    let rest = bytes.get(end.checked_add(4)?..)?;
    let (mut found, mut at) = (Vec::new(), 0usize);
    while let Some(marker) = words.next() {
        let run = usize::try_from(marker >> 1 & 0xffff_ffff).ok()?.checked_mul(WORD)?;
        let after = at.checked_add(run)?;
        if marker & 1 == 1 {
            // The last word of a run is whole, also where fewer bits count.
            if after >= limit.checked_add(WORD)? {
                return None;
            }
            found.extend(at..after.min(limit));
        }
        at = after;
        for _ in 0..marker >> 33 {
            let word = words.next()?;
            let set = (0..WORD).filter(|bit| word >> bit & 1 == 1);
            for bit in set {
                let position = at.checked_add(bit)?;
                if position >= limit {
                    return None;
                }
                found.push(position);
            }
            at = at.checked_add(WORD)?;
        }
    }
    Some((found, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(words: &[u64]) -> Vec<u8> {
        let count = u32::try_from(words.len()).unwrap();
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        [&200u32.to_be_bytes()[..], &count.to_be_bytes(), &words, &[0; 4]].concat()
    }

    #[test]
    fn runs_and_single_words_of_a_bitmap_are_positions() {
        let check = |words: &[u64], limit: usize, expected: Option<Vec<usize>>| {
            let bytes = bitmap(words);
            assert_eq!(decode_bitmap(&bytes, limit).map(|(set, _)| set), expected, "{words:?}");
            for cut in 0..bytes.len() {
                assert!(decode_bitmap(&bytes[..cut], limit).is_none(), "{cut}");
            }
        };
        check(&[], 10, Some(vec![]));
        // One word of zeros, then one as it is written.
        check(&[1 << 1 | 1 << 33, 0b101], 100, Some(vec![64, 66]));
        check(&[1 << 1 | 1 << 33, 0b101], 66, None);
        check(&[1 | 1 << 1], 64, Some((0..64).collect()));
        check(&[1 | u64::from(u32::MAX) << 1], 64, None);
        check(&[1 << 33], 64, None);
    }
}
