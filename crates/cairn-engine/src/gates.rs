//! The gates an op passes before it acts, as a list. The live path, `cairn policy explain` and a
//! replay of recorded decisions all ask this one function.

use crate::budget::CallBudget;
use crate::duplicate::Made;
use crate::hooks::{HookAsk, HooksSaid};
use crate::policy::{Case, Judged, Rulebook};
use crate::{schemes, words};
use cairn_types::{
    Approval, By, ContentRef, Effect, Flags, Gate, GateVerdict, GateWord, HookWord, Manifest, Mode,
    OpName, Removed, RuleFrom, RuleWord, Status, Writer, scheme_of,
};

/// Everything the gates look at.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    case: Case<'a>,
    terms: Terms,
    judged: Judged,
    /// It removes so much that a person must say so.
    large: bool,
    /// Where it ends is a guess.
    guessed: bool,
    budget: Option<CallBudget>,
    made: Option<Made>,
    hooks: HooksSaid,
    /// Nobody is asked because a hook said so.
    is_waived: bool,
    /// The scheme whose entries it would change and this writer may not.
    unwritable: Option<String>,
}

/// What holds for every op while one driver drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// What may be done at all.
    pub mode: Mode,
    /// Who answers questions.
    pub approval: Approval,
    /// What else was ruled out.
    pub flags: Flags,
}

impl Terms {
    /// Whether the agent can put something to a person.
    #[must_use]
    pub fn can_be_asked(self) -> bool {
        self.has_someone() && !self.flags.no_interaction
    }

    /// Whether a person can be asked to let something pass.
    fn has_someone(self) -> bool {
        let Flags { someone, no_proposals, .. } = self.flags;
        (self.approval == Approval::Ask || someone) && !no_proposals
    }
}

/// What the chain says about an op, with every gate's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// It may run at once.
    Granted(Vec<GateVerdict>, By),
    /// A person must be asked.
    Ask(Vec<GateVerdict>),
    /// It may not.
    Refused(Vec<GateVerdict>, Refusal),
    /// A hook, or an earlier call, gave its result; there is nothing left to do.
    Answered(Vec<GateVerdict>, ContentRef),
    /// A hook must be asked first.
    Hook(HookAsk),
}

impl Leave {
    /// What each gate said, in order.
    #[must_use]
    pub fn gates(&self) -> &[GateVerdict] {
        match self {
            Leave::Granted(gates, _)
            | Leave::Ask(gates)
            | Leave::Refused(gates, _)
            | Leave::Answered(gates, _) => gates,
            Leave::Hook(_) => &[],
        }
    }
}

/// Why an op may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Whose word it is.
    pub by: By,
    /// What the model is told.
    pub told: Told,
    /// Nothing that is found out later can change it.
    pub is_final: bool,
    /// The status of its row.
    pub status: Status,
}

impl Refusal {
    /// Only a person allows it, and none did.
    pub(crate) fn unasked() -> Refusal {
        let (by, told) = (By::Gate(Gate::Policy), Told::Words(words::NOBODY.to_owned()));
        Refusal { by, told, is_final: true, status: Status::REFUSED }
    }

    /// A hook would have to be asked, and it is too late for that.
    pub(crate) fn unhooked() -> Refusal {
        let told = Told::Words(words::HOOK_UNASKED.to_owned());
        Refusal { by: By::Gate(Gate::Hooks), told, is_final: true, status: Status::REFUSED }
    }
}

/// What the model is told of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Words of ours.
    Words(String),
    /// Somebody else's, recorded before.
    Kept(ContentRef),
}

/// One gate's word.
enum Said {
    Pass(String),
    Ask(String),
    Hold(String),
    Refuse { why: String, told: Told, by: Option<By> },
    Spent { why: String, told: String },
    Answer { why: String, result: ContentRef },
    Wait(HookAsk),
}

/// A gate, and the function that says its word.
type GateCheck = (Gate, fn(&Asked<'_>) -> Said);

/// The chain, in order. The first refusal ends it.
const CHAIN: [GateCheck; 7] = [
    (Gate::Writer, writer),
    (Gate::Mode, mode),
    (Gate::Hooks, hooks),
    (Gate::Policy, policy),
    (Gate::Budget, budget),
    (Gate::Duplicate, duplicate),
    (Gate::Proposal, proposal),
];

/// All gates, in order.
pub fn all_gates() -> impl Iterator<Item = Gate> {
    CHAIN.into_iter().map(|(gate, _)| gate)
}

impl<'a> Asked<'a> {
    /// An op, asked about on these terms, at this time.
    #[must_use]
    pub fn new(case: Case<'a>, terms: Terms, rules: &Rulebook, now: u64) -> Asked<'a> {
        let judged = rules.judge(&case, terms.mode, now);
        let large = rules.asks_about(case.removed) && !terms.flags.large_deletions;
        Asked {
            unwritable: schemes::unwritable(&case, &[]),
            case,
            terms,
            judged,
            large,
            guessed: false,
            budget: None,
            made: None,
            hooks: HooksSaid::None,
            is_waived: false,
        }
    }

    /// The same, where there are schemes besides those of every world.
    #[must_use]
    pub fn knowing(self, more: &[Manifest]) -> Asked<'a> {
        Asked { unwritable: schemes::unwritable(&self.case, more), ..self }
    }

    /// The same, where calls of its tool are counted.
    #[must_use]
    pub fn within(self, budget: Option<CallBudget>) -> Asked<'a> {
        Asked { budget, ..self }
    }

    /// The same, where the same call was made before.
    pub(crate) fn again(self, made: Option<Made>) -> Asked<'a> {
        Asked { made, ..self }
    }

    /// The same, where its end was not written.
    pub(crate) fn guessed(self, guessed: bool) -> Asked<'a> {
        Asked { guessed, ..self }
    }

    /// The same, with hooks that would be asked first, by name.
    #[must_use]
    pub fn with_hooks(self, names: Vec<String>) -> Asked<'a> {
        match names.is_empty() {
            true => self,
            false => self.hooked(HooksSaid::Unasked(names)),
        }
    }

    /// The same, with what hooks said. A hook's yes counts only where no rule speaks.
    pub(crate) fn hooked(mut self, said: HooksSaid) -> Asked<'a> {
        let judged = &mut self.judged;
        match (&said, judged.word) {
            (HooksSaid::Passed(_, Some(HookWord::Ask)), RuleWord::Allow) => {
                *judged = Judged {
                    word: RuleWord::Ask,
                    why: "a hook wants it asked about".to_owned(),
                    from: None,
                    ceiling: false,
                    is_open: false,
                };
            }
            (HooksSaid::Passed(_, Some(HookWord::Allow)), RuleWord::Ask) if judged.is_open => {
                judged.word = RuleWord::Allow;
                self.is_waived = true;
                judged.why = "no rule speaks and a hook allows it".to_owned();
            }
            _ => {}
        }
        self.hooks = said;
        self
    }

    /// Asks every gate in order.
    #[must_use]
    pub fn leave(&self) -> Leave {
        let mut gates = Vec::with_capacity(CHAIN.len());
        let mut held = false;
        for (gate, says) in CHAIN {
            let (word, why, refusal) = match says(self) {
                Said::Pass(why) => (GateWord::Pass, why, None),
                Said::Ask(why) => (GateWord::Ask, why, None),
                Said::Hold(why) => {
                    held = true;
                    (GateWord::Hold, why, None)
                }
                Said::Refuse { why, told, by } => {
                    let is_final = gate != Gate::Proposal;
                    let by = by.unwrap_or_else(|| By::Gate(gate.clone()));
                    (
                        GateWord::Refuse,
                        why,
                        Some(Refusal { by, told, is_final, status: Status::REFUSED }),
                    )
                }
                Said::Spent { why, told } => {
                    let (by, status) = (By::Gate(gate.clone()), Status::LIMIT);
                    let told = Told::Words(told);
                    (GateWord::Refuse, why, Some(Refusal { by, told, is_final: true, status }))
                }
                Said::Wait(ask) => return Leave::Hook(ask),
                Said::Answer { why, result } => {
                    gates.push(verdict(gate, GateWord::Answer, why));
                    return Leave::Answered(gates, result);
                }
            };
            gates.push(verdict(gate, word, why));
            if let Some(refusal) = refusal {
                return Leave::Refused(gates, refusal);
            }
        }
        match held {
            true => Leave::Ask(gates),
            false => Leave::Granted(gates, self.granted_by()),
        }
    }

    /// Whether only a person allows it, whatever was said beforehand.
    pub(crate) fn is_ceiling(&self) -> bool {
        self.judged.ceiling || self.large || self.guessed
    }

    fn granted_by(&self) -> By {
        match (self.judged.word, self.judged.from) {
            (RuleWord::Allow, Some(RuleFrom::Answer)) => By::Remembered,
            (RuleWord::Allow, _) if self.is_waived => By::Gate(Gate::Hooks),
            (RuleWord::Allow, _) => By::Gate(Gate::Policy),
            // Nothing else lets pass what the rules do not.
            (RuleWord::Ask | RuleWord::Deny, _) => By::Yolo,
        }
    }
}

fn verdict(gate: Gate, verdict: GateWord, why: String) -> GateVerdict {
    GateVerdict { gate, verdict, why }
}

fn pass(why: &str) -> Said {
    Said::Pass(why.to_owned())
}

fn refuse(why: &str, told: &str) -> Said {
    Said::Refuse { why: why.to_owned(), told: Told::Words(told.to_owned()), by: None }
}

/// Who may ask for this at all.
fn writer(asked: &Asked<'_>) -> Said {
    match (asked.case.op, asked.case.writer) {
        (OpName::Undo, Writer::Model | Writer::Plugin) => {
            refuse("only a person takes back", words::WRITER)
        }
        (_, writer) if asked.unwritable.is_some() => {
            let scheme = asked.unwritable.as_deref().unwrap_or_default();
            let why = format!("{scheme}: is not written by {}", writer_word(writer));
            Said::Refuse { told: Told::Words(words::unwritable(scheme)), why, by: None }
        }
        (_, writer) => pass(writer_word(writer)),
    }
}

fn writer_word(writer: Writer) -> &'static str {
    match writer {
        Writer::Model => "model",
        Writer::Client => "client",
        Writer::Plugin => "plugin",
        Writer::System => "system",
    }
}

/// What the run may do at all.
fn mode(asked: &Asked<'_>) -> Said {
    let Asked { case, terms, .. } = asked;
    let subject = case.subject;
    let files = subject.reads.iter().chain(&subject.writes).any(|path| scheme_of(path).is_none());
    match (terms.mode, terms.flags) {
        (_, Flags { no_repo: true, .. }) if files || subject.command.is_some() => {
            refuse("the run has no project (no-repo)", words::NO_REPO)
        }
        (_, Flags { no_web: true, .. }) if case.effect == Effect::Network => {
            refuse("the run does not reach beyond this machine (no-web)", words::NO_WEB)
        }
        _ if case.effect.is_read_only() => pass("changes nothing"),
        // Whether it may is a question for rules and people, not of the mode.
        (Mode::ReadOnly | Mode::Plan, _) if case.op == OpName::Read => {
            pass("changes nothing, and reaches beyond this machine")
        }
        (Mode::ReadOnly, _) => refuse("the run is read-only", words::READ_ONLY),
        (Mode::Plan, _) if terms.can_be_asked() => {
            refuse("the run is planning", words::PLANNING_FIRST)
        }
        (Mode::Plan, _) => refuse("the run is planning", words::PLANNING),
        (Mode::AcceptEdits, _) => pass("accept-edits"),
        (Mode::Act, _) => pass("act"),
    }
}

/// What hooks say. Asked only when nothing before has refused.
fn hooks(asked: &Asked<'_>) -> Said {
    match &asked.hooks {
        HooksSaid::None => pass("no hook is asked"),
        HooksSaid::Unasked(names) => Said::Pass(format!("asked first: {}", names.join(", "))),
        HooksSaid::Pending(ask) => Said::Wait(ask.clone()),
        HooksSaid::Blocked(name, told) => {
            Said::Refuse { why: format!("{name} says no"), told: Told::Kept(*told), by: None }
        }
        HooksSaid::ChangedTwice(name) => {
            refuse(&format!("{name} changed it a second time"), words::CHANGED_TWICE)
        }
        HooksSaid::Substituted(name, result) => {
            Said::Answer { why: format!("{name} gave the result"), result: *result }
        }
        HooksSaid::Passed(names, _) => Said::Pass(format!("asked: {}", names.join(", "))),
    }
}

/// What the rules say.
fn policy(asked: &Asked<'_>) -> Said {
    let Judged { word, why, .. } = &asked.judged;
    match word {
        RuleWord::Allow => Said::Pass(why.clone()),
        RuleWord::Ask => Said::Ask(why.clone()),
        RuleWord::Deny => {
            let told = Told::Words(words::FORBIDDEN.to_owned());
            Said::Refuse { why: why.clone(), told, by: None }
        }
    }
}

/// Whether a call is left.
fn budget(asked: &Asked<'_>) -> Said {
    match &asked.budget {
        None => pass("no limit"),
        Some(spent) if spent.is_spent() => {
            let why = format!("{} of {} calls were made", spent.made, spent.most);
            Said::Spent { why, told: spent.told.clone() }
        }
        Some(CallBudget { most, made, .. }) => Said::Pass(format!("call {} of {most}", made + 1)),
    }
}

/// Whether it was called before and has the same result.
fn duplicate(asked: &Asked<'_>) -> Said {
    match asked.made {
        None => pass("not called before"),
        Some(Made { at, result }) => Said::Answer { why: format!("the same call as {at}"), result },
    }
}

/// Who answers, where somebody must be asked.
fn proposal(asked: &Asked<'_>) -> Said {
    let nobody = |why: &str, told: &str| Said::Refuse {
        why: why.to_owned(),
        told: Told::Words(told.to_owned()),
        by: Some(By::Nobody),
    };
    if asked.case.op == OpName::Consult {
        return consult(asked);
    }
    if asked.large {
        let Removed { files, bytes, .. } = asked.case.removed;
        let what = format!("removes {files} files, {bytes} bytes");
        return only_a_person(asked, what, words::large(files, bytes));
    }
    if asked.guessed {
        return guessed(asked);
    }
    match (asked.judged.word, asked.terms.approval) {
        (RuleWord::Allow | RuleWord::Deny, _) => pass("nothing to ask"),
        (RuleWord::Ask, _) if asked.terms.flags.no_proposals => {
            nobody("no_review_channel", words::NO_REVIEW)
        }
        (RuleWord::Ask, Approval::Yolo) if !asked.judged.ceiling => pass("yolo"),
        (RuleWord::Ask, Approval::Yolo) if asked.terms.flags.someone => {
            Said::Hold("a person is asked, whatever was allowed beforehand".to_owned())
        }
        (RuleWord::Ask, Approval::Ask) => Said::Hold("a person is asked".to_owned()),
        (RuleWord::Ask, Approval::Nobody | Approval::Yolo) if asked.judged.ceiling => {
            nobody("nobody is there to ask", &words::only_a_person(&asked.judged.why))
        }
        (RuleWord::Ask, Approval::Nobody | Approval::Yolo) => {
            nobody("nobody is there to ask", words::NOBODY)
        }
    }
}

/// What is put to a person waits for one. Where nobody is there that is no want of approval: the agent
/// goes by what it knows.
fn consult(asked: &Asked<'_>) -> Said {
    let Terms { flags, .. } = asked.terms;
    let why = match (asked.terms.can_be_asked(), flags.no_interaction, flags.no_proposals) {
        (true, ..) => return Said::Hold("a person is asked".to_owned()),
        (false, true, _) => "nobody is to be asked anything (no-interaction)",
        (false, false, true) => "no_review_channel",
        (false, false, false) => "nobody is there to answer",
    };
    refuse(why, words::NOBODY_ANSWERS)
}

/// What may be cut, or part of something else, waits for a person. Where nobody is there that is no want of
/// approval: the agent writes it again, with its end.
fn guessed(asked: &Asked<'_>) -> Said {
    let what = "its end, or that of an op before it, was not written";
    match asked.terms.has_someone() {
        true => Said::Hold(what.to_owned()),
        false => refuse(what, words::GUESSED),
    }
}

/// What is done only when a person says so, whatever was allowed beforehand.
fn only_a_person(asked: &Asked<'_>, what: String, told: String) -> Said {
    match asked.terms.has_someone() {
        true => Said::Hold(what),
        false => Said::Refuse {
            told: Told::Words(told),
            why: format!("{what}, and nobody is there to ask"),
            by: Some(By::Nobody),
        },
    }
}
