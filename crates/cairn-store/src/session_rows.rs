//! What the rows of a session came to, across its runs, in the order in which they were committed.

use crate::StoreError;
use crate::fact::{COLUMNS as FACT_COLUMNS, FactRow};
use cairn_types::{Fact, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

/// The newest receipt of a session, if it has one.
pub(crate) fn newest(conn: &Connection, session: &SessionId) -> Result<Option<String>, StoreError> {
    let mut newest = conn.prepare_cached(
        "SELECT receipt_id FROM receipts WHERE session = ? ORDER BY id DESC LIMIT 1",
    )?;
    Ok(newest.query_row([session.as_str()], |row| row.get(0)).optional()?)
}

/// The outcomes after a receipt, each with its own; all of them after an empty name. None where no such
/// receipt is here.
pub(crate) fn since(
    conn: &Connection,
    session: &SessionId,
    receipt: &str,
) -> Result<Option<Vec<(String, Fact)>>, StoreError> {
    let after: Option<i64> = match receipt.is_empty() {
        true => Some(0),
        false => conn
            .prepare_cached("SELECT max(id) FROM receipts WHERE session = ? AND receipt_id = ?")?
            .query_row([session.as_str(), receipt], |row| row.get(0))?,
    };
    let Some(after) = after else { return Ok(None) };
    let mut receipts = conn.prepare_cached(
        "SELECT run, fact_n, receipt_id FROM receipts WHERE session = ? AND id > ? ORDER BY id",
    )?;
    let sql = format!("SELECT {FACT_COLUMNS} FROM facts WHERE run = ? AND n = ?");
    let mut facts = conn.prepare_cached(&sql)?;
    let mut rows = receipts.query(params![session.as_str(), after])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (run, n): (String, u64) = (row.get(0)?, row.get(1)?);
        let mut fact = facts.query(params![run, n])?;
        if let Some(fact) = fact.next()? {
            found.push((row.get(2)?, FactRow::read(fact)?.into_fact()?));
        }
    }
    Ok(Some(found))
}
