//! The entries of worlds that stand on no disk: the fold of what outcomes changed, kept as it is made.
//! What a scheme is, and who may write it, is not known here.

use crate::StoreError;
use crate::log::batch::Tally;
use cairn_types::{Change, ContentRef, EntryState, FileState, Hash, Outcome, RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{HashMap, HashSet};

/// An entry's channel as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    /// Its address, with the channel where that is not the usual one.
    pub address: String,
    /// Its content, type and tags.
    pub state: FileState,
    /// The run that wrote it last.
    pub run: String,
    /// When, milliseconds since 1970.
    pub at: u64,
}

const COLUMNS: &str = "address, hash, bytes, mime, tags, run, at, scope = ''";

/// Makes the changes of an outcome true, each only if its entry is as the change says it was.
pub(crate) fn apply(
    conn: &Connection,
    (session, run): (&SessionId, &RunId),
    changes: &[Change],
    at: u64,
    tally: &mut Tally,
) -> Result<(), StoreError> {
    for change in changes.iter().filter(|change| change.is_stored()) {
        let scope = scope_of(session, change);
        tally.read(1);
        let standing = one(conn, scope, &change.path)?.map(|row| row.state);
        if standing != change.before {
            return Err(StoreError::Stale { address: change.path.clone() });
        }
        match &change.after {
            Some(state) => tally.wrote(put(conn, (scope, &change.path), state, (run, at))?),
            None => drop(
                conn.prepare_cached("DELETE FROM entries WHERE scope = ? AND address = ?")?
                    .execute([scope, &change.path])?,
            ),
        }
    }
    Ok(())
}

/// Whether an outcome's changes were made when it was performed, before hooks looked at it.
pub(crate) fn were_made(
    conn: &Connection,
    run: &RunId,
    outcome: &Outcome,
) -> Result<bool, StoreError> {
    if !outcome.changes.iter().any(Change::is_stored) {
        return Ok(false);
    }
    let last: Option<String> = conn
        .prepare_cached(
            "SELECT json_extract(body, '$.at') FROM facts WHERE run = ? AND kind = 'performed'
             ORDER BY n DESC LIMIT 1",
        )?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()?;
    Ok(last.is_some_and(|at| at == outcome.at.to_string()))
}

/// Whose entry a change is of: every session's, or this one's.
fn scope_of<'a>(session: &'a SessionId, change: &Change) -> &'a str {
    if change.entry().is_some_and(|entry| entry.agent) { "" } else { session.as_str() }
}

fn put(
    conn: &Connection,
    (scope, address): (&str, &str),
    state: &FileState,
    (run, at): (&RunId, u64),
) -> Result<u64, StoreError> {
    let (Some(hash), Some(entry)) = (state.hash, &state.entry) else { return Ok(0) };
    let tags = entry.tags.join("\n");
    conn.prepare_cached(
        "INSERT OR REPLACE INTO entries (scope, address, hash, bytes, mime, tags, run, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        scope,
        address,
        hash.0,
        state.bytes.unwrap_or_default(),
        entry.mime,
        tags,
        run.as_str(),
        at
    ])?;
    Ok((64 + scope.len() + address.len() + entry.mime.len() + tags.len()) as u64)
}

/// The entry of this address, of the session or of every one.
pub(crate) fn get(
    conn: &Connection,
    session: &SessionId,
    address: &str,
) -> Result<Option<EntryRow>, StoreError> {
    match one(conn, session.as_str(), address)? {
        Some(row) => Ok(Some(row)),
        None => one(conn, "", address),
    }
}

fn one(conn: &Connection, scope: &str, address: &str) -> Result<Option<EntryRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM entries WHERE scope = ? AND address = ?");
    Ok(conn.prepare_cached(&sql)?.query_row([scope, address], of_row).optional()?)
}

/// The entries whose address begins so, of the session and of every one, in order of address.
pub(crate) fn beneath(
    conn: &Connection,
    session: &SessionId,
    prefix: &str,
) -> Result<Vec<EntryRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM entries WHERE scope IN (?, '') AND address >= ? AND address < ?
         ORDER BY address"
    );
    // No address holds a character beyond all others.
    let end = format!("{prefix}\u{10ffff}");
    let mut rows = conn.prepare_cached(&sql)?;
    let rows = rows.query_map([session.as_str(), prefix, &end], of_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<EntryRow> {
    let content = ContentRef { hash: Hash(row.get(1)?), bytes: row.get(2)? };
    let tags: String = row.get(4)?;
    let tags = tags.split('\n').filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    let entry = EntryState { mime: row.get(3)?, tags, agent: row.get(7)?, own: false };
    Ok(EntryRow {
        address: row.get(0)?,
        state: FileState::of_entry(content, entry),
        run: row.get(5)?,
        at: row.get(6)?,
    })
}

/// Every content that an entry has, of all sessions but this one.
pub(crate) fn named(
    conn: &Connection,
    but: Option<&SessionId>,
) -> Result<HashSet<Hash>, StoreError> {
    let mut rows = conn.prepare("SELECT DISTINCT hash FROM entries WHERE scope IS NOT ?")?;
    let rows = rows.query_map([but.map(SessionId::as_str)], |row| row.get(0).map(Hash))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A session goes, and its entries with it.
pub(crate) fn forget(conn: &Connection, session: &SessionId) -> Result<(), StoreError> {
    conn.execute("DELETE FROM entries WHERE scope = ?", [session.as_str()])?;
    Ok(())
}

/// What a session's changes come to, in whatever order they were made: of each entry the one state
/// that was left behind once less often than it was reached.
#[derive(Debug, Default)]
pub(crate) struct Fold(HashMap<String, Vec<(FileState, i64, RunId, u64)>>);

impl Fold {
    /// Takes in what an outcome changed. What every session of another home has stays there.
    pub(crate) fn take(&mut self, changes: &[Change], run: &RunId, at: u64) {
        let is_own = |state: &&FileState| state.entry.as_ref().is_some_and(|e| !e.agent);
        for change in changes.iter().filter(|change| change.is_stored()) {
            let states = self.0.entry(change.path.clone()).or_default();
            for (state, count) in [(&change.before, -1), (&change.after, 1)] {
                let Some(state) = state.as_ref().filter(is_own) else { continue };
                match states.iter_mut().find(|(known, ..)| known == state) {
                    Some((_, sum, by, when)) => {
                        *sum += count;
                        if count > 0 && at >= *when {
                            (*by, *when) = (run.clone(), at);
                        }
                    }
                    None => states.push((state.clone(), count, run.clone(), at)),
                }
            }
        }
    }

    /// Writes what stands in the end.
    pub(crate) fn put(&self, conn: &Connection, session: &SessionId) -> Result<(), StoreError> {
        for (address, states) in &self.0 {
            let standing = states.iter().find(|(_, count, ..)| *count > 0);
            if let Some((state, _, run, at)) = standing {
                put(conn, (session.as_str(), address), state, (run, *at))?;
            }
        }
        Ok(())
    }
}
