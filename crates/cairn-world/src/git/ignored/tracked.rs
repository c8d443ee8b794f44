//! The paths that a repository tracks, read from git's index, versions 2 to 4, without git. What is read
//! is bounded. Of an index that is not understood it is not known what is tracked.

use super::split::SharedLink;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A larger index is not read.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// How many repositories' indexes are kept.
const MOST_KEPT: usize = 64;
/// What comes before the entries: a word, the version, how many there are.
const HEAD: usize = 12;
/// What an entry has before its object's name; its mode stands from 24 to 28.
const STAT: usize = 40;
/// Says that an entry has two more bytes of flags.
const EXTENDED: u8 = 0x40;
/// The mode of a repository within this one, and of a directory whose files are not listed.
const LINK: u32 = 0o160_000;
/// How long objects' names are, in bytes: SHA-1, SHA-256.
const HASHES: [usize; 2] = [20, 32];

/// Reads the file of this name beside an index.
pub(super) type ReadShared<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// The paths that a repository tracks, from its own directory.
#[derive(Debug, Default)]
pub(crate) struct Tracked {
    text: Vec<u8>,
    /// Where each path stands in the text, in the order of paths. One that is a directory ends with a slash.
    spans: Vec<(u32, u32)>,
    /// The index was not understood.
    is_unknown: bool,
}

impl Tracked {
    /// The paths that are tracked, in order; one that is a repository within this one ends with a slash.
    pub(super) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| self.path(*span))
    }

    /// Whether this path is tracked as a file or link.
    pub(crate) fn holds(&self, path: &[u8]) -> bool {
        self.spans.binary_search_by(|span| self.path(*span).cmp(path)).is_ok()
    }

    /// Whether this path, with a slash at its end, is a repository within this one.
    pub(crate) fn is_repository(&self, directory: &[u8]) -> bool {
        self.holds(directory)
    }

    /// Whether something is tracked in a directory, given with a slash at its end.
    pub(crate) fn holds_beneath(&self, directory: &[u8]) -> bool {
        let at = self.spans.partition_point(|span| self.path(*span) < directory);
        self.spans.get(at).is_some_and(|span| self.path(*span).starts_with(directory))
    }

    /// Whether it is not known what is tracked.
    pub(crate) fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    fn path(&self, (start, end): (u32, u32)) -> &[u8] {
        &self.text[start as usize..end as usize]
    }

    /// What an index tracks that could not be read.
    pub(super) fn unknown() -> Tracked {
        Tracked { is_unknown: true, ..Tracked::default() }
    }

    /// Reads an index whose objects' names are so long. `None` where anything is not understood. Of a split index
    /// also the paths of the shared one are tracked, but for those that it deletes.
    fn read(index: &[u8], hash: usize, shared: ReadShared<'_>) -> Option<Tracked> {
        let OwnEntries { mut tracked, unnamed, shared: link } = Tracked::read_own(index, hash)?;
        if let Some(link) = link {
            let bytes = shared(&link.file)?;
            let below = Tracked::read_own(&bytes, hash)?;
            if below.shared.is_some() || !below.unnamed.is_empty() {
                return None;
            }
            let below = below.tracked;
            let changed = link.changed_entries(below.spans.len())?;
            if changed.replaced.len() != unnamed.len() {
                return None;
            }
            for (position, span) in below.spans.iter().enumerate() {
                if changed.deleted.binary_search(&position).is_ok() {
                    continue;
                }
                let name = below.path(*span);
                match changed.replaced.binary_search(&position) {
                    Ok(nth) => {
                        let bare = name.strip_suffix(b"/").unwrap_or(name);
                        tracked.add(bare, unnamed[nth])?;
                    }
                    Err(_) => tracked.add(name, false)?,
                }
            }
        }
        Some(tracked.sorted())
    }

    /// The entries of one index file, in its order.
    fn read_own(index: &[u8], hash: usize) -> Option<OwnEntries<'_>> {
        let version = number(index, 4).filter(|version| (2..=4).contains(version))?;
        let end = index.len().checked_sub(hash).filter(|_| index.starts_with(b"DIRC"))?;
        let (mut tracked, mut unnamed) = (Tracked::default(), Vec::new());
        let (mut at, mut name) = (HEAD, Vec::new());
        for _ in 0..number(index, 8)? {
            let fixed = index.get(at..at + STAT + hash + 2)?;
            let extended = usize::from(fixed[STAT + hash] & EXTENDED != 0) * 2;
            let head = fixed.len() + extended;
            let rest = index.get(at + head..end)?;
            // Of the fourth version a name begins with how much of the one before it does not count.
            let skipped = match version {
                4 => {
                    let (drop, skipped) = length(rest)?;
                    name.truncate(name.len().checked_sub(drop)?);
                    skipped
                }
                _ => {
                    name.clear();
                    0
                }
            };
            let own = rest.get(skipped..)?;
            let bytes = memchr::memchr(0, own)?;
            name.extend_from_slice(&own[..bytes]);
            // An entry that replaces one of the shared index has no name of its own.
            let is_link = number(fixed, 24)? & 0o170_000 == LINK as usize;
            match name.is_empty() {
                true => unnamed.push(is_link),
                false => tracked.add(&name, is_link)?,
            }
            at += match version {
                4 => head + skipped + bytes + 1,
                _ => (head + bytes) / 8 * 8 + 8,
            };
        }
        let shared = shared_index(index.get(at..end)?, hash)?;
        Some(OwnEntries { tracked, unnamed, shared })
    }

    fn add(&mut self, name: &[u8], is_link: bool) -> Option<()> {
        let start = u32::try_from(self.text.len()).ok()?;
        self.text.extend_from_slice(name);
        if is_link {
            self.text.push(b'/');
        }
        self.spans.push((start, u32::try_from(self.text.len()).ok()?));
        Some(())
    }

    fn sorted(mut self) -> Tracked {
        let mut spans = std::mem::take(&mut self.spans);
        if !spans.is_sorted_by_key(|span| self.path(*span)) {
            spans.sort_by(|one, other| self.path(*one).cmp(self.path(*other)));
        }
        self.spans = spans;
        self
    }
}

/// The entries of one index file.
struct OwnEntries<'a> {
    tracked: Tracked,
    /// Of the entries that replace one of the shared index, in their order: whether it is a repository.
    unnamed: Vec<bool>,
    /// The shared index, if this is a split one.
    shared: Option<SharedLink<'a>>,
}

/// Four bytes as a number.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

/// A number whose bytes but the last have their highest bit set, and how many bytes it has.
fn length(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.first()? & 0x7f);
    let mut read = 1;
    while bytes.get(read - 1)? & 0x80 != 0 {
        let next = usize::from(bytes.get(read)? & 0x7f);
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(next)?;
        read += 1;
    }
    Some((value, read))
}

/// The shared index that these extensions of an index name, if they do: it is a split one then. None at
/// all where an extension is not known. Those whose name begins with a capital can be worked out again, and `sdir`
/// tells that there are directories which stand for what is in them.
fn shared_index(extensions: &[u8], hash: usize) -> Option<Option<SharedLink<'_>>> {
    let (mut at, mut shared) = (0, None);
    while at < extensions.len() {
        let name = extensions.get(at..at + 4)?;
        let end = at.checked_add(8)?.checked_add(number(extensions, at + 4)?)?;
        let body = extensions.get(at + 8..end)?;
        match name {
            b"link" => shared = SharedLink::read(body, hash)?,
            b"sdir" => {}
            _ if name[0].is_ascii_uppercase() => {}
            _ => return None,
        }
        at = end;
    }
    Some(shared)
}

/// What makes an index the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    place: (u64, u64),
    bytes: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    fn of(stat: &Stat) -> Identity {
        let nanos = |n| i64::try_from(n).unwrap_or(0);
        Identity {
            place: (stat.st_dev, stat.st_ino),
            bytes: stat.st_size,
            modified: (stat.st_mtime, nanos(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanos(stat.st_ctime_nsec)),
        }
    }
}

/// An index that was read, as long as it is the same.
type Known = (Identity, Arc<Tracked>);

/// Indexes that were read, by their paths.
#[derive(Debug, Default)]
pub(super) struct Indexes(Mutex<HashMap<PathBuf, Known>>);

impl Indexes {
    /// What the repository tracks whose own directory this is, and which has its index at this path. None where
    /// there is no index.
    pub(super) fn tracked_by(&self, git: BorrowedFd<'_>, path: &Path) -> Option<Arc<Tracked>> {
        let unknown = || Some(Arc::new(Tracked::unknown()));
        let file = match open(git, "index") {
            Ok(file) => file,
            Err(Errno::NOENT) => return None,
            Err(_) => return unknown(),
        };
        let Ok(stat) = rustix::fs::fstat(&file) else { return unknown() };
        let identity = Identity::of(&stat);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tracked)) = kept.get(path).filter(|(known, _)| *known == identity) {
            return Some(Arc::clone(tracked));
        }
        let read_shared = |name: &str| read(open(git, name).ok()?);
        let tracked = read(file).map_or_else(Tracked::unknown, |b| parse(&b, &read_shared));
        let tracked = Arc::new(tracked);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(path.to_owned(), (identity, Arc::clone(&tracked)));
        Some(tracked)
    }
}

fn open(git: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::openat(git, name, flags | OFlags::CLOEXEC, Mode::empty())
}

fn read(file: OwnedFd) -> Option<Vec<u8>> {
    let stat = rustix::fs::fstat(&file).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    let bytes = u64::try_from(stat.st_size).ok().filter(|bytes| is_file && *bytes <= MOST_BYTES)?;
    let mut index = Vec::with_capacity(usize::try_from(bytes).ok()?);
    File::from(file).take(MOST_BYTES).read_to_end(&mut index).ok()?;
    Some(index)
}

/// What an index says is tracked.
pub(super) fn parse(index: &[u8], shared: ReadShared<'_>) -> Tracked {
    let read = HASHES.into_iter().find_map(|hash| Tracked::read(index, hash, shared));
    read.unwrap_or_else(Tracked::unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An index as git writes it, as far as it is read here.
    fn written(version: u8, hash: usize, names: &[(&str, bool)]) -> Vec<u8> {
        let count = u32::try_from(names.len()).unwrap();
        let mut out = [b"DIRC\0\0\0".as_slice(), &[version], &count.to_be_bytes()].concat();
        let mut before = "";
        for (name, is_link) in names {
            let begun = out.len();
            let mode = if *is_link { LINK } else { 0o100_644 };
            out.extend([7; 24]);
            out.extend(mode.to_be_bytes());
            out.extend(vec![7; 12 + hash]);
            out.extend([0, u8::try_from(name.len().min(255)).unwrap()]);
            if version == 4 {
                let same = before.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
                let drop = before.len() - same;
                if drop >= 128 {
                    out.push(u8::try_from((drop >> 7) - 1).unwrap() | 0x80);
                }
                out.push(u8::try_from(drop & 0x7f).unwrap());
                out.extend(&name.as_bytes()[same..]);
                out.push(0);
            } else {
                out.extend(name.as_bytes());
                out.extend(vec![0; 8 - (out.len() - begun) % 8]);
            }
            before = name;
        }
        out.extend(b"TREE\0\0\0\x02xy");
        out.extend(vec![9; hash]);
        out
    }

    fn any_hash(index: &[u8]) -> Option<Tracked> {
        HASHES.into_iter().find_map(|hash| Tracked::read(index, hash, &|_| None))
    }

    proptest! {
        #[test]
        fn every_name_of_an_index_is_tracked_and_no_other(
            version in 2..=4u8,
            hash in prop_oneof![Just(20usize), Just(32)],
            names in prop::collection::btree_set("[abé日😀]{1,3}(/[abé日😀]{1,60}){0,3}", 1..30),
            other in "[abé日😀]{1,3}(/[abé日😀]{1,3}){0,3}",
        ) {
            let all: Vec<(&str, bool)> = names.iter().map(|name| (name.as_str(), false)).collect();
            let tracked = any_hash(&written(version, hash, &all)).unwrap();
            for name in &names {
                prop_assert!(tracked.holds(name.as_bytes()));
                if let Some((directory, _)) = name.split_once('/') {
                    let directory = [directory, "/"].concat();
                    prop_assert!(tracked.holds_beneath(directory.as_bytes()));
                }
            }
            prop_assert_eq!(tracked.holds(other.as_bytes()), names.contains(&other));
            let beneath = format!("{other}/");
            let is_beneath = names.iter().any(|name| name.starts_with(&beneath));
            prop_assert_eq!(tracked.holds_beneath(beneath.as_bytes()), is_beneath);
        }

        #[test]
        fn no_bytes_are_too_strange_to_read(
            version in 2..=4u8, bytes in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let head = [b'D', b'I', b'R', b'C', 0, 0, 0, version];
            let _ = any_hash(&[&head, &bytes[..]].concat());
            let _ = any_hash(&bytes);
        }
    }

    #[test]
    fn a_repository_within_is_a_directory_and_an_index_elsewhere_is_none() {
        for version in [2, 3, 4] {
            let index = written(version, 20, &[("a.b", false), ("a", true), ("b", false)]);
            let tracked = any_hash(&index).unwrap();
            assert!(tracked.is_repository(b"a/") && !tracked.holds(b"a"));
            assert!(tracked.holds(b"b") && tracked.holds(b"a.b") && !tracked.is_repository(b"b/"));
            let mut split = index.clone();
            split.splice(index.len() - 30..index.len() - 26, *b"link");
            assert!(any_hash(&split).is_none());
            assert!(parse(&split, &|_| None).is_unknown());
            for cut in 0..index.len() {
                // What follows the entries may be missing as if it had never been there.
                let is_whole = any_hash(&index[..cut]).is_none_or(|all| all.holds(b"b"));
                assert!(is_whole, "{cut}");
            }
        }
    }
}
