//! The runs of a bundle and their facts: forks, gaps, stretches of facts and their hashes.

use super::lines::{FactLine, RunLine};
use super::{Check, hold};
use crate::receipts::digest::{Tail, ZERO};
use cairn_types::{FactSpan, ForkPoint, RunId};
use serde_json::Value;
use std::collections::HashMap;

/// All runs of a bundle, by id.
#[derive(Default)]
pub(super) struct Runs<'a> {
    list: Vec<Run<'a>>,
    index: HashMap<RunId, usize>,
    /// The run whose facts are being read.
    current: usize,
}

/// A run.
pub(super) struct Run<'a> {
    pub(super) id: RunId,
    parent: Option<ForkPoint>,
    facts: Vec<FactText<'a>>,
    /// Its own receipts, in order.
    pub(super) receipts: Vec<Link>,
    /// What its first own receipt follows.
    pub(super) follows: Option<(u64, String)>,
}

/// A fact as far as receipts are concerned.
struct FactText<'a> {
    line: &'a str,
    outcome: Option<SettledRow>,
}

/// The row that an outcome settles.
#[derive(PartialEq, Eq)]
pub(super) struct SettledRow {
    pub(super) at: String,
    pub(super) status: u64,
}

/// A receipt in its run's chain.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) hash: String,
    /// The last fact it covers.
    pub(super) to: u64,
}

impl<'a> Run<'a> {
    /// Whether it has a parent.
    pub(super) fn is_fork(&self) -> bool {
        self.parent.is_some()
    }

    /// The run's first own fact.
    pub(super) fn first(&self) -> u64 {
        self.parent.as_ref().map_or(0, |p| p.n).saturating_add(1)
    }

    /// The run's last fact, its own or the fork point.
    pub(super) fn last(&self) -> u64 {
        self.first() - 1 + self.facts.len() as u64
    }

    /// The facts `from` to `to`; none when `from` is `to` + 1.
    fn stretch(&self, from: u64, to: u64) -> Option<&[FactText<'a>]> {
        let end = to.checked_add(1)?;
        let place = |n: u64| usize::try_from(n.checked_sub(self.first())?).ok();
        self.facts.get(place(from)?..place(end)?)
    }

    /// Whether a span fits the facts it names. A fork's first stretch begins with its parent.
    pub(super) fn check_span(&self, span: &FactSpan) -> Check {
        let bad = "its facts are not those of the run";
        let parent = self.parent.as_ref().filter(|_| span.from == self.first());
        let mut tail = Tail::first(parent).map_err(|e| e.to_string())?;
        let facts = self.stretch(span.from, span.to).ok_or(bad)?;
        facts.iter().for_each(|fact| tail.push(fact.line));
        hold(tail.hash() == span.sha256, bad)
    }

    /// Whether a stretch holds an outcome.
    pub(super) fn has_outcome(&self, from: u64, to: u64) -> bool {
        self.stretch(from, to).is_some_and(|facts| facts.iter().any(|f| f.outcome.is_some()))
    }

    /// The row that fact `n` settles.
    pub(super) fn outcome(&self, n: u64) -> Option<&SettledRow> {
        self.stretch(n, n)?.first()?.outcome.as_ref()
    }
}

impl<'a> Runs<'a> {
    pub(super) fn add_run(&mut self, line: RunLine) -> Check {
        let RunLine { run: id, parent, .. } = line;
        hold(self.list.last().is_none_or(|last| last.id < id), "its run is not in order")?;
        self.index.insert(id.clone(), self.list.len());
        self.list.push(Run { id, parent, facts: Vec::new(), receipts: Vec::new(), follows: None });
        Ok(())
    }

    /// Every parent is here, and no run descends from itself.
    pub(super) fn check_parents(&self) -> Check {
        let mut sound = vec![false; self.list.len()];
        for start in 0..self.list.len() {
            let mut path = vec![start];
            while let Some(&last) = path.last()
                && !sound[last]
                && let Some(parent) = &self.list[last].parent
            {
                let next = self.position(&parent.run)?;
                hold(path.len() <= self.list.len(), "a run descends from itself")?;
                path.push(next);
            }
            path.into_iter().for_each(|run| sound[run] = true);
        }
        Ok(())
    }

    pub(super) fn add_fact(&mut self, line: FactLine, text: &'a str) -> Check {
        let fact = line.fact;
        let position = self.position(&fact.run)?;
        hold(position >= self.current, "its run is not in order")?;
        self.current = position;
        let run = &mut self.list[position];
        hold(fact.n == run.last().saturating_add(1), "its number leaves a gap")?;
        hold(fact.body.is_object(), "its body is not an object")?;
        let outcome = match fact.kind.as_str() {
            "outcome" => Some(row(&fact.body)?),
            _ => None,
        };
        run.facts.push(FactText { line: text, outcome });
        Ok(())
    }

    /// Every fork leaves its parent at a fact that is there, and every other run has facts.
    pub(super) fn check_forks(&self) -> Check {
        let begun = |run: &Run<'_>| run.parent.is_some() || !run.facts.is_empty();
        hold(self.list.iter().all(begun), "a run that is no fork has no facts")?;
        for parent in self.list.iter().filter_map(|run| run.parent.as_ref()) {
            let run = &self.list[self.position(&parent.run)?];
            hold(parent.n <= run.last(), "a run forks at a fact that is not there")?;
        }
        Ok(())
    }

    /// Every outcome has its receipt.
    pub(super) fn check_receipted(&self) -> Check {
        for run in &self.list {
            let outcomes = run.facts.iter().filter(|fact| fact.outcome.is_some()).count();
            let why = format!("an outcome of run {} has no receipt", run.id);
            hold(outcomes == run.receipts.len(), &why)?;
        }
        Ok(())
    }

    /// No receipt that a fork shares stands after the fork's own.
    pub(super) fn check_shared(&self) -> Check {
        for (position, run) in self.list.iter().enumerate() {
            let Some(follows) = &run.follows else { continue };
            let why = format!("run {} does not follow the last receipt it shares", run.id);
            hold(*follows == self.before_own(position), &why)?;
        }
        Ok(())
    }

    /// The receipt that a run's next one follows: its own last, or its forebears' at the fork.
    pub(super) fn chain_end(&self, position: usize) -> (u64, String) {
        match self.list[position].receipts.last() {
            Some(link) => (link.seq, link.hash.clone()),
            None => self.before_own(position),
        }
    }

    /// The receipt that a run's first own one follows: its forebears' last at the fork.
    fn before_own(&self, position: usize) -> (u64, String) {
        let mut run = &self.list[position];
        let mut bound = u64::MAX;
        loop {
            let Some(parent) = &run.parent else { return (0, ZERO.to_owned()) };
            let Some(&next) = self.index.get(&parent.run) else { return (0, ZERO.to_owned()) };
            bound = bound.min(parent.n);
            run = &self.list[next];
            if let Some(link) = run.receipts.iter().rev().find(|link| link.to <= bound) {
                return (link.seq, link.hash.clone());
            }
        }
    }

    pub(super) fn position(&self, run: &RunId) -> Check<usize> {
        let missing = || format!("it names run {run}, which is not in the bundle");
        self.index.get(run).copied().ok_or_else(missing)
    }

    pub(super) fn get(&self, position: usize) -> &Run<'a> {
        &self.list[position]
    }

    pub(super) fn get_mut(&mut self, position: usize) -> &mut Run<'a> {
        &mut self.list[position]
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

/// The row that an outcome's body names.
fn row(body: &Value) -> Check<SettledRow> {
    let at = body.get("at").and_then(Value::as_str);
    let status = body.get("status").and_then(Value::as_u64);
    match (at, status) {
        (Some(at), Some(status)) => Ok(SettledRow { at: at.to_owned(), status }),
        _ => Err("an outcome names its row and its status".to_owned()),
    }
}
