//! The lines of a bundle: their types, and a reader that takes a line only if writing it again
//! gives the same bytes.

use super::{Check, hold};
use crate::log::fact::{DEPTH, depth};
use cairn_types::{
    CheckpointPayload, ForkPoint, ReceiptPayload, RunId, SessionId, StoredFact, canonical,
    to_canonical,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    r#type: String,
    format: String,
    v: u32,
    pub(crate) session_id: SessionId,
    pub(crate) public_key: String,
    /// Whose keys signed the beginning, in version 2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) origins: Vec<Origin>,
}

impl Header {
    /// Version 1 knows no origins, version 2 has at least one.
    pub(super) fn has_its_form(&self) -> bool {
        (self.v == 2) != self.origins.is_empty()
    }
}

/// Up to where a session's receipts and checkpoints were signed by another home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// With this key.
    pub(crate) public_key: String,
    /// How many receipts there were.
    pub(crate) receipts: u64,
    /// How many checkpoints there were; the last of them covers those receipts.
    pub(crate) checkpoints: u64,
}

/// A run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunLine {
    r#type: String,
    pub(crate) run: RunId,
    pub(crate) parent: Option<ForkPoint>,
}

/// A fact.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactLine {
    r#type: String,
    pub(crate) fact: StoredFact,
}

/// A receipt.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReceiptLine {
    r#type: String,
    pub(crate) payload: ReceiptPayload,
    pub(crate) hmac: String,
    pub(crate) hash: String,
    pub(crate) signature: String,
    pub(crate) signature_alg: String,
    pub(crate) opened: Opened,
}

/// What opens a receipt's commitments.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Opened {
    pub(crate) inputs: Option<OpenedContent>,
    pub(crate) outputs: Option<OpenedContent>,
}

/// What opens one commitment: a salt, and a text or the hex of bytes that are no text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenedContent {
    pub(crate) salt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hex: Option<String>,
}

/// A checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckpointLine {
    r#type: String,
    pub(crate) payload: CheckpointPayload,
    pub(crate) hash: String,
    pub(crate) signature: String,
}

/// Reads a line as canonical JSON.
fn value(text: &str) -> Check<Value> {
    let bad = "it is not canonical JSON";
    let value: Value = serde_json::from_str(text).map_err(|_| bad)?;
    hold(depth(&value) <= DEPTH, "it nests too deep")?;
    hold(canonical(&value).is_ok_and(|again| again == text), bad)?;
    Ok(value)
}

/// A line and its type.
pub(super) fn typed(text: &str) -> Check<(String, Value)> {
    let value = value(text)?;
    let kind = value.get("type").and_then(Value::as_str).ok_or("it has no type")?.to_owned();
    Ok((kind, value))
}

/// A line whose every key and value is as listed.
pub(super) fn strict<T: Serialize + DeserializeOwned>(value: Value, text: &str) -> Check<T> {
    let line: T = serde_json::from_value(value).map_err(|e| format!("it is not as listed: {e}"))?;
    let same = to_canonical(&line).is_ok_and(|again| again == text);
    hold(same, "it has other keys than listed")?;
    Ok(line)
}

/// The canonical line of the fact in a fact's line: the part between its fixed ends.
pub(super) fn fact_text(text: &str) -> Check<&str> {
    let inner = text.strip_prefix(r#"{"fact":"#).and_then(|t| t.strip_suffix(r#","type":"fact"}"#));
    inner.ok_or_else(|| "it is not as listed".to_owned())
}

/// Whether a first line is a bundle's.
pub(super) fn is_bundle(line: &[u8]) -> bool {
    let Some(header) = std::str::from_utf8(line).ok().and_then(|text| value(text).ok()) else {
        return false;
    };
    header["type"] == "bundle"
        && header["format"] == "cairn-bundle"
        && (header["v"] == 1 || header["v"] == 2)
}

/// The id that a line claims to be the receipt of, for the report.
pub(super) fn receipt_id(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let id = value.get("payload")?.get("receipt_id")?.as_str()?;
    is_receipt_id(id).then(|| id.to_owned())
}

/// Whether a text is `rcpt_` and twelve hex digits.
pub(super) fn is_receipt_id(text: &str) -> bool {
    let digits = text.strip_prefix("rcpt_").unwrap_or_default();
    digits.len() == 12 && crate::receipts::digest::unhex(digits).is_some()
}

/// Whether a text is the hex of 32 bytes.
pub(super) fn is_hash(text: &str) -> bool {
    crate::receipts::digest::unhex_array::<32>(text).is_some()
}
