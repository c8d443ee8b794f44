//! What the rows of a session came to, across its runs, in the order in which they were committed.

use crate::StoreError;
use crate::log::fact::{COLUMNS as FACT_COLUMNS, FactRow};
use cairn_types::{Fact, RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

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

/// In which order the rows of a session were recorded: that of their receipts, whatever a clock said.
#[derive(Debug, Clone, Default)]
pub struct RecordedOrder {
    /// Of each run the facts that have a receipt, with its place in the session.
    runs: HashMap<RunId, Vec<(u64, u64)>>,
    /// The places by the receipts' names.
    names: HashMap<String, u64>,
}

impl RecordedOrder {
    /// Reads it.
    pub(crate) fn read(
        conn: &Connection,
        session: &SessionId,
    ) -> Result<RecordedOrder, StoreError> {
        let mut receipts = conn.prepare_cached(
            "SELECT run, fact_n, id, receipt_id FROM receipts WHERE session = ? ORDER BY id",
        )?;
        let mut rows = receipts.query([session.as_str()])?;
        let mut order = RecordedOrder::default();
        while let Some(row) = rows.next()? {
            let place = row.get(2)?;
            order.runs.entry(crate::log::run::id(row, 0)?).or_default().push((row.get(1)?, place));
            order.names.insert(row.get(3)?, place);
        }
        Ok(order)
    }

    /// The place of the first row of a run that was settled by this fact or a later one.
    #[must_use]
    pub fn settled_from(&self, run: &RunId, n: u64) -> Option<u64> {
        let of_run = self.runs.get(run)?;
        of_run.get(of_run.partition_point(|(fact, _)| *fact < n)).map(|(_, place)| *place)
    }

    /// The place of the last row of a run that was settled before this fact; 0 where there is none.
    #[must_use]
    pub fn settled_before(&self, run: &RunId, n: u64) -> u64 {
        let of_run = self.runs.get(run).map_or(&[][..], Vec::as_slice);
        let before = of_run.partition_point(|(fact, _)| *fact < n).checked_sub(1);
        before.and_then(|index| of_run.get(index)).map_or(0, |(_, place)| *place)
    }

    /// The place of a receipt; 0 where there is none of that name.
    #[must_use]
    pub fn of_receipt(&self, name: &str) -> u64 {
        self.names.get(name).copied().unwrap_or(0)
    }
}
