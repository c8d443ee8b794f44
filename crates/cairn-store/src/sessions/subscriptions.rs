//! The streams that go on and the runs that hold them, so that whoever wants one to end finds whom to tell. What
//! came of one is in its run's log.

use crate::StoreError;
use crate::log::run::id;
use cairn_types::{Coord, RunId, SessionId};
use rusqlite::types::Type;
use rusqlite::{Connection, params};

/// A stream that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The run that holds it.
    pub run: RunId,
    /// The op that opened it.
    pub row: Coord,
    /// Its address.
    pub address: String,
    /// Since when, milliseconds since 1970.
    pub at: u64,
}

/// An op opened a stream; one that ended before its row was settled is not open.
pub(crate) fn open(
    conn: &Connection,
    (session, run): (&SessionId, &RunId),
    (row, address): (Coord, &str),
    at: u64,
) -> Result<(), StoreError> {
    conn.prepare_cached(
        "INSERT OR IGNORE INTO subscriptions (run, row, session, address, at)
         SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS
         (SELECT 1 FROM facts WHERE run = ?1 AND row = ?2 AND kind = 'stream')",
    )?
    .execute(params![run.as_str(), row.to_string(), session.as_str(), address, at])?;
    Ok(())
}

/// A stream is over.
pub(crate) fn close(conn: &Connection, run: &RunId, row: Coord) -> Result<(), StoreError> {
    conn.prepare_cached("DELETE FROM subscriptions WHERE run = ? AND row = ?")?
        .execute([run.as_str(), &row.to_string()])?;
    Ok(())
}

/// Those of a session, in order of address.
pub(crate) fn of(conn: &Connection, session: &SessionId) -> Result<Vec<Subscription>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT run, row, address, at FROM subscriptions WHERE session = ? ORDER BY address, run, row",
    )?;
    let open = rows.query_map([session.as_str()], |row| {
        let at: String = row.get(1)?;
        let at = at.parse().map_err(|e: cairn_types::CoordError| {
            rusqlite::Error::FromSqlConversionFailure(1, Type::Text, Box::new(e))
        })?;
        Ok(Subscription { run: id(row, 0)?, row: at, address: row.get(2)?, at: row.get(3)? })
    })?;
    Ok(open.collect::<Result<_, _>>()?)
}

/// A session is deleted.
pub(crate) fn forget(conn: &Connection, session: &SessionId) -> Result<(), StoreError> {
    conn.execute("DELETE FROM subscriptions WHERE session = ?", [session.as_str()])?;
    Ok(())
}
