//! What the agent puts to a person, on a screen: what it is called, what can be typed, and what a typed
//! line means. What follows from it is the engine's.

use cairn_types::{Mode, Proposal, ProposalKind, Verdict};

/// What a typed line means.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// A word, words with it, and the mode that is chosen.
    Word(Verdict, Option<String>, Option<Mode>),
    /// The words are asked for next.
    WantsWords,
    /// All of it shall be shown again.
    Again,
    /// Nothing that answers it; this does.
    Unclear(&'static str),
}

/// How a question is answered from another terminal.
pub fn how(proposal: &Proposal) -> String {
    let id = &proposal.id;
    match proposal.kind {
        ProposalKind::Question => {
            let number = if proposal.items.is_empty() { "" } else { ", its number or your own" };
            format!("cairn decide {id} answer --words \"…\"{number}, or refuse")
        }
        ProposalKind::Plan => format!(
            "cairn decide {id} allow, allow --mode accept-edits, refuse --words \"what to revise\", or refuse"
        ),
        ProposalKind::Indeterminate => {
            format!("cairn decide {id} happened, allow to run it again, or skip")
        }
        ProposalKind::Network => {
            format!("cairn decide {id} allow, allow --remember session, or refuse")
        }
        ProposalKind::Edit | ProposalKind::Exec | ProposalKind::Look => {
            format!("cairn decide {id} allow, or refuse")
        }
    }
}

/// An answer in a person's words: a number means the answer of that number, where there is one.
pub fn chosen(said: &str, options: &[String]) -> String {
    let said = said.trim();
    let number = said.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    number.and_then(|n| options.get(n)).cloned().unwrap_or_else(|| said.to_owned())
}

/// What can be typed at a question.
pub fn question_prompt(options: usize) -> String {
    match options {
        0 => "your answer, or - for none: ".to_owned(),
        1 => "1, or an answer of your own, or - for none: ".to_owned(),
        _ => format!("1 to {options}, or an answer of your own, or - for none: "),
    }
}

/// What can be typed at a plan.
pub const PLAN_PROMPT: &str =
    "shall it? y yes, e yes and edit files unasked, n no, r revise it, d show it again: ";

/// A line typed at a question.
pub fn at_question(line: &str, options: &[String]) -> Typed {
    match line {
        "" => Typed::Unclear("words, a number, or -"),
        "-" => Typed::Word(Verdict::Refuse, None, None),
        said => Typed::Word(Verdict::Answer, Some(chosen(said, options)), None),
    }
}

/// A line typed at a plan.
pub fn at_plan(line: &str) -> Typed {
    match line {
        "y" | "yes" => Typed::Word(Verdict::Allow, None, None),
        "e" => Typed::Word(Verdict::Allow, None, Some(Mode::AcceptEdits)),
        "n" | "no" => Typed::Word(Verdict::Refuse, None, None),
        "r" => Typed::WantsWords,
        "d" => Typed::Again,
        _ => Typed::Unclear("y, e, n, r or d; words are passed on with r"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_answer_it_stands_for_and_anything_else_is_an_answer_of_its_own() {
        let options = ["red".to_owned(), "blue".to_owned()];
        let answer = |text: &str| Typed::Word(Verdict::Answer, Some(text.to_owned()), None);
        for (line, expected) in [
            ("2", answer("blue")),
            ("3", answer("3")),
            ("0", answer("0")),
            ("y", answer("y")),
            ("neither of them", answer("neither of them")),
            ("-", Typed::Word(Verdict::Refuse, None, None)),
            ("", Typed::Unclear("words, a number, or -")),
        ] {
            assert_eq!(at_question(line, &options), expected, "{line:?}");
        }
    }
}
