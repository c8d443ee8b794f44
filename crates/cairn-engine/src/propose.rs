//! Proposals: an op held until someone decides, what is offered to be remembered, and the word that
//! decides. The first word wins.

use crate::admit::{Part, Prepared, Recording};
use crate::choice::{self, Misfit, NewText};
use crate::op::{EndingQuestion, OpStage, OpState};
use crate::op_in_run::OpInRun;
use crate::policy::{Rule, RuleError, Rulebook};
use crate::reach::{Reach, counts};
use crate::state::Engine;
use crate::{offers, words};
use cairn_types::{
    Begin, Body, By, Change, Coord, Decision, EditedText, Effect, Hash, ItemChoice, Mode, OpName,
    Proposal, ProposalId, ProposalItem, ProposalKind, Remember, Removed, Status, Verdict,
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
    /// With allow: the items that are taken; all when absent.
    pub items: Option<Vec<u32>>,
    /// With allow: texts in place of those proposed.
    pub texts: Vec<NewText>,
    /// Words that come with a refusal.
    pub words: Option<String>,
    /// How far it reaches.
    pub remember: Remember,
    /// What it is remembered for, as a rule; when absent, every op of this kind, and of one that reaches beyond
    /// this machine those that reach the same host.
    pub rule: Option<String>,
    /// When what is remembered ends, milliseconds since 1970.
    pub until: Option<u64>,
    /// With a plan that is approved: the mode in which the run goes on.
    pub mode: Option<Mode>,
}

impl Word {
    /// A word on all of a proposal, for this once.
    #[must_use]
    pub fn new(proposal: ProposalId, verdict: Verdict, by: By) -> Word {
        Word {
            proposal,
            verdict,
            by,
            shown_hash: None,
            items: None,
            texts: Vec::new(),
            words: None,
            remember: Remember::Once,
            rule: None,
            until: None,
            mode: None,
        }
    }
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
    #[error("400: this {verdict} does not answer {proposal}; {} do", answers(*kind))]
    Unfit {
        /// The proposal.
        proposal: ProposalId,
        /// The word.
        verdict: Verdict,
        /// What is asked.
        kind: ProposalKind,
    },
    /// A plan may not be carried out in this mode here.
    #[error("400: a plan does not widen the mode to {} here", name_of(*.0))]
    TooWide(Mode),
    /// What it shall be remembered for cannot be read.
    #[error("400: {0}")]
    NoRule(#[from] RuleError),
    /// What it takes, or how long it is remembered, does not fit the proposal.
    #[error("400: {0}")]
    Misfit(#[from] Misfit),
    /// A yes to everything is ruled out.
    #[error("400: {0:?} means every command, and `policy.yolo` is never; name the command")]
    Everything(String),
    /// The word is about something else than what is proposed.
    #[error("409: {0} shows something else than what was decided on")]
    Stale(ProposalId),
}

/// What answers a question of this kind.
fn answers(kind: ProposalKind) -> &'static str {
    match kind {
        ProposalKind::Question => "answer with words, and refuse,",
        ProposalKind::Plan => "allow, and refuse with or without words, for this once",
        ProposalKind::Indeterminate => "allow, happened and skip",
        ProposalKind::Edit | ProposalKind::Exec | ProposalKind::Look | ProposalKind::Network => {
            "allow and refuse"
        }
    }
}

/// A mode as flags name it.
fn name_of(mode: Mode) -> &'static str {
    match mode {
        Mode::ReadOnly => "read-only",
        Mode::Plan => "plan",
        Mode::Act => "act",
        Mode::AcceptEdits => "accept-edits",
    }
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

impl OpState {
    /// Whether what would happen now is what the person decided on. True when nobody was asked.
    #[must_use]
    pub fn is_as_shown(&self, shown: &str) -> bool {
        match (self.doubt(), self.question()) {
            (Some(EndingQuestion { question, .. }), _) => {
                question.shown_hash == Hash::of(unfinished(shown).as_bytes())
            }
            (None, Some(question)) => question.shown_hash == Hash::of(shown.as_bytes()),
            (None, None) => true,
        }
    }

    /// What would happen now is not what the person decided on, so it is not done.
    #[must_use]
    pub fn refuse_as_not_shown(&self) -> Recording {
        match self.begin() {
            Some(_) => Recording::indeterminate(self),
            None => Recording::not_performed(self, Status::CONFLICT, words::NOT_AS_SHOWN),
        }
    }

    /// Whether nothing of it has happened: it did not begin, or its files show that.
    #[must_use]
    pub fn has_not_happened(&self) -> bool {
        let writes = |begin: &Begin| !begin.changes.is_empty();
        self.begin().is_none_or(|begin| writes(begin) && self.doubt().is_none())
    }
}

impl OpInRun<'_> {
    /// Its open question shows something else than what would happen now: it is put again. Nothing
    /// when it is still as shown.
    #[must_use]
    pub fn new_question_if_changed(&self, prepared: &Prepared) -> Option<Recording> {
        if !matches!(self.stage, OpStage::Requested | OpStage::Held(_)) {
            return None;
        }
        if let Some(unseen) = self.unseen(prepared) {
            return Some(unseen);
        }
        (!self.is_as_shown(&prepared.shown))
            .then(|| propose(self.op, prepared, &self.run.driving.rules))
    }
}

impl Engine {
    /// Someone gave a word on a proposal, at this time. The first one wins.
    pub fn decided(&self, word: &Word, now: u64) -> Result<Recording, DecideError> {
        let (op, proposal) = self.open_proposal(&word.proposal)?;
        if word.shown_hash.is_some_and(|shown| shown != proposal.shown_hash) {
            return Err(DecideError::Stale(word.proposal.clone()));
        }
        let mode = self.driving.fits(proposal.kind, word)?;
        let all = || match op.intent.effect {
            Effect::Network => proposal.offers.first().cloned(),
            _ => op.intent.op.map(|name| match name {
                OpName::Call => offers::of_call(&op.intent.tool),
                name => name.to_string(),
            }),
        };
        let is_network = proposal.kind == ProposalKind::Network;
        let kept = word.rule.clone().or_else(all);
        let kept = kept.filter(|_| word.remember != Remember::Once && !is_network);
        for rule in word.rule.iter().chain(&kept) {
            if !self.driving.rules.takes_answer(&Rule::parse(rule)?) {
                return Err(DecideError::Everything(rule.clone()));
            }
        }
        let items = choice::of(word, proposal, now)?;
        let reach = chosen_reach(word, proposal, &items);
        let gates = self.op_in_run(op.at()).map(|op| op.leave(&reach).gates().to_vec());
        let gates = gates.unwrap_or_default();
        let mut recording = Recording::default();
        let mut decision = Decision::new(op.intent.at, word.verdict, word.by.clone(), gates);
        decision.proposal = Some(word.proposal.clone());
        decision.shown_hash = Some(proposal.shown_hash);
        decision.items = items;
        let keep = |NewText { path, text }: &NewText| EditedText {
            path: path.clone(),
            content: recording.keep(text.as_str()),
        };
        decision.texts = word.texts.iter().map(keep).collect();
        decision.words = word.words.as_deref().map(|words| recording.keep(words));
        decision.remember = word.remember;
        decision.rule = kept;
        decision.until = word.until;
        decision.mode = mode;
        decision.hosts.clone_from(&proposal.hosts);
        (decision.also, decision.removed) = (reach.changed, reach.removed);
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
        let open = lap.ops.iter().filter(|op| op.status().is_none());
        let mut questions = open.filter_map(|op| Some((op, op.newest_question()?)));
        questions.find(|(_, proposal)| proposal.id == *id).ok_or_else(none)
    }
}

/// How far an op reaches of which these items are taken. What is left out decides nothing any longer.
fn chosen_reach(word: &Word, proposal: &Proposal, items: &[ItemChoice]) -> Reach {
    let is_taken =
        |item: &ProposalItem| items.contains(&ItemChoice { item: item.item, accepted: true });
    let changed = match word.verdict {
        Verdict::Allow => proposal.paths_of(is_taken),
        _ => proposal.paths(),
    };
    Reach { changed, ..Reach::from(proposal) }
}

/// The question about what an op would change.
pub(crate) fn propose(op: &OpState, prepared: &Prepared, rules: &Rulebook) -> Recording {
    let kind = match op.intent.op {
        Some(OpName::Exec | OpName::Call) if prepared.changes.is_empty() => ProposalKind::Exec,
        Some(OpName::Read) => ProposalKind::Look,
        _ => ProposalKind::Edit,
    };
    let is_edit = op.intent.op == Some(OpName::Edit);
    let items = match is_edit && !prepared.parts.is_empty() {
        true => of_parts(prepared),
        false => of_changes(prepared),
    };
    let label = if items.len() > 1 { prepared.label.clone() } else { String::new() };
    let mut question = NewQuestion::about(op, kind, prepared.shown.clone(), items);
    let may_be_answer =
        |offer: &String| Rule::parse(offer).is_ok_and(|rule| rules.takes_answer(&rule));
    question.offers.retain(may_be_answer);
    NewQuestion { label, by_item: is_edit, removed: prepared.removed, ..question }.record(op)
}

/// One item for each part that can be taken by itself.
fn of_parts(prepared: &Prepared) -> Vec<ProposalItem> {
    let change = |path: &str| -> Option<Change> {
        prepared.changes.iter().find(|change| change.path == path).cloned()
    };
    let item = |(item, part): (u32, &Part)| ProposalItem {
        item,
        label: match prepared.parts.len() {
            1 => prepared.label.clone(),
            _ => part.label.clone(),
        },
        change: change(&part.path),
        with: part.from.as_deref().and_then(change),
    };
    (1..).zip(&prepared.parts).map(item).collect()
}

/// One item for each change that decides something; they are made together.
fn of_changes(prepared: &Prepared) -> Vec<ProposalItem> {
    let label = &prepared.label;
    let item = |(item, change): (u32, &Change)| {
        let change = Some(change.clone());
        ProposalItem { item, label: label.clone(), change, with: None }
    };
    let decisive: Vec<&Change> =
        prepared.changes.iter().filter(|change| !change.ignored || counts(change)).collect();
    match decisive.is_empty() {
        true => vec![ProposalItem::whole(label.clone())],
        false => (1..).zip(decisive).map(item).collect(),
    }
}

/// The question about a look.
pub(crate) fn propose_look(op: &OpState) -> Recording {
    let label = format!("{} {}", op.intent.tool, op.intent.target);
    let items = vec![ProposalItem::whole(label.clone())];
    NewQuestion::about(op, ProposalKind::Look, label, items).record(op)
}

/// What is shown of an op that began and was not seen to end.
pub(crate) fn unfinished(shown: &str) -> String {
    format!("This began before the program was interrupted; nobody saw it end.\n{shown}")
}

/// A question about an op, before it is recorded.
#[derive(Debug, Clone)]
pub(crate) struct NewQuestion {
    kind: ProposalKind,
    shown: String,
    items: Vec<ProposalItem>,
    pub(crate) label: String,
    by_item: bool,
    offers: Vec<String>,
    removed: Removed,
    pub(crate) hosts: Vec<String>,
}

impl NewQuestion {
    /// A question that shows this text and these items.
    pub(crate) fn about(
        op: &OpState,
        kind: ProposalKind,
        shown: String,
        items: Vec<ProposalItem>,
    ) -> NewQuestion {
        let offers = match kind {
            ProposalKind::Indeterminate
            | ProposalKind::Network
            | ProposalKind::Question
            | ProposalKind::Plan => Vec::new(),
            ProposalKind::Edit | ProposalKind::Exec | ProposalKind::Look => offers::of(&op.intent),
        };
        let (label, hosts) = (String::new(), Vec::new());
        let (by_item, removed) = (false, Removed::default());
        NewQuestion { kind, shown, items, label, by_item, offers, removed, hosts }
    }

    /// The fact that puts it, and the text it shows.
    pub(crate) fn record(self, op: &OpState) -> Recording {
        let NewQuestion { kind, shown, items, label, by_item, offers, removed, hosts } = self;
        let mut recording = Recording::default();
        let shown = recording.keep(shown);
        let (at, id) = (op.at(), question_id(op, kind));
        recording.facts.push(Body::Proposal(Proposal {
            id,
            at,
            kind,
            shown_hash: shown.hash,
            shown,
            label,
            items,
            by_item,
            offers,
            removed,
            hosts,
        }));
        recording
    }
}

/// The id of the next question about an op: its coordinate, and which of its questions it is.
fn question_id(op: &OpState, kind: ProposalKind) -> ProposalId {
    let Coord { lap, turn, seq } = op.at();
    let number = match (kind, op.questions) {
        (ProposalKind::Indeterminate, _) => format!(".again{}", op.begins),
        (_, 0) => String::new(),
        (_, earlier) => format!(".{}", earlier + 1),
    };
    ProposalId(format!("p{lap}.{turn}.{seq}{number}"))
}
