//! Tells the end of a run once more, where the driver before was gone before its user was shown it.

use crate::journal::CommittedFact;
use crate::run_record::RunRecord;
use crate::{Driver, RunError, now_ms};
use cairn_types::{Body, By, Fact, Verdict};

impl Driver {
    /// Notes whether the user was shown how the run ended, for the next driver: say `false` before you drive it and
    /// `true` once everything is printed, and a kill between the two makes the next driver tell the end again.
    pub fn note_end_shown(&self, is_shown: bool) {
        // Without the note the next driver tells the end again, or does not; nothing is lost by it.
        let _ = self.run.journal.lease().note_end_shown(is_shown);
    }
}

impl RunRecord {
    /// Tells the facts that say how the last loop ended: its last turn from the reply on, and what was refused for
    /// want of a person.
    pub(crate) async fn tell_end_again(&self) -> Result<(), RunError> {
        let (store, run) = (self.journal.store(), self.journal.run_id());
        let facts = store.facts(run, 0)?;
        let anchor = store.checkpoint(self.journal.session(), now_ms()).await?;
        let receipts = store.receipts(run)?;
        for fact in facts_of_last_end(&facts) {
            let receipt = receipts.iter().find(|row| row.fact_n == fact.n);
            let receipt = receipt.map(|row| row.receipt_id.clone());
            let (fact, anchor) = (fact.clone(), Some(anchor.clone()));
            self.tell(CommittedFact { fact, text: None, receipt, anchor });
        }
        Ok(())
    }
}

fn facts_of_last_end(facts: &[Fact]) -> Vec<&Fact> {
    let is_end = |fact: &Fact| matches!(fact.body, Body::End(_));
    let Some(end) = facts.iter().rposition(is_end) else { return Vec::new() };
    let last_loop = facts[..end].iter().rposition(is_end).map_or(0, |before| before + 1)..end + 1;
    let last_loop = &facts[last_loop];
    let is_reply = |fact: &Fact| matches!(fact.body, Body::Reply(_));
    let last_turn = last_loop.iter().rposition(is_reply).unwrap_or(last_loop.len() - 1);
    let is_told = |(nth, fact): &(usize, &Fact)| match &fact.body {
        Body::Decision(decision) => {
            decision.by == By::Nobody && decision.verdict == Verdict::Refuse
        }
        Body::Reply(_) | Body::Intent(_) | Body::Outcome(_) | Body::End(_) => *nth >= last_turn,
        _ => false,
    };
    last_loop.iter().enumerate().filter(is_told).map(|(_, fact)| fact).collect()
}
