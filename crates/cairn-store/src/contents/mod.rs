//! Contents by hash: where they are, reading and checking them, and freeing those that nobody needs. How they get
//! there is `packed`.

pub(crate) mod check;
pub(crate) mod gc;
pub(crate) mod packed;

use crate::StoreError;
use crate::home::Home;
use cairn_types::Hash;
use rusqlite::{Connection, OptionalExtension, params};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Above this many bytes a content is kept as it is, and a packed one is not believed.
pub(crate) const UNPACK_AT_MOST: u64 = 1 << 30;
/// How much of a large content is read at once.
const CHUNK: usize = 64 * 1024;

/// A content's codec: its bytes are in a file.
pub(crate) const IN_FILE: u8 = 2;
/// A content's codec: its bytes are compressed.
pub(crate) const ZSTD: u8 = 1;

/// The directory and the path of a large content.
pub(crate) fn file_of(home: &Home, hash: &Hash) -> (PathBuf, PathBuf) {
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
    /// There is no such content any more: `gc` freed it.
    Freed,
    /// There is no such content, and nobody freed it.
    Missing,
}

/// Why a content is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// `gc` freed it.
    Freed,
    /// It is lost, or never was here.
    Missing,
}

/// Remembers that a content was let go on purpose.
pub(crate) fn note_freed(conn: &Connection, hash: &Hash) -> Result<(), StoreError> {
    conn.prepare_cached("INSERT OR IGNORE INTO freed (hash) VALUES (?)")?
        .execute(params![hash.0])?;
    Ok(())
}

/// Returns why a content is not here; `None` where it is. Does not look at its bytes.
pub(crate) fn absence(
    conn: &Connection,
    home: &Home,
    hash: &Hash,
) -> Result<Option<Absence>, StoreError> {
    if is_kept(conn, home, hash)? {
        return Ok(None);
    }
    // A row whose file is gone was not freed: its row would be gone, too.
    if stored(conn, hash)?.is_some() {
        return Ok(Some(Absence::Missing));
    }
    let mut freed = conn.prepare_cached("SELECT 1 FROM freed WHERE hash = ?")?;
    Ok(Some(match freed.exists(params![hash.0])? {
        true => Absence::Freed,
        false => Absence::Missing,
    }))
}

/// A content's row.
struct Stored {
    codec: u8,
    bytes: u64,
    data: Vec<u8>,
}

fn stored(conn: &Connection, hash: &Hash) -> Result<Option<Stored>, StoreError> {
    let row = conn
        .prepare_cached("SELECT codec, bytes, data FROM contents WHERE hash = ?")?
        .query_row(params![hash.0], |row| {
            Ok(Stored { codec: row.get(0)?, bytes: row.get(1)?, data: row.get(2)? })
        })
        .optional()?;
    Ok(row)
}

/// Looks a content up and says in what state it is.
pub(crate) fn load(conn: &Connection, home: &Home, hash: &Hash) -> Result<Loaded, StoreError> {
    let Some(Stored { codec, bytes, mut data }) = stored(conn, hash)? else {
        return Ok(match absence(conn, home, hash)? {
            Some(Absence::Freed) => Loaded::Freed,
            Some(Absence::Missing) | None => Loaded::Missing,
        });
    };
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
        Loaded::Freed => Err(StoreError::ContentFreed { hash: *hash }),
        Loaded::Missing => Err(StoreError::ContentMissing { hash: *hash }),
        Loaded::Damaged(_) => Err(corrupt(home, hash)),
    }
}

fn corrupt(home: &Home, hash: &Hash) -> StoreError {
    let (_, file) = file_of(home, hash);
    let path = if file.exists() { file } else { home.db() };
    StoreError::ContentCorrupt { hash: *hash, path }
}

/// A content, ready to be read piece by piece.
pub(crate) enum Readable {
    /// Its bytes.
    Held(Vec<u8>),
    /// It has a file.
    Large(Large),
}

/// A content's file.
pub(crate) struct Large {
    path: PathBuf,
    is_packed: bool,
    bytes: u64,
}

/// Finds a content; a large one is not read yet.
pub(crate) fn readable(
    conn: &Connection,
    home: &Home,
    hash: &Hash,
) -> Result<Readable, StoreError> {
    match stored(conn, hash)? {
        Some(Stored { codec, bytes, .. }) if codec & IN_FILE != 0 => {
            let (_, path) = file_of(home, hash);
            Ok(Readable::Large(Large { path, is_packed: codec & ZSTD != 0, bytes }))
        }
        _ => read(conn, home, hash).map(Readable::Held),
    }
}

impl Large {
    /// Hands the content on, piece by piece, once its hash was found to be right.
    pub(crate) fn each(
        &self,
        home: &Home,
        hash: &Hash,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        self.check(home, hash)?;
        self.pieces(take).map_err(|e| StoreError::io(&self.path, e))
    }

    /// Reads it and compares its hash.
    pub(crate) fn check(&self, home: &Home, hash: &Hash) -> Result<(), StoreError> {
        let mut hasher = blake3::Hasher::new();
        let hashed = self.pieces(&mut |piece| {
            hasher.update(piece);
        });
        match hashed {
            Ok(()) if hasher.finalize().as_bytes() == &hash.0 => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::ContentMissing { hash: *hash })
            }
            // What cannot be unpacked is as bad as what has another hash.
            Ok(()) | Err(_) => Err(corrupt(home, hash)),
        }
    }

    fn pieces(&self, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let file = File::open(&self.path)?;
        let unpacked: Box<dyn Read> = match self.is_packed {
            true => Box::new(zstd::stream::read::Decoder::new(file)?),
            false => Box::new(file),
        };
        // One byte more than there should be is enough to be found out.
        let mut unpacked = unpacked.take(self.bytes + 1);
        let mut buffer = vec![0; CHUNK];
        loop {
            match unpacked.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => take(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}
