//! Answers that people gave for longer than one run: written with the decision that gives them, listed,
//! revoked. What a rule means is not known here.

use crate::StoreError;
use crate::log::batch::Tally;
use cairn_types::{Decision, Remember, RunId, SessionId};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

/// An answer that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its number, by which it is revoked.
    pub id: u64,
    /// How far it reaches.
    pub scope: Remember,
    /// The session it was given in.
    pub session: String,
    /// The directory that session works on.
    pub root: String,
    /// What is allowed, as a rule.
    pub rule: String,
    /// Who said so.
    pub by: String,
    /// The run it was given in.
    pub run: String,
    /// The row that it answered.
    pub row: String,
    /// When, milliseconds since 1970.
    pub at: u64,
    /// When it ends.
    pub until: Option<u64>,
}

const COLUMNS: &str = "id, scope, session, root, rule, by, run, row, at, until";

fn scope_word(scope: Remember) -> Option<&'static str> {
    match scope {
        Remember::Once | Remember::Run => None,
        Remember::Session => Some("session"),
        Remember::Project => Some("project"),
        Remember::Always => Some("always"),
    }
}

/// Keeps what a decision says for longer than its run.
pub(crate) fn keep(
    conn: &Connection,
    (session, run): (&SessionId, &RunId),
    decision: &Decision,
    at: u64,
    tally: &mut Tally,
) -> Result<(), StoreError> {
    let Some(scope) = scope_word(decision.remember) else { return Ok(()) };
    let mut insert = conn.prepare_cached(
        "INSERT INTO answers (scope, session, root, rule, by, run, row, at, until)
         SELECT ?, id, root, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?",
    )?;
    for rule in decision.remembered() {
        insert.execute(params![
            scope,
            rule,
            decision.by.to_string(),
            run.as_str(),
            decision.at.to_string(),
            at,
            decision.until,
            session.as_str()
        ])?;
        tally.wrote(64 + rule.len() as u64);
    }
    Ok(())
}

/// All answers that have not ended at this time.
pub(crate) fn all(conn: &Connection, now: u64) -> Result<Vec<Answer>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM answers WHERE until IS NULL OR until > ? ORDER BY id");
    let mut rows = conn.prepare_cached(&sql)?;
    let found = rows.query_map([now], of_row)?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<Answer> {
    let scope: String = row.get(1)?;
    Ok(Answer {
        id: row.get(0)?,
        scope: match scope.as_str() {
            "session" => Remember::Session,
            "project" => Remember::Project,
            "always" => Remember::Always,
            // One that this version does not know must not reach further than was said.
            other => return Err(unknown_scope(other)),
        },
        session: row.get(2)?,
        root: row.get(3)?,
        rule: row.get(4)?,
        by: row.get(5)?,
        run: row.get(6)?,
        row: row.get(7)?,
        at: row.get(8)?,
        until: row.get(9)?,
    })
}

fn unknown_scope(scope: &str) -> rusqlite::Error {
    let why = format!("an answer reaches as far as {scope:?}, which is no scope");
    rusqlite::Error::FromSqlConversionFailure(1, Type::Text, why.into())
}

/// Takes an answer back. Whether there was one.
pub(crate) fn revoke(conn: &Connection, id: u64) -> Result<bool, StoreError> {
    Ok(conn.execute("DELETE FROM answers WHERE id = ?", [id])? > 0)
}

/// Forgets what was said for a session that is deleted.
pub(crate) fn forget(conn: &Connection, session: &SessionId) -> Result<(), StoreError> {
    conn.execute(
        "DELETE FROM answers WHERE scope = 'session' AND session = ?",
        [session.as_str()],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reaches_as_far_as_it_says_and_one_of_an_unknown_scope_is_none() {
        let conn = Connection::open_in_memory().unwrap();
        let scope = |word: &str| {
            let sql = "SELECT 1, ?, 's', '/', 'exec ls', 'p', 'r', 'log:///1/1/1', 1, NULL";
            conn.query_row(sql, [word], of_row).map(|answer| answer.scope)
        };
        for known in [Remember::Session, Remember::Project, Remember::Always] {
            assert_eq!(scope(scope_word(known).unwrap()).unwrap(), known);
        }
        let why = scope("machine").unwrap_err().to_string();
        assert!(why.contains("\"machine\", which is no scope"), "{why}");
    }
}
