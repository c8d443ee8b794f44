//! Named reads. Each is a few point lookups; none changes anything.

use crate::StoreError;
use crate::log::fact::{COLUMNS as FACT_COLUMNS, FactRow, bad_column};
use crate::log::run::{id, lineage, parent};
use cairn_types::{Fact, ForkPoint, PicoUsd, ReceiptPayload, RunId, SessionId, Usage};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;
use std::ops::ControlFlow;

/// So many letters of an id say at least which one is meant.
pub const MIN_BEGINNING: usize = 3;
/// How many candidates an ambiguous name is answered with.
const CANDIDATES: usize = 8;

/// Where the kind stands among a fact's columns.
const KIND: usize = 4;

/// A session, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// A person's name for it.
    pub name: Option<String>,
    /// The root it works on.
    pub root: String,
    /// When it was made, milliseconds since 1970.
    pub created_at: u64,
    /// How many runs it has.
    pub runs: u64,
    /// When its last fact was recorded.
    pub last_at: u64,
}

/// A run, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// Its session.
    pub session: SessionId,
    /// A person's name for it.
    pub name: Option<String>,
    /// Where it left its parent, when it is a fork.
    pub parent: Option<ForkPoint>,
    /// When it was made, milliseconds since 1970.
    pub created_at: u64,
    /// Its last fact; a fork's begins as the fork point.
    pub last_n: u64,
    /// It came with an imported session: it is read and forked, never driven.
    pub imported: bool,
    /// Its place in the order in which runs were made here; imported runs may share one.
    pub made: u64,
}

/// What a name was found to mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A run.
    Run(RunRow),
    /// A session.
    Session(SessionRow),
}

/// A receipt, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptRow {
    /// The outcome it proves.
    pub fact_n: u64,
    /// Its place in the chain.
    pub seq: u64,
    /// Its id.
    pub receipt_id: String,
    /// Its hash, in hex.
    pub hash: String,
    /// What was signed.
    pub payload: ReceiptPayload,
}

/// Which replies are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replies {
    /// Those recorded from then on, milliseconds since 1970.
    pub since: u64,
    /// Only those of this session's runs.
    pub session: Option<SessionId>,
}

/// What a reply of a model took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyRow {
    /// The run that recorded it; a fork's parent's replies are the parent's.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// When, milliseconds since 1970.
    pub at: u64,
    /// The model that answered.
    pub model: String,
    /// Its tokens, where the provider said them.
    pub usage: Option<Usage>,
    /// What it cost, where a price was known.
    pub cost: Option<PicoUsd>,
}

/// What of a reply's body is read here.
#[derive(Deserialize)]
struct Taken {
    model: String,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    cost: Option<PicoUsd>,
}

const SESSION: &str = "SELECT id, root, created_at, name,
    (SELECT count(*) FROM runs WHERE session = sessions.id),
    (SELECT coalesce(max(last_at), sessions.created_at) FROM runs WHERE session = sessions.id)
    FROM sessions";
const RUN: &str =
    "SELECT id, session, name, parent, fork_n, created_at, last_n, imported, made FROM runs";
/// The order in which sessions and runs were made; what one import brought is told apart by its own times.
const NEWEST_FIRST: &str = "ORDER BY made DESC, created_at DESC, id DESC";

impl SessionRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
        Ok(SessionRow {
            id: id(row, 0)?,
            root: row.get(1)?,
            created_at: row.get(2)?,
            name: row.get(3)?,
            runs: row.get(4)?,
            last_at: row.get(5)?,
        })
    }
}

impl RunRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<RunRow> {
        Ok(RunRow {
            id: id(row, 0)?,
            session: id(row, 1)?,
            name: row.get(2)?,
            parent: parent(row, 3)?,
            created_at: row.get(5)?,
            last_n: row.get(6)?,
            imported: row.get::<_, u64>(7)? > 0,
            made: row.get(8)?,
        })
    }
}

pub(crate) fn sessions(conn: &Connection) -> Result<Vec<SessionRow>, StoreError> {
    let sql = format!("{SESSION} {NEWEST_FIRST}");
    let mut statement = conn.prepare_cached(&sql)?;
    Ok(statement.query_map([], SessionRow::read)?.collect::<Result<_, _>>()?)
}

pub(crate) fn latest_session(
    conn: &Connection,
    root: &str,
) -> Result<Option<SessionId>, StoreError> {
    let sql = format!("SELECT id FROM sessions WHERE root = ? {NEWEST_FIRST} LIMIT 1");
    let mut statement = conn.prepare_cached(&sql)?;
    Ok(statement.query_row([root], |row| id(row, 0)).optional()?)
}

pub(crate) fn runs(conn: &Connection, session: &SessionId) -> Result<Vec<RunRow>, StoreError> {
    let sql = format!("{RUN} WHERE session = ? {NEWEST_FIRST}");
    let mut statement = conn.prepare_cached(&sql)?;
    Ok(statement.query_map([session.as_str()], RunRow::read)?.collect::<Result<_, _>>()?)
}

pub(crate) fn run(conn: &Connection, run: &RunId) -> Result<Option<RunRow>, StoreError> {
    let sql = format!("{RUN} WHERE id = ?");
    let mut statement = conn.prepare_cached(&sql)?;
    Ok(statement.query_row([run.as_str()], RunRow::read).optional()?)
}

pub(crate) fn find(conn: &Connection, text: &str) -> Result<Found, StoreError> {
    let mut found = prefixed(conn, text)?;
    let exact = found.iter().position(|f| f.id() == text);
    match (exact, named(conn, text)?, found.len()) {
        (Some(index), ..) => Ok(found.swap_remove(index)),
        (None, Some(named), _) => Ok(named),
        (None, None, 1) => Ok(found.swap_remove(0)),
        (None, None, 0) => Err(StoreError::NoSuch { text: text.to_owned() }),
        _ => Err(StoreError::Ambiguous {
            text: text.to_owned(),
            candidates: found.iter().map(|f| f.id().to_owned()).collect(),
        }),
    }
}

/// The newest run of that name, or else the newest session of that name.
fn named(conn: &Connection, name: &str) -> Result<Option<Found>, StoreError> {
    let newest = format!("WHERE name = ? {NEWEST_FIRST} LIMIT 1");
    let run = conn
        .prepare_cached(&format!("{RUN} {newest}"))?
        .query_row([name], |row| RunRow::read(row).map(Found::Run))
        .optional()?;
    if run.is_some() {
        return Ok(run);
    }
    let mut sessions = conn.prepare_cached(&format!("{SESSION} {newest}"))?;
    Ok(sessions.query_row([name], |row| SessionRow::read(row).map(Found::Session)).optional()?)
}

impl Found {
    fn id(&self) -> &str {
        match self {
            Found::Run(run) => run.id.as_str(),
            Found::Session(session) => session.id.as_str(),
        }
    }
}

/// Some of the runs and sessions whose ids begin like this.
fn prefixed(conn: &Connection, text: &str) -> Result<Vec<Found>, StoreError> {
    if text.len() < MIN_BEGINNING
        || !text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    {
        return Ok(Vec::new());
    }
    // `{` is the first character after `z`.
    let range = params![text, format!("{text}{{")];
    if text.starts_with('s') {
        let sql = format!("{SESSION} WHERE id >= ? AND id < ? ORDER BY id LIMIT {CANDIDATES}");
        let mut statement = conn.prepare_cached(&sql)?;
        let rows = statement.query_map(range, |row| SessionRow::read(row).map(Found::Session))?;
        Ok(rows.collect::<Result<_, _>>()?)
    } else {
        let sql = format!("{RUN} WHERE id >= ? AND id < ? ORDER BY id LIMIT {CANDIDATES}");
        let mut statement = conn.prepare_cached(&sql)?;
        let rows = statement.query_map(range, |row| RunRow::read(row).map(Found::Run))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

pub(crate) fn facts(conn: &Connection, run: &RunId, after: u64) -> Result<Vec<Fact>, StoreError> {
    let sql =
        format!("SELECT {FACT_COLUMNS} FROM facts WHERE run = ? AND n > ? AND n <= ? ORDER BY n");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut facts = Vec::new();
    for (run, bound) in lineage(conn, run)?.into_iter().rev() {
        let rows = statement.query_map(params![run.as_str(), after, bound], FactRow::read)?;
        for row in rows {
            facts.push(row?.into_fact()?);
        }
    }
    Ok(facts)
}

/// Tells a run's own facts of these kinds, newest first, one at a time, until told to stop.
pub(crate) fn own_facts(
    conn: &Connection,
    run: &RunId,
    kinds: &[&str],
    each: &mut dyn FnMut(Fact) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let sql = format!("SELECT {FACT_COLUMNS} FROM facts WHERE run = ? ORDER BY n DESC");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([run.as_str()])?;
    while let Some(row) = rows.next()? {
        // Compared before the body is read: most facts are of other kinds.
        let kind = row.get_ref(KIND)?.as_str().unwrap_or_default();
        if kinds.contains(&kind) && each(FactRow::read(row)?.into_fact()?).is_break() {
            break;
        }
    }
    Ok(())
}

/// Tells every reply, in the runs' order, one at a time.
pub(crate) fn replies(
    conn: &Connection,
    which: &Replies,
    each: &mut dyn FnMut(ReplyRow),
) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT facts.run, runs.session, facts.at, facts.body
         FROM runs JOIN facts ON facts.run = runs.id
         WHERE (?1 IS NULL OR runs.session = ?1) AND facts.kind = 'reply' AND facts.at >= ?2",
    )?;
    let session = which.session.as_ref().map(SessionId::as_str);
    let mut rows = statement.query(params![session, which.since])?;
    while let Some(row) = rows.next()? {
        let body: String = row.get(3)?;
        let Taken { model, usage, cost } =
            serde_json::from_str(&body).map_err(|e| bad_column(3, e))?;
        each(ReplyRow {
            run: id(row, 0)?,
            session: id(row, 1)?,
            at: row.get(2)?,
            model,
            usage,
            cost,
        });
    }
    Ok(())
}

/// One of a run's own facts.
pub(crate) fn fact(conn: &Connection, run: &RunId, n: u64) -> Result<Option<Fact>, StoreError> {
    let sql = format!("SELECT {FACT_COLUMNS} FROM facts WHERE run = ? AND n = ?");
    let mut statement = conn.prepare_cached(&sql)?;
    let row = statement.query_row(params![run.as_str(), n], FactRow::read).optional()?;
    row.map(FactRow::into_fact).transpose()
}

pub(crate) fn receipts(conn: &Connection, run: &RunId) -> Result<Vec<ReceiptRow>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT fact_n, seq, receipt_id, hash, payload FROM receipts
         WHERE run = ? AND fact_n <= ? ORDER BY fact_n",
    )?;
    let mut receipts = Vec::new();
    for (run, bound) in lineage(conn, run)?.into_iter().rev() {
        let rows = statement.query_map(params![run.as_str(), bound], receipt)?;
        for row in rows {
            receipts.push(row?);
        }
    }
    Ok(receipts)
}

fn receipt(row: &Row<'_>) -> rusqlite::Result<ReceiptRow> {
    let payload: String = row.get(4)?;
    Ok(ReceiptRow {
        fact_n: row.get(0)?,
        seq: row.get(1)?,
        receipt_id: row.get(2)?,
        hash: row.get(3)?,
        payload: serde_json::from_str(&payload).map_err(|e| bad_column(4, e))?,
    })
}
