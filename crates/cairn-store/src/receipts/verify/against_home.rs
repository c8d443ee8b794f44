//! Compares a bundle that agrees with itself with what this home holds of its session. A run that is held
//! here can have no other receipts or facts, and nobody else's signature on those that are known.

use super::lines::{
    CheckpointLine, FactLine, Header, ReceiptLine, RunLine, fact_text, strict, typed,
};
use crate::StoreError;
use crate::keys::Keys;
use crate::log::fact::{COLUMNS as FACT_COLUMNS, FactRow};
use crate::log::run::RunState;
use crate::receipts::digest::hex;
use crate::receipts::verify::lines::Origin;
use crate::transfer::origins;
use cairn_types::{RunId, SessionId, to_canonical};
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};

/// The keys of a session's receipts or checkpoints: those of its origins, then the last one's.
struct KeyRanges {
    origins: Vec<Origin>,
    last: String,
}

impl KeyRanges {
    fn of_receipt(&self, index: u64) -> &str {
        let origin = self.origins.iter().find(|origin| index < origin.receipts);
        origin.map_or(&self.last, |origin| &origin.public_key)
    }

    fn of_checkpoint(&self, index: u64) -> &str {
        let origin = self.origins.iter().find(|origin| index < origin.checkpoints);
        origin.map_or(&self.last, |origin| &origin.public_key)
    }
}

/// What this home holds of a run.
struct HeldRun {
    /// It came with an import, and another home may have gone on with it.
    is_imported: bool,
    /// The hash and the key of each of its own receipts.
    receipts: Vec<(String, String)>,
    /// The lines of its own facts, by number.
    facts: HashMap<u64, String>,
    /// How many receipts of it the bundle had so far.
    seen: usize,
    /// Its last fact in the bundle, where this home does not hold that one.
    beyond: Option<u64>,
}

/// A session as this home holds it.
pub(crate) struct HeldSession<'a> {
    keys: &'a Keys,
    began_here: bool,
    origin_keys: HashSet<String>,
    runs: HashMap<RunId, HeldRun>,
}

/// Why a bundle cannot be what this home recorded: the first bad thing, and a sentence.
pub(crate) type Contradiction = (String, String);

/// Returns the session that a bundle is of.
pub(crate) fn session_of(bytes: &[u8]) -> Option<SessionId> {
    let text = std::str::from_utf8(bytes.split(|byte| *byte == b'\n').next()?).ok()?;
    Some(strict::<Header>(typed(text).ok()?.1, text).ok()?.session_id)
}

impl<'a> HeldSession<'a> {
    /// Reads it; `None` where this home has no such session.
    pub(crate) fn read(
        conn: &Connection,
        keys: &'a Keys,
        session: &SessionId,
    ) -> Result<Option<HeldSession<'a>>, StoreError> {
        let ranges = KeyRanges { origins: origins::of(conn, session)?, last: keys.public() };
        let mut runs = HashMap::new();
        for state in RunState::all(conn, session)? {
            let sql = format!("SELECT {FACT_COLUMNS} FROM facts WHERE run = ? ORDER BY n");
            let mut statement = conn.prepare_cached(&sql)?;
            let facts = statement.query_map([state.id.as_str()], FactRow::read)?;
            let facts = facts.map(|fact| fact.map(|fact| (fact.n(), fact.line())));
            let run = HeldRun {
                is_imported: state.imported > 0,
                receipts: Vec::new(),
                facts: facts.collect::<Result<_, _>>()?,
                seen: 0,
                beyond: None,
            };
            runs.insert(state.id, run);
        }
        if runs.is_empty() {
            return Ok(None);
        }
        let mut statement =
            conn.prepare_cached("SELECT run, hash FROM receipts WHERE session = ? ORDER BY id")?;
        let mut rows = statement.query(params![session.as_str()])?;
        let mut index = 0;
        while let Some(row) = rows.next()? {
            let key = ranges.of_receipt(index).to_owned();
            if let Some(run) = runs.get_mut(&crate::log::run::id::<RunId>(row, 0)?) {
                run.receipts.push((row.get(1)?, key));
            }
            index += 1;
        }
        let began_here = ranges.origins.is_empty();
        let origin_keys = ranges.origins.into_iter().map(|origin| origin.public_key).collect();
        Ok(Some(HeldSession { keys, began_here, origin_keys, runs }))
    }

    /// Compares a bundle that was found to agree with itself. Gives what contradicts this home, if
    /// anything does.
    pub(crate) fn contradicted_by(mut self, bytes: &[u8]) -> Option<Contradiction> {
        let mut ranges = None;
        let (mut receipts, mut checkpoints, mut shared) = (0, 0, 0_u64);
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let text = std::str::from_utf8(line).unwrap_or_default();
            let Ok((kind, value)) = typed(text) else { continue };
            let at = format!("line {}", number + 1);
            let found = match (kind.as_str(), &ranges) {
                ("bundle", _) => {
                    let header = strict::<Header>(value, text).ok()?;
                    ranges = Some(KeyRanges { origins: header.origins, last: header.public_key });
                    Ok(())
                }
                ("run", _) => {
                    let line = strict::<RunLine>(value, text).ok()?;
                    shared += u64::from(self.runs.contains_key(&line.run));
                    Ok(())
                }
                ("fact", _) => {
                    let line = strict::<FactLine>(value, text).ok()?;
                    self.fact(&line, fact_text(text).ok()?).map_err(|why| (at, why))
                }
                ("receipt", Some(ranges)) => {
                    let line = strict::<ReceiptLine>(value, text).ok()?;
                    let key = ranges.of_receipt(receipts);
                    receipts += 1;
                    let id = line.payload.receipt_id.clone();
                    self.receipt(&line, key).map_err(|why| (id, why))
                }
                ("checkpoint", Some(ranges)) => {
                    let line = strict::<CheckpointLine>(value, text).ok()?;
                    self.checkpoint(&line, ranges.of_checkpoint(checkpoints));
                    checkpoints += 1;
                    Ok(())
                }
                _ => Ok(()),
            };
            if let Err((bad, why)) = found {
                let why = format!("{bad}: {why}");
                return Some((bad, why));
            }
        }
        if shared == 0 && self.began_here {
            let why = "the session began in this home, and none of its runs is in the bundle";
            return Some(("line 1".to_owned(), format!("line 1: {why}")));
        }
        let beyond = self.runs.iter().filter_map(|(id, run)| Some((id, run.beyond?)));
        let (run, n) = beyond.min()?;
        let why = format!("run {run}: its fact {n} was not recorded or signed by whoever drove it");
        Some((run.to_string(), why))
    }

    fn fact(&mut self, line: &FactLine, text: &str) -> Result<(), String> {
        let fact = &line.fact;
        let Some(run) = self.runs.get_mut(&fact.run) else { return Ok(()) };
        match run.facts.get(&fact.n) {
            Some(held) if held != text => {
                Err(format!("run {} has another fact {} in this home", fact.run, fact.n))
            }
            Some(_) => Ok(()),
            None => {
                run.beyond = Some(fact.n);
                Ok(())
            }
        }
    }

    fn receipt(&mut self, line: &ReceiptLine, key: &str) -> Result<(), String> {
        let id = &line.payload.task_id;
        let own = self.keys.public();
        let Some(run) = self.runs.get_mut(id) else { return Ok(()) };
        let held = run.receipts.get(run.seen);
        run.seen += 1;
        match held {
            Some((hash, _)) if *hash != line.hash => {
                Err(format!("run {id} has another receipt there in this home"))
            }
            Some((_, signed)) if signed != key => Err(format!(
                "it is signed with the key {key}, and in this home with the key {signed}"
            )),
            Some(_) => Ok(()),
            None if run.is_imported && self.origin_keys.contains(key) => Ok(()),
            None if key != own => Err(format!(
                "it is signed with the key {key}, and run {id} is not of a home with that key"
            )),
            None => {
                let payload = to_canonical(&line.payload).map_err(|why| why.to_string())?;
                match hex(&self.keys.hmac(payload.as_bytes())) == line.hmac {
                    // A newer bundle of this home's own, whose database was put back to an older copy.
                    true => Ok(()),
                    false => Err(format!("this home did not make it, and it says so of run {id}")),
                }
            }
        }
    }

    /// Facts that are not held here count if whoever drives the run signed for them.
    fn checkpoint(&mut self, line: &CheckpointLine, key: &str) {
        let own = self.keys.public();
        for head in &line.payload.heads {
            let Some(run) = self.runs.get_mut(&head.run) else { continue };
            let is_theirs = match run.is_imported {
                true => self.origin_keys.contains(key),
                false => key == own,
            };
            if is_theirs && run.beyond.is_some_and(|n| n <= head.tail.to) {
                run.beyond = None;
            }
        }
    }
}
