//! The survey as bytes. Whoever reads it trusts nothing in it: what does not fit is no survey.

use super::{Stat, Survey, Surveyed};
use cairn_types::Hash;
use std::collections::BTreeMap;

/// What it begins with; another version has another number.
const BEGINS: &[u8; 8] = b"cairnix1";

/// An survey as bytes, with a hash of them at the end.
pub(super) fn write(survey: &Survey) -> Vec<u8> {
    let mut out = BEGINS.to_vec();
    text(&mut out, &survey.upto);
    number(&mut out, survey.files.len() as u64);
    for (path, known) in &survey.files {
        text(&mut out, path);
        let Stat { inode, bytes, modified_ns, changed_ns } = known.stat;
        for one in [inode, bytes, modified_ns as u64, changed_ns as u64] {
            number(&mut out, one);
        }
        out.push(u8::from(known.in_doubt) | u8::from(known.hash.is_some()) << 1);
        out.extend(known.hash.unwrap_or(Hash([0; 32])).0);
        number(&mut out, u64::from(known.mode));
        number(&mut out, known.lines.map_or(0, |lines| u64::from(lines) + 1));
        number(&mut out, known.marks.len() as u64);
        known.marks.iter().for_each(|mark| out.extend(mark.to_le_bytes()));
    }
    let hash = Hash::of(&out);
    out.extend(hash.0);
    out
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend(text.as_bytes());
}

/// The survey that these bytes are, if they are one and whole.
pub(super) fn read(bytes: &[u8]) -> Option<Survey> {
    let (body, hash) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    if Hash::of(body).0 != hash {
        return None;
    }
    let mut left = Left(body.strip_prefix(BEGINS)?);
    let upto = left.text()?;
    let count = left.number()?;
    let mut files = BTreeMap::new();
    for _ in 0..count {
        let path = left.text()?;
        let stat = Stat {
            inode: left.number()?,
            bytes: left.number()?,
            modified_ns: left.number()? as i64,
            changed_ns: left.number()? as i64,
        };
        let flags = *left.take(1)?.first()?;
        let hash: [u8; 32] = left.take(32)?.try_into().ok()?;
        let mode = u32::try_from(left.number()?).ok()?;
        let lines = left.number()?.checked_sub(1).and_then(|lines| u32::try_from(lines).ok());
        let marks = usize::try_from(left.number()?).ok()?;
        let marks = left.take(marks.checked_mul(4)?)?.chunks_exact(4);
        let marks = marks.map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let known = Surveyed {
            stat,
            hash: (flags & 2 != 0).then_some(Hash(hash)),
            bytes: stat.bytes,
            lines,
            mode,
            marks: marks.collect(),
            in_doubt: flags & 1 != 0,
        };
        files.insert(path, known);
    }
    left.0.is_empty().then_some(Survey { files, upto })
}

/// What is left to be read.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(count)?;
        self.0 = left;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let count = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.take(count)?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn survey() -> Survey {
        let stat = Stat { inode: 1, bytes: 2, modified_ns: -3, changed_ns: 4 };
        let known = Surveyed {
            stat,
            hash: Some(Hash::of(b"a")),
            bytes: 2,
            lines: Some(0),
            mode: 0o644,
            marks: vec![7, 8],
            in_doubt: true,
        };
        let none = Surveyed { hash: None, lines: None, in_doubt: false, ..known.clone() };
        let files = [("a".to_owned(), known), ("b/é".to_owned(), none)].into();
        Survey { files, upto: "rcpt_1".to_owned() }
    }

    #[test]
    fn an_index_comes_back_as_it_was_and_a_changed_byte_makes_it_none() {
        let packed = write(&survey());
        assert_eq!(read(&packed), Some(survey()));
        for at in 0..packed.len() {
            let mut changed = packed.clone();
            changed[at] ^= 1;
            assert_eq!(read(&changed), None, "{at}");
        }
        assert_eq!(read(&packed[..packed.len() - 1]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = [BEGINS.as_slice(), &bytes].concat();
            let hash = Hash::of(&bytes);
            bytes.extend(hash.0);
            let _ = read(&bytes);
        }
    }
}
