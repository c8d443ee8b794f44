//! An op began and nobody saw it end. What becomes of it.

use crate::admit::{Recording, proposal};
use crate::state::Engine;
use crate::words;
use cairn_types::{Approval, Coord, ProposalItem, ProposalKind, Settled, Status};

/// What the disk shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Every path is as it was meant to be.
    Done,
    /// Every path is as it was before.
    NotDone,
    /// Neither, or the effect was no file write.
    Unknown,
}

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// Record these facts.
    Record(Recording),
    /// Perform it: it did not happen, or happening twice is harmless.
    Repeat,
}

impl Engine {
    /// It is known what the disk shows of an op that began and has no outcome.
    #[must_use]
    pub fn found(&self, at: Coord, found: Found) -> Settlement {
        let Some(op) = self.op(at) else { return Settlement::Record(Recording::default()) };
        let approval = self.drive.as_ref().map_or(Approval::Nobody, |drive| drive.approval);
        let settled =
            |status, told, how| Settlement::Record(Recording::settled(op, status, told, how));
        match (found, op.intent.repeatable, approval) {
            (Found::Done, ..) => settled(Status::OK, words::FOUND_DONE, Settled::FoundDone),
            (Found::NotDone, ..) | (Found::Unknown, true, _) => Settlement::Repeat,
            (Found::Unknown, false, Approval::Ask) => {
                let label = format!("{} {}", op.intent.tool, op.intent.target);
                let shown = format!(
                    "This began before the program was interrupted; nobody saw it end:\n{label}\n"
                );
                let items = vec![ProposalItem { item: 1, label, change: None }];
                Settlement::Record(proposal(op, ProposalKind::Indeterminate, &shown, items))
            }
            (Found::Unknown, false, Approval::Yolo | Approval::Nobody) => {
                settled(Status::FAILED, words::INDETERMINATE, Settled::Indeterminate)
            }
        }
    }
}
