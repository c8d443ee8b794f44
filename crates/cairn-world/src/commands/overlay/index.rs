//! git's index: whether two differ in nothing but what git remembers of files' times and places, and in
//! what it can work out again. Reads bytes; judges no other file.

/// What comes before the entries: a word, the version, how many there are.
const HEAD: usize = 12;
/// What an entry has before its name.
const FIXED: usize = 62;
/// The sum at the end.
const SUM: usize = 20;
/// Says that an entry has two more bytes of flags.
const EXTENDED: u8 = 0x40;

/// Whether what the second says of the repository is what the first does.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (entries(one), entries(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// Each entry's mode, and all from its object's name on; none where anything is not understood, such as an
/// index that has its entries elsewhere.
fn entries(index: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let number = |at: usize| {
        let four = index.get(at..at + 4)?;
        four.try_into().ok().map(u32::from_be_bytes).and_then(|n| usize::try_from(n).ok())
    };
    let version = number(4).filter(|version| (2..=4).contains(version))?;
    let end = index.len().checked_sub(SUM).filter(|_| index.starts_with(b"DIRC"))?;
    let mut found = Vec::new();
    let mut at = HEAD;
    for _ in 0..number(8)? {
        let fixed = index.get(at..at + FIXED)?;
        let name = FIXED + 2 * usize::from(fixed[60] & EXTENDED != 0);
        let rest = index.get(at + name..end)?;
        // Of the fourth version the name begins with how much of the one before it counts.
        let skipped = match version {
            4 => rest.iter().position(|byte| byte & 0x80 == 0)? + 1,
            _ => 0,
        };
        let length = skipped + rest.get(skipped..)?.iter().position(|byte| *byte == 0)?;
        let whole = match version {
            4 => name + length + 1,
            _ => (name + length) / 8 * 8 + 8,
        };
        found.push((&fixed[24..28], index.get(at + 40..at + name + length)?));
        at += whole;
    }
    // What follows can be worked out again if its name says so.
    while at < end {
        let can_be_left_out = index.get(at).is_some_and(u8::is_ascii_uppercase);
        at = at.checked_add(8)?.checked_add(number(at + 4)?).filter(|_| can_be_left_out)?;
    }
    (at == end).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::is_same;

    /// An index of this version with one entry for each name, its times, size and object made of these bytes.
    fn index(version: u8, names: &[&str], times: u8, object: u8) -> Vec<u8> {
        let mut all =
            [b"DIRC\0\0\0".as_slice(), &[version, 0, 0, 0], &[names.len() as u8]].concat();
        for name in names {
            let begins = all.len();
            all.extend([times; 24]);
            all.extend([0, 0, 0x81, 0xa4]);
            all.extend([times; 12]);
            all.extend([object; 20]);
            all.extend([0, name.len() as u8]);
            if version == 4 {
                all.push(0);
            }
            all.extend(name.as_bytes());
            all.push(0);
            while version < 4 && (all.len() - begins) % 8 != 0 {
                all.push(0);
            }
        }
        all.extend([7; 20]);
        all
    }

    fn with(mut index: Vec<u8>, extension: &[u8]) -> Vec<u8> {
        index.splice(index.len() - 20..index.len() - 20, extension.iter().copied());
        index
    }

    #[test]
    fn only_what_git_remembers_of_times_makes_no_difference() {
        let names = ["a", "dir/b.txt", "exactly-8"];
        for version in [2, 3, 4] {
            let was = index(version, &names, 1, 5);
            let check = |is: Vec<u8>, same: bool| assert_eq!(is_same(&was, &is), same, "{is:?}");
            check(was.clone(), true);
            check(index(version, &names, 2, 5), true);
            check(with(was.clone(), b"TREE\0\0\0\x02xy"), true);
            check(with(was.clone(), b"link\0\0\0\x02xy"), false);
            check(with(was.clone(), b"TREE\0\0\0\x09xy"), false);
            check(index(version, &names, 1, 6), false);
            check(index(version, &names[..2], 1, 5), false);
            check(index(version, &["a", "dir/c.txt", "exactly-8"], 1, 5), false);
            check(was[..was.len() - 1].to_vec(), false);
            for cut in 0..was.len() {
                assert!(!is_same(&was[..cut], &was[..cut]), "{cut}");
            }
        }
    }
}
