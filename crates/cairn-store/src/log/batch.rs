//! What callers hand in to be committed, and what they get back.

use cairn_types::{ContentRef, Fact, ForkPoint, RunId, SessionId};
use std::fs::File;
use std::sync::Arc;

/// Everything one commit adds. It is written whole or not at all.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Under which lease: `lease.key()`.
    pub lease: LeaseKey,
    /// A session to make first.
    pub session: Option<NewSession>,
    /// A run to make first. Only a fork may come without facts.
    pub run: Option<NewRun>,
    /// The run's next facts, in order.
    pub facts: Vec<Fact>,
    /// The contents these facts name, as far as the store may not have them.
    pub contents: Vec<Kept>,
}

/// A content to be kept.
#[derive(Debug, Clone)]
pub enum Kept {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What stands in a file.
    File(SpooledFile),
}

impl From<Vec<u8>> for Kept {
    fn from(bytes: Vec<u8>) -> Kept {
        Kept::Bytes(bytes)
    }
}

/// A content that was written to a file as it came, so that it never was whole in memory. The file
/// best lies in `Store::spool` and has no name yet: then it can become the stored content itself.
#[derive(Debug, Clone)]
pub struct SpooledFile {
    /// The file; nobody changes it any more.
    pub file: Arc<File>,
    /// Its hash and length.
    pub content: ContentRef,
}

/// Which run a driver may write, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseKey {
    /// The run.
    pub run: RunId,
    /// The lease's epoch.
    pub epoch: u64,
}

/// A session to be made. Making one that is there already changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// The canonical root it works on.
    pub root: String,
    /// Milliseconds since 1970.
    pub at: u64,
}

/// A run to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// Its session.
    pub session: SessionId,
    /// A person's name for it.
    pub name: Option<String>,
    /// Where it leaves its parent, when it is a fork.
    pub parent: Option<ForkPoint>,
    /// Milliseconds since 1970.
    pub at: u64,
}

/// What a commit did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// Each outcome's fact and receipt id.
    pub receipts: Vec<(u64, String)>,
    /// The new checkpoint's hash, when a loop ended.
    pub anchor: Option<String>,
    /// Rows read and written. They do not grow with history.
    pub rows: u64,
    /// Bytes written into rows.
    pub bytes: u64,
}

/// Counts what a commit reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Rows read and written.
    pub(crate) rows: u64,
    /// Bytes written.
    pub(crate) bytes: u64,
}

impl Tally {
    /// One row of this size was written.
    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.rows += 1;
        self.bytes += bytes;
    }

    /// Rows were read.
    pub(crate) fn read(&mut self, rows: u64) {
        self.rows += rows;
    }
}
