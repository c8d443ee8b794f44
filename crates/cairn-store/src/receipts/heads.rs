//! Where each run stands, one small file per run outside the database: a database that was cut
//! short is found out by them.

use crate::StoreError;
use crate::home::Home;
use crate::log::run::RunState;
use cairn_types::{RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What was recorded of a run, and is not in the database any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRecord {
    /// The run.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// Whether nothing at all of the run is in the database.
    pub is_whole_run: bool,
    /// What is missing, as a sentence without its end: `run r… once had 20 facts`.
    pub why: String,
    /// The run's last fact, as it was recorded outside of the database.
    pub last_n: u64,
    /// Its last receipt's hash; zeros where it had none.
    pub receipt: String,
    /// The file that says so.
    pub file: PathBuf,
}

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

    /// Its session.
    pub(crate) fn session(&self) -> &SessionId {
        &self.session
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

    /// Returns what the database lacks of it, if anything.
    pub(crate) fn missing_in(
        &self,
        conn: &Connection,
        home: &Home,
    ) -> Result<Option<MissingRecord>, StoreError> {
        let run = self.run.as_str();
        let last: Option<(u64, u64)> = conn
            .prepare_cached(
                "SELECT fork_n, (SELECT coalesce(max(n), 0) FROM facts WHERE run = runs.id)
                 FROM runs WHERE id = ?",
            )?
            .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((fork_n, last_n)) = last else {
            return Ok(Some(self.missing(home, true, format!("run {run} is gone"))));
        };
        if last_n.max(fork_n) < self.fact_n {
            let why = format!("run {run} once had {} facts", self.fact_n);
            return Ok(Some(self.missing(home, false, why)));
        }
        let found: Option<i64> = conn
            .prepare_cached("SELECT 1 FROM receipts WHERE run = ? AND seq = ? AND hash = ?")?
            .query_row(params![run, self.seq, self.hash], |row| row.get(0))
            .optional()?;
        let is_lost = self.seq > 0 && found.is_none();
        let why = || format!("run {run} once had receipt {} ({})", self.seq, self.hash);
        Ok(is_lost.then(|| self.missing(home, false, why())))
    }

    /// The run and what is missing of it; without a database, all of it is.
    pub(crate) fn missing(&self, home: &Home, is_whole_run: bool, why: String) -> MissingRecord {
        MissingRecord {
            run: self.run.clone(),
            session: self.session.clone(),
            is_whole_run,
            why,
            last_n: self.fact_n,
            receipt: self.hash.clone(),
            file: home.heads().join(self.run.as_str()),
        }
    }
}

/// Writes heads through files that stay open.
#[derive(Default)]
pub(crate) struct HeadFiles(HashMap<RunId, File>);

impl HeadFiles {
    /// Notes where a run stands, unless it was already further. Not synced: a head that lags behind is
    /// still in the database.
    pub(crate) fn note(&mut self, home: &Home, head: &HeadLine) {
        if self.0.len() >= OPEN_FILES {
            self.0.clear();
        }
        if !self.0.contains_key(&head.run) {
            let path = home.heads().join(head.run.as_str());
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let Ok(file) = options.open(path) else { return };
            self.0.insert(head.run.clone(), file);
        }
        if let Some(file) = self.0.get(&head.run) {
            let mut noted = vec![0; head.text().len()];
            let noted = match file.read_exact_at(&mut noted, 0) {
                Ok(()) => HeadLine::parse(head.run.as_str(), &String::from_utf8_lossy(&noted)),
                Err(_) => None,
            };
            if noted.is_none_or(|noted| noted.fact_n <= head.fact_n) {
                // The commit stands whether or not its head could be noted.
                let _ = file.write_all_at(head.text().as_bytes(), 0);
            }
        }
    }
}

/// Reads the head of a run; `None` where none was noted.
pub(crate) fn of_run(home: &Home, run: &RunId) -> Option<HeadLine> {
    let text = fs::read_to_string(home.heads().join(run.as_str())).ok()?;
    HeadLine::parse(run.as_str(), &text)
}

/// Reads the heads of a session's runs.
pub(crate) fn of_session(home: &Home, session: &SessionId) -> Result<Vec<HeadLine>, StoreError> {
    let mut heads = all(home)?;
    heads.retain(|head| head.session == *session);
    Ok(heads)
}

/// Reads the heads of all runs of the home, by id.
pub(crate) fn all(home: &Home) -> Result<Vec<HeadLine>, StoreError> {
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
        heads.extend(HeadLine::parse(&entry.file_name().to_string_lossy(), &text));
    }
    heads.sort_by(|a, b| a.run.cmp(&b.run));
    Ok(heads)
}

/// Compares these heads, which were read before the state of the database was taken, with it. A session
/// that was deleted here left nothing that is missing.
pub(crate) fn compare(
    conn: &Connection,
    home: &Home,
    heads: &[HeadLine],
) -> Result<Vec<MissingRecord>, StoreError> {
    let mut deleted = conn.prepare_cached("SELECT 1 FROM deleted WHERE session = ?")?;
    let mut missing = Vec::new();
    for head in heads {
        if !deleted.exists([head.session.as_str()])? {
            missing.extend(head.missing_in(conn, home)?);
        }
    }
    Ok(missing)
}

/// The runs that were recorded in a home whose database is not there.
pub fn recorded_runs(home: &Path) -> Result<Vec<MissingRecord>, StoreError> {
    let home = Home(home.to_owned());
    let gone = |head: &HeadLine| head.missing(&home, true, format!("run {} is gone", head.run));
    Ok(all(&home)?.iter().map(gone).collect())
}
