//! The lines of a verified bundle as rows that can be stored, with the checks that verifying does not
//! make: that every fact can be read, that every path lies beneath a root, who signed.

use super::{hold, refuse};
use crate::StoreError;
use crate::keys::Keys;
use crate::log::fact::FactRow;
use crate::receipts::digest::hex;
use crate::receipts::verify::lines::{
    CheckpointLine, FactLine, Header as BundleHeader, Origin, ReceiptLine, RunLine,
};
use crate::sessions::entries::Fold;
use crate::transfer::export::Header;
use cairn_types::{
    Aside, Body, Change, Fact, ForkPoint, Hash, RunId, Uri, hashes_in, to_canonical,
};
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

/// How long a chain of forks may be. Reading a fork takes longer with every one.
const DEEPEST: usize = 256;

/// A bundle, taken apart.
pub(super) struct Parts {
    pub(super) header: BundleHeader,
    /// The runs with their parents.
    pub(super) runs: Vec<(RunId, Option<ForkPoint>)>,
    /// Each run's own facts, in order.
    pub(super) facts: HashMap<RunId, Vec<FactRow>>,
    /// The receipts in the session's order.
    pub(super) receipts: Vec<ReceiptLine>,
    /// The checkpoints in order.
    pub(super) checkpoints: Vec<CheckpointLine>,
    named: HashSet<Hash>,
    /// What its entries came to.
    pub(super) entries: Fold,
}

fn line<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).or_else(|why| refuse(format!("a line cannot be read: {why}")))
}

impl Parts {
    /// Takes a bundle apart that was found to hold.
    pub(super) fn read(bundle: &[u8], export: &Header) -> Result<Parts, StoreError> {
        let text = std::str::from_utf8(bundle).or_else(|_| refuse("its bundle is no text"))?;
        let mut lines = text.lines();
        let mut parts = Parts {
            header: line(lines.next().unwrap_or_default())?,
            runs: Vec::new(),
            facts: HashMap::new(),
            receipts: Vec::new(),
            checkpoints: Vec::new(),
            named: HashSet::new(),
            entries: Fold::default(),
        };
        lines.try_for_each(|text| parts.take(text))?;
        hold(parts.header.session_id == export.session_id, "its bundle is another session's")?;
        let same = parts.runs.iter().map(|(run, _)| run).eq(export.runs.iter().map(|run| &run.run));
        hold(same, "its runs are not those of its bundle")?;
        parts.generations()?;
        Ok(parts)
    }

    /// The places of the runs, those without a parent first, then their forks, and so on.
    pub(super) fn generations(&self) -> Result<Vec<Vec<usize>>, StoreError> {
        let mut forks: HashMap<Option<&RunId>, Vec<usize>> = HashMap::new();
        for (index, (_, parent)) in self.runs.iter().enumerate() {
            forks.entry(parent.as_ref().map(|parent| &parent.run)).or_default().push(index);
        }
        let mut generations = vec![forks.remove(&None).unwrap_or_default()];
        while let Some(last) = generations.last().filter(|last| !last.is_empty()) {
            hold(generations.len() <= DEEPEST, "its runs are forks of forks too many times")?;
            let of = |index: &usize| forks.get(&Some(&self.runs[*index].0));
            generations.push(last.iter().filter_map(of).flatten().copied().collect());
        }
        Ok(generations)
    }

    fn take(&mut self, text: &str) -> Result<(), StoreError> {
        // Keys are sorted, so the type stands last in each of these lines.
        match text.rsplit("\"type\":").next() {
            Some("\"run\"}") => {
                let RunLine { run, parent, .. } = line(text)?;
                self.runs.push((run, parent));
            }
            Some("\"fact\"}") => self.fact(line(text)?)?,
            Some("\"receipt\"}") => self.receipts.push(line(text)?),
            Some("\"checkpoint\"}") => self.checkpoints.push(line(text)?),
            _ => return refuse("its bundle has a line of no known type"),
        }
        Ok(())
    }

    fn fact(&mut self, line: FactLine) -> Result<(), StoreError> {
        let stored = line.fact;
        hashes_in(&stored.body, &mut self.named);
        let fact = Fact::try_from(stored.clone())
            .or_else(|why| refuse(format!("a fact cannot be read: {why}")))?;
        self.check(&fact)?;
        if let Body::Outcome(outcome) = &fact.body {
            self.entries.take(&outcome.changes, &fact.run, fact.at);
        }
        let run = fact.run.clone();
        self.facts.entry(run).or_default().push(FactRow::stored(stored, &fact)?);
        Ok(())
    }

    /// What a fact may say only if it is this session's, and of paths beneath its root.
    fn check(&self, fact: &Fact) -> Result<(), StoreError> {
        match &fact.body {
            Body::Run(run) => {
                hold(run.session == self.header.session_id, "a run in it is another session's")?;
            }
            Body::Unknown { kind, .. } if kind == "outcome" => {
                return refuse("an outcome in it is of a later version");
            }
            _ => {}
        }
        let changes = fact.body.changes();
        if let Some(change) = changes.iter().find(|change| !is_placed(change)) {
            return refuse(format!("the path {:?} leaves its root", change.path));
        }
        let states = changes.iter().flat_map(|change| [&change.before, &change.after]).flatten();
        let mut asides = states.filter_map(|state| state.aside.as_ref());
        match asides.find(|aside| Aside::in_trash(&aside.path).is_none()) {
            Some(aside) => refuse(format!("the path {:?} is not in the trash", aside.path)),
            None => Ok(()),
        }
    }

    /// Every hash that a fact names.
    pub(super) fn named(&self) -> &HashSet<Hash> {
        &self.named
    }

    /// Whether this home signed the last stretch. What claims so must have its HMACs, too.
    pub(super) fn is_signed_by(&self, keys: &Keys) -> Result<bool, StoreError> {
        if self.header.public_key != keys.public() {
            return Ok(false);
        }
        let elsewhere = self.header.origins.last().map_or(0, |origin| origin.receipts);
        let elsewhere = usize::try_from(elsewhere).unwrap_or(usize::MAX);
        for receipt in self.receipts.iter().skip(elsewhere) {
            let hmac = keys.hmac(to_canonical(&receipt.payload)?.as_bytes());
            hold(
                hex(&hmac) == receipt.hmac,
                "a receipt in it claims to be this home's and is not",
            )?;
        }
        Ok(true)
    }

    /// Who signed what, as this home will say it.
    pub(super) fn origins(&self, keys: &Keys) -> Vec<Origin> {
        let mut origins = self.header.origins.clone();
        if self.header.public_key != keys.public() {
            origins.push(Origin {
                public_key: self.header.public_key.clone(),
                receipts: self.receipts.len() as u64,
                checkpoints: self.checkpoints.len() as u64,
            });
        }
        origins
    }
}

/// Whether a change is of something beneath a root, or of an entry that has no place on a disk.
fn is_placed(change: &Change) -> bool {
    match change.entry().is_some() {
        true => change.path.parse::<Uri>().is_ok_and(|uri| uri.to_string() == change.path),
        false => is_beneath(&change.path),
    }
}

/// Whether a path names something beneath a root, by its letters alone.
fn is_beneath(path: &str) -> bool {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    plain && !path.is_empty() && !path.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_beneath_a_root_are_taken() {
        for (path, taken) in [
            ("a/b", true),
            (".a", true),
            ("", false),
            ("/etc/passwd", false),
            ("../x", false),
            ("a/../../x", false),
            ("a\0b", false),
        ] {
            assert_eq!(is_beneath(path), taken, "{path:?}");
        }
    }
}
