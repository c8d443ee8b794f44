//! Writes a session as a bundle, from the raw rows: what was tampered with shows. Judges nothing.

use crate::StoreError;
use crate::contents::{self, Loaded};
use crate::home::Home;
use crate::keys::Keys;
use crate::log::batch::Tally;
use crate::log::fact::{COLUMNS as FACT_COLUMNS, FactRow, quote};
use crate::log::op::Op;
use crate::log::read;
use crate::log::run::parent;
use crate::receipts::checkpoint::{Signed, Standing};
use crate::receipts::digest::hex;
use crate::transfer::origins;
use cairn_types::{Body, Hash, RunId, SessionId, to_canonical};
use rusqlite::Connection;
use std::io::Write;
use std::sync::Arc;

/// What to do with a content whose bytes are not what its hash says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Stop: nobody wants such a bundle.
    Refuse,
    /// Put in what stands there, for the verifier to find.
    Show,
}

/// Writes a bundle that a stored checkpoint covers.
pub(crate) fn write(
    conn: &Connection,
    home: &Home,
    keys: &Keys,
    session: &SessionId,
    out: &mut dyn Write,
) -> Result<(), StoreError> {
    let standing = Standing::read(conn, session, &mut Tally::default())?;
    if standing.covered().is_none() {
        return Err(StoreError::Uncovered { session: session.to_string() });
    }
    Bundler { conn, home, keys, session, out, damage: Damage::Refuse }.all(None)
}

/// A bundle being written.
pub(crate) struct Bundler<'a> {
    /// One state of the database.
    pub(crate) conn: &'a Connection,
    /// Where large contents are.
    pub(crate) home: &'a Home,
    /// Whose public key it names.
    pub(crate) keys: &'a Keys,
    /// The session.
    pub(crate) session: &'a SessionId,
    /// Where it goes.
    pub(crate) out: &'a mut dyn Write,
    /// What to do with damaged contents.
    pub(crate) damage: Damage,
}

impl Bundler<'_> {
    /// Writes every line; `last` is a checkpoint that is not stored.
    pub(crate) fn all(mut self, last: Option<&Signed>) -> Result<(), StoreError> {
        self.header(last.is_some())?;
        let runs = self.runs()?;
        for run in &runs {
            self.facts(run)?;
        }
        self.receipts()?;
        self.checkpoints()?;
        if let Some(last) = last {
            self.checkpoint(&last.payload, &last.hash, &last.signature)?;
        }
        Ok(())
    }

    /// The first line; version 2 only where other homes signed, too.
    fn header(&mut self, one_more: bool) -> Result<(), StoreError> {
        let stored: u64 = self
            .conn
            .prepare_cached("SELECT count(*) FROM checkpoints WHERE session = ?")?
            .query_row([self.session.as_str()], |row| row.get(0))?;
        let checkpoints = stored + u64::from(one_more);
        let (key, origins) =
            origins::header(self.conn, self.session, self.keys.public(), checkpoints)?;
        let (origins, v) = match origins.is_empty() {
            true => (String::new(), 1),
            false => (format!(r#""origins":{},"#, to_canonical(&origins)?), 2),
        };
        let (key, session) = (quote(&key), quote(self.session.as_str()));
        self.line(&format!(
            r#"{{"format":"cairn-bundle",{origins}"public_key":{key},"session_id":{session},"type":"bundle","v":{v}}}"#
        ))
    }

    fn line(&mut self, text: &str) -> Result<(), StoreError> {
        let fail = |source| StoreError::Io { path: "the bundle".into(), source: Arc::new(source) };
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.write_all(b"\n")).map_err(fail)
    }

    fn runs(&mut self) -> Result<Vec<String>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT id, parent, fork_n FROM runs WHERE session = ? ORDER BY id")?;
        let mut rows = statement.query([self.session.as_str()])?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next()? {
            let run: String = row.get(0)?;
            let parent = to_canonical(&parent(row, 1)?)?;
            self.line(&format!(r#"{{"parent":{parent},"run":{},"type":"run"}}"#, quote(&run)))?;
            runs.push(run);
        }
        Ok(runs)
    }

    fn facts(&mut self, run: &str) -> Result<(), StoreError> {
        let sql = format!("SELECT {FACT_COLUMNS} FROM facts WHERE run = ? ORDER BY n");
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query([run])?;
        while let Some(row) = rows.next()? {
            let fact = FactRow::read(row)?.line();
            self.line(&format!(r#"{{"fact":{fact},"type":"fact"}}"#))?;
        }
        Ok(())
    }

    fn receipts(&mut self) -> Result<(), StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT run, fact_n, hash, hmac, payload, signature, salt_in, salt_out FROM receipts
             WHERE session = ? ORDER BY id",
        )?;
        let mut rows = statement.query([self.session.as_str()])?;
        while let Some(row) = rows.next()? {
            let [hash, hmac, payload, signature]: [String; 4] =
                [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
            let (input, output) = self.contents_of(&row.get::<_, String>(0)?, row.get(1)?);
            let inputs = self.opened(row.get(6)?, input)?;
            let outputs = self.opened(row.get(7)?, output)?;
            self.line(&format!(
                concat!(
                    r#"{{"hash":{},"hmac":{},"opened":{{"inputs":{},"outputs":{}}},"payload":{},"#,
                    r#""signature":{},"signature_alg":"ed25519","type":"receipt"}}"#
                ),
                quote(&hash),
                quote(&hmac),
                inputs,
                outputs,
                payload,
                quote(&signature)
            ))?;
        }
        Ok(())
    }

    /// The input and the result of the op whose outcome is this fact. What cannot be read any more
    /// cannot be opened; the verifier finds out why.
    fn contents_of(&self, run: &str, fact_n: u64) -> (Option<Hash>, Option<Hash>) {
        let Ok(run) = run.parse::<RunId>() else { return (None, None) };
        let Ok(Some(fact)) = read::fact(self.conn, &run, fact_n) else { return (None, None) };
        let Body::Outcome(outcome) = fact.body else { return (None, None) };
        let op = Op::find(self.conn, &run, outcome.at, &[], &mut Tally::default());
        let input = op.ok().and_then(|op| op.intent).map(|intent| intent.input.hash);
        (input, Some(outcome.result.hash))
    }

    /// What opens a commitment, or `null` when it was redacted.
    fn opened(&self, salt: Option<String>, hash: Option<Hash>) -> Result<String, StoreError> {
        let (Some(salt), Some(hash)) = (salt, hash) else { return Ok("null".to_owned()) };
        let bytes = match contents::load(self.conn, self.home, &hash)? {
            Loaded::Freed | Loaded::Missing => return Ok("null".to_owned()),
            Loaded::Damaged(_) if self.damage == Damage::Refuse => {
                contents::read(self.conn, self.home, &hash)?
            }
            Loaded::Sound(bytes) | Loaded::Damaged(bytes) => bytes,
        };
        let salt = quote(&salt);
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => format!(r#"{{"salt":{salt},"text":{}}}"#, quote(text)),
            Err(_) => format!(r#"{{"hex":"{}","salt":{salt}}}"#, hex(&bytes)),
        })
    }

    fn checkpoints(&mut self) -> Result<(), StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT payload, hash, signature FROM checkpoints WHERE session = ? ORDER BY seq",
        )?;
        let mut rows = statement.query([self.session.as_str()])?;
        while let Some(row) = rows.next()? {
            let [payload, hash, signature]: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            self.checkpoint(&payload, &hash, &signature)?;
        }
        Ok(())
    }

    fn checkpoint(&mut self, payload: &str, hash: &str, sig: &str) -> Result<(), StoreError> {
        self.line(&format!(
            r#"{{"hash":{},"payload":{payload},"signature":{},"type":"checkpoint"}}"#,
            quote(hash),
            quote(sig)
        ))
    }
}
