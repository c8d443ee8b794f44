//! Receipts and checkpoints as they are signed. `docs/receipts.md` is the specification.

use crate::{RunId, SandboxLayer, SessionId};
use serde::{Deserialize, Serialize};

/// What a receipt's signature covers. All hashes here are SHA-256 in hex unless a field says
/// otherwise, so that a verifier needs nothing beyond its language's standard library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptPayload {
    /// The format, 1.
    pub v: u32,
    /// `rcpt_` and twelve hex digits, made by the store.
    pub receipt_id: String,
    /// The session.
    pub session_id: SessionId,
    /// The run, the seed's task.
    pub task_id: RunId,
    /// Its place in the run's chain, from 1.
    pub seq: u64,
    /// `loop/turn/op` of the row it proves.
    pub turn_id: String,
    /// Who acted: `model`, `client`, `plugin`, `system`.
    pub agent_id: String,
    /// The tool's name as the model wrote it.
    pub tool_id: String,
    /// The row's status.
    pub status: u16,
    /// A command's exit code.
    pub exit: Option<i32>,
    /// Salted commitment to the arguments.
    pub inputs: Commitment,
    /// Salted commitment to the result.
    pub outputs: Commitment,
    /// What changed on disk.
    pub file_refs: Vec<FileRef>,
    /// The sandbox layers in force.
    pub layers: Vec<SandboxLayer>,
    /// Who decided.
    pub decided_by: String,
    /// The facts since the run's previous receipt, this outcome included.
    pub facts: FactSpan,
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// The previous receipt's hash, or 64 zeros.
    pub prev: String,
}

/// A salted commitment: SHA-256 of `"cairn-commit-v1\0"`, the 16-byte salt and the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commitment {
    /// How many bytes are committed to.
    pub bytes: u64,
    /// The commitment.
    pub commitment: String,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRef {
    /// The path beneath the root.
    pub path: String,
    /// BLAKE3 of the bytes before; absent when there was no file.
    pub before: Option<String>,
    /// BLAKE3 of the bytes after; absent when there is no file.
    pub after: Option<String>,
}

/// A stretch of a run's facts and the SHA-256 of their canonical lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactSpan {
    /// First fact.
    pub from: u64,
    /// Last fact.
    pub to: u64,
    /// SHA-256 over the canonical line of each, each followed by a newline.
    pub sha256: String,
}

/// What a checkpoint's signature covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointPayload {
    /// The format, 1.
    pub v: u32,
    /// The session.
    pub session_id: SessionId,
    /// Its place among the session's checkpoints, from 1.
    pub seq: u64,
    /// How many receipts of the session it covers.
    pub receipts: u64,
    /// Merkle root over their hashes in the session's order.
    pub merkle_root: String,
    /// The last receipt and the last fact of every run, by run id.
    pub heads: Vec<Head>,
    /// The Ed25519 public key, hex.
    pub public_key: String,
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// The previous checkpoint's hash, or 64 zeros.
    pub prev: String,
}

/// Where a run stood at a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The run.
    pub run: RunId,
    /// Its last receipt's place, 0 when it has none.
    pub seq: u64,
    /// That receipt's hash, or 64 zeros.
    pub hash: String,
    /// The facts after that receipt, up to the run's last at that time.
    pub tail: FactSpan,
}
