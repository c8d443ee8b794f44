//! Receipts: minting them, the trees and chains over them, checkpoints, head files, and verifying all of it.
//! `docs/receipts.md` is their specification.

pub(crate) mod checkpoint;
pub(crate) mod digest;
pub(crate) mod heads;
pub(crate) mod merkle;
pub(crate) mod mint;
pub(crate) mod verify;
