//! Writes a session as one portable file: a header, the session's bundle, and every content that its
//! facts name, each with its hash. `docs/receipts.md` has the format. Judges nothing, reads no such
//! file; that is `import`.

use crate::StoreError;
use crate::contents;
use crate::contents::gc::named_by;
use crate::home::Home;
use crate::keys::Keys;
use crate::log::fact::{Unreadable, each_body};
use crate::log::run::id;
use crate::transfer::bundle;
use cairn_types::{Hash, RunId, SessionId, contents_in, to_canonical};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

/// What an export's format is called.
pub(crate) const FORMAT: &str = "cairn-export";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) r#type: String,
    pub(crate) format: String,
    pub(crate) v: u32,
    pub(crate) session_id: SessionId,
    pub(crate) name: Option<String>,
    pub(crate) root: String,
    pub(crate) created_at: u64,
    pub(crate) runs: Vec<RunHeader>,
    /// How many bytes the bundle has.
    pub(crate) bundle: u64,
    /// How many contents follow it.
    pub(crate) contents: u64,
}

/// What a bundle does not say of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunHeader {
    pub(crate) run: RunId,
    pub(crate) name: Option<String>,
    pub(crate) created_at: u64,
}

/// The line before a content's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContentHeader {
    pub(crate) r#type: String,
    pub(crate) hash: Hash,
    pub(crate) bytes: u64,
}

/// What an export holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Runs.
    pub runs: u64,
    /// Contents.
    pub contents: u64,
    /// Contents that facts name and that are not here any more.
    pub missing: u64,
}

/// Writes the file. A checkpoint must cover the session.
pub(crate) fn write(
    conn: &Connection,
    home: &Home,
    keys: &Keys,
    session: &SessionId,
    out: &mut dyn Write,
) -> Result<Exported, StoreError> {
    let mut signed = Vec::new();
    bundle::write(conn, home, keys, session, &mut signed)?;
    let mut header = header(conn, session)?;
    let named = named_by(conn, header.runs.iter().map(|run| &run.run), Unreadable::Skipped)?;
    let mut held = Vec::new();
    for hash in named.into_iter().collect::<BTreeSet<Hash>>() {
        if contents::is_kept(conn, home, &hash)? {
            held.push(hash);
        }
    }
    (header.bundle, header.contents) = (signed.len() as u64, held.len() as u64);
    let fail = |source| StoreError::Io { path: "the export".into(), source: Arc::new(source) };
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(fail);
    put(format!("{}\n", to_canonical(&header)?).as_bytes())?;
    put(&signed)?;
    for hash in &held {
        let bytes = contents::read(conn, home, hash)?;
        let r#type = "content".to_owned();
        let line = ContentHeader { r#type, hash: *hash, bytes: bytes.len() as u64 };
        put(format!("{}\n", to_canonical(&line)?).as_bytes())?;
        put(&bytes)?;
        put(b"\n")?;
    }
    let missing = missing(conn, &header, &held)?;
    Ok(Exported { runs: header.runs.len() as u64, contents: held.len() as u64, missing })
}

/// How many contents are named as such and were freed or lost.
fn missing(conn: &Connection, header: &Header, held: &[Hash]) -> Result<u64, StoreError> {
    let mut named = BTreeSet::new();
    for run in &header.runs {
        each_body(conn, &run.run, Unreadable::Skipped, &mut |body| contents_in(body, &mut named))?;
    }
    Ok(named.iter().filter(|hash| held.binary_search(hash).is_err()).count() as u64)
}

fn header(conn: &Connection, session: &SessionId) -> Result<Header, StoreError> {
    let mut runs =
        conn.prepare_cached("SELECT id, name, created_at FROM runs WHERE session = ? ORDER BY id")?;
    let runs = runs.query_map([session.as_str()], |row| {
        Ok(RunHeader { run: id(row, 0)?, name: row.get(1)?, created_at: row.get(2)? })
    })?;
    let runs = runs.collect::<Result<_, _>>()?;
    let mut statement =
        conn.prepare_cached("SELECT name, root, created_at FROM sessions WHERE id = ?")?;
    Ok(statement.query_row([session.as_str()], |row| {
        Ok(Header {
            r#type: "export".to_owned(),
            format: FORMAT.to_owned(),
            v: 1,
            session_id: session.clone(),
            name: row.get(0)?,
            root: row.get(1)?,
            created_at: row.get(2)?,
            runs,
            bundle: 0,
            contents: 0,
        })
    })?)
}
