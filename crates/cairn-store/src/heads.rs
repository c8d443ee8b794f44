//! Where each run stands, one small file per run outside the database: a database that was cut
//! short is found out by them.

use crate::StoreError;
use crate::home::Home;
use crate::run::RunState;
use cairn_types::{RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// How many head files are kept open.
const OPEN_FILES: usize = 64;

/// A run's head: one line of fixed width, `seq hash fact_n session`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadLine {
    run: RunId,
    session: SessionId,
    seq: u64,
    hash: String,
    fact_n: u64,
}

impl HeadLine {
    /// Where a run stands.
    pub(crate) fn of(run: &RunState) -> HeadLine {
        let (seq, hash) = run.own_head();
        HeadLine {
            run: run.id.clone(),
            session: run.session.clone(),
            seq,
            hash: hash.to_owned(),
            fact_n: run.last_n,
        }
    }

    /// The run.
    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// The run, for a report.
    pub(crate) fn name(&self) -> String {
        self.run.to_string()
    }

    fn text(&self) -> String {
        format!("{:020} {} {:020} {}\n", self.seq, self.hash, self.fact_n, self.session)
    }

    fn parse(run: &str, text: &str) -> Option<HeadLine> {
        let mut words = text.split_whitespace();
        Some(HeadLine {
            run: run.parse().ok()?,
            seq: words.next()?.parse().ok()?,
            hash: words.next()?.to_owned(),
            fact_n: words.next()?.parse().ok()?,
            session: words.next()?.parse().ok()?,
        })
    }

    /// What the database lacks of it, if anything.
    pub(crate) fn missing_in(&self, conn: &Connection) -> Result<Option<String>, StoreError> {
        let run = self.run.as_str();
        let last: Option<(u64, u64)> = conn
            .prepare_cached(
                "SELECT fork_n, (SELECT coalesce(max(n), 0) FROM facts WHERE run = runs.id)
                 FROM runs WHERE id = ?",
            )?
            .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((fork_n, last_n)) = last else {
            return Ok(Some(format!("run {run} is gone")));
        };
        if last_n.max(fork_n) < self.fact_n {
            return Ok(Some(format!("run {run} once had {} facts", self.fact_n)));
        }
        let found: Option<i64> = conn
            .prepare_cached("SELECT 1 FROM receipts WHERE run = ? AND seq = ? AND hash = ?")?
            .query_row(params![run, self.seq, self.hash], |row| row.get(0))
            .optional()?;
        let lost = self.seq > 0 && found.is_none();
        Ok(lost.then(|| format!("run {run} once had receipt {} ({})", self.seq, self.hash)))
    }
}

/// Writes heads through files that stay open.
#[derive(Default)]
pub(crate) struct HeadFiles(HashMap<RunId, File>);

impl HeadFiles {
    /// Notes where a run stands. Not synced: a head that lags behind is still in the database.
    pub(crate) fn note(&mut self, home: &Home, head: &HeadLine) {
        if self.0.len() >= OPEN_FILES {
            self.0.clear();
        }
        if !self.0.contains_key(&head.run) {
            let path = home.heads().join(head.run.as_str());
            let opened =
                OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
            let Ok(file) = opened else { return };
            self.0.insert(head.run.clone(), file);
        }
        if let Some(file) = self.0.get(&head.run) {
            // The commit stands whether or not its head could be noted.
            let _ = file.write_all_at(head.text().as_bytes(), 0);
        }
    }
}

/// The heads of a session's runs.
pub(crate) fn of_session(home: &Home, session: &SessionId) -> Result<Vec<HeadLine>, StoreError> {
    let dir = home.heads();
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io(&dir, e)),
    };
    let mut heads = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| StoreError::io(&dir, e))?;
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let head = HeadLine::parse(&entry.file_name().to_string_lossy(), &text);
        heads.extend(head.filter(|head| head.session == *session));
    }
    heads.sort_by(|a, b| a.run.cmp(&b.run));
    Ok(heads)
}
