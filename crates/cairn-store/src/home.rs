//! Where things are in a home, and the making of its directories. Knows no table.

use crate::StoreError;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The layout of a home.
#[derive(Debug, Clone)]
pub(crate) struct Home(pub(crate) PathBuf);

impl Home {
    /// The database.
    pub(crate) fn db(&self) -> PathBuf {
        self.0.join("cairn.db")
    }

    /// The database's write-ahead log.
    pub(crate) fn wal(&self) -> PathBuf {
        self.0.join("cairn.db-wal")
    }

    /// The keys, which no sandbox and no bundle ever sees.
    pub(crate) fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }

    /// Contents too large for the database.
    pub(crate) fn contents(&self) -> PathBuf {
        self.0.join("contents")
    }

    /// Contents that are still being written. It lies among the others so that what a crash leaves
    /// there is freed like any file that no row names.
    pub(crate) fn spool(&self) -> PathBuf {
        self.contents().join("spool")
    }

    /// Who drives which run.
    pub(crate) fn leases(&self) -> PathBuf {
        self.0.join("leases")
    }

    /// What is known of the members of projects, by session.
    pub(crate) fn surveys(&self) -> PathBuf {
        self.0.join("surveys")
    }

    /// Where each run stands, kept outside the database.
    pub(crate) fn heads(&self) -> PathBuf {
        self.0.join("heads")
    }

    /// Makes the database's file, if there is none, for its owner only; SQLite gives its other files the
    /// same mode. One that others could read, from before or from elsewhere, is taken from them. What
    /// cannot be done is left: opening the database says what is wrong.
    pub(crate) fn keep_db_private(&self) {
        let db = self.db();
        let mut options = OpenOptions::new();
        drop(options.write(true).create(true).truncate(false).mode(0o600).open(&db));
        for path in [self.wal(), self.0.join("cairn.db-shm"), db] {
            let mode = fs::metadata(&path).map_or(0, |meta| meta.permissions().mode());
            if mode & 0o077 != 0 {
                let _ = fs::set_permissions(&path, Permissions::from_mode(0o600));
            }
        }
    }

    /// Refuses a place that something other than a directory takes, or that lies in such a thing.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let taken = self.0.ancestors().find(|place| place.exists()).filter(|place| !place.is_dir());
        taken.map_or(Ok(()), |_| Err(StoreError::NotAFolder { path: self.0.clone() }))
    }

    /// Makes the home and its directories, for their owner only.
    pub(crate) fn make(&self) -> Result<(), StoreError> {
        self.check()?;
        for dir in [self.0.clone(), self.keys(), self.contents(), self.leases(), self.heads()] {
            make_dir(&dir)?;
        }
        Ok(())
    }
}

/// Makes a directory for its owner only, unless it is there.
pub(crate) fn make_dir(dir: &Path) -> Result<(), StoreError> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().mode(0o700).recursive(true).create(dir).map_err(|e| StoreError::io(dir, e))
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(|e| StoreError::io(dir, e))
}

/// A small file's text; `None` when there is none.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(StoreError::io(path, e)),
    }
}
