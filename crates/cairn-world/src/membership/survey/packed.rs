//! The survey as bytes: a record of each file, their paths, a hash of all that, and then the marks of their
//! lines, which are read when something changed. Whoever reads it trusts nothing in it: what does not fit
//! is no survey.

use super::files::Files;
use super::marks::{Kept, Marks, Place};
use super::{Stat, Survey, Surveyed};
use cairn_types::Hash;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// What it begins with; another version has another number.
const BEGINS: &[u8; 8] = b"cairnix2";
/// How long what comes before the records is: how many there are, and how long the two texts after them.
const HEAD: usize = 32;
/// How long a record is.
const RECORD: usize = 97;
/// How long the hash is.
const HASH: usize = 32;

/// A file is in doubt.
const IN_DOUBT: u8 = 1;
/// It was read.
const HAS_HASH: u8 = 2;
/// It is a text.
const HAS_LINES: u8 = 4;

/// A survey as bytes.
pub(super) fn write(survey: &Survey) -> Vec<u8> {
    let Survey { files, upto, .. } = survey;
    let section = survey.kept.as_ref().and_then(|kept| kept.section()).unwrap_or_default();
    let marks = || files.iter().map(|(_, known)| known.marks.among(&section));
    let body = files.len() * RECORD + upto.len() + files.text().len();
    let all = marks().map(<[u8]>::len).sum::<usize>();
    let mut out = Vec::with_capacity(HEAD + body + HASH + all);
    out.extend_from_slice(BEGINS);
    for number in [files.len(), upto.len(), files.text().len()] {
        out.extend_from_slice(&(number as u64).to_le_bytes());
    }
    for ((path, known), marks) in files.iter().zip(marks()) {
        out.extend_from_slice(&record(path, known, marks.len()));
    }
    out.extend_from_slice(upto.as_bytes());
    out.extend_from_slice(files.text().as_bytes());
    let hash = Hash::of(&out);
    out.extend_from_slice(&hash.0);
    marks().for_each(|bytes| out.extend_from_slice(bytes));
    out
}

/// What is known of a file, but for its path.
fn record(path: &str, known: &Surveyed, marks: usize) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    let Stat { inode, bytes, modified_ns, changed_ns } = known.stat;
    let times = [modified_ns.cast_unsigned(), changed_ns.cast_unsigned()];
    let (path, marks, sum) = (path.len() as u64, marks as u64, known.marks.sum());
    let numbers = [inode, bytes, times[0], times[1], path, marks, sum];
    for (eight, number) in record.chunks_exact_mut(8).zip(numbers) {
        eight.copy_from_slice(&number.to_le_bytes());
    }
    record[56..60].copy_from_slice(&known.mode.to_le_bytes());
    record[60..64].copy_from_slice(&known.lines.unwrap_or(0).to_le_bytes());
    record[64..96].copy_from_slice(&known.hash.unwrap_or(Hash([0; HASH])).0);
    let has = |is: bool, flag: u8| if is { flag } else { 0 };
    record[96] = has(known.in_doubt, IN_DOUBT)
        | has(known.hash.is_some(), HAS_HASH)
        | has(known.lines.is_some(), HAS_LINES);
    record
}

/// The survey that this file holds, if it is one and whole.
pub(super) fn read(file: File) -> Option<Survey> {
    let length = file.metadata().ok()?.len();
    let mut head = [0; HEAD];
    file.read_exact_at(&mut head, 0).ok()?;
    let [count, upto, text] = [8, 16, 24].map(|at| number(&head, at));
    let records = count.checked_mul(RECORD as u64)?;
    let body = records.checked_add(upto)?.checked_add(text)?;
    let start = body.checked_add((HEAD + HASH) as u64).filter(|start| *start <= length)?;
    let mut bytes = vec![0; usize::try_from(start).ok()?];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (bytes, hash) = bytes.split_at(bytes.len() - HASH);
    if !bytes.starts_with(BEGINS) || Hash::of(bytes).0 != hash {
        return None;
    }
    let (records, texts) = bytes.get(HEAD..)?.split_at(usize::try_from(records).ok()?);
    let (upto, text) = texts.split_at(usize::try_from(upto).ok()?);
    let (upto, text) = (std::str::from_utf8(upto).ok()?, std::str::from_utf8(text).ok()?);
    let (files, marks) = files(records, text)?;
    // The marks of all of them are there, whatever they are.
    let is_whole = start.checked_add(marks)? == length;
    let kept = Some(Arc::new(Kept { file, start, bytes: marks }));
    is_whole.then(|| Survey { files, upto: upto.to_owned(), kept, is_looked_at: true })
}

/// The files of these records, and how many bytes their marks are.
fn files(records: &[u8], mut text: &str) -> Option<(Files, u64)> {
    let mut files = Files::with_room(records.len() / RECORD, text.len());
    let (mut marks, mut last) = (0, "");
    for record in records.chunks_exact(RECORD) {
        let (path, rest) = text.split_at_checked(usize::try_from(number(record, 32)).ok()?)?;
        if path <= last {
            return None;
        }
        let place = Place { at: marks, bytes: number(record, 40), sum: number(record, 48) };
        marks = marks.checked_add(place.bytes)?;
        files.push(path, known(record, place));
        (text, last) = (rest, path);
    }
    text.is_empty().then_some((files, marks))
}

fn known(record: &[u8], place: Place) -> Surveyed {
    let has = |flag: u8| record[96] & flag != 0;
    let four = |at: usize| [record[at], record[at + 1], record[at + 2], record[at + 3]];
    let mut hash = [0; HASH];
    hash.copy_from_slice(&record[64..96]);
    let stat = Stat {
        inode: number(record, 0),
        bytes: number(record, 8),
        modified_ns: number(record, 16).cast_signed(),
        changed_ns: number(record, 24).cast_signed(),
    };
    Surveyed {
        stat,
        hash: has(HAS_HASH).then_some(Hash(hash)),
        bytes: stat.bytes,
        lines: has(HAS_LINES).then_some(u32::from_le_bytes(four(60))),
        mode: u32::from_le_bytes(four(56)),
        marks: Marks::There(place),
        in_doubt: has(IN_DOUBT),
    }
}

/// Eight bytes as a number.
fn number(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn survey() -> Survey {
        let stat = Stat { inode: 1, bytes: 2, modified_ns: -3, changed_ns: 4 };
        let one = Surveyed {
            stat,
            hash: Some(Hash::of(b"a")),
            bytes: 2,
            lines: Some(2),
            mode: 0o644,
            marks: Marks::of(b"a\nb"),
            in_doubt: true,
        };
        let other = Surveyed { hash: None, in_doubt: false, marks: Marks::of(b"c"), ..one.clone() };
        let none = Surveyed { lines: None, marks: Marks::default(), ..other.clone() };
        let mut files = Files::default();
        for (path, known) in [("a", one), ("b/é", none), ("c", other)] {
            files.push(path, known);
        }
        Survey { files, upto: "rcpt_1".to_owned(), ..Survey::default() }
    }

    fn unpacked(bytes: &[u8]) -> Option<Survey> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        read(file)
    }

    /// All that is known, with the marks that can be had.
    fn told(survey: &Survey) -> Vec<(String, Surveyed, Option<Vec<u32>>)> {
        let told = survey.files().map(|(path, known)| {
            let bare = Surveyed { marks: Marks::default(), ..known.clone() };
            (path.to_owned(), bare, survey.marks(known))
        });
        told.collect()
    }

    #[test]
    fn a_survey_comes_back_as_it_was_and_a_changed_byte_makes_it_or_its_marks_none() {
        let (survey, packed) = (survey(), write(&survey()));
        let back = unpacked(&packed).unwrap();
        assert_eq!((told(&back), &back.upto), (told(&survey), &survey.upto));
        assert_eq!(write(&back), packed, "packed again without asking for marks");
        let mut lost = 0;
        for at in 0..packed.len() {
            let mut changed = packed.clone();
            changed[at] ^= 1;
            let Some(back) = unpacked(&changed) else { continue };
            lost += 1;
            for ((path, known, marks), (_, was, were)) in told(&back).iter().zip(told(&survey)) {
                assert_eq!(*known, was, "{at} {path}");
                assert!(marks.is_none() || *marks == were, "{at} {path}");
            }
            assert_eq!(told(&back).iter().filter(|(.., marks)| marks.is_none()).count(), 1);
        }
        assert_eq!(lost, 3 * 4, "marks alone");
        for length in 0..packed.len() {
            assert!(unpacked(&packed[..length]).is_none(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail(
            numbers in proptest::array::uniform3(0..3u64),
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let head = numbers.map(u64::to_le_bytes).concat();
            let mut bytes = [BEGINS.as_slice(), &head, &bytes].concat();
            let body = (numbers[0] * RECORD as u64 + numbers[1] + numbers[2]) as usize;
            let _ = unpacked(&bytes);
            if let Some(body) = bytes.get(..HEAD + body) {
                let hash = Hash::of(body);
                let at = body.len();
                bytes.splice(at..at, hash.0);
                let _ = unpacked(&bytes);
            }
        }
    }
}
