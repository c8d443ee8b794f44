//! Whose keys signed the beginning of a session that was imported. Judges nothing.

use crate::StoreError;
use crate::receipts::verify::lines::Origin;
use cairn_types::SessionId;
use rusqlite::{Connection, params};

/// A session's origins, in order; none where it began here.
pub(crate) fn of(conn: &Connection, session: &SessionId) -> Result<Vec<Origin>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT public_key, receipts, checkpoints FROM origins WHERE session = ? ORDER BY seq",
    )?;
    let rows = statement.query_map([session.as_str()], |row| {
        Ok(Origin { public_key: row.get(0)?, receipts: row.get(1)?, checkpoints: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Notes a session's origins, all of them.
pub(crate) fn insert(
    conn: &Connection,
    session: &SessionId,
    origins: &[Origin],
    at: u64,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(
        "INSERT INTO origins (session, seq, public_key, receipts, checkpoints, imported_at)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for (seq, origin) in origins.iter().enumerate() {
        let Origin { public_key, receipts, checkpoints } = origin;
        statement.execute(params![
            session.as_str(),
            seq + 1,
            public_key,
            receipts,
            checkpoints,
            at
        ])?;
    }
    Ok(())
}

/// The key of a session's last stretch and the origins before it, as a bundle's header has them,
/// when it holds so many checkpoints: an imported session that did not go on has its own signer's.
pub(crate) fn header(
    conn: &Connection,
    session: &SessionId,
    own: String,
    checkpoints: u64,
) -> Result<(String, Vec<Origin>), StoreError> {
    let mut origins = of(conn, session)?;
    let key = match origins.pop_if(|last| last.checkpoints == checkpoints) {
        Some(last) => last.public_key,
        None => own,
    };
    Ok((key, origins))
}
