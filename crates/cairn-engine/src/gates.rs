//! The gates an op passes before it acts, as a list. The live path, `cairn policy explain` and a
//! replay of recorded decisions all ask this one function.

use crate::budget::CallBudget;
use crate::policy::{Case, Judged, Rulebook, is_row};
use crate::words;
use cairn_types::{
    Approval, By, Effect, Flags, GateVerdict, Mode, OpName, Removed, RuleFrom, RuleWord, Status,
    Writer,
};

/// Everything the gates look at.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    case: Case<'a>,
    terms: Terms,
    judged: Judged,
    /// It removes so much that a person must say so.
    large: bool,
    budget: Option<CallBudget>,
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

/// What the chain says about an op, with every gate's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// It may run at once.
    Granted(Vec<GateVerdict>, By),
    /// A person must be asked.
    Ask(Vec<GateVerdict>),
    /// It may not.
    Refused(Vec<GateVerdict>, Refusal),
}

impl Leave {
    /// What each gate said, in order.
    #[must_use]
    pub fn gates(&self) -> &[GateVerdict] {
        match self {
            Leave::Granted(gates, _) | Leave::Ask(gates) | Leave::Refused(gates, _) => gates,
        }
    }
}

/// Why an op may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Whose word it is.
    pub by: By,
    /// What the model is told.
    pub told: String,
    /// Nothing that is found out later can change it.
    pub is_final: bool,
    /// The status of its row.
    pub status: Status,
}

/// One gate's word.
enum Said {
    Pass(String),
    Ask(String),
    Hold(String),
    Refuse { why: String, told: String, by: Option<By> },
    Spent { why: String, told: String },
}

/// A gate: its name, and what it says.
type Gate = (&'static str, fn(&Asked<'_>) -> Said);

/// The chain, in order. The first refusal ends it.
const CHAIN: [Gate; 5] = [
    ("writer", writer),
    ("mode", mode),
    ("policy", policy),
    ("budget", budget),
    ("proposal", proposal),
];

/// The names of all gates, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHAIN.iter().map(|(name, _)| *name)
}

impl<'a> Asked<'a> {
    /// An op, asked about on these terms, at this time.
    #[must_use]
    pub fn new(case: Case<'a>, terms: Terms, rules: &Rulebook, now: u64) -> Asked<'a> {
        let judged = rules.judge(&case, terms.mode, now);
        let large = rules.asks_about(case.removed) && !terms.flags.large_deletions;
        Asked { case, terms, judged, large, budget: None }
    }

    /// The same, where calls of its tool are counted.
    #[must_use]
    pub fn within(self, budget: Option<CallBudget>) -> Asked<'a> {
        Asked { budget, ..self }
    }

    /// Asks every gate in order.
    #[must_use]
    pub fn leave(&self) -> Leave {
        let mut gates = Vec::with_capacity(CHAIN.len());
        let mut held = false;
        for (gate, says) in CHAIN {
            let (verdict, why, refusal) = match says(self) {
                Said::Pass(why) => ("pass", why, None),
                Said::Ask(why) => ("ask", why, None),
                Said::Hold(why) => {
                    held = true;
                    ("hold", why, None)
                }
                Said::Refuse { why, told, by } => {
                    let is_final = gate != "proposal";
                    let by = by.unwrap_or_else(|| By::Gate(gate.to_owned()));
                    ("refuse", why, Some(Refusal { by, told, is_final, status: Status::REFUSED }))
                }
                Said::Spent { why, told } => {
                    let (by, status) = (By::Gate(gate.to_owned()), Status::LIMIT);
                    ("refuse", why, Some(Refusal { by, told, is_final: true, status }))
                }
            };
            gates.push(GateVerdict { gate: gate.to_owned(), verdict: verdict.to_owned(), why });
            if let Some(refusal) = refusal {
                return Leave::Refused(gates, refusal);
            }
        }
        match held {
            true => Leave::Ask(gates),
            false => Leave::Granted(gates, self.granted_by()),
        }
    }

    fn granted_by(&self) -> By {
        match (self.judged.word, self.judged.from) {
            (RuleWord::Allow, Some(RuleFrom::Answer)) => By::Remembered,
            (RuleWord::Allow, _) => By::Gate("policy".to_owned()),
            // Nothing else lets pass what the rules do not.
            (RuleWord::Ask | RuleWord::Deny, _) => By::Yolo,
        }
    }
}

fn pass(why: &str) -> Said {
    Said::Pass(why.to_owned())
}

fn refuse(why: &str, told: &str) -> Said {
    Said::Refuse { why: why.to_owned(), told: told.to_owned(), by: None }
}

/// Who may ask for this at all.
fn writer(asked: &Asked<'_>) -> Said {
    match (asked.case.op, asked.case.writer) {
        (OpName::Undo, Writer::Model | Writer::Plugin) => {
            refuse("only a person takes back", words::WRITER)
        }
        (_, writer) => pass(match writer {
            Writer::Model => "model",
            Writer::Client => "client",
            Writer::Plugin => "plugin",
            Writer::System => "system",
        }),
    }
}

/// What the run may do at all.
fn mode(asked: &Asked<'_>) -> Said {
    let Asked { case, terms, .. } = asked;
    let subject = case.subject;
    let files = subject.reads.iter().chain(&subject.writes).any(|path| !is_row(path));
    match (terms.mode, terms.flags) {
        (_, Flags { no_repo: true, .. }) if files || subject.command.is_some() => {
            refuse("the run has no project (no-repo)", words::NO_REPO)
        }
        (_, Flags { no_web: true, .. }) if case.effect == Effect::Network => {
            refuse("the run does not reach beyond this machine (no-web)", words::NO_WEB)
        }
        _ if case.effect.is_read_only() => pass("changes nothing"),
        (Mode::ReadOnly, _) => refuse("the run is read-only", words::READ_ONLY),
        (Mode::Plan, _) => refuse("the run is planning", words::PLANNING),
        (Mode::AcceptEdits, _) => pass("accept-edits"),
        (Mode::Act, _) => pass("act"),
    }
}

/// What the rules say.
fn policy(asked: &Asked<'_>) -> Said {
    let Judged { word, why, .. } = &asked.judged;
    match word {
        RuleWord::Allow => Said::Pass(why.clone()),
        RuleWord::Ask => Said::Ask(why.clone()),
        RuleWord::Deny => {
            Said::Refuse { why: why.clone(), told: words::FORBIDDEN.to_owned(), by: None }
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

/// Who answers, where somebody must be asked.
fn proposal(asked: &Asked<'_>) -> Said {
    let nobody = |why: &str, told: &str| Said::Refuse {
        why: why.to_owned(),
        told: told.to_owned(),
        by: Some(By::Nobody),
    };
    if asked.large {
        return large(asked);
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
        (RuleWord::Ask, Approval::Nobody | Approval::Yolo) => {
            nobody("nobody is there to ask", words::NOBODY)
        }
    }
}

/// Much is removed only when a person says so, whatever was allowed beforehand.
fn large(asked: &Asked<'_>) -> Said {
    let Removed { files, bytes } = asked.case.removed;
    let what = format!("removes {files} files, {bytes} bytes");
    let Terms { approval, flags, .. } = asked.terms;
    match (approval == Approval::Ask || flags.someone) && !flags.no_proposals {
        true => Said::Hold(what),
        false => Said::Refuse {
            told: words::large(files, bytes),
            why: format!("{what}, and nobody is there to ask"),
            by: Some(By::Nobody),
        },
    }
}
