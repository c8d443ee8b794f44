//! Deletes a session: its rows in one transaction, then the files that only it needed. Nothing of
//! another session changes, so that still verifies. A run that is being driven keeps its session.

use crate::contents::gc::{named_by, remove_unnamed};
use crate::home::Home;
use crate::log::fact::Unreadable;
use crate::log::lease;
use crate::sessions::{answers, entries, mail, money, subscriptions};
use crate::{StoreError, contents};
use cairn_types::{Hash, RunId, SessionId};
use rusqlite::{Connection, params};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

/// What went with a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Runs.
    pub runs: u64,
    /// Facts.
    pub facts: u64,
    /// Receipts.
    pub receipts: u64,
    /// Contents that nobody else names.
    pub contents: u64,
    /// Their bytes as stored.
    pub bytes: u64,
}

/// Deletes, with a connection of its own. `at` is the time, milliseconds since 1970.
pub(crate) fn delete(
    conn: &Connection,
    home: &Home,
    session: &SessionId,
    at: u64,
) -> Result<Deleted, StoreError> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let done = rows(conn, home, session, at).and_then(|(deleted, files, runs)| {
        answers::forget(conn, session)?;
        // Whoever takes one from here on finds its run gone, and has written nothing.
        refuse_driven(home, &runs)?;
        conn.execute_batch("COMMIT")?;
        Ok((deleted, files, runs))
    });
    if done.is_err() && !conn.is_autocommit() {
        conn.execute_batch("ROLLBACK")?;
    }
    let (deleted, files, runs) = done?;
    // A crash from here on leaves files that no row names; `gc` removes them.
    runs.iter().for_each(|run| remove_outside(home, run));
    let _ = fs::remove_file(home.surveys().join(session.as_str()));
    let _ = fs::remove_file(home.leases().join(format!("survey-{session}.lock")));
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let removed = remove_unnamed(conn, home, &files);
    conn.execute_batch("COMMIT")?;
    removed?;
    // Another process at work keeps the file as it is; the space is used again anyway.
    let _ = conn.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
    Ok(deleted)
}

/// What is kept of a run outside the database.
fn remove_outside(home: &Home, run: &RunId) {
    let _ = fs::remove_file(home.heads().join(run.as_str()));
    lease::remove_if_free(home, run);
}

/// Removes what a deletion that was cut off left outside the database.
pub(crate) fn remove_leftovers(conn: &Connection, home: &Home) -> Result<(), StoreError> {
    let mut deleted =
        conn.prepare("SELECT session FROM deleted WHERE session NOT IN (SELECT id FROM sessions)")?;
    let deleted = deleted.query_map([], |row| crate::log::run::id::<SessionId>(row, 0))?;
    let deleted = deleted.collect::<Result<HashSet<_>, _>>()?;
    if deleted.is_empty() {
        return Ok(());
    }
    let heads = crate::receipts::heads::all(home)?;
    let left = heads.iter().filter(|head| deleted.contains(head.session()));
    left.for_each(|head| remove_outside(home, head.run()));
    Ok(())
}

fn refuse_driven(home: &Home, runs: &[RunId]) -> Result<(), StoreError> {
    match runs.iter().find(|run| lease::is_held(home, run)) {
        None => Ok(()),
        Some(run) => {
            let holder = lease::holder_of(home, run);
            let holder = holder.unwrap_or_else(|| "another process".to_owned());
            Err(StoreError::Held { run: run.clone(), holder })
        }
    }
}

/// Deletes the rows; gives what they were, the files of contents, and the runs.
fn rows(
    conn: &Connection,
    home: &Home,
    session: &SessionId,
    at: u64,
) -> Result<(Deleted, Vec<PathBuf>, Vec<RunId>), StoreError> {
    let all = run_ids(conn, "SELECT id FROM runs WHERE session = ?", session)?;
    let others = run_ids(conn, "SELECT id FROM runs WHERE session <> ?", session)?;
    refuse_driven(home, &all)?;
    let mut alone = named_by(conn, &all, Unreadable::Skipped)?;
    for other in others {
        // One run at a time: what is held is what the session names, however large the home is.
        let named = named_by(conn, [&other], Unreadable::Refused)?;
        alone.retain(|hash| !named.contains(hash));
    }
    let elsewhere = entries::named(conn, Some(session))?;
    alone.retain(|hash| !elsewhere.contains(hash));
    let mut deleted = Deleted { runs: all.len() as u64, ..Deleted::default() };
    let files = remove_contents(conn, home, &alone, &mut deleted)?;
    for run in &all {
        let mut facts = conn.prepare_cached("DELETE FROM facts WHERE run = ?")?;
        deleted.facts += facts.execute([run.as_str()])? as u64;
    }
    let of_session = |sql: &str| conn.execute(sql, [session.as_str()]);
    deleted.receipts = of_session("DELETE FROM receipts WHERE session = ?")? as u64;
    of_session("DELETE FROM checkpoints WHERE session = ?")?;
    of_session("DELETE FROM origins WHERE session = ?")?;
    money::forget(conn, session)?;
    entries::forget(conn, session)?;
    mail::forget(conn, session)?;
    subscriptions::forget(conn, session)?;
    of_session("DELETE FROM runs WHERE session = ?")?;
    if of_session("DELETE FROM sessions WHERE id = ?")? == 0 {
        return Err(StoreError::NoSuch { text: session.to_string() });
    }
    conn.execute(
        "INSERT OR REPLACE INTO deleted (session, at) VALUES (?, ?)",
        params![session.as_str(), at],
    )?;
    Ok((deleted, files, all))
}

fn run_ids(conn: &Connection, sql: &str, session: &SessionId) -> Result<Vec<RunId>, StoreError> {
    let mut statement = conn.prepare(sql)?;
    let rows = statement.query_map([session.as_str()], |row| crate::log::run::id(row, 0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Deletes the rows of these contents; gives their files.
fn remove_contents(
    conn: &Connection,
    home: &Home,
    hashes: &HashSet<Hash>,
    deleted: &mut Deleted,
) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = Vec::new();
    let mut stored = conn.prepare("SELECT length(data) FROM contents WHERE hash = ?")?;
    let mut remove = conn.prepare("DELETE FROM contents WHERE hash = ?")?;
    for hash in hashes {
        let Ok(bytes) = stored.query_row([hash.0], |row| row.get::<_, u64>(0)) else { continue };
        let file = contents::file(home, hash);
        let in_file = fs::metadata(&file).map(|meta| meta.len()).unwrap_or(0);
        files.extend((in_file > 0).then_some(file));
        deleted.contents += remove.execute([hash.0])? as u64;
        deleted.bytes += bytes + in_file;
    }
    Ok(files)
}
