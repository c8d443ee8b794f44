//! What happens outside, turned into facts: the model replied, an op was prepared, someone decided.

use crate::gates::{Granted, Leave, Refusal, leave};
use crate::state::{Engine, OpState};
use crate::words;
use cairn_surface::native;
use cairn_types::{
    Abort, Approval, Body, By, Change, ContentRef, Coord, Decision, Effect, Fault, Finish,
    GateVerdict, Hash, Intent, ItemChoice, Media, Mode, OpName, Outcome, Problem, Prompt, Proposal,
    ProposalId, ProposalItem, ProposalKind, Remember, Reply, Seen, Settled, Status, Steer, Surface,
    Verdict, Writer,
};

/// How much of files that were not seen is told at once, in bytes; one is always told.
const MOST_SHOWN: usize = 64 << 10;
/// A result of so many bytes is told again rather than pointed at.
const SHORT_RESULT: u64 = 200;

/// Facts to record, with the contents they name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// The facts, in order.
    pub facts: Vec<Body>,
    /// The contents they name that the store may not have yet.
    pub contents: Vec<Vec<u8>>,
}

/// What an op would change, found out without changing it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// What would change.
    pub changes: Vec<Change>,
    /// What a person is shown: a diff, or a command line.
    pub shown: String,
    /// The same in one line.
    pub label: String,
    /// The files it would edit as they now are; empty where that is nobody's business.
    pub fresh: Vec<String>,
}

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
    },
    /// That word does not answer this question.
    #[error("400: {verdict} does not answer {proposal}")]
    Unfit {
        /// The proposal.
        proposal: ProposalId,
        /// The word.
        verdict: Verdict,
    },
    /// The word is about something else than what is proposed.
    #[error("409: {0} shows something else than what was decided on")]
    Stale(ProposalId),
}

impl Recording {
    /// One fact without contents.
    #[must_use]
    pub fn of(body: Body) -> Recording {
        Recording { facts: vec![body], contents: Vec::new() }
    }

    /// Keeps a content and names it.
    pub fn keep(&mut self, bytes: impl Into<Vec<u8>>) -> ContentRef {
        let bytes = bytes.into();
        let named = ContentRef::of(&bytes);
        self.contents.push(bytes);
        named
    }

    pub(crate) fn not_performed(
        op: &OpState,
        status: Status,
        told: impl Into<String>,
    ) -> Recording {
        Recording::settled(op, status, told, Settled::NotPerformed)
    }

    pub(crate) fn settled(
        op: &OpState,
        status: Status,
        told: impl Into<String>,
        settled: Settled,
    ) -> Recording {
        let mut recording = Recording::default();
        let result = recording.keep(told.into());
        recording.facts.push(Body::Outcome(outcome(op, status, result, settled)));
        recording
    }

    pub(crate) fn outcome_by_ref(op: &OpState, status: Status, told: ContentRef) -> Recording {
        Recording::of(Body::Outcome(outcome(op, status, told, Settled::NotPerformed)))
    }

    pub(crate) fn indeterminate(op: &OpState) -> Recording {
        let told = match op.begin.as_ref().is_some_and(|begin| !begin.changes.is_empty()) {
            true => words::INDETERMINATE_FILE,
            false => words::INDETERMINATE,
        };
        Recording::settled(op, Status::FAILED, told, Settled::Indeterminate)
    }

    pub(crate) fn granted(op: &OpState, gates: Vec<GateVerdict>, granted: Granted) -> Recording {
        let by = match granted {
            Granted::Yolo => By::Yolo,
            Granted::Remembered => By::Remembered,
            Granted::NoEffect => By::Gate("mode".to_owned()),
        };
        let mut decision = decision(op, Verdict::Allow, by, gates);
        if let Some(proposal) = &op.proposal {
            decision.proposal = Some(proposal.id.clone());
            decision.shown_hash = Some(proposal.shown_hash);
        }
        Recording::of(Body::Decision(decision))
    }

    pub(crate) fn refused(op: &OpState, gates: Vec<GateVerdict>, refusal: Refusal) -> Recording {
        let (by, told) = match refusal {
            Refusal::Mode => (By::Gate("mode".to_owned()), words::READ_ONLY),
            Refusal::Nobody => (By::Nobody, words::NOBODY),
        };
        let mut recording =
            Recording::of(Body::Decision(decision(op, Verdict::Refuse, by, gates.clone())));
        let result = recording.keep(told);
        let mut outcome = outcome(op, Status::REFUSED, result, Settled::NotPerformed);
        outcome.gates = gates;
        recording.facts.push(Body::Outcome(outcome));
        recording
    }
}

fn outcome(op: &OpState, status: Status, result: ContentRef, settled: Settled) -> Outcome {
    Outcome {
        at: op.intent.at,
        status,
        exit: None,
        result,
        media: Vec::new(),
        own: None,
        output: None,
        changes: match settled {
            Settled::FoundDone | Settled::SaidDone => {
                op.begin.as_ref().map(|begin| begin.changes.clone()).unwrap_or_default()
            }
            Settled::Performed | Settled::NotPerformed | Settled::Indeterminate => Vec::new(),
        },
        seen: Vec::new(),
        layers: Vec::new(),
        gates: op.decision.as_ref().map(|decision| decision.gates.clone()).unwrap_or_default(),
        settled,
        ms: 0,
    }
}

fn decision(op: &OpState, verdict: Verdict, by: By, gates: Vec<GateVerdict>) -> Decision {
    Decision {
        at: op.intent.at,
        proposal: None,
        verdict,
        by,
        shown_hash: None,
        items: Vec::new(),
        words: None,
        remember: Remember::Once,
        gates,
    }
}

impl Engine {
    /// Someone wants something done.
    #[must_use]
    pub fn prompted(&self, text: &str, writer: Writer) -> Recording {
        self.prompted_with(text, Vec::new(), writer)
    }

    /// Someone wants something done, and shows something with it: type, name and bytes of each.
    #[must_use]
    pub fn prompted_with(
        &self,
        text: &str,
        shown: Vec<(String, String, Vec<u8>)>,
        writer: Writer,
    ) -> Recording {
        let mut recording = Recording::default();
        let text = recording.keep(text);
        let media = shown
            .into_iter()
            .map(|(mime, name, bytes)| Media { mime, name, content: recording.keep(bytes) })
            .collect();
        recording.facts.push(Body::Prompt(Prompt { lap: self.laps + 1, text, media, writer }));
        recording
    }

    /// Someone says something to the running loop. Absent when none is running, or it is stopping.
    #[must_use]
    pub fn steer(&self, text: &str, writer: Writer) -> Option<Recording> {
        self.lap.as_ref().filter(|lap| lap.aborted.is_none() && lap.fault.is_none())?;
        let mut recording = Recording::default();
        let text = recording.keep(text);
        recording.facts.push(Body::Steer(Steer { text, writer }));
        Some(recording)
    }

    /// Someone stops the running loop. Absent when none is running, or it was stopped before.
    #[must_use]
    pub fn abort(&self, why: &str, writer: Writer) -> Option<Recording> {
        let lap = self.lap.as_ref()?;
        lap.aborted
            .is_none()
            .then(|| Recording::of(Body::Abort(Abort { writer, why: why.to_owned() })))
    }

    /// The model could not be had.
    #[must_use]
    pub fn faulted(&self, class: &str, message: &str, attempts: u32) -> Recording {
        let (lap, turn) = self.asked();
        let (class, message) = (class.to_owned(), message.to_owned());
        Recording::of(Body::Fault(Fault { lap, turn, class, message, attempts }))
    }

    /// The loop and turn the model was asked for.
    fn asked(&self) -> (u32, u32) {
        self.lap.as_ref().map_or((0, 0), |lap| (lap.lap, lap.asked.unwrap_or(lap.turn + 1)))
    }

    /// The model replied. `args` are its calls' arguments, in order; `reply` names them.
    #[must_use]
    pub fn replied(&self, mut reply: Reply, args: &[&str]) -> Recording {
        let (lap, turn) = self.asked();
        (reply.lap, reply.turn) = (lap, turn);
        let mut recording = Recording::default();
        let cap = self.drive.as_ref().map_or(u32::MAX, |drive| drive.caps.ops);
        let cut = reply.finish == Finish::Length;
        let mut intents = Vec::with_capacity(args.len());
        for (seq, (call, args)) in (1..).zip(reply.calls.iter().zip(args)) {
            let mut intent = intent(Coord { lap, turn, seq }, call, args, &mut recording);
            let verdict = match (cut, seq > cap) {
                (true, _) => Some((Status::UNPROCESSABLE, words::CUT.to_owned())),
                (false, true) => Some((Status::LIMIT, words::over_cap(cap))),
                (false, false) => None,
            };
            if let Some((status, told)) = verdict {
                let message = recording.keep(told);
                intent.effect = Effect::Pure;
                intent.problem = Some(Problem { status, message });
            }
            intents.push(Body::Intent(intent));
        }
        recording.facts.push(Body::Reply(reply));
        recording.facts.extend(intents);
        recording
    }

    /// Whether the present driver may change anything.
    pub(crate) fn may_act(&self) -> bool {
        self.drive.as_ref().is_some_and(|drive| drive.mode == Mode::Act)
    }

    /// Whether the present driver has somebody to ask.
    pub(crate) fn asks(&self) -> bool {
        self.drive.as_ref().is_some_and(|drive| drive.approval == Approval::Ask)
    }

    pub(crate) fn leave(&self, op: &OpState) -> Leave {
        let (mode, approval) = self
            .drive
            .as_ref()
            .map_or((Mode::ReadOnly, Approval::Nobody), |drive| (drive.mode, drive.approval));
        let Some(name) = op.intent.op else {
            return Leave::Granted(Vec::new(), Granted::NoEffect);
        };
        leave(name, op.intent.effect, mode, approval, self.remembered.contains(&name))
    }

    /// An op was prepared: it may run, is held, or is refused.
    #[must_use]
    pub fn prepared(&self, at: Coord, prepared: &Prepared) -> Recording {
        let Some(op) = self.op(at) else { return Recording::default() };
        if let Some(unseen) = self.unseen(op, prepared) {
            return unseen;
        }
        match self.leave(op) {
            Leave::Granted(gates, granted) => Recording::granted(op, gates, granted),
            Leave::Refused(gates, refusal) => Recording::refused(op, gates, refusal),
            Leave::Ask(_) => propose(op, prepared),
        }
    }

    /// A file is edited only by a model that has seen it as it is. If it has not, it is shown, and
    /// the edit is refused.
    fn unseen(&self, op: &OpState, prepared: &Prepared) -> Option<Recording> {
        if op.intent.op != Some(OpName::Edit) || op.intent.writer != Writer::Model {
            return None;
        }
        let known = |change: &&Change| {
            let is = change.before.as_ref().and_then(|state| state.hash);
            is.is_none() || self.seen.get(&change.path) == is.as_ref()
        };
        let first = prepared.changes.iter().find(|change| !known(change))?;
        let why = match self.seen.contains_key(&first.path) {
            true => words::stale(&first.path),
            false => words::unread(&first.path),
        };
        let told = format!("{why}\n{}", shown_at_most(&prepared.fresh));
        let mut recording = Recording::not_performed(op, Status::CONFLICT, told);
        if let Some(Body::Outcome(outcome)) = recording.facts.last_mut() {
            outcome.seen = prepared.changes.iter().filter_map(seen_before).collect();
        }
        Some(recording)
    }

    /// A result that the model has in its view already, and the row where it stands. Short ones are
    /// told again: naming the row would be no shorter.
    #[must_use]
    pub fn in_view(&self, result: &ContentRef) -> Option<String> {
        let at = self.in_view.get(&result.hash).filter(|_| result.bytes > SHORT_RESULT)?;
        Some(words::same_as(*at))
    }

    /// An open question shows something else than what would happen now: it is put afresh. Nothing
    /// when it is still as shown.
    #[must_use]
    pub fn put_afresh(&self, at: Coord, prepared: &Prepared) -> Option<Recording> {
        let op = self.op(at).filter(|op| op.begin.is_none() && op.decision.is_none())?;
        if let Some(unseen) = self.unseen(op, prepared) {
            return Some(unseen);
        }
        (!self.is_as_shown(at, &prepared.shown)).then(|| propose(op, prepared))
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
        let gates = match self.leave(op) {
            Leave::Ask(gates) | Leave::Granted(gates, _) | Leave::Refused(gates, _) => gates,
        };
        let mut recording = Recording::default();
        let mut decision = decision(op, word.verdict, word.by.clone(), gates);
        decision.proposal = Some(word.proposal.clone());
        decision.shown_hash = Some(proposal.shown_hash);
        let accepted = word.verdict == Verdict::Allow;
        decision.items =
            proposal.items.iter().map(|i| ItemChoice { item: i.item, accepted }).collect();
        decision.words = word.words.as_deref().map(|words| recording.keep(words));
        decision.remember = word.remember;
        recording.facts.push(Body::Decision(decision));
        Ok(recording)
    }

    fn open_proposal(&self, id: &ProposalId) -> Result<(&OpState, &Proposal), DecideError> {
        let none = || DecideError::NoSuchProposal(id.clone());
        let lap = self.lap.as_ref().ok_or_else(none)?;
        let questions = lap.ops.iter().flat_map(|op| {
            [(op, &op.proposal, &op.decision), (op, &op.settling, &op.settling_decision)]
        });
        let (op, proposal, decision) = questions
            .filter_map(|(op, proposal, decision)| Some((op, proposal.as_ref()?, decision)))
            .find(|(_, proposal, _)| proposal.id == *id)
            .ok_or_else(none)?;
        match decision {
            Some(first) => Err(DecideError::Decided {
                proposal: id.clone(),
                verdict: first.verdict,
                by: first.by.clone(),
            }),
            None if op.status.is_some() => Err(none()),
            None => Ok((op, proposal)),
        }
    }
}

/// As many of the files as are told at once; the others are named.
fn shown_at_most(fresh: &[String]) -> String {
    let mut told = String::new();
    for (n, file) in fresh.iter().enumerate() {
        if n > 0 && told.len() + file.len() > MOST_SHOWN {
            return format!("{told}\n… and {} more files", fresh.len() - n);
        }
        if n > 0 {
            told.push('\n');
        }
        told.push_str(file);
    }
    told
}

fn seen_before(change: &Change) -> Option<Seen> {
    let hash = change.before.as_ref()?.hash?;
    Some(Seen { path: change.path.clone(), hash, part: false })
}

fn intent(at: Coord, call: &cairn_types::Call, args: &str, recording: &mut Recording) -> Intent {
    let parsed = native::parse(&call.name, args);
    let (op, target, problem) = match parsed.action {
        Ok(action) => (Some(action.op()), one_line(&action.target()), None),
        Err(misread) => {
            let message = recording.keep(misread.message);
            (None, String::new(), Some(Problem { status: misread.status, message }))
        }
    };
    Intent {
        at,
        call: call.id.clone(),
        writer: Writer::Model,
        surface: Surface::Native,
        tool: call.name.clone(),
        input: call.args,
        op,
        target,
        effect: parsed.effect,
        repeatable: parsed.repeatable,
        repairs: parsed.repairs,
        problem,
    }
}

fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut cut: String = line.chars().take(200).collect();
    if cut.len() < text.trim_end().len() {
        cut.push('…');
    }
    cut
}

fn propose(op: &OpState, prepared: &Prepared) -> Recording {
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
    proposal(op, kind, &prepared.shown, items)
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
        ProposalKind::Edit | ProposalKind::Exec if op.questions == 0 => {
            format!("p{}.{}.{}", at.lap, at.turn, at.seq)
        }
        ProposalKind::Edit | ProposalKind::Exec => {
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
    }));
    recording
}
