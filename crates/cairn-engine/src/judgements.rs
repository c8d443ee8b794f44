//! What the gates have said about open ops, and under which policy. The gates are asked once about an op as it was
//! requested and once about its prepared effect; they are asked again only when the op, the effect or the policy
//! has changed since. Nothing here is recorded: a new driver starts with nothing and asks again.

use crate::gates::Leave;
use crate::policy::Rulebook;
use crate::reach::Reach;
use cairn_types::{Body, Coord, Decision, Remember};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many judgements of effects are remembered of one op; the one of its request is always kept.
const MOST_EFFECTS: usize = 2;

/// Identifies everything the gates read apart from an op and its prepared effect: rules, mode, flags, remembered
/// answers and their expiry, hooks, budgets, and the results of earlier calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PolicyVersion {
    /// How many facts have come that may change it.
    changes: u64,
    /// How many remembered answers have expired.
    expired: usize,
}

impl PolicyVersion {
    /// The version at a time, by what changed so far and the rules in force.
    pub(crate) fn at(changes: u64, rules: &Rulebook, now: u64) -> PolicyVersion {
        PolicyVersion { changes, expired: rules.count_expired(now) }
    }
}

/// Whether a fact may change what the gates say. Everything may, except what follows from their own word on one op.
pub(crate) fn may_change_policy(body: &Body) -> bool {
    match body {
        Body::Decision(decision) => changes_policy(decision),
        Body::Proposal(_) | Body::Begin(_) | Body::Reach(_) => false,
        _ => true,
    }
}

/// Whether a decision reaches further than the op it is about, or opens the op again.
fn changes_policy(decision: &Decision) -> bool {
    decision.remember != Remember::Once || decision.mode.is_some() || !decision.hosts.is_empty()
}

/// The gates' word on an op with one effect.
#[derive(Debug, Clone)]
struct Judgement {
    reach: Reach,
    leave: Leave,
}

/// What was judged so far. Two states of a run are equal whatever of it they remember.
#[derive(Debug, Default)]
pub(crate) struct Judgements(Mutex<Remembered>);

#[derive(Debug, Clone, Default)]
struct Remembered {
    /// The policy that all of them are under.
    under: PolicyVersion,
    by_op: HashMap<Coord, VecDeque<Judgement>>,
    evaluations: u64,
}

impl Judgements {
    /// The gates' word on an op with this effect: the remembered one if nothing has changed, else what `evaluate`
    /// says now.
    pub(crate) fn recall_or_evaluate(
        &self,
        at: Coord,
        reach: &Reach,
        under: PolicyVersion,
        evaluate: impl FnOnce() -> Leave,
    ) -> Leave {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.under != under {
            remembered.under = under;
            remembered.by_op.clear();
        }
        let of_op = remembered.by_op.entry(at).or_default();
        if let Some(judgement) = of_op.iter().find(|one| one.reach == *reach) {
            return judgement.leave.clone();
        }
        let leave = evaluate();
        let is_effect = |one: &Judgement| one.reach != Reach::default();
        if of_op.iter().filter(|one| is_effect(one)).count() >= MOST_EFFECTS
            && let Some(oldest) = of_op.iter().position(is_effect)
        {
            of_op.remove(oldest);
        }
        // Which hook is next depends on how far the op has come.
        if !matches!(leave, Leave::Hook(_)) {
            of_op.push_back(Judgement { reach: reach.clone(), leave: leave.clone() });
        }
        remembered.evaluations += 1;
        leave
    }

    /// The gates' word, which is not remembered.
    pub(crate) fn evaluate(&self, evaluate: impl FnOnce() -> Leave) -> Leave {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).evaluations += 1;
        evaluate()
    }

    /// How often the gates were asked.
    pub(crate) fn evaluations(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).evaluations
    }
}

impl Clone for Judgements {
    fn clone(&self) -> Judgements {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Judgements(Mutex::new(remembered.clone()))
    }
}

impl PartialEq for Judgements {
    fn eq(&self, _: &Judgements) -> bool {
        true
    }
}

impl Eq for Judgements {}
