//! A run's row: what a commit must know of a run, and how forks hang together.

use crate::StoreError;
use crate::log::batch::{NewRun, Tally};
use crate::log::fact::{self, FactRow, bad_column};
use crate::receipts::digest::{Tail, ZERO};
use cairn_types::{FactOrder, ForkPoint, Head, RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Everything a commit knows of a run.
pub(crate) struct RunState {
    /// The run.
    pub(crate) id: RunId,
    /// Its session.
    pub(crate) session: SessionId,
    /// Where it left its parent.
    pub(crate) parent: Option<ForkPoint>,
    /// The lease under which it may be written.
    pub(crate) epoch: u64,
    /// Its last fact.
    pub(crate) last_n: u64,
    /// When that was.
    pub(crate) last_at: u64,
    /// Its chain's last receipt, a fork's parent's at first.
    pub(crate) seq: u64,
    /// That receipt's hash.
    pub(crate) head: String,
    /// The first fact after its last own receipt.
    pub(crate) tail_from: u64,
    /// The hash of the facts from there.
    pub(crate) tail: Tail,
    /// Its place in the order of facts; absent until that is read from them.
    pub(crate) order: Option<FactOrder>,
    /// When it came with an imported session, after which it is never written; 0 if it did not.
    pub(crate) imported: u64,
}

const COLUMNS: &str = "id, session, parent, fork_n, epoch, last_n, last_at, seq, head, tail_from, tail, imported, course";

impl RunState {
    fn read(row: &Row<'_>) -> rusqlite::Result<RunState> {
        let tail: Vec<u8> = row.get(10)?;
        let unusable = || rusqlite::Error::InvalidColumnType(10, "tail".into(), row_blob());
        Ok(RunState {
            id: id(row, 0)?,
            session: id(row, 1)?,
            parent: parent(row, 2)?,
            epoch: row.get(4)?,
            last_n: row.get(5)?,
            last_at: row.get(6)?,
            seq: row.get(7)?,
            head: row.get(8)?,
            tail_from: row.get(9)?,
            tail: Tail::from_bytes(&tail).ok_or_else(unusable)?,
            imported: row.get(11)?,
            // What cannot be read is found out anew.
            order: row.get::<_, Option<String>>(12)?.as_deref().and_then(FactOrder::from_text),
        })
    }

    /// The run's row.
    pub(crate) fn load(conn: &Connection, run: &RunId) -> Result<Option<RunState>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?");
        let mut statement = conn.prepare_cached(&sql)?;
        Ok(statement.query_row([run.as_str()], RunState::read).optional()?)
    }

    /// The rows of all of a session's runs, by id.
    pub(crate) fn all(conn: &Connection, session: &SessionId) -> Result<Vec<RunState>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE session = ? ORDER BY id");
        let mut statement = conn.prepare_cached(&sql)?;
        let rows = statement.query_map([session.as_str()], RunState::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Puts a new run in. A fork costs the same whatever its parent's length.
    pub(crate) fn create(
        conn: &Connection,
        new: &NewRun,
        tally: &mut Tally,
    ) -> Result<RunState, StoreError> {
        let refuse = |why: &str| StoreError::BadBatch { run: new.id.clone(), why: why.to_owned() };
        if RunState::load(conn, &new.id)?.is_some() {
            return Err(refuse("there is such a run already"));
        }
        let (seq, head) = match &new.parent {
            None => (0, ZERO.to_owned()),
            Some(parent) => {
                let found = RunState::load(conn, &parent.run)?;
                let found = found.ok_or_else(|| refuse("the run it forks does not exist"))?;
                if found.session != new.session || found.last_n < parent.n {
                    return Err(refuse("it forks another session's run, or a fact not there yet"));
                }
                base(conn, parent, tally)?
            }
        };
        let fork_n = new.parent.as_ref().map_or(0, |p| p.n);
        let state = RunState {
            id: new.id.clone(),
            session: new.session.clone(),
            parent: new.parent.clone(),
            epoch: 0,
            last_n: fork_n,
            last_at: new.at,
            seq,
            head,
            tail_from: fork_n + 1,
            tail: Tail::first(new.parent.as_ref())?,
            imported: 0,
            order: None,
        };
        state.insert(conn, new)?;
        tally.wrote(256);
        Ok(state)
    }

    fn insert(&self, conn: &Connection, new: &NewRun) -> Result<(), StoreError> {
        conn.prepare_cached(
            "INSERT INTO runs (id, session, name, parent, fork_n, created_at, last_at, epoch,
             last_n, seq, head, tail_from, tail, made)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             (SELECT coalesce(max(made), 0) + 1 FROM runs))",
        )?
        .execute(params![
            self.id.as_str(),
            self.session.as_str(),
            new.name,
            self.parent.as_ref().map(|p| p.run.as_str()),
            self.fork_n(),
            new.at,
            self.last_at,
            self.epoch,
            self.last_n,
            self.seq,
            self.head,
            self.tail_from,
            self.tail.to_bytes()
        ])?;
        Ok(())
    }

    /// Keeps what a commit changed.
    pub(crate) fn save(&self, conn: &Connection) -> Result<(), StoreError> {
        conn.prepare_cached(
            "UPDATE runs SET epoch = ?, last_n = ?, last_at = ?, seq = ?, head = ?,
             tail_from = ?, tail = ?, imported = ?, course = ? WHERE id = ?",
        )?
        .execute(params![
            self.epoch,
            self.last_n,
            self.last_at,
            self.seq,
            self.head,
            self.tail_from,
            self.tail.to_bytes(),
            self.imported,
            self.order.as_ref().map(FactOrder::to_text),
            self.id.as_str()
        ])?;
        Ok(())
    }

    fn fork_n(&self) -> u64 {
        self.parent.as_ref().map_or(0, |p| p.n)
    }

    /// The run's last own receipt: its place and hash, or 0 and zeros.
    pub(crate) fn own_head(&self) -> (u64, &str) {
        if self.tail_from > self.fork_n() + 1 { (self.seq, &self.head) } else { (0, ZERO) }
    }

    /// Where the run stands, as a checkpoint says it.
    pub(crate) fn head(&self) -> Head {
        let (seq, hash) = self.own_head();
        let tail = cairn_types::FactSpan {
            from: self.tail_from,
            to: self.last_n,
            sha256: self.tail.hash(),
        };
        Head { run: self.id.clone(), seq, hash: hash.to_owned(), tail }
    }
}

fn row_blob() -> rusqlite::types::Type {
    rusqlite::types::Type::Blob
}

/// An id in a column.
pub(crate) fn id<T>(row: &Row<'_>, index: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.get::<_, String>(index)?.parse().map_err(|e| bad_column(index, e))
}

/// A fork point in two columns.
pub(crate) fn parent(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<ForkPoint>> {
    match row.get::<_, Option<String>>(index)? {
        None => Ok(None),
        Some(_) => Ok(Some(ForkPoint { run: id(row, index)?, n: row.get(index + 1)? })),
    }
}

/// The runs whose facts a run reads, itself first, each with the last fact it reads of it.
pub(crate) fn lineage(conn: &Connection, run: &RunId) -> Result<Vec<(RunId, u64)>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT parent, fork_n FROM runs WHERE id = ?")?;
    let mut lineage = vec![(run.clone(), i64::MAX as u64)];
    while let Some((last, bound)) = lineage.last() {
        let found = statement.query_row([last.as_str()], |row| parent(row, 0)).optional()?;
        match found.flatten() {
            Some(next) if !lineage.iter().any(|(seen, _)| *seen == next.run) => {
                let bound = next.n.min(*bound);
                lineage.push((next.run, bound));
            }
            _ => break,
        }
    }
    Ok(lineage)
}

/// Reads a run's place in the order of facts. Those of ops are read of the newest turn alone: before it nothing is
/// open.
pub(crate) fn read_fact_order(conn: &Connection, run: &RunId) -> Result<FactOrder, StoreError> {
    let of_ops = "'intent', 'decision', 'reach', 'begin', 'outcome'";
    let newest = "SELECT max(n) FROM facts WHERE run = ?1 AND n <= ?2 AND kind = 'reply'";
    let sql = format!(
        "SELECT {} FROM facts WHERE run = ?1 AND n <= ?2 AND (kind NOT IN ({of_ops})
         OR n > coalesce(({newest}), 0)) ORDER BY n",
        fact::COLUMNS
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut order = FactOrder::default();
    for (run, bound) in lineage(conn, run)?.into_iter().rev() {
        order.enter_fork();
        let mut rows = statement.query(params![run.as_str(), bound])?;
        while let Some(row) = rows.next()? {
            order.advance(&FactRow::read(row)?.into_fact()?.body);
        }
    }
    Ok(order)
}

/// The last receipt at or before a fork point.
fn base(
    conn: &Connection,
    point: &ForkPoint,
    tally: &mut Tally,
) -> Result<(u64, String), StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT seq, hash FROM receipts WHERE run = ? AND fact_n <= ?
         ORDER BY fact_n DESC LIMIT 1",
    )?;
    for (run, bound) in lineage(conn, &point.run)? {
        tally.read(1);
        let found = statement
            .query_row(params![run.as_str(), bound.min(point.n)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        if let Some(receipt) = found {
            return Ok(receipt);
        }
    }
    Ok((0, ZERO.to_owned()))
}
