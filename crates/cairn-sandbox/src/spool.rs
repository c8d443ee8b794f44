//! The first and the last part of a long output in files that have no name, so that nothing is left
//! of them when this process ends, however it ends. Knows nothing of what the bytes mean.

use cairn_types::{ContentRef, Hash};
use rustix::fs::{Mode, OFlags};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// How much is copied at once.
const CHUNK: usize = 64 * 1024;
/// The most bytes a character has.
const CHARACTER: usize = 4;

/// Both parts while they grow. The last part is a ring: new bytes take the place of the oldest.
#[derive(Debug)]
pub struct Spool {
    head: File,
    head_bytes: u64,
    keep_head: u64,
    tail: File,
    /// How many bytes came after the first part.
    tail_bytes: u64,
    keep_tail: u64,
}

/// What stands between the two parts, and what is taken away from them there so that no character
/// is cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seam {
    /// How many bytes of the first part's end to leave out.
    pub cut: u64,
    /// What to put in between.
    pub between: Vec<u8>,
    /// How many bytes of the last part's beginning to leave out.
    pub skip: u64,
}

/// A file without a name that holds a finished text. Clones share it.
#[derive(Debug, Clone)]
pub struct Spooled {
    /// The file.
    pub file: Arc<File>,
    /// Its hash and length.
    pub content: ContentRef,
}

impl PartialEq for Spooled {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl Eq for Spooled {}

impl Spool {
    /// Two empty files in this directory, which is made when it is missing.
    pub(crate) fn new(directory: &Path, keep_head: u64, keep_tail: u64) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).recursive(true).create(directory)?;
        let (head, tail) = (nameless(directory)?, nameless(directory)?);
        Ok(Self { head, head_bytes: 0, keep_head, tail, tail_bytes: 0, keep_tail })
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.keep_head - self.head_bytes).unwrap_or(usize::MAX);
        let (first, rest) = chunk.split_at(chunk.len().min(room));
        self.head.write_all(first)?;
        self.head_bytes += first.len() as u64;
        let keep = usize::try_from(self.keep_tail).unwrap_or(usize::MAX);
        let (passed, mut rest) = rest.split_at(rest.len().saturating_sub(keep));
        self.tail_bytes += passed.len() as u64;
        while !rest.is_empty() {
            let at = self.tail_bytes % self.keep_tail;
            let to_end = usize::try_from(self.keep_tail - at).unwrap_or(usize::MAX);
            let (piece, after) = rest.split_at(rest.len().min(to_end));
            self.tail.write_all_at(piece, at)?;
            self.tail_bytes += piece.len() as u64;
            rest = after;
        }
        Ok(())
    }

    /// How many bytes of the whole output are in neither part.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.tail_bytes - self.tail_kept()
    }

    fn tail_kept(&self) -> u64 {
        self.tail_bytes.min(self.keep_tail)
    }

    /// The first part's last bytes and the last part's first ones, as many as a character has.
    pub fn edges(&self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let length = self.head_bytes.min(CHARACTER as u64);
        let mut end = vec![0; length as usize];
        self.head.read_exact_at(&mut end, self.head_bytes - length)?;
        let mut start = Vec::with_capacity(CHARACTER);
        for (at, length) in self.ring(0) {
            let mut piece = vec![0; length.min((CHARACTER - start.len()) as u64) as usize];
            self.tail.read_exact_at(&mut piece, at)?;
            start.extend(piece);
        }
        Ok((end, start))
    }

    /// The last part's stretches in their order, without its first `skip` bytes: where each is in
    /// the ring, and how long.
    fn ring(&self, skip: u64) -> Vec<(u64, u64)> {
        let kept = self.tail_kept().saturating_sub(skip);
        if kept == 0 {
            return Vec::new();
        }
        let from = (self.tail_bytes - kept) % self.keep_tail;
        let first = kept.min(self.keep_tail - from);
        if first < kept { vec![(from, first), (0, kept - first)] } else { vec![(from, first)] }
    }

    /// Hands on both parts, joined like this, and leaves them as they are.
    pub fn each(&self, seam: &Seam, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK];
        let mut hand_on = |piece: &[u8]| {
            take(piece);
            Ok(())
        };
        let head = self.head_bytes.saturating_sub(seam.cut);
        for_each(&self.head, (0, head), &mut buffer, &mut hand_on)?;
        hand_on(&seam.between)?;
        for stretch in self.ring(seam.skip) {
            for_each(&self.tail, stretch, &mut buffer, &mut hand_on)?;
        }
        Ok(())
    }

    /// Puts the last part behind the first. Reads and writes files; takes as long as that takes.
    pub fn join(mut self, seam: &Seam) -> io::Result<Spooled> {
        self.head_bytes = self.head_bytes.saturating_sub(seam.cut);
        self.head.set_len(self.head_bytes)?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; CHUNK];
        for_each(&self.head, (0, self.head_bytes), &mut buffer, |piece| {
            hasher.update(piece);
            Ok(())
        })?;
        let mut end = self.head_bytes;
        let mut append = |piece: &[u8]| {
            hasher.update(piece);
            self.head.write_all_at(piece, end)?;
            end += piece.len() as u64;
            Ok(())
        };
        append(&seam.between)?;
        for stretch in self.ring(seam.skip) {
            for_each(&self.tail, stretch, &mut buffer, &mut append)?;
        }
        let content = ContentRef { hash: Hash(*hasher.finalize().as_bytes()), bytes: end };
        Ok(Spooled { file: Arc::new(self.head), content })
    }
}

/// Hands a stretch of a file on, piece by piece.
fn for_each(
    file: &File,
    (mut at, mut left): (u64, u64),
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    while left > 0 {
        let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let piece = &mut buffer[..length];
        file.read_exact_at(piece, at)?;
        take(piece)?;
        at += length as u64;
        left -= length as u64;
    }
    Ok(())
}

/// A file in this directory that nobody can find. Where the file system knows no such thing, it has
/// a name for a moment.
fn nameless(directory: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR) {
        return Ok(File::from(file));
    }
    for number in 0..u32::MAX {
        let path = directory.join(format!("{}-{number}.tmp", std::process::id()));
        let mut options = OpenOptions::new();
        match options.read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return std::fs::remove_file(&path).map(|()| file),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
