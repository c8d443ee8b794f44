//! Stores a verified session in one transaction, and takes it back unless the rows give the very
//! bundle that was verified.

use super::parts::Parts;
use super::{all_kept, hold, refuse};
use crate::StoreError;
use crate::contents::gc::named_by;
use crate::contents::{self, Absence};
use crate::home::Home;
use crate::keys::Keys;
use crate::log::batch::{NewRun, Tally};
use crate::log::fact::{Unreadable, each_body};
use crate::log::run::RunState;
use crate::receipts::digest::{Tail, unhex_array};
use crate::receipts::heads::HeadLine;
use crate::receipts::merkle::Frontier;
use crate::receipts::verify::lines::ReceiptLine;
use crate::sessions::remove::remove_leftovers;
use crate::transfer::bundle::{Bundler, Damage};
use crate::transfer::export::Header;
use crate::transfer::origins;
use cairn_types::{Hash, RunId, changed_contents_in, contents_in, to_canonical};
use rusqlite::{Connection, params};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Write};

/// What is to be stored, and where.
pub(super) struct ImportedRows<'a> {
    pub(super) conn: &'a Connection,
    pub(super) home: &'a Home,
    pub(super) keys: &'a Keys,
    pub(super) parts: &'a Parts,
    pub(super) header: &'a Header,
    pub(super) bundle: &'a [u8],
}

/// Refuses what is here already: two histories under one id could not be told apart.
pub(super) fn refuse_known(conn: &Connection, parts: &Parts) -> Result<(), StoreError> {
    let session = &parts.header.session_id;
    let mut known = conn.prepare("SELECT 1 FROM sessions WHERE id = ?")?;
    if known.exists([session.as_str()])? {
        return refuse(format!(
            "session {session} is here already; to take it from the file, delete it first: cairn \
             sessions delete {session}"
        ));
    }
    let mut known = conn.prepare("SELECT 1 FROM runs WHERE id = ?")?;
    for (run, _) in &parts.runs {
        if known.exists([run.as_str()])? {
            return refuse(format!("run {run} is here already, in another session"));
        }
    }
    Ok(())
}

impl ImportedRows<'_> {
    /// Stores everything or nothing; gives the runs' heads.
    pub(super) fn insert(
        &self,
        root: &str,
        at: u64,
        kept: &HashSet<Hash>,
    ) -> Result<Vec<HeadLine>, StoreError> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        let done = self.all(root, at, kept).and_then(|heads| {
            self.conn.execute_batch("COMMIT")?;
            Ok(heads)
        });
        if done.is_err() && !self.conn.is_autocommit() {
            self.conn.execute_batch("ROLLBACK")?;
        }
        done
    }

    fn all(&self, root: &str, at: u64, kept: &HashSet<Hash>) -> Result<Vec<HeadLine>, StoreError> {
        refuse_known(self.conn, self.parts)?;
        all_kept(self.conn, self.home, kept)?;
        let session = &self.header.session_id;
        // What a deletion that was cut off left says where the session stood before it.
        remove_leftovers(self.conn, self.home)?;
        self.conn.execute("DELETE FROM deleted WHERE session = ?", [session.as_str()])?;
        self.conn.execute(
            "INSERT INTO sessions (id, root, created_at, name, made) VALUES (?1, ?2, ?3, ?4,
             (SELECT coalesce(max(made), 0) FROM sessions WHERE created_at <= ?3))",
            params![session.as_str(), root, self.header.created_at.min(at), self.header.name],
        )?;
        let upto = self.receipts()?;
        let heads = self.runs(at)?;
        self.note_what_did_not_come()?;
        self.checkpoints(&upto)?;
        origins::insert(self.conn, session, &self.parts.origins(self.keys), at)?;
        self.parts.entries.put(self.conn, session)?;
        self.compare()?;
        Ok(heads)
    }

    /// The contents that its facts name and that are not in the file were freed where it came from; but what another
    /// session of this home names is lost here.
    fn note_what_did_not_come(&self) -> Result<(), StoreError> {
        let mut absent = BTreeSet::new();
        for (run, _) in &self.parts.runs {
            let mut named = Vec::new();
            each_body(self.conn, run, Unreadable::Skipped, &mut |body| {
                contents_in(body, &mut named);
                named.extend(changed_contents_in(body));
            })?;
            for hash in named {
                if contents::absence(self.conn, self.home, &hash)? == Some(Absence::Missing) {
                    absent.insert(hash);
                }
            }
        }
        if absent.is_empty() {
            return Ok(());
        }
        let mut others = self.conn.prepare("SELECT id FROM runs WHERE session <> ?")?;
        let others = others.query_map([self.header.session_id.as_str()], |row| {
            crate::log::run::id::<RunId>(row, 0)
        })?;
        for other in others {
            // One run at a time: what is held is what one run names, however large the home is.
            let named = named_by(self.conn, [&other?], Unreadable::Skipped)?;
            absent.retain(|hash| !named.contains(hash));
        }
        absent.iter().try_for_each(|hash| contents::note_freed(self.conn, hash))
    }

    /// The receipts, in the session's order; gives their ids.
    fn receipts(&self) -> Result<Vec<i64>, StoreError> {
        let mut statement = self.conn.prepare(
            "INSERT INTO receipts (session, run, seq, fact_n, receipt_id, payload, hmac, hash,
             signature, salt_in, salt_out) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let mut ids = Vec::new();
        for line in &self.parts.receipts {
            let payload = &line.payload;
            let salt_in = line.opened.inputs.as_ref().map(|opened| &opened.salt);
            let salt_out = line.opened.outputs.as_ref().map(|opened| &opened.salt);
            ids.push(statement.insert(params![
                payload.session_id.as_str(),
                payload.task_id.as_str(),
                payload.seq,
                payload.facts.to,
                payload.receipt_id,
                to_canonical(payload)?,
                line.hmac,
                line.hash,
                line.signature,
                salt_in,
                salt_out
            ])?);
        }
        Ok(ids)
    }

    /// The runs and their facts, parents before their forks; gives their heads.
    fn runs(&self, at: u64) -> Result<Vec<HeadLine>, StoreError> {
        let mut proofs: HashMap<&RunId, HashMap<u64, &ReceiptLine>> = HashMap::new();
        for line in &self.parts.receipts {
            let of_run = proofs.entry(&line.payload.task_id).or_default();
            of_run.insert(line.payload.facts.to, line);
        }
        let mut heads = Vec::new();
        for index in self.parts.generations()?.into_iter().flatten() {
            let ((id, parent), named) = (&self.parts.runs[index], &self.header.runs[index]);
            let new = NewRun {
                id: id.clone(),
                session: self.header.session_id.clone(),
                name: named.name.clone(),
                parent: parent.clone(),
                // Nothing in a file is newer than the moment it came.
                at: named.created_at.min(at),
            };
            heads.push(self.run(&new, proofs.get(id), at)?);
        }
        Ok(heads)
    }

    fn run(
        &self,
        new: &NewRun,
        proofs: Option<&HashMap<u64, &ReceiptLine>>,
        at: u64,
    ) -> Result<HeadLine, StoreError> {
        let mut state = RunState::create(self.conn, new, &mut Tally::default())?;
        for row in self.parts.facts.get(&new.id).map(Vec::as_slice).unwrap_or_default() {
            row.insert(self.conn)?;
            (state.last_n, state.last_at) = (row.n(), row.at());
            state.tail.push(&row.line());
            if let Some(receipt) = proofs.and_then(|proofs| proofs.get(&row.n())) {
                state.seq = receipt.payload.seq;
                state.head.clone_from(&receipt.hash);
                (state.tail_from, state.tail) = (row.n() + 1, Tail::empty());
            }
        }
        state.imported = at.max(1);
        state.save(self.conn)?;
        self.conn
            .prepare_cached(
                "UPDATE runs SET made = (SELECT coalesce(max(made), 0) FROM runs
             WHERE imported = 0 AND created_at <= ?1) WHERE id = ?2",
            )?
            .execute(params![new.at, new.id.as_str()])?;
        Ok(HeadLine::of(&state))
    }

    fn checkpoints(&self, receipt_ids: &[i64]) -> Result<(), StoreError> {
        let mut statement = self.conn.prepare(
            "INSERT INTO checkpoints (session, seq, receipts, upto, frontier, payload, hash,
             signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let mut tree = Frontier::default();
        let mut receipts = self.parts.receipts.iter();
        for line in &self.parts.checkpoints {
            let payload = &line.payload;
            while tree.count() < payload.receipts {
                let hash = receipts.next().and_then(|receipt| unhex_array(&receipt.hash));
                let Some(hash) = hash else { return refuse("a receipt in it is missing") };
                tree.push(&hash);
            }
            let last = usize::try_from(tree.count()).unwrap_or(usize::MAX).checked_sub(1);
            let upto = last.and_then(|last| receipt_ids.get(last)).copied().unwrap_or(0);
            statement.execute(params![
                payload.session_id.as_str(),
                payload.seq,
                payload.receipts,
                upto,
                tree.to_bytes(),
                to_canonical(payload)?,
                line.hash,
                line.signature
            ])?;
        }
        Ok(())
    }

    /// The rows must give the bundle that was verified, byte for byte.
    fn compare(&self) -> Result<(), StoreError> {
        let ImportedRows { conn, home, keys, header, bundle, .. } = *self;
        let mut same = Same { expected: bundle, so_far: true };
        let session = &header.session_id;
        Bundler { conn, home, keys, session, out: &mut same, damage: Damage::Show }.all(None)?;
        let whole = same.so_far && same.expected.is_empty();
        hold(whole, "its contents or rows are not what its bundle says")
    }
}

/// Compares what is written with what is expected.
struct Same<'a> {
    expected: &'a [u8],
    so_far: bool,
}

impl Write for Same<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.expected.strip_prefix(bytes) {
            Some(rest) => self.expected = rest,
            None => self.so_far = false,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
