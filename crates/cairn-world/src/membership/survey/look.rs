//! Reads one file whole: what its content is, and its lines. Which files are read is not decided here.

use super::marks::{self, Marks};
use super::{Stat, Surveyed};
use crate::folders::root_directory::entry;
use crate::look::read::{SNIFF, is_binary};
use cairn_types::Hash;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A larger file is not read: that it changed is told by its stat alone.
const LARGEST: u64 = 16 << 20;
/// Times are no finer than this, so what was changed so shortly before a look may have been changed
/// after it, too.
const COARSE_NS: i64 = 20_000_000;
/// Room for ordinary files.
const LEAST: usize = 64 << 10;

/// Reads files one after another.
pub(super) struct Reader {
    buffer: Vec<u8>,
    marks: Vec<[u8; 4]>,
    /// When the look began.
    begun_ns: i64,
    /// Whether the bytes of texts are wanted.
    takes_content: bool,
}

/// A file as it is now, and its bytes where they are wanted and it is a text.
pub(super) type Looked = (Surveyed, Option<Vec<u8>>);

impl Reader {
    pub(super) fn new(begun_ns: i64, takes_content: bool) -> Reader {
        Reader { buffer: Vec::new(), marks: Vec::new(), begun_ns, takes_content }
    }

    /// A file as it is now; none where it is none, or cannot be read.
    pub(super) fn read(&mut self, directory: BorrowedFd<'_>, name: &[u8]) -> Option<Looked> {
        let file = entry(directory, name, OFlags::RDONLY).ok()?;
        let raw = rustix::fs::fstat(&file).ok()?;
        if !FileType::from_raw_mode(raw.st_mode).is_file() {
            return None;
        }
        let stat = Stat::of(&raw);
        let mut known = Surveyed {
            stat,
            hash: None,
            bytes: stat.bytes,
            lines: None,
            mode: raw.st_mode & 0o7777,
            marks: Marks::default(),
            in_doubt: stat.changed_ns.saturating_add(COARSE_NS) >= self.begun_ns,
        };
        if stat.bytes > LARGEST {
            return Some((known, None));
        }
        let count = self.fill(&file, usize::try_from(stat.bytes).ok()?)?;
        let bytes = &self.buffer[..count];
        // Whoever writes meanwhile is seen by the next look, since its time is newer than this one's.
        known.in_doubt |= count as u64 != stat.bytes;
        known.hash = Some(Hash::of(bytes));
        if is_binary(&bytes[..count.min(SNIFF)]) || std::str::from_utf8(bytes).is_err() {
            return Some((known, None));
        }
        let lines = if count <= marks::LONGEST {
            marks::take(bytes, &mut self.marks);
            known.marks = Marks::Here(Arc::from(self.marks.as_flattened()));
            self.marks.len()
        } else {
            let ended = memchr::memchr_iter(b'\n', bytes).count();
            ended + usize::from(!bytes.ends_with(b"\n"))
        };
        known.lines = u32::try_from(lines).ok();
        Some((known, self.takes_content.then(|| bytes.to_vec())))
    }

    /// Fills the buffer with a file that is expected to be so long. There is always room for a byte more, so
    /// that its end needs no question of its own, and one that grew is read on.
    fn fill(&mut self, file: &OwnedFd, expected: usize) -> Option<usize> {
        let mut count = 0;
        loop {
            let least = count.max(expected) + 1;
            if self.buffer.len() < least {
                self.buffer.resize(least.next_power_of_two().max(LEAST), 0);
            }
            let got = match rustix::io::read(file, &mut self.buffer[count..]) {
                Err(Errno::INTR) => continue,
                got => got.ok()?,
            };
            count += got;
            if got == 0 || count == expected || count as u64 > LARGEST {
                return Some(count);
            }
        }
    }
}

impl Stat {
    pub(super) fn of(stat: &rustix::fs::Stat) -> Stat {
        let ns = |sec: i64, nsec: u64| {
            sec.saturating_mul(1_000_000_000).saturating_add(i64::try_from(nsec).unwrap_or(0))
        };
        Stat {
            inode: stat.st_ino,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified_ns: ns(stat.st_mtime, stat.st_mtime_nsec),
            changed_ns: ns(stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}
