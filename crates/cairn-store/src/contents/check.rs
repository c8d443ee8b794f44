//! Reads every content and says which cannot be read as they were kept: damaged, or missing although
//! nobody freed them.

use crate::StoreError;
use crate::contents::{self, Readable};
use crate::home::Home;
use cairn_types::{Hash, SessionId, changed_contents_in, contents_in, hashes_in};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A content that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableContent {
    /// Its hash.
    pub hash: Hash,
    /// The file or database in which it is damaged; absent where it is missing.
    pub damaged_in: Option<PathBuf>,
}

/// What reading every content came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentsReport {
    /// How many were read.
    pub read: u64,
    /// How many facts name that were freed on purpose.
    pub freed: u64,
    /// Those that are damaged or missing.
    pub unreadable: Vec<UnreadableContent>,
}

/// Reads every content of a session, or of the whole home. `progress` is told how many of how many were
/// looked at.
pub(crate) fn check_contents(
    conn: &Connection,
    home: &Home,
    session: Option<&SessionId>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ContentsReport, StoreError> {
    let hashes = to_read(conn, session)?;
    let mut report = ContentsReport::default();
    for (done, hash) in (0..).zip(&hashes) {
        progress(done, hashes.len() as u64);
        match read_whole(conn, home, hash) {
            Ok(()) => report.read += 1,
            Err(StoreError::ContentFreed { .. }) => report.freed += 1,
            Err(StoreError::ContentMissing { hash }) => {
                report.unreadable.push(UnreadableContent { hash, damaged_in: None });
            }
            Err(StoreError::ContentCorrupt { hash, path }) => {
                report.unreadable.push(UnreadableContent { hash, damaged_in: Some(path) });
            }
            Err(error) => return Err(error),
        }
    }
    progress(hashes.len() as u64, hashes.len() as u64);
    Ok(report)
}

/// The contents that facts name as such, those from before and after the changes of ops and, for the whole home, all
/// that are stored.
fn to_read(conn: &Connection, session: Option<&SessionId>) -> Result<BTreeSet<Hash>, StoreError> {
    let mut hashes = BTreeSet::new();
    let mut bodies = conn.prepare(
        "SELECT facts.body, facts.kind IN ('begin', 'outcome') AND runs.name IS NOT '@system'
         FROM runs JOIN facts ON facts.run = runs.id WHERE ?1 IS NULL OR runs.session = ?1",
    )?;
    let mut stored = conn.prepare("SELECT 1 FROM contents WHERE hash = ?")?;
    let mut rows = bodies.query(params![session.map(SessionId::as_str)])?;
    while let Some(row) = rows.next()? {
        let body = serde_json::from_str(row.get_ref(0)?.as_str().unwrap_or_default());
        let body: serde_json::Value = body.unwrap_or_default();
        contents_in(&body, &mut hashes);
        // What an op changed can be undone, so it was kept. What somebody else changed is noted without its bytes.
        if row.get(1)? {
            hashes.extend(changed_contents_in(&body));
        }
        // What files held is named without being a content of its own; it is one where it was kept.
        if session.is_some() {
            let mut named = Vec::new();
            hashes_in(&body, &mut named);
            for hash in named {
                if !hashes.contains(&hash) && stored.exists(params![hash.0])? {
                    hashes.insert(hash);
                }
            }
        }
    }
    if session.is_none() {
        let mut all = conn.prepare("SELECT hash FROM contents")?;
        for hash in all.query_map([], |row| row.get::<_, [u8; 32]>(0))? {
            hashes.insert(Hash(hash?));
        }
    }
    Ok(hashes)
}

/// Reads a content and compares its hash; a large one piece by piece.
fn read_whole(conn: &Connection, home: &Home, hash: &Hash) -> Result<(), StoreError> {
    match contents::readable(conn, home, hash)? {
        Readable::Held(_) => Ok(()),
        Readable::Large(large) => large.check(home, hash),
    }
}
