//! The receipts of a bundle: each one's own hashes, and its place in its run's chain.

use super::lines::{OpenedContent, ReceiptLine, is_hash, is_receipt_id};
use super::runs::{Link, Run, Runs};
use super::{Check, Trust, hold};
use crate::receipts::digest::{commitment, hex, sha256, unhex, unhex_array};
use cairn_types::{Commitment, FileRef, ReceiptPayload, to_canonical};
use std::collections::HashSet;

/// All receipts of a bundle, in the session's order.
#[derive(Default)]
pub(super) struct Receipts {
    ids: HashSet<String>,
    list: Vec<Entry>,
}

/// A receipt as far as checkpoints are concerned.
pub(super) struct Entry {
    /// The place of its run among the bundle's runs.
    pub(super) run: usize,
    /// Its hash.
    pub(super) hash: [u8; 32],
    /// Its place in its run's chain.
    pub(super) link: Link,
}

impl Receipts {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.list
    }

    pub(super) fn add(
        &mut self,
        line: ReceiptLine,
        runs: &mut Runs<'_>,
        trust: Option<&Trust>,
    ) -> Check {
        let trust = trust.ok_or("there is no header")?;
        let payload = &line.payload;
        check_form(&line)?;
        hold(payload.session_id.as_str() == trust.session, "it belongs to another session")?;
        hold(self.ids.insert(payload.receipt_id.clone()), "its id is used twice")?;
        let hash = check_hash(&line)?;
        trust.signed_receipt(self.list.len() as u64, &hash, &line.signature)?;
        check_opened(&payload.inputs, line.opened.inputs.as_ref())?;
        check_opened(&payload.outputs, line.opened.outputs.as_ref())?;

        let position = runs.position(&payload.task_id)?;
        let (seq, prev) = runs.chain_end(position);
        hold(Some(payload.seq) == seq.checked_add(1), "it is not the next of its run")?;
        hold(payload.prev == prev, "it does not follow its run's previous receipt")?;
        let run = runs.get_mut(position);
        check_facts(payload, run)?;
        run.follows.get_or_insert((seq, prev));
        let link = Link { seq: payload.seq, hash: line.hash, to: payload.facts.to };
        run.receipts.push(link.clone());
        self.list.push(Entry { run: position, hash, link });
        Ok(())
    }
}

/// The forms that types alone do not give.
fn check_form(line: &ReceiptLine) -> Check {
    let payload = &line.payload;
    hold(payload.v == 1, "its version is not 1")?;
    hold(is_receipt_id(&payload.receipt_id), "its id is malformed")?;
    hold(line.signature_alg == "ed25519", "its signature is of another kind")?;
    let agent = matches!(payload.agent_id.as_str(), "model" | "client" | "plugin" | "system");
    hold(agent, "nobody by that name acts")?;
    hold(is_decider(&payload.decided_by), "nobody by that name decides")?;
    let hashes = [
        &payload.prev,
        &payload.facts.sha256,
        &payload.inputs.commitment,
        &payload.outputs.commitment,
    ];
    let files = payload.file_refs.iter().flat_map(|FileRef { before, after, .. }| [before, after]);
    let all = hashes.into_iter().chain(files.flatten());
    hold(all.into_iter().all(|text| is_hash(text)), "one of its hashes is malformed")
}

fn is_decider(text: &str) -> bool {
    matches!(text, "yolo" | "remembered" | "nobody" | "timeout" | "none")
        || ["person:", "gate:"]
            .iter()
            .any(|kind| text.strip_prefix(kind).is_some_and(|name| !name.is_empty()))
}

/// Checks the hash over payload and HMAC; gives it.
fn check_hash(line: &ReceiptLine) -> Check<[u8; 32]> {
    let payload = to_canonical(&line.payload).map_err(|e| e.to_string())?;
    let hmac: [u8; 32] = unhex_array(&line.hmac).ok_or("its HMAC is malformed")?;
    let hash = sha256(&[payload.as_bytes(), &hmac]);
    hold(hex(&hash) == line.hash, "its hash does not fit")?;
    Ok(hash)
}

/// Checks what opens a commitment, when it was not redacted.
fn check_opened(committed: &Commitment, opened: Option<&OpenedContent>) -> Check {
    let Some(opened) = opened else { return Ok(()) };
    let salt: [u8; 16] = unhex_array(&opened.salt).ok_or("a salt is malformed")?;
    let bytes = match (&opened.text, &opened.hex) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(digits)) => unhex(digits)
            .filter(|bytes| std::str::from_utf8(bytes).is_err())
            .ok_or("an opened content is malformed")?,
        _ => return Err("an opened content is a text or hex".to_owned()),
    };
    let fits =
        committed.bytes == bytes.len() as u64 && committed.commitment == commitment(&salt, &bytes);
    hold(fits, "an opened content is not what was committed to")
}

/// Checks that the receipt covers the facts since the last one, up to the outcome it proves.
fn check_facts(payload: &ReceiptPayload, run: &Run<'_>) -> Check {
    let from = run.receipts.last().map_or(Some(run.first()), |link| link.to.checked_add(1));
    hold(Some(payload.facts.from) == from, "its facts do not begin after the last receipt's")?;
    hold(payload.facts.to >= payload.facts.from, "it covers no fact")?;
    run.check_span(&payload.facts)?;
    let row = run.outcome(payload.facts.to).ok_or("its last fact is not an outcome")?;
    let fits = row.at == payload.turn_id && row.status == u64::from(payload.status);
    hold(fits, "the outcome is of another row or status")?;
    let earlier = payload.facts.to - 1;
    hold(!run.has_outcome(payload.facts.from, earlier), "an outcome before it has no receipt")
}
