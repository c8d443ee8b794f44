//! Rails: what ends a loop that gets nowhere. A fold over a loop's settled turns; the model is told
//! what failed, and never that anybody counts.

use crate::op::OpState;
use cairn_types::{By, Hash, Outcome, Rail, Settled, Status, Verdict};
use std::collections::VecDeque;

/// So many struck turns in a row end a loop.
const STRIKES: u32 = 3;
/// A cycle is at most so many turns long,
const LONGEST: usize = 4;
/// and is one once it was gone through so often.
const ROUNDS: usize = 3;

/// What the turns of a loop have come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rails {
    /// Struck turns since the last clean one.
    strikes: u32,
    /// What struck the newest turn.
    struck: Option<Struck>,
    /// The newest turns, each as one hash of its ops and their results.
    turns: VecDeque<Hash>,
}

/// Why a turn counts against its loop.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Struck {
    /// An op could not act.
    Op(String),
    /// It asked for nothing, where only what is asked for counts.
    Silent,
    /// The turn is one of a cycle of so many.
    Cycle(usize),
}

/// What of an outcome makes it the same as another, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultDigest {
    result: Hash,
    settled: Settled,
}

impl ResultDigest {
    /// Words that name the row itself are left out: they are never the same twice.
    pub(crate) fn of_outcome(outcome: &Outcome) -> ResultDigest {
        let told = outcome.own.unwrap_or(outcome.result.hash);
        let result = match (outcome.status, &outcome.output) {
            (Status::RUNNING | Status::CANCELLED, _) => Hash::of(b""),
            (_, Some(output)) => output.hash,
            (_, None) => told,
        };
        // A result that is pointed at is the result.
        let status = if outcome.status.is_success() { 0 } else { outcome.status.0 };
        let mut all = result.to_string();
        all.push_str(&format!(" {status} {:?}", outcome.exit));
        ResultDigest { result: Hash::of(all.as_bytes()), settled: outcome.settled }
    }
}

impl Rails {
    /// All ops of a turn have outcomes.
    pub(crate) fn settled(&mut self, ops: &[OpState], is_silent: bool) {
        // What a person refuses again and again is theirs to stop.
        if ops.iter().any(OpState::was_refused) {
            self.turns.clear();
        } else {
            self.turns.push_back(same(ops));
        }
        if self.turns.len() > LONGEST * ROUNDS {
            self.turns.pop_front();
        }
        let failed = ops.iter().find(|op| op.strikes()).map(|op| {
            let status = op.status().unwrap_or(Status::FAILED);
            Struck::Op(format!("{} {}, {status}", op.intent.at, op.intent.tool))
        });
        let silent = is_silent.then_some(Struck::Silent);
        self.struck = failed.or(silent).or_else(|| self.cycle().map(Struck::Cycle));
        self.strikes = if self.struck.is_some() { self.strikes + 1 } else { 0 };
    }

    /// Someone said something: what comes now is another beginning.
    pub(crate) fn heard(&mut self) {
        *self = Rails::default();
    }

    /// How many turns the cycle has that the newest ones go through, if they do.
    fn cycle(&self) -> Option<usize> {
        let newest: Vec<&Hash> = self.turns.iter().rev().collect();
        (1..=LONGEST).find(|period| {
            let all = period * ROUNDS;
            newest.len() >= all && (*period..all).all(|n| newest[n] == newest[n - period])
        })
    }

    /// Why the loop ends here, if it does: which rail, and a sentence for the person.
    pub(crate) fn end(&self) -> Option<(Rail, String)> {
        if self.strikes < STRIKES {
            return None;
        }
        Some(match self.struck.as_ref()? {
            Struck::Op(last) => {
                let why = format!(
                    "{} turns in a row had a call that could not act; the last was {last}",
                    self.strikes
                );
                (Rail::Strikes, why)
            }
            Struck::Silent => (
                Rail::Strikes,
                format!(
                    "{} turns in a row came to nothing; the last asked for nothing that could be read",
                    self.strikes
                ),
            ),
            Struck::Cycle(1) => (
                Rail::Cycle,
                "the model makes the same calls again and again, with the same results".to_owned(),
            ),
            Struck::Cycle(period) => (
                Rail::Cycle,
                format!(
                    "the model goes through the same {period} turns again and again, with the same \
                     results"
                ),
            ),
        })
    }
}

/// One hash of what was asked for in a turn and what came of it, in order.
fn same(ops: &[OpState]) -> Hash {
    let lines: Vec<String> = ops
        .iter()
        .map(|op| {
            let result = op.result().map(|digest| digest.result.to_string()).unwrap_or_default();
            format!("{} {} {result}\n", op.intent.tool, op.intent.input.hash)
        })
        .collect();
    Hash::of(lines.concat().as_bytes())
}

impl OpState {
    /// Whether a person said no to it.
    fn was_refused(&self) -> bool {
        self.decision().is_some_and(|decision| {
            decision.verdict == Verdict::Refuse && matches!(decision.by, By::Person(_))
        })
    }

    /// Whether it could not act, and that is nobody's doing but the model's. What is cancelled
    /// follows from something else; what a crash left unknown says nothing about the model.
    fn strikes(&self) -> bool {
        let unknown = self.result().is_some_and(|digest| digest.settled == Settled::Indeterminate);
        let excused = matches!(
            self.status(),
            None | Some(
                Status::REFUSED
                    | Status::NOT_FOUND
                    | Status::CONFLICT
                    | Status::OUT_OF_RANGE
                    | Status::CANCELLED
                    | Status::NOT_IMPLEMENTED
            )
        );
        let failed = self.status().is_some_and(|status| !status.is_success());
        failed && !excused && !unknown && !self.was_refused()
    }
}
