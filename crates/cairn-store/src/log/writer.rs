//! The one writer, with its own connection. Where several runs are driven a thread commits all their
//! waiting batches together; where only one is, it commits on the caller's own thread, and no other
//! is woken for it. Answers after the commit. Knows nothing of what a batch means.

use crate::StoreError;
use crate::home::Home;
use crate::keys::Keys;
use crate::log::append::{Append, Prepared};
use crate::log::batch::{Batch, Committed, Tally};
use crate::open::WAL_LIMIT;
use crate::receipts::checkpoint;
use crate::receipts::heads::{HeadFiles, HeadLine};
use cairn_types::SessionId;
use rusqlite::{Connection, OptionalExtension};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// How many jobs share a transaction at most.
const GROUP: usize = 256;

/// What can be asked of the writer.
pub(crate) enum Ask {
    /// Append a batch.
    Commit(Box<Batch>),
    /// See to it that a checkpoint covers the session.
    Checkpoint(SessionId, u64),
}

/// Work for the writer's thread.
enum Job {
    /// A question and where the answer goes.
    Settle(Ask, oneshot::Sender<Result<Committed, StoreError>>),
    /// The log has grown long.
    Fold,
}

/// The writer as callers hold it.
pub(crate) struct Writing {
    writer: Arc<Mutex<Writer>>,
    jobs: Sender<Job>,
    /// How many runs are driven with this store.
    pub(crate) drivers: Arc<AtomicUsize>,
}

impl Writing {
    /// Starts the writer's thread. It ends when this is dropped.
    pub(crate) fn start(writer: Writer) -> Result<Writing, StoreError> {
        let (jobs, inbox) = channel();
        let home = writer.home.0.clone();
        let writer = Arc::new(Mutex::new(writer));
        let shared = Arc::clone(&writer);
        thread::Builder::new()
            .name("cairn-store".to_owned())
            .spawn(move || run(&shared, &inbox))
            .map_err(|e| StoreError::io(&home, e))?;
        Ok(Writing { writer, jobs, drivers: Arc::default() })
    }

    /// Folds the whole log into the database and gives its space back, unless others are at work.
    pub(crate) fn fold(&self) {
        if let Ok(writer) = self.writer.try_lock() {
            writer.fold_whole();
        }
    }

    /// Asks the writer and waits for the answer.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Committed, StoreError> {
        let alone = self.drivers.load(Ordering::Relaxed) <= 1;
        // Another process at work is waited for on the thread, so that the caller's stays awake.
        if let (true, Ok(mut writer)) = (alone, self.writer.try_lock())
            && writer.is_free()
        {
            let settled = writer.settle(vec![ask]).pop().unwrap_or(Err(StoreError::Stopped));
            if writer.log_is_long() {
                let _ = self.jobs.send(Job::Fold);
            }
            return settled;
        }
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Job::Settle(ask, reply)).map_err(|_| StoreError::Stopped)?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }
}

/// The thread: settles what waits, group by group.
fn run(writer: &Mutex<Writer>, inbox: &Receiver<Job>) {
    while let Ok(first) = inbox.recv() {
        let jobs = std::iter::once(first).chain(inbox.try_iter().take(GROUP - 1));
        let (asks, replies): (Vec<_>, Vec<_>) = jobs
            .filter_map(|job| match job {
                Job::Settle(ask, reply) => Some((ask, reply)),
                Job::Fold => None,
            })
            .unzip();
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        for (reply, result) in replies.into_iter().zip(writer.settle(asks)) {
            // Whoever asked may have gone away; the commit stands.
            let _ = reply.send(result);
        }
        writer.fold_log();
    }
}

/// A job whose work outside the transaction is done.
enum Ready {
    Commit(Box<Prepared>),
    Checkpoint(SessionId, u64),
}

/// What a job did, and which head moved.
type Done = (Committed, Option<HeadLine>);

/// The writer's own things.
pub(crate) struct Writer {
    /// Its connection.
    pub(crate) conn: Connection,
    /// The home.
    pub(crate) home: Home,
    /// Who signs.
    pub(crate) keys: Keys,
    /// How long it waits for other processes.
    pub(crate) busy_timeout: Duration,
    heads: HeadFiles,
}

impl Writer {
    /// A writer that has not begun.
    pub(crate) fn new(conn: Connection, home: Home, keys: Keys, busy_timeout: Duration) -> Writer {
        Writer { conn, home, keys, busy_timeout, heads: HeadFiles::default() }
    }

    /// Settles a group of jobs in one transaction. One that is refused fails alone.
    pub(crate) fn settle(&mut self, asks: Vec<Ask>) -> Vec<Result<Committed, StoreError>> {
        let ready: Vec<_> = asks.into_iter().map(|ask| self.prepare(ask)).collect();
        let db = self.home.db();
        let results = match self.transaction(&ready) {
            Ok(results) => results,
            Err(error) => ready.iter().map(|_| Err(error.clone())).collect(),
        };
        results
            .into_iter()
            .map(|result| {
                let (committed, head) = result.map_err(|e| e.placed(&db))?;
                if let Some(head) = head {
                    self.heads.note(&self.home, &head);
                }
                Ok(committed)
            })
            .collect()
    }

    fn prepare(&self, ask: Ask) -> Result<Ready, StoreError> {
        Ok(match ask {
            Ask::Commit(batch) => Ready::Commit(Box::new(Prepared::new(&self.home, *batch)?)),
            Ask::Checkpoint(session, at) => Ready::Checkpoint(session, at),
        })
    }

    /// Runs every job inside one transaction, each in a savepoint of its own. An error here means
    /// that nothing of the group was written.
    fn transaction(
        &self,
        ready: &[Result<Ready, StoreError>],
    ) -> Result<Vec<Result<Done, StoreError>>, StoreError> {
        let conn = &self.conn;
        if ready.iter().all(Result::is_err) {
            return Ok(ready.iter().map(|job| self.one(job)).collect());
        }
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let settled = self.savepoints(ready).and_then(|results| {
            conn.prepare_cached("COMMIT")?.execute([])?;
            Ok(results)
        });
        if settled.is_err() && !conn.is_autocommit() {
            conn.execute_batch("ROLLBACK")?;
        }
        settled
    }

    fn savepoints(
        &self,
        ready: &[Result<Ready, StoreError>],
    ) -> Result<Vec<Result<Done, StoreError>>, StoreError> {
        let conn = &self.conn;
        let mut results = Vec::with_capacity(ready.len());
        for job in ready {
            conn.prepare_cached("SAVEPOINT job")?.execute([])?;
            let result = self.one(job);
            if let Err(error) = &result {
                // A full disk may have rolled back the whole transaction.
                if conn.is_autocommit() {
                    return Err(error.clone());
                }
                conn.prepare_cached("ROLLBACK TO job")?.execute([])?;
            }
            conn.prepare_cached("RELEASE job")?.execute([])?;
            results.push(result);
        }
        Ok(results)
    }

    fn one(&self, job: &Result<Ready, StoreError>) -> Result<Done, StoreError> {
        match job.as_ref().map_err(Clone::clone)? {
            Ready::Commit(batch) => {
                let append = Append { conn: &self.conn, home: &self.home, keys: &self.keys };
                append.batch(batch).map(|(committed, head)| (committed, Some(head)))
            }
            Ready::Checkpoint(session, at) => self.checkpoint(session, *at),
        }
    }

    fn checkpoint(&self, session: &SessionId, at: u64) -> Result<Done, StoreError> {
        let known: Option<i64> = self
            .conn
            .prepare_cached("SELECT 1 FROM sessions WHERE id = ?")?
            .query_row([session.as_str()], |row| row.get(0))
            .optional()?;
        known.ok_or_else(|| StoreError::NoSuch { text: session.to_string() })?;
        let mut tally = Tally::default();
        let anchor = checkpoint::ensure(&self.conn, &self.keys, session, at, &mut tally)?;
        let Tally { rows, bytes } = tally;
        Ok((Committed { receipts: Vec::new(), anchor: Some(anchor), rows, bytes }, None))
    }

    /// Folds the whole log and cuts it to nothing. What others need stays.
    fn fold_whole(&self) {
        self.without_waiting(|conn| {
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
    }

    /// Whether no other process is writing right now.
    fn is_free(&self) -> bool {
        self.without_waiting(|conn| {
            conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            conn.prepare_cached("COMMIT")?.execute([])
        })
    }

    /// Does something now or not at all. Whether it did.
    fn without_waiting<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> bool {
        let _ = self.conn.busy_timeout(Duration::ZERO);
        let done = work(&self.conn).is_ok();
        let _ = self.conn.busy_timeout(self.busy_timeout);
        done
    }

    fn log_is_long(&self) -> bool {
        std::fs::metadata(self.home.wal()).is_ok_and(|wal| wal.len() > WAL_LIMIT)
    }

    /// Folds a long write-ahead log into the database. Everyone has their answer by now, and what
    /// fails here is tried again after the next commit.
    fn fold_log(&self) {
        if self.log_is_long() {
            let _ = self.conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::batch::{LeaseKey, NewRun, NewSession};
    use cairn_types::{
        Approval, Body, Caps, ContentRef, Drive, Fact, Mode, RunId, RunStarted, Surface, View,
    };

    fn batch(number: u32, contents: Vec<Vec<u8>>) -> Ask {
        let (run, session) = (RunId::new(1, number), SessionId::new(1, 1));
        let drive = Drive {
            epoch: 1,
            holder: "me".to_owned(),
            model: "scripted/one".to_owned(),
            mode: Mode::Act,
            after_plan: None,
            approval: Approval::Yolo,
            flags: cairn_types::Flags::default(),
            policy: cairn_types::Policy::default(),
            caps: Caps { turns: 1, ops: 1, cost: None },
            budgets: Default::default(),
            folders: Vec::new(),
            form: None,
            effort: None,
            schema: None,
            hooks: Vec::new(),
            schemes: Vec::new(),
            since: None,
            lost: None,
        };
        let body = Body::Drive(drive);
        let started = Body::Run(RunStarted {
            session: session.clone(),
            name: None,
            system: ContentRef::of(b""),
            tools: ContentRef::of(b""),
            surface: Surface::Native,
            view: View::Transcript,
            given: Vec::new(),
            tool_use: cairn_types::ToolUse::Free,
            small: false,
            toolbox: None,
        });
        Ask::Commit(Box::new(Batch {
            lease: LeaseKey { run: run.clone(), epoch: 1 },
            session: Some(NewSession { id: session.clone(), root: "/".to_owned(), at: 1 }),
            run: Some(NewRun { id: run.clone(), session, name: None, parent: None, at: 1 }),
            facts: [started, body]
                .into_iter()
                .zip(1..)
                .map(|(body, n)| Fact { run: run.clone(), n, at: 1, engine: "0".to_owned(), body })
                .collect(),
            contents: contents.into_iter().map(Into::into).collect(),
        }))
    }

    #[test]
    fn a_full_disk_is_named_and_the_writer_lives_on() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home(dir.path().to_owned());
        home.make().unwrap();
        let conn = crate::open::writer(&home, Duration::from_secs(1)).unwrap();
        let keys = Keys::make(&home).unwrap();
        let mut writer = Writer::new(conn, home, keys, Duration::from_secs(1));
        let pages: u32 =
            writer.conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        let limit = |writer: &Writer, pages: u32| {
            let set = |_: &rusqlite::Row<'_>| Ok(());
            writer.conn.pragma_update_and_check(None, "max_page_count", pages, set).unwrap();
        };
        limit(&writer, pages + 4);
        let mut noise = vec![0; 200_000];
        getrandom::fill(&mut noise).unwrap();
        let results = writer.settle(vec![batch(1, Vec::new()), batch(2, vec![noise.clone()])]);
        assert!(matches!(results[1], Err(StoreError::Full { .. })), "{:?}", results[1]);
        let kept = results[0].is_ok();
        limit(&writer, pages + 1_000);
        let again = writer.settle(vec![batch(1, Vec::new()), batch(2, vec![noise])]);
        assert_eq!(again[0].is_ok(), !kept);
        assert!(again[1].is_ok(), "{:?}", again[1]);
    }
}
