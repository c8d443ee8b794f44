//! A question to the person at the terminal: what is shown of it, its keys, and choosing among its items one
//! by one. Draws nothing.

use super::interaction::{self, Typed};
use super::pen::Block;
use cairn_engine::Word;
use cairn_text::hunks;
use cairn_types::{Coord, Hash, Proposal, ProposalId, ProposalKind};

/// How many lines of a question are shown at first.
const SHOWN: usize = 20;

/// An open question.
pub struct Question {
    /// The op it is about.
    pub at: Coord,
    /// Its name.
    pub proposal: ProposalId,
    /// What is asked.
    pub kind: ProposalKind,
    /// What is shown.
    pub shown: String,
    /// The hash of that.
    pub shown_hash: Hash,
    /// What a yes may be remembered as.
    pub offers: Vec<String>,
    /// Its parts, by number and in one line each.
    items: Vec<(u32, String)>,
    /// Whether they can be taken one by one.
    by_item: bool,
}

/// What a typed line means.
pub enum Answer {
    /// Nothing to send.
    Nothing,
    /// Words for the agent.
    Steer(String),
    /// A word on the open question.
    Word(Box<Word>),
    /// The texts of this question shall be edited.
    Edit(ProposalId, Hash),
}

impl Question {
    /// A proposal that is shown like this.
    pub fn new(proposal: &Proposal, shown: &str) -> Question {
        let items = proposal.items.iter().map(|item| (item.item, item.label.clone()));
        Question {
            at: proposal.at,
            proposal: proposal.id.clone(),
            kind: proposal.kind,
            shown: shown.to_owned(),
            shown_hash: proposal.shown_hash,
            offers: proposal.offers.clone(),
            items: items.collect(),
            by_item: proposal.by_item,
        }
    }

    /// What its lines are.
    pub fn block(&self) -> Block {
        match self.kind {
            ProposalKind::Edit => Block::Diff,
            ProposalKind::Exec
            | ProposalKind::Network
            | ProposalKind::Look
            | ProposalKind::Indeterminate
            | ProposalKind::Question
            | ProposalKind::Plan => Block::Text,
        }
    }

    /// How many lines of it are shown before somebody asks for all of it. What the agent puts to a
    /// person is for reading.
    pub fn lines(&self) -> usize {
        if self.kind.is_consult() { usize::MAX } else { SHOWN }
    }

    /// What a line typed at it means, where the agent puts something to a person.
    pub fn typed(&self, line: &str) -> Option<Typed> {
        let options = || self.items.iter().map(|(_, label)| label.clone()).collect::<Vec<_>>();
        match self.kind {
            ProposalKind::Question => Some(interaction::at_question(line, &options())),
            ProposalKind::Plan => Some(interaction::at_plan(line)),
            _ => None,
        }
    }

    /// Whether its items can be chosen among.
    pub fn has_choice(&self) -> bool {
        self.by_item && self.items.len() > 1
    }

    /// Whether its texts can be edited.
    pub fn has_texts(&self) -> bool {
        self.by_item
    }

    /// What is asked, with the keys.
    pub fn prompt(&self) -> String {
        let all = match self.kind {
            ProposalKind::Indeterminate => {
                return "what became of it? h it happened, r run it again, s skip it: ".to_owned();
            }
            ProposalKind::Question => return interaction::question_prompt(self.items.len()),
            ProposalKind::Plan => return interaction::PLAN_PROMPT.to_owned(),
            ProposalKind::Exec => "a all commands in this run, m remember, d show it in full",
            // What a command changed: the rule would let every one.
            ProposalKind::Edit if self.offers.iter().any(|offer| offer == "exec") => {
                "a all commands in this run, m remember, d show the diff"
            }
            ProposalKind::Edit => "a all of this kind in this run, m remember, d show the diff",
            ProposalKind::Look => "a all of this kind in this run, m remember",
            ProposalKind::Network => {
                return "allow? y this once, a in this run, s in this session, n no: ".to_owned();
            }
        };
        let choose = if self.has_choice() { "c choose, " } else { "" };
        let edit = if self.has_texts() { "e edit, " } else { "" };
        format!("allow? y yes, n no, {choose}{edit}{all}, r refuse with words: ")
    }

    /// Of a key that would have the answer remembered: what can be typed instead, where nothing can be.
    pub fn cannot_be_kept(&self, key: &str) -> Option<&'static str> {
        let offered = |all: &str| self.offers.iter().any(|offer| offer == all);
        match (key, self.kind) {
            ("m", ProposalKind::Network) => Some("y, a, s, n or r"),
            ("a", ProposalKind::Exec) if !offered("exec") => {
                Some("y, n, m, d or r; not every command at once: policy.yolo is never")
            }
            ("m", ProposalKind::Edit | ProposalKind::Exec | ProposalKind::Look)
                if self.offers.is_empty() =>
            {
                Some("y, n, d or r; there is nothing that this could be remembered as")
            }
            _ => None,
        }
    }

    /// What can be answered.
    pub fn answers(&self) -> &'static str {
        match (self.has_choice(), self.has_texts()) {
            (true, _) => "y, n, c, e, a, m, d or r; words are passed on with r",
            (false, true) => "y, n, e, a, m, d or r; words are passed on with r",
            (false, false) => "y, n, a, m, d or r; words are passed on with r",
        }
    }

    /// The item that is asked about while its items are chosen among: its label and its lines.
    pub fn item(&self, choosing: &Choosing) -> Option<(String, String)> {
        let (number, label) = self.items.get(choosing.at)?;
        let of = self.items.len();
        Some((format!("item {number} of {of}: {label}"), hunks::piece(&self.shown, *number)))
    }
}

/// How far choosing has come.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Choosing {
    at: usize,
    taken: Vec<u32>,
}

/// The keys while items are chosen among.
pub const CHOOSE: &str =
    "take it? y yes, n no, a this and the rest, d neither this nor the rest, q back: ";
/// What can be answered then.
pub const CHOOSE_ANSWERS: &str = "y, n, a, d or q";

/// What follows an answer while items are chosen among.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// The next item is asked about.
    Ask,
    /// These are taken.
    Chosen(Vec<u32>),
    /// Nothing is chosen; the question stands.
    Back,
    /// That was no answer.
    NoAnswer,
}

impl Choosing {
    /// Takes one answer.
    pub fn hear(&mut self, line: &str, question: &Question) -> Next {
        let rest = question.items.iter().skip(self.at).map(|(number, _)| *number);
        match line {
            "y" | "yes" => self.taken.extend(rest.take(1)),
            "n" | "no" => {}
            "a" => {
                self.taken.extend(rest);
                self.at = question.items.len();
            }
            "d" => self.at = question.items.len(),
            "q" => return Next::Back,
            _ => return Next::NoAnswer,
        }
        self.at += 1;
        match self.at < question.items.len() {
            true => Next::Ask,
            false => Next::Chosen(std::mem::take(&mut self.taken)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_chosen_one_by_one_or_the_rest_at_once() {
        let item = |n: u32| (n, format!("hunk {n}"));
        let question = Question {
            at: Coord { lap: 1, turn: 1, seq: 1 },
            proposal: ProposalId("p1.1.1".into()),
            kind: ProposalKind::Edit,
            shown: "--- a\n+++ b\n@@ -1 +1 @@ item 1\n-x\n+y\n@@ -9 +9 @@ item 2\n+z\n".into(),
            shown_hash: Hash::of(b""),
            offers: Vec::new(),
            items: vec![item(1), item(2), item(3)],
            by_item: true,
        };
        let check = |keys: &str, expected: Next| {
            let mut choosing = Choosing::default();
            let mut last = Next::Ask;
            for key in keys.chars() {
                assert!(matches!(last, Next::Ask | Next::NoAnswer), "{keys}");
                last = choosing.hear(&key.to_string(), &question);
            }
            assert_eq!(last, expected, "{keys}");
        };
        check("yny", Next::Chosen(vec![1, 3]));
        check("nyn", Next::Chosen(vec![2]));
        check("na", Next::Chosen(vec![2, 3]));
        check("yd", Next::Chosen(vec![1]));
        check("d", Next::Chosen(vec![]));
        check("a", Next::Chosen(vec![1, 2, 3]));
        check("yq", Next::Back);
        check("yx", Next::NoAnswer);
        check("yxyy", Next::Chosen(vec![1, 2, 3]));
        let (label, lines) = question.item(&Choosing { at: 1, taken: Vec::new() }).unwrap();
        assert_eq!(label, "item 2 of 3: hunk 2");
        assert_eq!(lines, "@@ -9 +9 @@ item 2\n+z\n");
    }
}
