//! Proposals: an op held until someone decides, and the decision, which names what was shown.

use crate::{Change, ContentRef, Coord, Gate, GateVerdict, Hash, Mode, Removed};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A proposal's name: the run-wide address of the op it holds, so it needs no randomness.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalId(pub String);

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An op held at 202.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its name.
    pub id: ProposalId,
    /// The op it holds.
    pub at: Coord,
    /// What is being asked.
    pub kind: ProposalKind,
    /// Hash of exactly what is shown.
    pub shown_hash: Hash,
    /// What is shown: a diff, or a command line.
    pub shown: ContentRef,
    /// One line for all of it, where no item's is that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its parts.
    pub items: Vec<ProposalItem>,
    /// Whether the parts can be taken one by one, and other texts be given for what would be written.
    #[serde(default, skip_serializing_if = "is_whole")]
    pub by_item: bool,
    /// Rules that a yes may be remembered as, the narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<String>,
    /// How much it would remove.
    #[serde(default, skip_serializing_if = "Removed::is_nothing")]
    pub removed: Removed,
    /// The hosts that a command wanted to reach and may not, where that is what is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl Proposal {
    /// The paths that would change, but for directories made on the way.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.paths_of(|_| true)
    }

    /// Those of them that such items would change.
    pub fn paths_of(&self, is_meant: impl Fn(&ProposalItem) -> bool) -> Vec<String> {
        let items = self.items.iter().filter(|item| is_meant(item));
        let changes = items.flat_map(|item| [&item.change, &item.with]).flatten();
        let mut paths: Vec<String> = Vec::new();
        for path in changes.flat_map(Change::judged) {
            // The hunks of a file stand side by side.
            if paths.last() != Some(path) {
                paths.push(path.clone());
            }
        }
        paths
    }

    /// One line for the screen.
    #[must_use]
    pub fn line(&self) -> &str {
        match (&self.items[..], self.label.is_empty()) {
            ([first, ..], true) => &first.label,
            _ => &self.label,
        }
    }
}

fn is_whole(by_item: &bool) -> bool {
    !by_item
}

/// What a proposal asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposalKind {
    /// May these files change like this?
    Edit,
    /// May this command run?
    Exec,
    /// May this be looked at?
    Look,
    /// May this command reach these hosts?
    Network,
    /// It began before a crash and nobody saw it end: it happened, run it, or skip it?
    Indeterminate,
    /// The agent wants to know something: its items are answers to choose from.
    Question,
    /// Shall the agent go on like this?
    Plan,
}

impl ProposalKind {
    /// Whether the agent puts something to a person, rather than wants to do something.
    #[must_use]
    pub fn is_consult(self) -> bool {
        matches!(self, ProposalKind::Question | ProposalKind::Plan)
    }
}

/// A part of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalItem {
    /// Its number within the proposal, from 1.
    pub item: u32,
    /// One line for the screen.
    pub label: String,
    /// What would change, where that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// What changes with it: the place that a moved file leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Change>,
}

impl ProposalItem {
    /// A part of which no change is known beforehand.
    #[must_use]
    pub fn whole(label: String) -> ProposalItem {
        ProposalItem { item: 1, label, change: None, with: None }
    }
}

/// Someone's word on an op.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The op.
    pub at: Coord,
    /// The proposal it answers, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
    /// The word.
    pub verdict: Verdict,
    /// Whose word it is.
    pub by: By,
    /// What was shown when it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_hash: Option<Hash>,
    /// The word on each part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemChoice>,
    /// Texts that shall stand in place of what was proposed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<EditedText>,
    /// Words that came with it: an answer, or what shall be done instead, which becomes the next
    /// message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<ContentRef>,
    /// How far the word reaches.
    #[serde(default)]
    pub remember: Remember,
    /// What it is remembered for, as a rule; every op of this kind when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// When what is remembered ends, milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// With a plan that is approved: the mode in which the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Paths besides those asked for that decided, found out by preparing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Those of `also` that would be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// How much it would remove, where that was found out.
    #[serde(default, skip_serializing_if = "Removed::is_nothing")]
    pub removed: Removed,
    /// The hosts that may be reached, or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What each gate said, in order.
    pub gates: Vec<GateVerdict>,
}

impl Decision {
    /// What it is remembered for, as rules.
    #[must_use]
    pub fn remembered(&self) -> Vec<String> {
        match (self.remember, self.verdict) {
            (Remember::Once, _) => Vec::new(),
            (_, Verdict::Allow) if !self.hosts.is_empty() => {
                // An address in brackets cannot stand in those of a rule.
                let plain = self.hosts.iter().filter(|host| !host.contains('['));
                plain.map(|host| format!("exec[effect=network,host={host}]")).collect()
            }
            (_, Verdict::Allow) => self.rule.iter().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether nobody was asked: the gates, an answer from before, or `--yolo` allowed it.
    #[must_use]
    pub fn is_by_gates(&self) -> bool {
        matches!(self.by, By::Gate(_) | By::Remembered | By::Yolo)
    }

    /// A word on an op, for this once, without a question or words of its own.
    #[must_use]
    pub fn new(at: Coord, verdict: Verdict, by: By, gates: Vec<GateVerdict>) -> Decision {
        Decision {
            at,
            proposal: None,
            verdict,
            by,
            shown_hash: None,
            items: Vec::new(),
            texts: Vec::new(),
            words: None,
            remember: Remember::Once,
            rule: None,
            until: None,
            mode: None,
            also: Vec::new(),
            gone: Vec::new(),
            removed: Removed::default(),
            hosts: Vec::new(),
            gates,
        }
    }

    /// Whether something else shall be done than what was proposed: a part of it, or another text.
    #[must_use]
    pub fn is_choice(&self) -> bool {
        let is_part = self.items.iter().any(|choice| !choice.accepted);
        self.verdict == Verdict::Allow && (is_part || !self.texts.is_empty())
    }
}

/// The words someone can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Do it.
    Allow,
    /// Do not.
    Refuse,
    /// Never mind: the question was withdrawn or timed out.
    Cancel,
    /// Of an indeterminate op: it did happen.
    Happened,
    /// Of an indeterminate op: leave it.
    Skip,
    /// Of a question: the words are its answer.
    Answer,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Allow => "allow",
            Verdict::Refuse => "refuse",
            Verdict::Cancel => "cancel",
            Verdict::Happened => "happened",
            Verdict::Skip => "skip",
            Verdict::Answer => "answer",
        })
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Person(name) => write!(f, "person:{name}"),
            By::Gate(name) => write!(f, "gate:{name}"),
            By::Yolo => f.write_str("yolo"),
            By::Remembered => f.write_str("remembered"),
            By::Nobody => f.write_str("nobody"),
            By::Timeout => f.write_str("timeout"),
        }
    }
}

/// How far a word reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remember {
    /// This op.
    #[default]
    Once,
    /// In this run.
    Run,
    /// In every run of this session.
    Session,
    /// In every session over this project's directory.
    Project,
    /// Everywhere.
    Always,
}

/// Whose word it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "name")]
pub enum By {
    /// A person, by the name of their account.
    Person(String),
    /// A gate.
    Gate(Gate),
    /// `--yolo`.
    Yolo,
    /// A person's earlier word, remembered for this run.
    Remembered,
    /// There was nobody to ask.
    Nobody,
    /// Nobody answered in time.
    Timeout,
}

/// The word on one part of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemChoice {
    /// Which part.
    pub item: u32,
    /// Taken or left.
    pub accepted: bool,
}

/// A text that someone gave for a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedText {
    /// The file, as the proposal names it.
    pub path: String,
    /// All that shall stand in it.
    pub content: ContentRef,
}
