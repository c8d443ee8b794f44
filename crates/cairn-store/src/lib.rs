//! The only crate that names a database: sessions, runs, facts, contents, receipts, checkpoints.
//!
//! One SQLite database per home, one writer thread with group commit, short reads beside it. Every
//! outcome gets its receipt here, in its own transaction. It never decides what a fact means, reads
//! no environment, and takes the time from its callers.

mod contents;
mod error;
mod home;
mod keys;
mod log;
mod open;
mod receipts;
mod sessions;
mod store;
mod transfer;

pub use contents::Absence;
pub use contents::check::{ContentsReport, UnreadableContent};
pub use contents::gc::{Freed, Gc};
pub use error::StoreError;
pub use log::batch::{Batch, Committed, Kept, LeaseKey, NewRun, NewSession, SpooledFile};
pub use log::lease::{HomeLock, Lease};
pub use log::read::{Found, MIN_BEGINNING, ReceiptRow, Replies, ReplyRow, RunRow, SessionRow};
pub use open::{Health, health, sqlite_version};
pub use receipts::heads::{MissingRecord, recorded_runs};
pub use receipts::verify::{Report, RunVerdict, Signer, Verdict, verify_bytes};
pub use sessions::answers::Answer;
pub use sessions::entries::EntryRow;
pub use sessions::mail::Waiting;
pub use sessions::money::{Reserve, Reserved};
pub use sessions::remove::Deleted;
pub use sessions::session_rows::RecordedOrder;
pub use sessions::subscriptions::Subscription;
pub use store::{Access, Options, Store};
pub use transfer::export::Exported;
pub use transfer::import::{Import, Imported};
