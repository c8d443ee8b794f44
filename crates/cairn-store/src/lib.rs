//! The only crate that names a database: sessions, runs, facts, contents, receipts, checkpoints.
//!
//! One SQLite database per home, one writer thread with group commit, short reads beside it. Every
//! outcome gets its receipt here, in its own transaction. It never decides what a fact means, reads
//! no environment, and takes the time from its callers.

mod answers;
mod append;
mod batch;
mod bundle;
mod check;
mod checkpoint;
mod contents;
mod digest;
mod entries;
mod error;
mod export;
mod fact;
mod gc;
mod heads;
mod home;
mod import;
mod keys;
mod lease;
mod mail;
mod merkle;
mod mint;
mod money;
mod op;
mod open;
mod origins;
mod packed;
mod read;
mod remove;
mod run;
mod session_rows;
mod store;
mod subscriptions;
mod verify;
mod writer;

pub use answers::Answer;
pub use batch::{Batch, Committed, Kept, LeaseKey, NewRun, NewSession, SpooledFile};
pub use check::{ContentsReport, UnreadableContent};
pub use contents::Absence;
pub use entries::EntryRow;
pub use error::StoreError;
pub use export::Exported;
pub use gc::{Freed, Gc};
pub use heads::{MissingRecord, recorded_runs};
pub use import::{Import, Imported};
pub use lease::{HomeLock, Lease};
pub use mail::Waiting;
pub use money::{Reserve, Reserved};
pub use open::{Health, health, sqlite_version};
pub use read::{Found, MIN_BEGINNING, ReceiptRow, Replies, ReplyRow, RunRow, SessionRow};
pub use remove::Deleted;
pub use session_rows::RecordedOrder;
pub use store::{Access, Options, Store};
pub use subscriptions::Subscription;
pub use verify::{Report, RunVerdict, Signer, Verdict, verify_bytes};
