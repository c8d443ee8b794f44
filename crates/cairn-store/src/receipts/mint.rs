//! Mints a receipt for an outcome, inside the transaction that appends it. Never writes a fact.

use crate::StoreError;
use crate::contents;
use crate::contents::packed::Packed;
use crate::home::Home;
use crate::keys::Keys;
use crate::log::append::Prepared;
use crate::log::batch::Tally;
use crate::log::op::Op;
use crate::log::run::RunState;
use crate::receipts::digest::{Tail, commitment, hex, sha256};
use cairn_types::{
    By, Change, Commitment, ContentRef, Decision, Fact, FactSpan, FileRef, FileState, Outcome,
    ReceiptPayload, Writer, to_canonical,
};
use rusqlite::{Connection, params};

/// What minting needs besides the run.
pub(crate) struct Mint<'a> {
    /// Inside the transaction.
    pub(crate) conn: &'a Connection,
    /// Where large contents are.
    pub(crate) home: &'a Home,
    /// Who signs.
    pub(crate) keys: &'a Keys,
    /// The batch that brings the outcome.
    pub(crate) batch: &'a Prepared,
}

/// A commitment with the salt that opens it.
struct Sealed {
    salt: String,
    commitment: Commitment,
}

impl Mint<'_> {
    /// Mints the receipt of the batch's fact at `index` and moves the run's chain on to it.
    pub(crate) fn receipt(
        &self,
        run: &mut RunState,
        index: usize,
        outcome: &Outcome,
        tally: &mut Tally,
    ) -> Result<String, StoreError> {
        let fact = &self.batch.facts[index];
        let op = Op::find(self.conn, &run.id, outcome.at, &self.batch.facts[..index], tally)?;
        let intent = op.intent.ok_or_else(|| StoreError::BadBatch {
            run: run.id.clone(),
            why: format!("the outcome of {} has no intent", outcome.at),
        })?;
        let inputs = self.seal(&intent.input, tally)?;
        let outputs = self.seal(&outcome.result, tally)?;
        let payload = ReceiptPayload {
            v: 1,
            receipt_id: receipt_id()?,
            session_id: run.session.clone(),
            task_id: run.id.clone(),
            seq: run.seq + 1,
            turn_id: outcome.at.to_string(),
            agent_id: writer(intent.writer).to_owned(),
            tool_id: intent.tool,
            status: outcome.status.0,
            exit: outcome.exit,
            inputs: inputs.commitment,
            outputs: outputs.commitment,
            file_refs: outcome.changes.iter().map(file_ref).collect(),
            layers: outcome.layers.clone(),
            decided_by: decided_by(op.decision.as_ref()),
            facts: FactSpan { from: run.tail_from, to: fact.n, sha256: run.tail.hash() },
            timestamp: fact.at,
            prev: run.head.clone(),
        };
        let hash = self.insert(&payload, [&inputs.salt, &outputs.salt], fact, tally)?;
        run.seq = payload.seq;
        run.head = hash;
        run.tail_from = fact.n + 1;
        run.tail = Tail::empty();
        Ok(payload.receipt_id)
    }

    /// Signs and stores a payload; gives the receipt's hash.
    fn insert(
        &self,
        payload: &ReceiptPayload,
        salts: [&str; 2],
        fact: &Fact,
        tally: &mut Tally,
    ) -> Result<String, StoreError> {
        let text = to_canonical(payload)?;
        let hmac = self.keys.hmac(text.as_bytes());
        let hash = sha256(&[text.as_bytes(), &hmac]);
        self.conn
            .prepare_cached(
                "INSERT INTO receipts (session, run, seq, fact_n, receipt_id, payload, hmac, hash,
                 signature, salt_in, salt_out) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                payload.session_id.as_str(),
                payload.task_id.as_str(),
                payload.seq,
                fact.n,
                payload.receipt_id,
                text,
                hex(&hmac),
                hex(&hash),
                self.keys.sign(&hash),
                salts[0],
                salts[1]
            ])?;
        tally.wrote(text.len() as u64 + 400);
        Ok(hex(&hash))
    }

    /// Commits to a content under a fresh salt.
    fn seal(&self, content: &ContentRef, tally: &mut Tally) -> Result<Sealed, StoreError> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt)?;
        let stored;
        let brought = self.batch.contents.iter().find(|c| c.hash == content.hash);
        let bytes = match brought.and_then(Packed::bytes) {
            Some(bytes) => bytes,
            None => {
                tally.read(1);
                stored = contents::read(self.conn, self.home, &content.hash)?;
                &stored
            }
        };
        let commitment =
            Commitment { bytes: bytes.len() as u64, commitment: commitment(&salt, bytes) };
        Ok(Sealed { salt: hex(&salt), commitment })
    }
}

fn receipt_id() -> Result<String, StoreError> {
    Ok(format!("rcpt_{:012x}", getrandom::u64()? >> 16))
}

fn file_ref(change: &Change) -> FileRef {
    let hash = |state: &Option<FileState>| state.as_ref()?.hash.map(|hash| hash.to_string());
    FileRef { path: change.path.clone(), before: hash(&change.before), after: hash(&change.after) }
}

fn writer(writer: Writer) -> &'static str {
    match writer {
        Writer::Model => "model",
        Writer::Client => "client",
        Writer::Plugin => "plugin",
        Writer::System => "system",
    }
}

fn decided_by(decision: Option<&Decision>) -> String {
    match decision.map(|d| &d.by) {
        Some(By::Person(name)) if name.is_empty() => "person:unknown".to_owned(),
        Some(By::Person(name)) => format!("person:{name}"),
        Some(By::Gate(name)) => format!("gate:{name}"),
        Some(By::Yolo) => "yolo".to_owned(),
        Some(By::Remembered) => "remembered".to_owned(),
        Some(By::Nobody) => "nobody".to_owned(),
        Some(By::Timeout) => "timeout".to_owned(),
        None => "none".to_owned(),
    }
}
