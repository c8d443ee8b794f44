//! What a driver knows of the questions it puts to a person. Which question is open is the engine's to say.

use cairn_types::ProposalId;
use std::time::Duration;
use tokio::time::Instant;

/// The questions that a driver has put.
#[derive(Debug, Default)]
pub(crate) struct PutQuestions {
    put: Vec<ProposalId>,
    /// The question that is waited for, and until when.
    waited_for: Option<(ProposalId, Option<Instant>)>,
    /// There is nobody left to answer.
    is_unattended: bool,
}

impl PutQuestions {
    /// Notes that this driver has put a question.
    pub(crate) fn note_put(&mut self, id: &ProposalId) {
        self.put.push(id.clone());
    }

    /// Whether this driver has put a question; otherwise an earlier one has.
    pub(crate) fn was_put(&self, id: &ProposalId) -> bool {
        self.put.contains(id)
    }

    /// Returns when a question is given up, if ever. Its time runs from the first call on.
    pub(crate) fn deadline(&mut self, id: &ProposalId, limit: Option<Duration>) -> Option<Instant> {
        match &self.waited_for {
            Some((waited_for, until)) if waited_for == id => *until,
            _ => {
                let until = limit.map(|limit| Instant::now() + limit);
                self.waited_for = Some((id.clone(), until));
                until
            }
        }
    }

    /// There is nobody left to answer questions.
    pub(crate) fn leave_unattended(&mut self) {
        self.is_unattended = true;
    }

    pub(crate) fn is_unattended(&self) -> bool {
        self.is_unattended
    }
}
