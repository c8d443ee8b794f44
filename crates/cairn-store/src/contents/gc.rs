//! Frees what nobody needs any more: contents of runs that were not touched for a while, files no
//! row names, locks nobody holds. Facts, receipts and checkpoints always stay, so a session still
//! verifies; what was freed reads as redacted.

use crate::StoreError;
use crate::contents;
use crate::home::Home;
use crate::log::fact::{Unreadable, each_body};
use crate::log::lease;
use crate::sessions::{entries, remove};
use cairn_types::{Hash, RunId, hashes_in};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A file that no row names may belong to a commit in progress; after this long it does not.
const SETTLED: Duration = Duration::from_secs(3600);

/// What to free.
#[derive(Debug, Clone, Default)]
pub struct Gc {
    /// Runs whose last fact is older than this, milliseconds since 1970.
    pub before: u64,
    /// Contents that stay whatever run names them: the caller knows what they are for.
    pub keep: HashSet<Hash>,
    /// Only count.
    pub dry_run: bool,
}

/// What was freed, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Freed {
    /// Runs whose contents are no longer kept for their own sake.
    pub runs: u64,
    /// Contents.
    pub contents: u64,
    /// Their bytes as stored.
    pub bytes: u64,
    /// Files no row names.
    pub files: u64,
    /// Locks nobody holds.
    pub locks: u64,
}

/// Frees, with a connection of its own.
pub(crate) fn gc(conn: &Connection, home: &Home, gc: &Gc) -> Result<Freed, StoreError> {
    let (mut freed, files, old) = sweep_alone(conn, home, gc)?;
    if gc.dry_run {
        return Ok(freed);
    }
    freed.files = remove_files(conn, home, &files)?;
    remove::remove_leftovers(conn, home)?;
    freed.locks = old.iter().filter(|run| lease::remove_if_free(home, run)).count() as u64;
    if freed.contents > 0 {
        // Another process at work keeps the file as it is; the space is used again anyway.
        let _ = conn.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
    }
    Ok(freed)
}

/// Sweeps in one transaction. If somebody takes one of the old runs meanwhile, it is old no longer,
/// and the sweep begins again.
fn sweep_alone(conn: &Connection, home: &Home, gc: &Gc) -> Result<Swept, StoreError> {
    loop {
        conn.execute_batch("BEGIN IMMEDIATE")?;
        let swept = sweep(conn, home, gc);
        let taken = |run: &RunId| lease::is_held(home, run);
        let stands = swept.as_ref().is_ok_and(|(_, _, old)| !old.iter().any(taken));
        conn.execute_batch(if stands { "COMMIT" } else { "ROLLBACK" })?;
        if stands || swept.is_err() {
            return swept;
        }
    }
}

/// What was freed, the files of it, and the old runs.
type Swept = (Freed, Vec<PathBuf>, Vec<RunId>);

/// Deletes the rows of contents no living run names; gives their files and the old runs.
fn sweep(conn: &Connection, home: &Home, gc: &Gc) -> Result<Swept, StoreError> {
    let (living, old) = by_age(conn, home, gc.before)?;
    let mut named = named_by(conn, &living, Unreadable::Refused)?;
    named.extend(&gc.keep);
    named.extend(entries::named(conn, None)?);
    let mut freed = Freed { runs: old.len() as u64, ..Freed::default() };
    let mut files = Vec::new();
    let mut rows = conn.prepare("SELECT hash, length(data) FROM contents")?;
    let rows = rows.query_map([], |row| Ok((Hash(row.get(0)?), row.get::<_, u64>(1)?)))?;
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    for (hash, stored) in rows.into_iter().filter(|(hash, _)| !named.contains(hash)) {
        let file = contents::file(home, &hash);
        let in_file = fs::metadata(&file).map(|meta| meta.len()).unwrap_or(0);
        freed.contents += 1;
        freed.bytes += stored + in_file;
        files.extend((in_file > 0).then_some(file));
        if !gc.dry_run {
            conn.prepare_cached("DELETE FROM contents WHERE hash = ?")?.execute([hash.0])?;
            contents::note_freed(conn, &hash)?;
        }
    }
    Ok((freed, files, old))
}

/// The runs of which everything is kept.
pub(crate) fn living(
    conn: &Connection,
    home: &Home,
    since: u64,
) -> Result<HashSet<RunId>, StoreError> {
    Ok(by_age(conn, home, since)?.0)
}

/// The runs that live (young, driven now, or the parents of such), and the others.
fn by_age(
    conn: &Connection,
    home: &Home,
    before: u64,
) -> Result<(HashSet<RunId>, Vec<RunId>), StoreError> {
    let mut rows = conn.prepare(
        "SELECT id, parent, max(created_at, imported, ifnull((SELECT max(at) FROM facts WHERE run = id), 0)) FROM runs",
    )?;
    let rows = rows.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, u64>(2)?))
    })?;
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let parents: HashMap<&str, &str> =
        rows.iter().filter_map(|(id, parent, _)| Some((id.as_str(), parent.as_deref()?))).collect();
    let mut living: HashSet<&str> = HashSet::new();
    let run_id = |id: &str| id.parse::<RunId>().ok();
    let is_held = |id: &str| run_id(id).is_some_and(|run| lease::is_held(home, &run));
    for (id, _, _) in rows.iter().filter(|(id, _, last)| *last >= before || is_held(id)) {
        let mut run = Some(id.as_str());
        while let Some(id) = run.filter(|id| living.insert(id)) {
            run = parents.get(id).copied();
        }
    }
    let old = rows.iter().map(|(id, _, _)| id.as_str()).filter(|id| !living.contains(id));
    Ok((living.iter().copied().filter_map(run_id).collect(), old.filter_map(run_id).collect()))
}

/// Every hash that a fact of these runs names.
pub(crate) fn named_by<'a>(
    conn: &Connection,
    runs: impl IntoIterator<Item = &'a RunId>,
    unreadable: Unreadable,
) -> Result<HashSet<Hash>, StoreError> {
    let mut named = HashSet::new();
    for run in runs {
        each_body(conn, run, unreadable, &mut |body| hashes_in(body, &mut named))?;
    }
    Ok(named)
}

/// Removes the files of contents that were freed, and orphans; gives how many orphans there were.
/// Nobody can name one meanwhile: a commit that does looks for its file inside its own transaction,
/// and this is one, too.
fn remove_files(conn: &Connection, home: &Home, freed: &[PathBuf]) -> Result<u64, StoreError> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let removed = remove_unnamed(conn, home, freed).and_then(|()| orphans(conn, home));
    conn.execute_batch("COMMIT")?;
    removed
}

/// Removes these files of contents, but for those that a row names again. Inside a transaction.
pub(crate) fn remove_unnamed(
    conn: &Connection,
    home: &Home,
    files: &[PathBuf],
) -> Result<(), StoreError> {
    for file in files {
        if !contents::names(conn, home, file)? {
            // One that cannot be removed now is an orphan next time.
            let _ = fs::remove_file(file);
        }
    }
    Ok(())
}

/// Removes content files that no row names and no commit can still be about to name.
fn orphans(conn: &Connection, home: &Home) -> Result<u64, StoreError> {
    let mut removed = 0;
    let folders = fs::read_dir(home.contents()).map_err(|e| StoreError::io(&home.contents(), e))?;
    for file in
        folders.flatten().filter_map(|folder| fs::read_dir(folder.path()).ok()).flatten().flatten()
    {
        let settled = file
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SETTLED));
        if settled && !contents::names(conn, home, &file.path())? {
            removed += u64::from(fs::remove_file(file.path()).is_ok());
        }
    }
    Ok(removed)
}
