//! A fact as a row and as its canonical line, which receipts hash and bundles carry.

use crate::StoreError;
use cairn_types::{Body, Fact, FactError, RunId, StoredFact, canonical};
use rusqlite::{Connection, Row, params};
use serde_json::Value;

/// How deep a line of a bundle may nest. A fact's body stands two levels down in it.
pub(crate) const DEPTH: usize = 64;

/// A row of `facts`.
pub(crate) struct FactRow {
    run: String,
    /// Its place.
    pub(crate) n: u64,
    at: u64,
    engine: String,
    kind: String,
    v: u32,
    row: Option<String>,
    body: String,
}

/// The columns `FactRow::read` takes, in its order.
pub(crate) const COLUMNS: &str = "run, n, at, engine, kind, v, row, body";

impl FactRow {
    /// The row of a fact, when the fact can stand in a bundle.
    pub(crate) fn new(fact: &Fact) -> Result<FactRow, StoreError> {
        let refuse = |why: String| {
            let kind = fact.body.kind().to_owned();
            FactError { run: fact.run.clone(), n: fact.n, kind, why }
        };
        let stored = fact.to_stored()?;
        if !stored.body.is_object() || depth(&stored.body) > DEPTH - 2 {
            return Err(refuse("its body is no object, or nests too deep".to_owned()).into());
        }
        if stored.kind == "outcome" && !matches!(fact.body, Body::Outcome(_)) {
            return Err(refuse("an outcome of a later version gets no receipt".to_owned()).into());
        }
        Ok(FactRow {
            body: canonical(&stored.body).map_err(|e| refuse(e.to_string()))?,
            run: stored.run.into(),
            n: stored.n,
            at: stored.at,
            engine: stored.engine,
            kind: stored.kind,
            v: stored.v,
            row: fact.body.op().map(|at| at.to_string()),
        })
    }

    /// The row of a fact that came from elsewhere: its body as it is, also what this version does
    /// not know of it.
    pub(crate) fn stored(stored: StoredFact, fact: &Fact) -> Result<FactRow, StoreError> {
        Ok(FactRow {
            body: canonical(&stored.body)?,
            run: stored.run.into(),
            n: stored.n,
            at: stored.at,
            engine: stored.engine,
            kind: stored.kind,
            v: stored.v,
            row: fact.body.op().map(|at| at.to_string()),
        })
    }

    /// Its place in its run.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// When it was recorded.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The row as it stands in the database.
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<FactRow> {
        Ok(FactRow {
            run: row.get(0)?,
            n: row.get(1)?,
            at: row.get(2)?,
            engine: row.get(3)?,
            kind: row.get(4)?,
            v: row.get(5)?,
            row: row.get(6)?,
            body: row.get(7)?,
        })
    }

    /// The canonical line. The body goes in as it stands: a body that was tampered with shows.
    pub(crate) fn line(&self) -> String {
        format!(
            r#"{{"at":{},"body":{},"engine":{},"kind":{},"n":{},"run":{},"v":{}}}"#,
            self.at,
            self.body,
            quote(&self.engine),
            quote(&self.kind),
            self.n,
            quote(&self.run),
            self.v
        )
    }

    /// Puts the row in. Gives the bytes written.
    pub(crate) fn insert(&self, conn: &Connection) -> Result<u64, StoreError> {
        conn.prepare_cached(
            "INSERT INTO facts (run, n, at, engine, kind, v, row, body)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            self.run,
            self.n,
            self.at,
            self.engine,
            self.kind,
            self.v,
            self.row,
            self.body
        ])?;
        Ok((self.body.len() + self.engine.len() + self.kind.len() + 48) as u64)
    }

    /// The fact it holds.
    pub(crate) fn into_fact(self) -> Result<Fact, StoreError> {
        let run = self.run.parse().map_err(|e: cairn_types::IdError| bad_column(0, e))?;
        let body = serde_json::from_str(&self.body).map_err(|e| bad_column(7, e))?;
        let FactRow { n, at, engine, kind, v, .. } = self;
        Ok(Fact::try_from(StoredFact { run, n, at, engine, kind, v, body })?)
    }
}

/// A column that holds what the store never writes.
pub(crate) fn bad_column<E>(index: usize, error: E) -> rusqlite::Error
where
    E: std::error::Error + Send + Sync + 'static,
{
    let text = rusqlite::types::Type::Text;
    rusqlite::Error::FromSqlConversionFailure(index, text, Box::new(error))
}

/// A string as canonical JSON.
pub(crate) fn quote(text: &str) -> String {
    canonical(&Value::from(text)).unwrap_or_default()
}

/// How deep a value nests: 0 for a number, 1 for an empty array.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// What becomes of a fact whose body cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It may name anything, so it is an error.
    Refused,
    /// It names nothing.
    Skipped,
}

/// Gives the body of each fact that a run recorded itself; null for one that is skipped.
pub(crate) fn each_body(
    conn: &Connection,
    run: &RunId,
    unreadable: Unreadable,
    each: &mut dyn FnMut(&Value),
) -> Result<(), StoreError> {
    let mut bodies = conn.prepare_cached("SELECT body FROM facts WHERE run = ?")?;
    let mut rows = bodies.query([run.as_str()])?;
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_bytes().unwrap_or_default();
        match serde_json::from_slice::<Value>(text) {
            Ok(body) => each(&body),
            Err(error) if unreadable == Unreadable::Refused => {
                return Err(bad_column(0, error).into());
            }
            Err(_) => each(&Value::Null),
        }
    }
    Ok(())
}
