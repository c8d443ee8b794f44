//! What was said to runs and not heard yet: posted in the transaction of the row that says it, gone in that of the
//! fact that it was heard, so each letter is heard once.

use crate::StoreError;
use crate::log::batch::Tally;
use crate::log::run::id;
use cairn_types::{Coord, Letter, Origin, RunId, SessionId};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

/// A letter that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Who said it.
    pub from: Origin,
    /// What.
    pub letter: Letter,
}

/// Posts a letter. What is said to a stream that is over is not kept.
pub(crate) fn post(
    conn: &Connection,
    (session, from): (&SessionId, &Origin),
    letter: &Letter,
    at: u64,
    tally: &mut Tally,
) -> Result<(), StoreError> {
    let text = serde_json::to_string(letter).map_err(|e| StoreError::BadBatch {
        run: from.run.clone(),
        why: format!("its letter cannot be written down: {e}"),
    })?;
    conn.prepare_cached(
        "INSERT INTO mail (run, session, sender, row, letter, at)
         SELECT id, session, ?1, ?2, ?3, ?4 FROM runs WHERE id = ?5 AND session = ?6 AND
         (?7 IS NULL OR EXISTS (SELECT 1 FROM subscriptions WHERE run = ?5 AND row = ?7))",
    )?
    .execute(params![
        from.run.as_str(),
        from.row.to_string(),
        text,
        at,
        letter.to.as_str(),
        session.as_str(),
        letter.stream.map(|stream| stream.to_string())
    ])?;
    tally.wrote(64 + text.len() as u64);
    Ok(())
}

/// What waits for a run, in the order in which it was said.
pub(crate) fn of(conn: &Connection, run: &RunId) -> Result<Vec<Waiting>, StoreError> {
    let mut rows =
        conn.prepare_cached("SELECT sender, row, letter FROM mail WHERE run = ? ORDER BY id")?;
    let waiting = rows.query_map([run.as_str()], read)?;
    Ok(waiting.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Waiting> {
    let bad = |at: usize, why: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(at, Type::Text, why)
    };
    let at: String = row.get(1)?;
    let letter: String = row.get(2)?;
    Ok(Waiting {
        from: Origin {
            run: id(row, 0)?,
            row: at.parse::<Coord>().map_err(|e| bad(1, Box::new(e)))?,
        },
        letter: serde_json::from_str(&letter).map_err(|e| bad(2, Box::new(e)))?,
    })
}

/// A letter was heard.
pub(crate) fn heard(conn: &Connection, run: &RunId, from: &Origin) -> Result<(), StoreError> {
    conn.prepare_cached("DELETE FROM mail WHERE run = ? AND sender = ? AND row = ?")?.execute([
        run.as_str(),
        from.run.as_str(),
        &from.row.to_string(),
    ])?;
    Ok(())
}

/// A stream is over: nobody hears what was said to it.
pub(crate) fn is_over(conn: &Connection, run: &RunId, stream: Coord) -> Result<(), StoreError> {
    conn.prepare_cached("DELETE FROM mail WHERE run = ? AND json_extract(letter, '$.stream') = ?")?
        .execute([run.as_str(), &stream.to_string()])?;
    Ok(())
}

/// A session is deleted.
pub(crate) fn forget(conn: &Connection, session: &SessionId) -> Result<(), StoreError> {
    conn.execute("DELETE FROM mail WHERE session = ?", [session.as_str()])?;
    Ok(())
}
