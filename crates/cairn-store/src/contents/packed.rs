//! Contents on their way in: hashed, compressed when it pays, the large ones made durable as files
//! named by hash. One that comes as a file is never whole in memory.

use crate::StoreError;
use crate::contents::{IN_FILE, UNPACK_AT_MOST, ZSTD, file_of};
use crate::home::{Home, make_dir, sync_dir};
use crate::log::batch::{Kept, SpooledFile};
use cairn_types::Hash;
use rusqlite::{Connection, params};
use rustix::fs::{AtFlags, CWD, linkat};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Above this many bytes a content goes to a file.
const FILE_ABOVE: usize = 256 * 1024;
/// Below this many bytes compression is not tried.
const COMPRESS_FROM: usize = 512;
/// How hard is compressed.
const LEVEL: i32 = 3;
/// How much of a file is read at once.
const CHUNK: usize = 64 * 1024;

/// A content ready to be stored.
pub(crate) struct Packed {
    /// Its hash.
    pub(crate) hash: Hash,
    length: u64,
    codec: u8,
    body: Body,
}

enum Body {
    /// Its bytes as they came, and what goes into the row or the file when that is something else.
    Held {
        bytes: Vec<u8>,
        data: Option<Vec<u8>>,
    },
    Spooled(SpooledFile),
}

impl Packed {
    /// Hashes a content, compresses it when that saves a tenth, and makes a large one durable.
    pub(crate) fn new(home: &Home, kept: Kept) -> Result<Packed, StoreError> {
        let mut packed = match kept {
            Kept::Bytes(bytes) => {
                let (hash, data) = (Hash::of(&bytes), compressed(&bytes));
                let in_file = if bytes.len() > FILE_ABOVE { IN_FILE } else { 0 };
                let codec = in_file | if data.is_some() { ZSTD } else { 0 };
                let length = bytes.len() as u64;
                Packed { hash, length, codec, body: Body::Held { bytes, data } }
            }
            Kept::File(spooled) => {
                let (hash, length) = (spooled.content.hash, spooled.content.bytes);
                Packed { hash, length, codec: IN_FILE, body: Body::Spooled(spooled) }
            }
        };
        packed.codec = packed.settle_file(home)?;
        Ok(packed)
    }

    /// Its bytes as they came, unless they are in a file.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Held { bytes, .. } => Some(bytes),
            Body::Spooled(_) => None,
        }
    }

    fn data(&self) -> &[u8] {
        match &self.body {
            Body::Held { bytes, data } => data.as_deref().unwrap_or(bytes),
            Body::Spooled(_) => &[],
        }
    }

    /// Writes the file of a large content and makes it durable. Done before the transaction that
    /// names the content. Says how the content is stored.
    fn settle_file(&self, home: &Home) -> Result<u8, StoreError> {
        if self.codec & IN_FILE == 0 {
            return Ok(self.codec);
        }
        let (dir, path) = file_of(home, &self.hash);
        if let Some(codec) = self.found(&path) {
            // Whoever wrote it may have been cut off before its name was durable.
            return sync_dir(&dir).map(|()| codec);
        }
        make_dir(&dir)?;
        sync_dir(&home.contents())?;
        let draft = dir.join(format!("{:016x}.tmp", getrandom::u64()?));
        let written = self
            .write(&draft)
            .and_then(|codec| fs::rename(&draft, &path).map(|()| codec))
            .map_err(|error| StoreError::io(&path, error));
        match written {
            Ok(codec) => sync_dir(&dir).map(|()| codec),
            Err(error) => {
                let _ = fs::remove_file(&draft);
                Err(error)
            }
        }
    }

    /// How the content's file is stored, when it is there. What is compressed is always shorter.
    fn found(&self, path: &Path) -> Option<u8> {
        let found = fs::metadata(path).ok()?;
        Some(IN_FILE | if found.len() == self.length { 0 } else { ZSTD })
    }

    fn write(&self, draft: &Path) -> io::Result<u8> {
        match &self.body {
            Body::Spooled(spooled) => adopt(spooled, draft),
            Body::Held { .. } => {
                let mut file = create(draft)?;
                file.write_all(self.data())?;
                file.sync_all()?;
                Ok(self.codec)
            }
        }
    }

    /// Puts the content's row in, unless it is there. Gives the bytes written.
    pub(crate) fn insert(&self, conn: &Connection, home: &Home) -> Result<u64, StoreError> {
        let in_file = self.codec & IN_FILE != 0;
        let codec = match in_file.then(|| self.found(&file_of(home, &self.hash).1)) {
            None => self.codec,
            Some(Some(codec)) => codec,
            // It was freed since it was written.
            Some(None) => self.settle_file(home)?,
        };
        let data = if in_file { &[] } else { self.data() };
        // A file that was lost may come back stored in another way.
        let rows = conn
            .prepare_cached(
                "INSERT INTO contents (hash, codec, bytes, data) VALUES (?, ?, ?, ?)
                 ON CONFLICT (hash) DO UPDATE SET codec = excluded.codec
                 WHERE codec & excluded.codec & 2 AND codec <> excluded.codec",
            )?
            .execute(params![self.hash.0, codec, self.length, data])?;
        if rows > 0 {
            // What is kept again and then lost was not freed.
            conn.prepare_cached("DELETE FROM freed WHERE hash = ?")?
                .execute(params![self.hash.0])?;
        }
        Ok(rows as u64 * (48 + data.len() as u64))
    }
}

fn compressed(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < COMPRESS_FROM || bytes.len() as u64 > UNPACK_AT_MOST {
        return None;
    }
    let packed = zstd::bulk::compress(bytes, LEVEL).ok()?;
    pays(packed.len() as u64, bytes.len() as u64).then_some(packed)
}

fn pays(packed: u64, bytes: u64) -> bool {
    packed <= bytes - bytes / 10
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes a spooled content a file under this name, compressed when it pays, otherwise the very file
/// it came in. Says how it is stored.
fn adopt(spooled: &SpooledFile, draft: &Path) -> io::Result<u8> {
    let out = create(draft)?;
    compress_file(spooled, &out)?;
    let bytes = spooled.content.bytes;
    if bytes <= UNPACK_AT_MOST && pays(out.metadata()?.len(), bytes) {
        out.sync_all()?;
        return Ok(IN_FILE | ZSTD);
    }
    drop(out);
    fs::remove_file(draft)?;
    let open = format!("/proc/self/fd/{}", spooled.file.as_raw_fd());
    if linkat(CWD, open, CWD, draft, AtFlags::SYMLINK_FOLLOW).is_ok() {
        spooled.file.sync_all()?;
        return Ok(IN_FILE);
    }
    // It had a name before, or lies on another file system.
    let (mut from, mut to) = (&*spooled.file, create(draft)?);
    from.rewind()?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()?;
    Ok(IN_FILE)
}

/// Compresses the file, and sees to it that it is what it is said to be.
fn compress_file(spooled: &SpooledFile, out: &File) -> io::Result<()> {
    let mut encoder = zstd::stream::write::Encoder::new(out, LEVEL)?;
    encoder.set_pledged_src_size(Some(spooled.content.bytes))?;
    let mut hasher = blake3::Hasher::new();
    let (mut buffer, mut at) = (vec![0; CHUNK], 0);
    while at < spooled.content.bytes {
        let left = usize::try_from(spooled.content.bytes - at).unwrap_or(usize::MAX);
        let piece = &mut buffer[..left.min(CHUNK)];
        spooled.file.read_exact_at(piece, at)?;
        hasher.update(piece);
        encoder.write_all(piece)?;
        at += piece.len() as u64;
    }
    encoder.finish()?;
    let is_it = hasher.finalize().as_bytes() == &spooled.content.hash.0;
    let is_all = spooled.file.metadata()?.len() == spooled.content.bytes;
    let other = || io::Error::new(io::ErrorKind::InvalidData, "not the bytes it was said to hold");
    if is_it && is_all { Ok(()) } else { Err(other()) }
}
