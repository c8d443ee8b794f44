//! The checkpoints of a bundle: each one's hash and signature, the tree, and where every run stood.

use super::lines::CheckpointLine;
use super::receipt::Receipts;
use super::runs::{Link, Runs};
use super::{Check, Trust, hold};
use crate::receipts::digest::{ZERO, hex, sha256};
use crate::receipts::merkle::Frontier;
use cairn_types::{CheckpointPayload, FactSpan, Head, to_canonical};
use std::collections::HashSet;

/// All checkpoints of a bundle so far.
#[derive(Default)]
pub(super) struct Checkpoints {
    /// Their hashes, in order.
    pub(super) hashes: Vec<String>,
    tree: Frontier,
    /// Each run's last receipt among those in the tree.
    reached: Vec<Option<Link>>,
    heads: Vec<Head>,
    /// Tails already found to fit: run, first and last fact, hash.
    sound: HashSet<(usize, u64, u64, String)>,
}

impl Checkpoints {
    pub(super) fn add(
        &mut self,
        line: CheckpointLine,
        runs: &Runs<'_>,
        receipts: &Receipts,
        trust: Option<&Trust>,
    ) -> Check {
        let trust = trust.ok_or("there is no header")?;
        let payload = line.payload;
        self.check_place(&payload, trust)?;
        let text = to_canonical(&payload).map_err(|e| e.to_string())?;
        let hash = sha256(&[text.as_bytes()]);
        hold(hex(&hash) == line.hash, "its hash does not fit")?;
        let index = self.hashes.len() as u64;
        trust.signed_checkpoint(index, &hash, &line.signature)?;
        trust.check_handover(index, payload.receipts)?;
        self.grow(payload.receipts, receipts, runs.len())?;
        hold(hex(&self.tree.root()) == payload.merkle_root, "its root is not the receipts'")?;
        self.check_heads(&payload.heads, runs)?;
        self.heads = payload.heads;
        self.hashes.push(line.hash);
        Ok(())
    }

    fn check_place(&self, payload: &CheckpointPayload, trust: &Trust) -> Check {
        let prev = self.hashes.last().map_or(ZERO, String::as_str);
        hold(payload.v == 1, "its version is not 1")?;
        hold(payload.session_id.as_str() == trust.session, "it belongs to another session")?;
        let key = trust.of_checkpoint(self.hashes.len() as u64);
        hold(payload.public_key == key, "it names another key")?;
        hold(payload.seq == self.hashes.len() as u64 + 1, "a checkpoint is missing before it")?;
        hold(payload.prev == prev, "it does not follow the previous checkpoint")
    }

    /// Takes receipts into the tree until it holds `count`.
    fn grow(&mut self, count: u64, receipts: &Receipts, runs: usize) -> Check {
        let have = self.tree.count();
        let fits = count >= have && count <= receipts.len() as u64;
        hold(fits, "it covers fewer receipts than the one before, or more than there are")?;
        self.reached.resize(runs, None);
        let new = receipts.entries().iter().skip(have as usize).take((count - have) as usize);
        for entry in new {
            self.tree.push(&entry.hash);
            self.reached[entry.run] = Some(entry.link.clone());
        }
        Ok(())
    }

    fn check_heads(&mut self, heads: &[Head], runs: &Runs<'_>) -> Check {
        hold(heads.is_sorted_by(|a, b| a.run < b.run), "its heads are not in order")?;
        let mut receipted = 0;
        for head in heads {
            let position = runs.position(&head.run)?;
            receipted += usize::from(self.reached[position].is_some());
            self.check_head(head, position, runs)?;
        }
        let expected = self.reached.iter().flatten().count();
        hold(receipted == expected, "it leaves out a run that has receipts")?;
        let goes_on = |old: &Head| {
            let new = heads.binary_search_by(|new| new.run.cmp(&old.run));
            new.is_ok_and(|at| heads[at].tail.to >= old.tail.to)
        };
        hold(self.heads.iter().all(goes_on), "a run is shorter than at the checkpoint before")
    }

    fn check_head(&mut self, head: &Head, position: usize, runs: &Runs<'_>) -> Check {
        let why = format!("its head of run {} does not fit", head.run);
        let run = runs.get(position);
        let (seq, hash, from) = match &self.reached[position] {
            Some(link) => (link.seq, link.hash.as_str(), link.to.saturating_add(1)),
            None => (0, ZERO, run.first()),
        };
        let FactSpan { from: tail_from, to, sha256 } = &head.tail;
        hold(head.seq == seq && head.hash == hash && *tail_from == from, &why)?;
        hold(run.is_fork() || *to >= run.first(), &why)?;
        let key = (position, from, *to, sha256.clone());
        if !self.sound.contains(&key) {
            run.check_span(&head.tail).map_err(|_| why.clone())?;
            hold(!run.has_outcome(from, *to), &why)?;
            self.sound.insert(key);
        }
        Ok(())
    }

    /// The last checkpoint covers every receipt, run and fact.
    pub(super) fn cover(&self, runs: &Runs<'_>, receipts: &Receipts, trust: &Trust) -> Check {
        hold(!self.hashes.is_empty(), "there is no checkpoint")?;
        let complete = trust.is_complete(self.hashes.len() as u64);
        hold(complete, "no checkpoint follows those of its last origin")?;
        let why = "the last checkpoint does not cover everything";
        hold(self.tree.count() == receipts.len() as u64, why)?;
        hold(self.heads.len() == runs.len(), why)?;
        let last = |(position, head): (usize, &Head)| head.tail.to == runs.get(position).last();
        hold(self.heads.iter().enumerate().all(last), why)
    }
}
