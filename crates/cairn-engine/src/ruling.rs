//! What the gates decide about one op, on its way into the log: the decision, and the outcome where it refuses.

use crate::admit::{Recording, outcome};
use crate::gates::{Refusal, Told};
use crate::op_in_run::OpInRun;
use crate::policy::RemovedPaths;
use crate::reach::Reach;
use cairn_types::{Body, By, Decision, GateVerdict, Settled, Status, Verdict};

/// A decision of the gates on an op, before it is recorded.
#[derive(Debug, Clone)]
pub(crate) struct GateRuling<'a> {
    op: OpInRun<'a>,
    decision: Decision,
    refused: Option<RefusedOutcome>,
}

/// The outcome of an op that the gates refuse.
#[derive(Debug, Clone)]
struct RefusedOutcome {
    told: Told,
    status: Status,
    settled: Settled,
}

impl<'a> OpInRun<'a> {
    /// The gates let the op be done.
    pub(crate) fn grant(self, gates: Vec<GateVerdict>, by: By) -> GateRuling<'a> {
        let mut decision = Decision::new(self.at(), Verdict::Allow, by, gates);
        if let Some(question) = self.question() {
            decision.proposal = Some(question.id.clone());
            decision.shown_hash = Some(question.shown_hash);
        }
        GateRuling { op: self, decision, refused: None }
    }

    /// The gates refuse the op.
    pub(crate) fn refuse(self, gates: Vec<GateVerdict>, refusal: Refusal) -> GateRuling<'a> {
        let Refusal { by, told, status, .. } = refusal;
        let decision = Decision::new(self.at(), Verdict::Refuse, by, gates);
        let refused = Some(RefusedOutcome { told, status, settled: Settled::NotPerformed });
        GateRuling { op: self, decision, refused }
    }
}

impl GateRuling<'_> {
    /// Names the paths that the op did not ask for and that the word of the gates depends on.
    pub(crate) fn naming_paths(mut self, reach: &Reach) -> Self {
        let removed = RemovedPaths::new(&reach.gone);
        let without = self.op.leave(&reach.limited_to(&[], &removed));
        let is_same = |changed: &[String]| {
            let limited = reach.limited_to(changed, &removed);
            self.op.leave_if(&limited).gates() == self.decision.gates
        };
        let also = if without.gates() == self.decision.gates {
            Vec::new()
        } else {
            let mut all = reach.changed.iter().chain(&reach.ignored);
            let one = all.find(|path| is_same(std::slice::from_ref(*path)));
            one.map_or_else(|| reach.changed.clone(), |path| vec![path.clone()])
        };
        self.decision.removed = reach.removed;
        self.decision.gone = reach.limited_to(&also, &removed).gone;
        self.decision.also = also;
        self
    }

    /// The op that is refused has begun, and how far it came is not known.
    pub(crate) fn leaving_it_indeterminate(mut self) -> Self {
        if let Some(refused) = &mut self.refused {
            (refused.status, refused.settled) = (Status::FAILED, Settled::Indeterminate);
        }
        self
    }

    pub(crate) fn record(self) -> Recording {
        let GateRuling { op, decision, refused } = self;
        let mut recording = Recording::of(Body::Decision(decision));
        if let Some(RefusedOutcome { told, status, settled }) = refused {
            let result = match told {
                Told::Words(words) => recording.keep(words),
                Told::Kept(content) => content,
            };
            recording.facts.push(Body::Outcome(outcome(&op, status, result, settled)));
        }
        recording
    }
}
