//! Money that the runs of a session share: what was spent, and what calls under way may yet cost. A
//! reservation lives as long as its run's lease. What a model costs is not known here.

use crate::StoreError;
use crate::home::Home;
use crate::log::lease;
use cairn_types::{PicoUsd, RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

/// A wish to spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserve<'a> {
    /// Whose call it is. Its driver holds the run's lease.
    pub run: &'a RunId,
    /// Whose budget it is.
    pub session: &'a SessionId,
    /// What the session's runs may spend in all.
    pub budget: PicoUsd,
    /// Less than this is of no use.
    pub least: PicoUsd,
    /// More than this is not needed.
    pub most: PicoUsd,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// So much is set aside, until the reply or its want is recorded.
    Granted(PicoUsd),
    /// Too little is left.
    Short {
        /// What the session has cost so far.
        spent: PicoUsd,
        /// What other runs have set aside.
        reserved: PicoUsd,
    },
}

/// The largest sum that the database holds.
const MOST: u64 = i64::MAX as u64;

/// Sets money aside, or says that there is too little.
pub(crate) fn reserve(
    conn: &Connection,
    home: &Home,
    wish: &Reserve<'_>,
) -> Result<Reserved, StoreError> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    let spent = counted(&tx, wish.session)?;
    let reserved = of_others(&tx, home, wish)?;
    let left = wish.budget.0.saturating_sub(spent).saturating_sub(reserved);
    tx.execute("DELETE FROM reserved WHERE run = ?", [wish.run.as_str()])?;
    let answer = if left < wish.least.0 {
        Reserved::Short { spent: PicoUsd(spent), reserved: PicoUsd(reserved) }
    } else {
        let granted = left.min(wish.most.0).min(MOST);
        tx.execute(
            "INSERT INTO reserved (run, session, pico) VALUES (?, ?, ?)",
            params![wish.run.as_str(), wish.session.as_str(), granted],
        )?;
        Reserved::Granted(PicoUsd(granted))
    };
    tx.commit()?;
    Ok(answer)
}

/// What the session has cost. From here on it is counted with every reply.
fn counted(conn: &Connection, session: &SessionId) -> Result<u64, StoreError> {
    if let Some(spent) = spent(conn, session)? {
        return Ok(spent);
    }
    let mut all = PicoUsd(0);
    let which = crate::log::read::Replies { since: 0, session: Some(session.clone()) };
    crate::log::read::replies(conn, &which, &mut |reply| all += reply.cost.unwrap_or_default())?;
    let all = all.0.min(MOST);
    conn.execute(
        "INSERT INTO spent (session, pico) VALUES (?, ?)",
        params![session.as_str(), all],
    )?;
    Ok(all)
}

fn spent(conn: &Connection, session: &SessionId) -> Result<Option<u64>, StoreError> {
    let mut found = conn.prepare_cached("SELECT pico FROM spent WHERE session = ?")?;
    Ok(found.query_row([session.as_str()], |row| row.get(0)).optional()?)
}

/// What other runs have set aside. That of a driver which died is given back.
fn of_others(conn: &Connection, home: &Home, wish: &Reserve<'_>) -> Result<u64, StoreError> {
    let mut rows = conn.prepare("SELECT run, pico FROM reserved WHERE session = ? AND run <> ?")?;
    let found = rows.query_map([wish.session.as_str(), wish.run.as_str()], |row| {
        Ok((crate::log::run::id::<RunId>(row, 0)?, row.get::<_, u64>(1)?))
    })?;
    let mut sum = 0_u64;
    for (run, pico) in found.collect::<Result<Vec<_>, _>>()? {
        if lease::is_held(home, &run) {
            sum = sum.saturating_add(pico);
        } else {
            conn.execute("DELETE FROM reserved WHERE run = ?", [run.as_str()])?;
        }
    }
    Ok(sum)
}

/// A reply is recorded: what was set aside for it goes back, what it cost is spent. Of one that nobody
/// can count, all that was set aside is.
pub(crate) fn settle(
    conn: &Connection,
    (session, run): (&SessionId, &RunId),
    cost: Option<PicoUsd>,
) -> Result<(), StoreError> {
    let reserved = release(conn, run)?;
    let cost = cost.map(|cost| cost.0).or(reserved).unwrap_or(0);
    if let Some(spent) = spent(conn, session)? {
        let spent = spent.saturating_add(cost).min(MOST);
        conn.prepare_cached("UPDATE spent SET pico = ? WHERE session = ?")?
            .execute(params![spent, session.as_str()])?;
    }
    Ok(())
}

/// Gives back what a run has set aside; says how much that was.
pub(crate) fn release(conn: &Connection, run: &RunId) -> Result<Option<u64>, StoreError> {
    let mut gone = conn.prepare_cached("DELETE FROM reserved WHERE run = ? RETURNING pico")?;
    Ok(gone.query_row([run.as_str()], |row| row.get(0)).optional()?)
}

/// Forgets what was counted for a session that is deleted.
pub(crate) fn forget(conn: &Connection, session: &SessionId) -> Result<(), StoreError> {
    conn.execute("DELETE FROM spent WHERE session = ?", [session.as_str()])?;
    conn.execute("DELETE FROM reserved WHERE session = ?", [session.as_str()])?;
    Ok(())
}
