//! Contents by hash: small ones in the database, large ones in files, compressed when it pays.

use crate::StoreError;
use crate::home::{Home, make_dir, sync_dir};
use cairn_types::Hash;
use rusqlite::{Connection, OptionalExtension, params};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Above this many bytes a content goes to a file.
const FILE_ABOVE: usize = 256 * 1024;
/// Below this many bytes compression is not tried.
const COMPRESS_FROM: usize = 512;
/// Above this many bytes a content is kept as it is, and a packed one is not believed.
const UNPACK_AT_MOST: u64 = 1 << 30;

const IN_FILE: u8 = 2;
const ZSTD: u8 = 1;

/// A content ready to be stored.
pub(crate) struct Packed {
    /// Its hash.
    pub(crate) hash: Hash,
    /// Its bytes as they came.
    pub(crate) bytes: Vec<u8>,
    codec: u8,
    /// What goes into the row or the file; `None` when that is `bytes`.
    data: Option<Vec<u8>>,
}

impl Packed {
    /// Hashes a content and compresses it when that saves a tenth.
    pub(crate) fn new(bytes: Vec<u8>) -> Packed {
        let hash = Hash::of(&bytes);
        let data = compressed(&bytes);
        let in_file = if bytes.len() > FILE_ABOVE { IN_FILE } else { 0 };
        let codec = in_file | if data.is_some() { ZSTD } else { 0 };
        Packed { hash, bytes, codec, data }
    }

    fn data(&self) -> &[u8] {
        self.data.as_deref().unwrap_or(&self.bytes)
    }

    /// Writes the file of a large content and makes it durable. Call it before the transaction
    /// that names the content.
    pub(crate) fn settle_file(&self, home: &Home) -> Result<(), StoreError> {
        let (dir, path) = file_of(home, &self.hash);
        if self.codec & IN_FILE == 0 {
            return Ok(());
        }
        if path.exists() {
            // Whoever wrote it may have been cut off before its name was durable.
            return sync_dir(&dir);
        }
        make_dir(&dir)?;
        sync_dir(&home.contents())?;
        let draft = dir.join(format!("{:016x}.tmp", getrandom::u64()?));
        let written = write_new(&draft, self.data()).and_then(|()| fs::rename(&draft, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&draft);
            return Err(StoreError::io(&path, error));
        }
        sync_dir(&dir)
    }

    /// Puts the content's row in, unless it is there. Gives the bytes written.
    pub(crate) fn insert(&self, conn: &Connection, home: &Home) -> Result<u64, StoreError> {
        // Its file may have been freed between `settle_file` and this transaction.
        if self.codec & IN_FILE != 0 && !file(home, &self.hash).exists() {
            self.settle_file(home)?;
        }
        let data = if self.codec & IN_FILE == 0 { self.data() } else { &[] };
        let rows = conn
            .prepare_cached(
                "INSERT OR IGNORE INTO contents (hash, codec, bytes, data) VALUES (?, ?, ?, ?)",
            )?
            .execute(params![self.hash.0, self.codec, self.bytes.len(), data])?;
        Ok(rows as u64 * (48 + data.len() as u64))
    }
}

fn compressed(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < COMPRESS_FROM || bytes.len() as u64 > UNPACK_AT_MOST {
        return None;
    }
    let packed = zstd::bulk::compress(bytes, 3).ok()?;
    (packed.len() <= bytes.len() - bytes.len() / 10).then_some(packed)
}

fn write_new(path: &std::path::Path, data: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(data)?;
    file.sync_all()
}

/// The directory and the path of a large content.
fn file_of(home: &Home, hash: &Hash) -> (PathBuf, PathBuf) {
    let name = hash.to_string();
    let dir = home.contents().join(&name[..2]);
    let path = dir.join(&name[2..]);
    (dir, path)
}

/// Where a large content is kept.
pub(crate) fn file(home: &Home, hash: &Hash) -> PathBuf {
    file_of(home, hash).1
}

/// Whether a row names the content in this file.
pub(crate) fn names(conn: &Connection, home: &Home, path: &Path) -> Result<bool, StoreError> {
    let name: String = path
        .strip_prefix(home.contents())
        .map(|inner| inner.to_string_lossy().replace('/', ""))
        .unwrap_or_default();
    let Ok(hash) = name.parse::<Hash>() else { return Ok(false) };
    let mut known = conn.prepare_cached("SELECT 1 FROM contents WHERE hash = ?")?;
    Ok(known.exists(params![hash.0])?)
}

/// A content as it was found.
pub(crate) enum Loaded {
    /// Its bytes have its hash.
    Sound(Vec<u8>),
    /// These bytes stand where it should be.
    Damaged(Vec<u8>),
    /// There is no such content.
    Missing,
}

/// Looks a content up and says in what state it is.
pub(crate) fn load(conn: &Connection, home: &Home, hash: &Hash) -> Result<Loaded, StoreError> {
    let row: Option<(u8, u64, Vec<u8>)> = conn
        .prepare_cached("SELECT codec, bytes, data FROM contents WHERE hash = ?")?
        .query_row(params![hash.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((codec, bytes, mut data)) = row else { return Ok(Loaded::Missing) };
    if codec & IN_FILE != 0 {
        let (_, path) = file_of(home, hash);
        data = match fs::read(&path) {
            Ok(data) => data,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Loaded::Missing),
            Err(e) => return Err(StoreError::io(&path, e)),
        };
    }
    if codec & ZSTD != 0 {
        match unpack(&data, bytes) {
            Some(unpacked) => data = unpacked,
            None => return Ok(Loaded::Damaged(data)),
        }
    }
    let sound = Hash::of(&data) == *hash;
    Ok(if sound { Loaded::Sound(data) } else { Loaded::Damaged(data) })
}

/// Whether a content is here: its row and, when it is large, its file. Does not look at its bytes.
pub(crate) fn is_kept(conn: &Connection, home: &Home, hash: &Hash) -> Result<bool, StoreError> {
    let codec: Option<u8> = conn
        .prepare_cached("SELECT codec FROM contents WHERE hash = ?")?
        .query_row(params![hash.0], |row| row.get(0))
        .optional()?;
    Ok(codec.is_some_and(|codec| codec & IN_FILE == 0 || file(home, hash).exists()))
}

fn unpack(data: &[u8], bytes: u64) -> Option<Vec<u8>> {
    let capacity = usize::try_from(bytes).ok().filter(|_| bytes <= UNPACK_AT_MOST)?;
    zstd::bulk::decompress(data, capacity).ok()
}

/// A content's bytes, or why they cannot be had.
pub(crate) fn read(conn: &Connection, home: &Home, hash: &Hash) -> Result<Vec<u8>, StoreError> {
    match load(conn, home, hash)? {
        Loaded::Sound(bytes) => Ok(bytes),
        Loaded::Missing => Err(StoreError::ContentMissing { hash: *hash }),
        Loaded::Damaged(_) => {
            let (_, file) = file_of(home, hash);
            let path = if file.exists() { file } else { home.db() };
            Err(StoreError::ContentCorrupt { hash: *hash, path })
        }
    }
}
