//! Proposals: an op held until someone decides, what is offered to be remembered, and the word that
//! decides. The first word wins.

use crate::admit::{Prepared, Recording};
use crate::policy::{Rule, RuleError, Rulebook};
use crate::reach::Reach;
use crate::state::{Engine, OpState};
use crate::{offers, words};
use cairn_types::{
    Body, By, Coord, Decision, Hash, ItemChoice, OpName, Proposal, ProposalId, ProposalItem,
    ProposalKind, Remember, Removed, Status, Verdict,
};

/// Someone's word on a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Which proposal.
    pub proposal: ProposalId,
    /// The word.
    pub verdict: Verdict,
    /// Whose.
    pub by: By,
    /// What was shown; when absent, what the proposal says was shown is taken.
    pub shown_hash: Option<Hash>,
    /// Words that come with a refusal.
    pub words: Option<String>,
    /// How far it reaches.
    pub remember: Remember,
    /// What it is remembered for, as a rule; every op of this kind when absent.
    pub rule: Option<String>,
    /// When what is remembered ends, milliseconds since 1970.
    pub until: Option<u64>,
}

/// Why a word was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// There is no such proposal, or it is not open.
    #[error("404: there is no open proposal {0}")]
    NoSuchProposal(ProposalId),
    /// Someone was faster.
    #[error("409: {proposal} was decided already: {verdict} by {by}")]
    Decided {
        /// The proposal.
        proposal: ProposalId,
        /// The first word.
        verdict: Verdict,
        /// Whose it was.
        by: By,
        /// When it was recorded, milliseconds since 1970.
        at: u64,
    },
    /// That word does not answer this question.
    #[error("400: {verdict} does not answer {proposal}")]
    Unfit {
        /// The proposal.
        proposal: ProposalId,
        /// The word.
        verdict: Verdict,
    },
    /// What it shall be remembered for cannot be read.
    #[error("400: {0}")]
    NoRule(#[from] RuleError),
    /// A yes to everything is ruled out.
    #[error("400: {0:?} means every command, and `policy.yolo` is never; name the command")]
    Everything(String),
    /// The word is about something else than what is proposed.
    #[error("409: {0} shows something else than what was decided on")]
    Stale(ProposalId),
}

impl DecideError {
    /// When somebody else decided, milliseconds since 1970, if that is why.
    #[must_use]
    pub fn decided_at(&self) -> Option<u64> {
        match self {
            DecideError::Decided { at, .. } => Some(*at),
            _ => None,
        }
    }
}

impl Engine {
    /// An open question shows something else than what would happen now: it is put afresh. Nothing
    /// when it is still as shown.
    #[must_use]
    pub fn put_afresh(&self, at: Coord, prepared: &Prepared) -> Option<Recording> {
        let op = self.op(at).filter(|op| op.begin.is_none() && op.decision.is_none())?;
        if let Some(unseen) = self.unseen(op, prepared) {
            return Some(unseen);
        }
        (!self.is_as_shown(at, &prepared.shown)).then(|| propose(op, prepared, &self.rules))
    }

    /// Whether what would happen now is what the person decided on. True when nobody was asked.
    #[must_use]
    pub fn is_as_shown(&self, at: Coord, shown: &str) -> bool {
        let Some(op) = self.op(at) else { return true };
        match (&op.settling, &op.proposal) {
            (Some(question), _) => question.shown_hash == Hash::of(unfinished(shown).as_bytes()),
            (None, Some(question)) => question.shown_hash == Hash::of(shown.as_bytes()),
            (None, None) => true,
        }
    }

    /// What would happen now is not what the person decided on, so it is not done.
    #[must_use]
    pub fn not_as_shown(&self, at: Coord) -> Recording {
        match self.op(at) {
            Some(op) if op.begin.is_some() => Recording::indeterminate(op),
            Some(op) => Recording::not_performed(op, Status::CONFLICT, words::NOT_AS_SHOWN),
            None => Recording::default(),
        }
    }

    /// Someone gave a word on a proposal. The first one wins.
    pub fn decided(&self, word: &Word) -> Result<Recording, DecideError> {
        let (op, proposal) = self.open_proposal(&word.proposal)?;
        if word.shown_hash.is_some_and(|shown| shown != proposal.shown_hash) {
            return Err(DecideError::Stale(word.proposal.clone()));
        }
        let only_after_a_crash = matches!(word.verdict, Verdict::Happened | Verdict::Skip);
        if only_after_a_crash && proposal.kind != ProposalKind::Indeterminate {
            let (proposal, verdict) = (word.proposal.clone(), word.verdict);
            return Err(DecideError::Unfit { proposal, verdict });
        }
        let all = || op.intent.op.map(|op| op.to_string());
        let kept = word.rule.clone().or_else(all).filter(|_| word.remember != Remember::Once);
        for rule in word.rule.iter().chain(&kept) {
            if !self.rules.takes_answer(&Rule::parse(rule)?) {
                return Err(DecideError::Everything(rule.clone()));
            }
        }
        let gates = self.leave(op, &Reach::from(proposal)).gates().to_vec();
        let mut recording = Recording::default();
        let mut decision = Decision::new(op.intent.at, word.verdict, word.by.clone(), gates);
        decision.proposal = Some(word.proposal.clone());
        decision.shown_hash = Some(proposal.shown_hash);
        let accepted = word.verdict == Verdict::Allow;
        decision.items =
            proposal.items.iter().map(|i| ItemChoice { item: i.item, accepted }).collect();
        decision.words = word.words.as_deref().map(|words| recording.keep(words));
        decision.remember = word.remember;
        decision.rule = kept;
        decision.until = word.until;
        (decision.also, decision.removed) = (proposal.paths(), proposal.removed);
        recording.facts.push(Body::Decision(decision));
        Ok(recording)
    }

    fn open_proposal(&self, id: &ProposalId) -> Result<(&OpState, &Proposal), DecideError> {
        if let Some((verdict, by, at)) = self.decided.get(id) {
            let (proposal, verdict, by, at) = (id.clone(), *verdict, by.clone(), *at);
            return Err(DecideError::Decided { proposal, verdict, by, at });
        }
        let none = || DecideError::NoSuchProposal(id.clone());
        let lap = self.lap.as_ref().ok_or_else(none)?;
        let questions = lap.ops.iter().flat_map(|op| [(op, &op.proposal), (op, &op.settling)]);
        let (op, proposal) = questions
            .filter_map(|(op, proposal)| Some((op, proposal.as_ref()?)))
            .find(|(_, proposal)| proposal.id == *id)
            .ok_or_else(none)?;
        if op.status.is_some() { Err(none()) } else { Ok((op, proposal)) }
    }
}

pub(crate) fn propose(op: &OpState, prepared: &Prepared, rules: &Rulebook) -> Recording {
    let kind = match op.intent.op {
        Some(OpName::Exec) => ProposalKind::Exec,
        _ => ProposalKind::Edit,
    };
    let items = match &prepared.changes[..] {
        [] => vec![ProposalItem { item: 1, label: prepared.label.clone(), change: None }],
        changes => (1..)
            .zip(changes)
            .map(|(item, change)| ProposalItem {
                item,
                label: prepared.label.clone(),
                change: Some(change.clone()),
            })
            .collect(),
    };
    let mut recording = proposal(op, kind, &prepared.shown, items);
    if let Some(Body::Proposal(proposal)) = recording.facts.first_mut() {
        proposal.removed = prepared.removed;
        let taken = |offer: &String| Rule::parse(offer).is_ok_and(|rule| rules.takes_answer(&rule));
        proposal.offers.retain(taken);
    }
    recording
}

/// A look that somebody is asked about.
pub(crate) fn propose_look(op: &OpState) -> Recording {
    let label = format!("{} {}", op.intent.tool, op.intent.target);
    let items = vec![ProposalItem { item: 1, label: label.clone(), change: None }];
    proposal(op, ProposalKind::Look, &label, items)
}

/// What is shown of an op that began and was not seen to end.
pub(crate) fn unfinished(shown: &str) -> String {
    format!("This began before the program was interrupted; nobody saw it end.\n{shown}")
}

pub(crate) fn proposal(
    op: &OpState,
    kind: ProposalKind,
    shown: &str,
    items: Vec<ProposalItem>,
) -> Recording {
    let mut recording = Recording::default();
    let at = op.intent.at;
    let shown = recording.keep(shown);
    let id = match kind {
        ProposalKind::Indeterminate => {
            format!("p{}.{}.{}.again{}", at.lap, at.turn, at.seq, op.begins)
        }
        _ if op.questions == 0 => {
            format!("p{}.{}.{}", at.lap, at.turn, at.seq)
        }
        ProposalKind::Edit | ProposalKind::Exec | ProposalKind::Look => {
            format!("p{}.{}.{}.{}", at.lap, at.turn, at.seq, op.questions + 1)
        }
    };
    recording.facts.push(Body::Proposal(Proposal {
        id: ProposalId(id),
        at,
        kind,
        shown_hash: shown.hash,
        shown,
        items,
        offers: match kind {
            ProposalKind::Indeterminate => Vec::new(),
            _ => offers::of(&op.intent),
        },
        removed: Removed::default(),
    }));
    recording
}
