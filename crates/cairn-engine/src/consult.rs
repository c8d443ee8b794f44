//! Interactions: what the agent puts to a person, which words answer it, and what the agent is told
//! of them. Whether anybody can be asked is a gate's word.

use crate::admit::{Recording, outcome};
use crate::driving::Driving;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::propose::{DecideError, NewQuestion, Word};
use crate::words;
use cairn_surface::native;
use cairn_types::{
    By, Consult, ContentRef, Decision, Mode, OpName, ProposalItem, ProposalKind, Remember, Settled,
    Status, Verdict,
};

impl OpState {
    /// Whether it is something that is put to a person.
    pub(crate) fn is_consult(&self) -> bool {
        self.intent.op == Some(OpName::Consult)
    }
}

/// The parts of what is asked: the answers to choose from.
fn items(consult: &Consult) -> Vec<ProposalItem> {
    let labels = match consult {
        Consult::Question { options, .. } => options.clone(),
        Consult::Plan { .. } => Vec::new(),
    };
    (1..)
        .zip(labels)
        .map(|(item, label)| ProposalItem { item, ..ProposalItem::whole(label) })
        .collect()
}

/// What a person sees: the text, and the answers that are offered, numbered.
fn shown(consult: &Consult) -> String {
    let text = consult.text().trim_end();
    let options: Vec<String> = items(consult)
        .iter()
        .map(|option| format!("\n  {} {}", option.item, option.label))
        .collect();
    format!("{text}{}", options.concat())
}

impl OpState {
    /// What the agent puts to a person, put to them.
    #[must_use]
    pub fn put_to_person(&self, consult: &Consult) -> Recording {
        let (kind, label) = match consult {
            Consult::Question { .. } => (ProposalKind::Question, "the agent asks"),
            Consult::Plan { .. } => (ProposalKind::Plan, "the agent proposes a plan"),
        };
        let mut question = NewQuestion::about(self, kind, shown(consult), items(consult));
        label.clone_into(&mut question.label);
        question.record(self)
    }
}

impl Driving {
    /// Whether a word answers a question of this kind, and the mode that follows from it.
    pub(crate) fn fits(
        &self,
        kind: ProposalKind,
        word: &Word,
    ) -> Result<Option<Mode>, DecideError> {
        let is_empty = word.words.as_deref().is_none_or(|words| words.trim().is_empty());
        let fits = match (kind, word.verdict) {
            (ProposalKind::Question, Verdict::Answer) => !is_empty,
            (ProposalKind::Question, Verdict::Allow) | (_, Verdict::Answer) => false,
            (ProposalKind::Indeterminate, _) => true,
            (_, Verdict::Happened | Verdict::Skip) => false,
            (_, Verdict::Allow | Verdict::Refuse | Verdict::Cancel) => true,
        };
        let is_approved = kind == ProposalKind::Plan && word.verdict == Verdict::Allow;
        if !fits
            || kind.is_consult() && word.remember != Remember::Once
            || word.mode.is_some() && !is_approved
        {
            let (proposal, verdict) = (word.proposal.clone(), word.verdict);
            return Err(DecideError::Unfit { proposal, verdict, kind });
        }
        if !is_approved {
            return Ok(None);
        }
        let now = self.terms().mode;
        let most = self.drive.as_ref().and_then(|drive| drive.after_plan);
        match (word.mode, most) {
            (Some(mode), most) if mode > now && most.is_none_or(|most| mode > most) => {
                Err(DecideError::TooWide(mode))
            }
            (Some(mode), _) => Ok(Some(mode)),
            (None, Some(most)) if now == Mode::Plan => Ok(Some(most.min(Mode::Act))),
            (None, _) => Ok(None),
        }
    }
}

impl OpInRun<'_> {
    /// What the agent is told of a person's word on what it put to them.
    pub(crate) fn consulted_on(&self, decision: &Decision) -> Recording {
        let is_plan = native::name_of(&self.op.intent.tool) == Some(native::PRESENT_PLAN);
        let (status, told, settled) = match (decision.verdict, &decision.by) {
            (Verdict::Cancel, By::Nobody) => {
                (Status::REFUSED, words::NOBODY_ANSWERS, Settled::NotPerformed)
            }
            (Verdict::Answer, _) => {
                let answer = decision.words.unwrap_or_else(|| ContentRef::of(b""));
                let outcome = outcome(self.op, Status::OK, answer, Settled::Performed);
                return Recording::of(self.result_fact(outcome));
            }
            (Verdict::Allow, _) if decision.mode.is_some_and(Mode::may_act) => {
                (Status::OK, words::APPROVED_TO_ACT, Settled::Performed)
            }
            (Verdict::Allow, _) if !self.run.driving.may_act() => {
                (Status::OK, words::APPROVED_ONLY, Settled::Performed)
            }
            (Verdict::Allow, _) => (Status::OK, words::APPROVED, Settled::Performed),
            (Verdict::Refuse, _) if is_plan && decision.words.is_some() => {
                (Status::OK, words::REVISE, Settled::Performed)
            }
            (Verdict::Refuse, _) if is_plan => {
                (Status::REFUSED, words::REJECTED, Settled::Performed)
            }
            (Verdict::Refuse, _) => (Status::REFUSED, words::NO_ANSWER, Settled::Performed),
            (Verdict::Cancel | Verdict::Happened | Verdict::Skip, _) => {
                (Status::CANCELLED, words::WITHDRAWN, Settled::NotPerformed)
            }
        };
        let mut recording = Recording::default();
        let result = recording.keep(told);
        let outcome = outcome(self.op, status, result, settled);
        recording.facts.push(self.result_fact(outcome));
        recording
    }
}
