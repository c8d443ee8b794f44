//! What can go wrong in the store, each with a sentence that says what to do. Errors are cheap to
//! clone, because one failed transaction answers every batch that rode in it.

use cairn_types::{CanonicalError, FactError, Hash, RunId};
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why the store could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// There is no home where one was to be read.
    #[error(
        "there is no Cairn home at {path}; start a run first, or set CAIRN_HOME to another place"
    )]
    NoHome {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Something else stands where the home should be.
    #[error("the home {path} is not a folder; move it away, or set CAIRN_HOME to another place")]
    NotAFolder {
        /// What stands there.
        path: PathBuf,
    },
    /// The home cannot be written.
    #[error("{path} cannot be written; make it writable, or set CAIRN_HOME to another place")]
    ReadOnlyHome {
        /// The home, or what in it cannot be written.
        path: PathBuf,
    },
    /// The disk is full.
    #[error(
        "there is no space left for {path}; free some and try again. All that was recorded is kept"
    )]
    Full {
        /// What was being written.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error(
        "the database {path} is damaged ({source}); move it away or restore it from a copy. \
         Bundles written earlier stay verifiable"
    )]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The database is there but cannot be opened.
    #[error(
        "the database {path} cannot be opened; make it and its folder readable and writable, or \
         copy the home to a place where they are"
    )]
    Closed {
        /// The database.
        path: PathBuf,
    },
    /// The home was made by a later version.
    #[error(
        "this home has schema {found}, and this version knows schemas up to {known}; use the \
         version that made it, or a newer one"
    )]
    Newer {
        /// The home's schema.
        found: u32,
        /// The latest schema this version knows.
        known: u32,
    },
    /// Another process kept the database for too long.
    #[error("another process kept the database busy for too long; try again")]
    Busy,
    /// An entry is not as a change says it was.
    #[error("{address} was changed by another run meanwhile; nothing was written")]
    Stale {
        /// The entry.
        address: String,
    },
    /// Someone else drives the run.
    #[error("run {run} is being driven by {holder}; wait for it, or stop it")]
    Held {
        /// The run.
        run: RunId,
        /// Who holds it, as they named themselves.
        holder: String,
    },
    /// The lease under which this was to be written is over.
    #[error("run {run} was taken over{}; nothing was written", by(holder.as_deref()))]
    Fenced {
        /// The run.
        run: RunId,
        /// Who holds it now, where that is known.
        holder: Option<String>,
    },
    /// More was recorded of the run than the database holds.
    #[error(
        "run {run} is not continued: {lost}, and the database does not have it; it is an older copy, \
         or was damaged. Go on in a fork of what is left: cairn fork {run}; or put the newer \
         database back"
    )]
    Behind {
        /// The run.
        run: RunId,
        /// What it once had.
        lost: String,
    },
    /// The run came with an imported session.
    #[error(
        "run {run} was imported and stays as it was signed; go on with it in a fork: \
         cairn run --resume {run}"
    )]
    Imported {
        /// The run.
        run: RunId,
    },
    /// A file cannot be imported.
    #[error("the file cannot be imported: {why}. Nothing of it was taken")]
    NotImported {
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A batch does not continue its run.
    #[error(
        "run {run} goes on with fact {expected}, but fact {found} was to be written; read the run \
         again and continue from there"
    )]
    OutOfOrder {
        /// The run.
        run: RunId,
        /// The next fact's number.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// A batch contradicts itself or the rules of the log.
    #[error("a batch for run {run} was refused: {why}")]
    BadBatch {
        /// The run.
        run: RunId,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing goes by that name.
    #[error("there is no run or session {text:?}; `cairn sessions` lists what there is")]
    NoSuch {
        /// What was asked for.
        text: String,
    },
    /// Several things go by that name.
    #[error("{text:?} could be any of {}; write more of it", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// Some of what it could be.
        candidates: Vec<String>,
    },
    /// A content was let go on purpose.
    #[error("the content {hash} was freed by `cairn gc`, here or where it was imported from")]
    ContentFreed {
        /// Its hash.
        hash: Hash,
    },
    /// A content is not here, and nobody freed it.
    #[error(
        "the content {hash} is missing from this home and was not freed; restore it from a copy"
    )]
    ContentMissing {
        /// Its hash.
        hash: Hash,
    },
    /// A content is not what its name says.
    #[error("the content {hash} is damaged: its bytes do not have that hash; restore {path}")]
    ContentCorrupt {
        /// Its hash.
        hash: Hash,
        /// The file or database that holds it.
        path: PathBuf,
    },
    /// A key cannot be used.
    #[error("the key {path} {why}")]
    Key {
        /// The key file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        why: String,
    },
    /// A fact cannot be read or written.
    #[error(transparent)]
    Fact(Arc<FactError>),
    /// A bundle was asked for before a checkpoint covers the session.
    #[error("no checkpoint covers all of session {session} yet; make one, then bundle it")]
    Uncovered {
        /// The session.
        session: String,
    },
    /// Something has no canonical form.
    #[error("something to be signed has no canonical form: {0}")]
    Canonical(#[from] CanonicalError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: Arc<io::Error>,
    },
    /// The system gave no randomness.
    #[error("the system gave no random bytes: {0}; nothing was written")]
    Random(getrandom::Error),
    /// The writer is gone.
    #[error("the store's writer has stopped; open the store again")]
    Stopped,
    /// SQLite refused.
    #[error("the database refused: {0}; try again, and look after the disk if that does not help")]
    Sqlite(#[source] Arc<rusqlite::Error>),
}

fn by(holder: Option<&str>) -> String {
    holder.map(|h| format!(" by {h}")).unwrap_or_default()
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::Sqlite(Arc::new(error))
    }
}

impl From<FactError> for StoreError {
    fn from(error: FactError) -> Self {
        StoreError::Fact(Arc::new(error))
    }
}

impl From<getrandom::Error> for StoreError {
    fn from(error: getrandom::Error) -> Self {
        StoreError::Random(error)
    }
}

impl StoreError {
    /// An input or output error at a path; a full disk and a read-only one have their own names.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                StoreError::ReadOnlyHome { path }
            }
            _ => StoreError::Io { path, source: Arc::new(source) },
        }
    }

    /// The same error, with what SQLite says about this database put into the store's own words.
    pub(crate) fn placed(self, db: &Path) -> Self {
        let StoreError::Sqlite(source) = self else { return self };
        let path = db.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            _ if is_without_room(&source) => StoreError::Full { path },
            Some(ErrorCode::CannotOpen) => StoreError::Closed { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Corrupt { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::ReadOnlyHome { path }
            }
            None if is_bad_column(&source) => StoreError::Corrupt { path, source },
            _ => StoreError::Sqlite(source),
        }
    }
}

/// Whether there was no room for the index of the write-ahead log.
fn is_without_room(error: &rusqlite::Error) -> bool {
    let shm = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
    error.sqlite_error().is_some_and(|error| error.extended_code == shm)
}

/// Whether a row holds what no version of the store has ever written.
fn is_bad_column(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
    )
}
