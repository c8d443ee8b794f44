//! The store as callers hold it: a cheap handle over one writer and a few readers.

use crate::contents::check::{ContentsReport, check_contents};
use crate::contents::gc::{self, Freed, Gc};
use crate::contents::{Absence, Readable};
use crate::home::{Home, make_dir};
use crate::keys::Keys;
use crate::log::batch::{Batch, Committed};
use crate::log::lease::{self, HomeLock, Lease};
use crate::log::read::{self, Found, ReceiptRow, Replies, ReplyRow, RunRow, SessionRow};
use crate::log::run::RunState;
use crate::log::writer::{Ask, Writer, Writing};
use crate::receipts::heads::{self, MissingRecord};
use crate::receipts::verify::{HeldSession, HomeJudge, Report, Verdict, session_of, verify_bytes};
use crate::sessions::answers::{self, Answer};
use crate::sessions::entries::{self, EntryRow};
use crate::sessions::mail::{self, Waiting};
use crate::sessions::money::{self, Reserve, Reserved};
use crate::sessions::remove::{self, Deleted};
use crate::sessions::session_rows::{self, RecordedOrder};
use crate::sessions::subscriptions::{self, Subscription};
use crate::transfer::export::Exported;
use crate::transfer::import::{Import, Imported};
use crate::transfer::{bundle, export};
use crate::{StoreError, contents, open};
use cairn_types::{Fact, Hash, RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many idle readers are kept.
const READERS: usize = 2;

/// What a caller wants of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read and write; the home is made when it is missing.
    ReadWrite,
    /// Only read; a missing home is an error.
    ReadOnly,
}

/// How to open a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// The home's directory.
    pub home: PathBuf,
    /// What for.
    pub access: Access,
    /// How long to wait for another process.
    pub busy_timeout: Duration,
}

impl Options {
    /// The usual way to open a home: wait up to 30 seconds for others.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>, access: Access) -> Options {
        Options { home: home.into(), access, busy_timeout: Duration::from_secs(30) }
    }
}

/// A home, open. Clones share one writer.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    home: Home,
    busy_timeout: Duration,
    readers: Mutex<Vec<Connection>>,
    writer: Option<Writing>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.0.home.0).finish()
    }
}

impl Store {
    /// Opens a home. To write, it makes what is missing: the directories and keys for their owner
    /// only, the database of the latest schema.
    pub fn open(options: &Options) -> Result<Store, StoreError> {
        let home = Home(options.home.clone());
        let mut readers = Vec::new();
        let writer = match options.access {
            Access::ReadOnly => {
                readers.push(open::reader(&home, options.busy_timeout)?);
                None
            }
            Access::ReadWrite => {
                home.make()?;
                let conn = open::writer(&home, options.busy_timeout)?;
                let keys = keys(&home, &conn).map_err(|e| e.placed(&home.db()))?;
                Some(Writing::start(Writer::new(conn, home.clone(), keys, options.busy_timeout))?)
            }
        };
        let busy_timeout = options.busy_timeout;
        Ok(Store(Arc::new(Inner { home, busy_timeout, readers: Mutex::new(readers), writer })))
    }

    /// The home's directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.0.home.0
    }

    /// All sessions, newest first.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.read(read::sessions)
    }

    /// The newest session on a root.
    pub fn latest_session(&self, root: &str) -> Result<Option<SessionId>, StoreError> {
        self.read(|conn| read::latest_session(conn, root))
    }

    /// A session's runs, newest first.
    pub fn runs(&self, session: &SessionId) -> Result<Vec<RunRow>, StoreError> {
        self.read(|conn| read::runs(conn, session))
    }

    /// A run.
    pub fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.read(|conn| read::run(conn, id))
    }

    /// What a person means: a run or session by its id, by a run's name (the newest of that name),
    /// or by the first letters of an id, at least three.
    pub fn find(&self, text: &str) -> Result<Found, StoreError> {
        self.read(|conn| read::find(conn, text))
    }

    /// A run's facts after `after`, in order; a fork's begin with its parent's, up to the fork.
    pub fn facts(&self, run: &RunId, after: u64) -> Result<Vec<Fact>, StoreError> {
        self.read(|conn| read::facts(conn, run, after))
    }

    /// Tells a run's own facts of these kinds, newest first and one at a time, until told to stop.
    pub fn own_facts(
        &self,
        run: &RunId,
        kinds: &[&str],
        each: &mut dyn FnMut(Fact) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.read(|conn| read::own_facts(conn, run, kinds, each))
    }

    /// Who drives a run right now, as they named themselves.
    #[must_use]
    pub fn driven_by(&self, run: &RunId) -> Option<String> {
        let held = lease::is_held(&self.0.home, run);
        let holder = || lease::holder_of(&self.0.home, run);
        held.then(|| holder().unwrap_or_else(|| "another process".to_owned()))
    }

    /// Tells what each reply took, one at a time; however long the history, it is never held whole.
    pub fn replies(
        &self,
        which: &Replies,
        each: &mut dyn FnMut(ReplyRow),
    ) -> Result<(), StoreError> {
        self.read(|conn| read::replies(conn, which, each))
    }

    /// The newest receipt of a session, if it has one.
    pub fn newest_receipt(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        self.read(|conn| session_rows::newest(conn, session))
    }

    /// In which order the rows of a session were recorded.
    pub fn recorded_order(&self, session: &SessionId) -> Result<RecordedOrder, StoreError> {
        self.read(|conn| RecordedOrder::read(conn, session))
    }

    /// The outcomes of a session's runs after this receipt, each with its own, in the order in which they
    /// were committed; all of them after an empty name. None where no such receipt is here.
    pub fn outcomes_since(
        &self,
        session: &SessionId,
        receipt: &str,
    ) -> Result<Option<Vec<(String, Fact)>>, StoreError> {
        self.read(|conn| session_rows::since(conn, session, receipt))
    }

    /// Where what is known of the members of a session's project is kept: a cache, not the store's to read.
    #[must_use]
    pub fn survey_file(&self, session: &SessionId) -> PathBuf {
        self.0.home.surveys().join(session.as_str())
    }

    /// Keeps that, for its owner only. It is no harm if it is lost.
    pub fn keep_survey(&self, session: &SessionId, packed: &[u8]) -> Result<(), StoreError> {
        let (folder, file) = (self.0.home.surveys(), self.survey_file(session));
        make_dir(&folder)?;
        let beside = folder.join(format!("{session}.{}", std::process::id()));
        let fail = |e| StoreError::io(&file, e);
        let mut options = std::fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&beside).and_then(|mut new| new.write_all(packed)).map_err(fail)?;
        std::fs::rename(&beside, &file).map_err(fail)
    }

    /// Takes the right to bring that up to date; absent when another has it for the moment.
    pub fn try_lock_survey(&self, session: &SessionId) -> Result<Option<HomeLock>, StoreError> {
        self.writer()?;
        HomeLock::try_take(&self.0.home, &format!("survey-{session}"))
    }

    /// An entry that stands on no disk, by its address.
    pub fn entry(
        &self,
        session: &SessionId,
        address: &str,
    ) -> Result<Option<EntryRow>, StoreError> {
        self.read(|conn| entries::get(conn, session, address))
    }

    /// What was said to a run and not heard yet.
    pub fn letters(&self, run: &RunId) -> Result<Vec<Waiting>, StoreError> {
        self.read(|conn| mail::of(conn, run))
    }

    /// The streams of a session that go on.
    pub fn subscriptions(&self, session: &SessionId) -> Result<Vec<Subscription>, StoreError> {
        self.read(|conn| subscriptions::of(conn, session))
    }

    /// The entries whose address begins so, in order of address.
    pub fn entries(&self, session: &SessionId, prefix: &str) -> Result<Vec<EntryRow>, StoreError> {
        self.read(|conn| entries::beneath(conn, session, prefix))
    }

    /// A content's bytes, their hash checked.
    pub fn content(&self, r: &Hash) -> Result<Vec<u8>, StoreError> {
        self.read(|conn| contents::read(conn, &self.0.home, r))
    }

    /// Those of these contents that are not here any more, or never were. Their bytes are not looked at.
    pub fn missing(
        &self,
        hashes: impl IntoIterator<Item = Hash>,
    ) -> Result<HashSet<Hash>, StoreError> {
        Ok(self.absent(hashes)?.into_keys().collect())
    }

    /// The same, and why each is not here.
    pub fn absent(
        &self,
        hashes: impl IntoIterator<Item = Hash>,
    ) -> Result<HashMap<Hash, Absence>, StoreError> {
        let all: HashSet<Hash> = hashes.into_iter().collect();
        self.read(|conn| {
            let mut absent = HashMap::new();
            for hash in all {
                if let Some(why) = contents::absence(conn, &self.0.home, &hash)? {
                    absent.insert(hash, why);
                }
            }
            Ok(absent)
        })
    }

    /// Reads every content of a session, or of the whole home, and says which cannot be read. `progress`
    /// is told how many of how many were looked at.
    pub fn check_contents(
        &self,
        session: Option<&SessionId>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ContentsReport, StoreError> {
        self.read(|conn| check_contents(conn, &self.0.home, session, progress))
    }

    /// Hands on a content's bytes piece by piece, their hash checked before the first. A large one is
    /// never whole in memory.
    pub fn each_of_content(&self, r: &Hash, take: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        match self.read(|conn| contents::readable(conn, &self.0.home, r))? {
            Readable::Large(large) => large.each(&self.0.home, r, take),
            Readable::Held(bytes) => {
                take(&bytes);
                Ok(())
            }
        }
    }

    /// Where contents are written that come in piece by piece, to be handed in as files. It need not
    /// exist.
    #[must_use]
    pub fn spool(&self) -> PathBuf {
        self.0.home.spool()
    }

    /// A salt of this home's own, for tags that only this home can make. It is derived from a key that
    /// never leaves the home.
    pub fn salt(&self) -> Result<[u8; 32], StoreError> {
        Ok(Keys::load(&self.0.home)?.hmac(b"cairn: tags of secrets"))
    }

    /// A run's receipts in the chain's order; a fork's begin with its parent's, up to the fork.
    pub fn receipts(&self, run: &RunId) -> Result<Vec<ReceiptRow>, StoreError> {
        self.read(|conn| read::receipts(conn, run))
    }

    /// Takes the right to drive a run, or says who has it. Writes nothing to the database; the
    /// run's next `drive` fact makes the lease's epoch binding.
    pub fn lease(&self, run: &RunId, holder: &str) -> Result<Lease, StoreError> {
        let drivers = &self.writer()?.drivers;
        Lease::take(&self.0.home, (run, holder), drivers, || {
            match self.read(|conn| RunState::load(conn, run))? {
                Some(state) if state.imported > 0 => Err(StoreError::Imported { run: run.clone() }),
                Some(_) if let Some(missing) = self.missing_record(run)? => {
                    Err(StoreError::Behind { run: run.clone(), lost: missing.why })
                }
                state => Ok(state.map_or(0, |state| state.epoch) + 1),
            }
        })
    }

    /// What was recorded of a run that the database has, and is not in the database any more.
    pub fn missing_record(&self, run: &RunId) -> Result<Option<MissingRecord>, StoreError> {
        let Some(head) = heads::of_run(&self.0.home, run) else { return Ok(None) };
        self.read(|conn| head.missing_in(conn, &self.0.home))
    }

    /// What was recorded of all runs of this home and is not in the database any more.
    pub fn missing_records(&self) -> Result<Vec<MissingRecord>, StoreError> {
        let recorded = heads::all(&self.0.home)?;
        self.snapshot(|conn| heads::compare(conn, &self.0.home, &recorded))
    }

    /// Takes the right to make a session here; absent when another has it for the moment.
    pub fn try_lock_sessions(&self) -> Result<Option<HomeLock>, StoreError> {
        self.writer()?;
        HomeLock::try_take(&self.0.home, "sessions")
    }

    /// Takes the right to change entries, until it is dropped; absent when another has it for the moment.
    /// Whoever has it finds entries in a commit as they were when it was prepared.
    pub fn try_lock_entries(&self) -> Result<Option<HomeLock>, StoreError> {
        self.writer()?;
        HomeLock::try_take(&self.0.home, "entries")
    }

    /// Frees what nobody needs any more.
    pub fn gc(&self, what: &Gc) -> Result<Freed, StoreError> {
        self.alone(|conn| gc::gc(conn, &self.0.home, what))
    }

    /// The runs of which `gc` keeps everything: touched since then, driven now, or parents of such.
    pub fn living(&self, since: u64) -> Result<HashSet<RunId>, StoreError> {
        self.read(|conn| gc::living(conn, &self.0.home, since))
    }

    /// Gives a session a name, or takes it away.
    pub fn rename(&self, session: &SessionId, name: Option<&str>) -> Result<(), StoreError> {
        self.alone(|conn| {
            let sql = "UPDATE sessions SET name = ? WHERE id = ?";
            match conn.execute(sql, params![name, session.as_str()])? {
                0 => Err(StoreError::NoSuch { text: session.to_string() }),
                _ => Ok(()),
            }
        })
    }

    /// The answers people gave for longer than one run that are in force at this time.
    pub fn answers(&self, now: u64) -> Result<Vec<Answer>, StoreError> {
        self.read(|conn| answers::all(conn, now))
    }

    /// Takes such an answer back. Whether there was one of this number.
    pub fn revoke(&self, answer: u64) -> Result<bool, StoreError> {
        self.alone(|conn| answers::revoke(conn, answer))
    }

    /// Sets money aside for a model call, out of what the runs of a session share. Every home has one
    /// such account, whichever process asks.
    pub fn reserve(&self, wish: &Reserve<'_>) -> Result<Reserved, StoreError> {
        self.alone(|conn| money::reserve(conn, &self.0.home, wish))
    }

    /// Deletes a session with everything that only it needed. `at` is the time, milliseconds since
    /// 1970. A session with a run that is being driven is refused.
    pub fn delete(&self, session: &SessionId, at: u64) -> Result<Deleted, StoreError> {
        self.alone(|conn| remove::delete(conn, &self.0.home, session, at))
    }

    /// Writes a session as one portable file. A checkpoint must cover it.
    pub fn export(&self, session: &SessionId, out: &mut dyn Write) -> Result<Exported, StoreError> {
        let keys = Keys::load(&self.0.home)?;
        self.snapshot(|conn| export::write(conn, &self.0.home, &keys, session, out))
    }

    /// Takes in such a file, which is not believed: whole, or nothing of it.
    pub fn import(&self, import: &mut Import<'_>) -> Result<Imported, StoreError> {
        let keys = Keys::load(&self.0.home)?;
        self.alone(|conn| import.all(conn, &self.0.home, &keys))
    }

    /// Writes a batch whole or not at all. When it returns, the batch is durable.
    pub async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        tracing::trace!(target: "cairn::turn", "Store::commit");
        self.writer()?.ask(Ask::Commit(Box::new(batch))).await
    }

    /// Leaves the home tidy: the write-ahead log is folded into the database and its space given
    /// back, unless others are at work. Nothing depends on it.
    pub fn fold(&self) {
        if let Ok(writer) = self.writer() {
            writer.fold();
        }
    }

    /// Sees to it that a stored checkpoint covers the whole session; gives its anchor.
    pub async fn checkpoint(&self, session: &SessionId, at: u64) -> Result<String, StoreError> {
        let done = self.writer()?.ask(Ask::Checkpoint(session.clone(), at)).await?;
        done.anchor.ok_or(StoreError::Stopped)
    }

    /// Writes a session's bundle. A checkpoint must cover the session.
    pub fn bundle(&self, session: &SessionId, out: &mut dyn Write) -> Result<(), StoreError> {
        let keys = Keys::load(&self.0.home)?;
        self.snapshot(|conn| bundle::write(conn, &self.0.home, &keys, session, out))
    }

    /// Judges a session as it stands in the database, its HMACs and the heads kept outside too.
    pub fn verify_session(
        &self,
        session: &SessionId,
        anchor: Option<&str>,
    ) -> Result<Report, StoreError> {
        self.verify(session, None, anchor)
    }

    /// Judges a session as `verify_session` does, but of what was lost only this run's counts.
    pub fn verify_run(&self, run: &RunRow, anchor: Option<&str>) -> Result<Report, StoreError> {
        self.verify(&run.session, Some(&run.id), anchor)
    }

    /// Judges a bundle, also by what this home holds of its session.
    pub fn verify_bundle(&self, bytes: &[u8], anchor: Option<&str>) -> Result<Report, StoreError> {
        let keys = Keys::load(&self.0.home)?;
        let report = verify_bytes(bytes, anchor).with_own_key(&keys.public());
        let session = match report.verdict {
            Verdict::Verified | Verdict::Unanchored => session_of(bytes),
            Verdict::Refuted | Verdict::Unverifiable => None,
        };
        let Some(session) = session else { return Ok(report) };
        let held = self.snapshot(|conn| HeldSession::read(conn, &keys, &session))?;
        Ok(match held.and_then(|held| held.contradicted_by(bytes)) {
            None => report,
            Some((bad, why)) => Report {
                verdict: Verdict::Refuted,
                why: format!("{why}. This home holds the session, so the bundle is not its record"),
                bad: Some(bad),
                ..report
            },
        })
    }

    fn verify(
        &self,
        session: &SessionId,
        only: Option<&RunId>,
        anchor: Option<&str>,
    ) -> Result<Report, StoreError> {
        let home = &self.0.home;
        let keys = &Keys::load(home)?;
        let heads = heads::of_session(home, session)?;
        let judged =
            self.snapshot(|conn| HomeJudge { conn, home, keys, session }.all(&heads, only, anchor));
        Ok(judged?.with_own_key(&keys.public()))
    }

    fn writer(&self) -> Result<&Writing, StoreError> {
        let path = || self.0.home.0.clone();
        self.0.writer.as_ref().ok_or_else(|| StoreError::ReadOnlyHome { path: path() })
    }

    /// Does a longer piece of work on a connection of its own that may write.
    fn alone<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.writer()?;
        let conn = open::writer(&self.0.home, self.0.busy_timeout)?;
        work(&conn).map_err(|e| e.placed(&self.0.home.db()))
    }

    /// Runs a short read on a connection of the pool.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let pooled = self.0.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match pooled {
            Some(conn) => conn,
            None => open::reader(&self.0.home, self.0.busy_timeout)?,
        };
        let done = work(&conn).map_err(|e| e.placed(&self.0.home.db()));
        let mut readers = self.0.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS && conn.is_autocommit() {
            readers.push(conn);
        }
        done
    }

    /// Runs a longer read that sees one state of the database throughout.
    fn snapshot<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read(|conn| {
            let tx = conn.unchecked_transaction()?;
            let done = work(&tx)?;
            tx.commit()?;
            Ok(done)
        })
    }
}

/// The home's keys, made when the home has signed nothing yet.
fn keys(home: &Home, conn: &Connection) -> Result<Keys, StoreError> {
    let signed: Option<i64> = conn
        .query_row(
            "SELECT 1 FROM checkpoints UNION ALL SELECT 1 FROM receipts LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()?;
    match signed {
        Some(_) => Keys::load(home),
        None => Keys::make(home),
    }
}
