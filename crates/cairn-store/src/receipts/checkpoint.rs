//! Checkpoints: a signed statement over all of a session's receipts and runs. Its cost grows with
//! the receipts since the last one and with the number of runs, never with history.

use crate::StoreError;
use crate::keys::Keys;
use crate::log::batch::Tally;
use crate::log::run::RunState;
use crate::receipts::digest::{ZERO, hex, sha256, unhex_array};
use crate::receipts::merkle::Frontier;
use cairn_types::{CheckpointPayload, Head, SessionId, to_canonical};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Where a session stands now, and its last checkpoint.
pub(crate) struct Standing {
    session: SessionId,
    frontier: Frontier,
    upto: i64,
    heads: Vec<Head>,
    last_at: u64,
    last: Option<Stored>,
}

/// A checkpoint's row.
struct Stored {
    seq: u64,
    upto: i64,
    frontier: Frontier,
    payload: String,
    hash: String,
}

/// A checkpoint, signed.
pub(crate) struct Signed {
    seq: u64,
    /// The canonical payload.
    pub(crate) payload: String,
    /// The anchor.
    pub(crate) hash: String,
    /// The signature, in hex.
    pub(crate) signature: String,
}

impl Stored {
    fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
        let frontier: Vec<u8> = row.get(3)?;
        let unusable = || rusqlite::Error::InvalidColumnType(3, "frontier".to_owned(), Type::Blob);
        Ok(Stored {
            seq: row.get(0)?,
            upto: row.get(2)?,
            frontier: Frontier::from_bytes(row.get(1)?, &frontier).ok_or_else(unusable)?,
            payload: row.get(4)?,
            hash: row.get(5)?,
        })
    }
}

impl Standing {
    /// Reads where a session stands.
    pub(crate) fn read(
        conn: &Connection,
        session: &SessionId,
        tally: &mut Tally,
    ) -> Result<Standing, StoreError> {
        let last = conn
            .prepare_cached(
                "SELECT seq, receipts, upto, frontier, payload, hash FROM checkpoints
                 WHERE session = ? ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([session.as_str()], Stored::read)
            .optional()?;
        let mut frontier = last.as_ref().map(|l| l.frontier.clone()).unwrap_or_default();
        let mut upto = last.as_ref().map_or(0, |l| l.upto);
        let mut statement = conn.prepare_cached(
            "SELECT id, hash FROM receipts WHERE session = ? AND id > ? ORDER BY id",
        )?;
        let mut rows = statement.query(params![session.as_str(), upto])?;
        while let Some(row) = rows.next()? {
            let hash: String = row.get(1)?;
            let unusable = || rusqlite::Error::InvalidColumnType(1, "hash".to_owned(), Type::Text);
            frontier.push(&unhex_array(&hash).ok_or_else(unusable)?);
            upto = row.get(0)?;
            tally.read(1);
        }
        let runs = RunState::all(conn, session)?;
        tally.read(1 + runs.len() as u64);
        let last_at = runs.iter().map(|r| r.last_at).max().unwrap_or(0);
        let heads = runs.iter().map(RunState::head).collect();
        Ok(Standing { session: session.clone(), frontier, upto, heads, last_at, last })
    }

    /// The last checkpoint's hash.
    pub(crate) fn last_anchor(&self) -> Option<&str> {
        self.last.as_ref().map(|last| last.hash.as_str())
    }

    /// The last checkpoint's hash, when that covers everything.
    pub(crate) fn covered(&self) -> Option<&str> {
        let last = self.last.as_ref()?;
        let payload: CheckpointPayload = serde_json::from_str(&last.payload).ok()?;
        let covers = payload.receipts == self.frontier.count() && payload.heads == self.heads;
        covers.then_some(last.hash.as_str())
    }

    /// When the session's last fact was recorded.
    pub(crate) fn last_at(&self) -> u64 {
        self.last_at
    }

    /// Signs a checkpoint that covers everything.
    pub(crate) fn sign(&self, keys: &Keys, at: u64) -> Result<Signed, StoreError> {
        let seq = self.last.as_ref().map_or(1, |last| last.seq + 1);
        let payload = to_canonical(&CheckpointPayload {
            v: 1,
            session_id: self.session.clone(),
            seq,
            receipts: self.frontier.count(),
            merkle_root: hex(&self.frontier.root()),
            heads: self.heads.clone(),
            public_key: keys.public(),
            timestamp: at,
            prev: self.last_anchor().unwrap_or(ZERO).to_owned(),
        })?;
        let hash = sha256(&[payload.as_bytes()]);
        Ok(Signed { seq, payload, hash: hex(&hash), signature: keys.sign(&hash) })
    }
}

/// Signs and stores a checkpoint that covers everything, unless the last one does. Gives the anchor.
pub(crate) fn ensure(
    conn: &Connection,
    keys: &Keys,
    session: &SessionId,
    at: u64,
    tally: &mut Tally,
) -> Result<String, StoreError> {
    let standing = Standing::read(conn, session, tally)?;
    if let Some(anchor) = standing.covered() {
        return Ok(anchor.to_owned());
    }
    let signed = standing.sign(keys, at)?;
    conn.prepare_cached(
        "INSERT INTO checkpoints (session, seq, receipts, upto, frontier, payload, hash, signature)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        session.as_str(),
        signed.seq,
        standing.frontier.count(),
        standing.upto,
        standing.frontier.to_bytes(),
        signed.payload,
        signed.hash,
        signed.signature
    ])?;
    tally.wrote(signed.payload.len() as u64 + 200);
    Ok(signed.hash)
}
