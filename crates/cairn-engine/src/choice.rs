//! What a word takes of a proposal: which of its items, and which texts in place of those proposed. All
//! of it fits the proposal, or the word is not taken. Does not look into texts.

use crate::op::OpState;
use crate::propose::Word;
use cairn_types::{Change, FileKind, ItemChoice, Proposal, ProposalId, ProposalItem, ProposalKind};
use cairn_types::{Remember, Verdict};

/// The longest text that is taken, in bytes: as long as an edit may make a file.
pub const LONGEST_TEXT: u64 = 16 << 20;

/// A text that shall stand in a file in place of what was proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewText {
    /// The file, as the proposal names it.
    pub path: String,
    /// All of the text.
    pub text: String,
}

/// Why a word does not fit the proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// Items and texts say what is allowed.
    #[error("items and texts go with allow, not with {0}")]
    NotAllowed(Verdict),
    /// It is no edit, so it is done or left as a whole.
    #[error("{0} is allowed or refused as a whole")]
    Whole(ProposalId),
    /// There is no such item.
    #[error("{proposal} has no item {item}; it has {items}")]
    NoItem {
        /// The proposal.
        proposal: ProposalId,
        /// The number.
        item: u32,
        /// How many it has.
        items: usize,
    },
    /// Nothing would be taken.
    #[error("no item of {0} is taken; to leave all of it, refuse")]
    NoItems(ProposalId),
    /// No file would be written there.
    #[error("{proposal} writes no file {path}")]
    NoFile {
        /// The proposal.
        proposal: ProposalId,
        /// The path.
        path: String,
    },
    /// Two texts for one file.
    #[error("there are two texts for {0}")]
    TwoTexts(String),
    /// The text is for something that is left out.
    #[error("there is a text for {path}, and its item {item} is left out")]
    LeftOut {
        /// The path.
        path: String,
        /// The item.
        item: u32,
    },
    /// The text is too long.
    #[error("the text for {path} has {bytes} bytes, more than {LONGEST_TEXT}")]
    TooLong {
        /// The path.
        path: String,
        /// Its length.
        bytes: usize,
    },
    /// What became of one op says nothing about others.
    #[error("what became of {0} cannot be remembered for others")]
    NotRemembered(ProposalId),
    /// It would be remembered until before now.
    #[error("until {0} is in the past")]
    Past(u64),
}

impl OpState {
    /// Whether the files for which a person wrote texts would still change as was shown to them: what
    /// is not in the shown diff may have changed, too, and a text covers all of it.
    #[must_use]
    pub fn texts_still_fit(&self, changes: &[Change]) -> bool {
        let (Some(decision), Some(proposal)) = (self.decision(), self.question()) else {
            return true;
        };
        decision.texts.iter().all(|text| {
            let shown = proposal.items.iter().filter_map(|item| item.change.as_ref());
            let shown = shown.into_iter().find(|change| change.path == text.path);
            shown == changes.iter().find(|change| change.path == text.path)
        })
    }
}

/// Whether the word fits, and what it says of each item.
pub(crate) fn of(word: &Word, proposal: &Proposal, now: u64) -> Result<Vec<ItemChoice>, Misfit> {
    let is_kept = word.remember != Remember::Once || word.rule.is_some() || word.until.is_some();
    if is_kept && proposal.kind == ProposalKind::Indeterminate {
        return Err(Misfit::NotRemembered(proposal.id.clone()));
    }
    if let Some(until) = word.until.filter(|until| *until <= now) {
        return Err(Misfit::Past(until));
    }
    let is_choice = word.items.is_some() || !word.texts.is_empty();
    if is_choice && word.verdict != Verdict::Allow {
        return Err(Misfit::NotAllowed(word.verdict));
    }
    let choices = items(word, proposal)?;
    texts(word, proposal, &choices)?;
    Ok(choices)
}

fn items(word: &Word, proposal: &Proposal) -> Result<Vec<ItemChoice>, Misfit> {
    let all = word.verdict == Verdict::Allow;
    let taken = |item: u32| word.items.as_ref().map_or(all, |items| items.contains(&item));
    let choices: Vec<ItemChoice> = proposal
        .items
        .iter()
        .map(|i| ItemChoice { item: i.item, accepted: taken(i.item) })
        .collect();
    let known = |item: &u32| proposal.items.iter().any(|i| i.item == *item);
    if let Some(item) = word.items.iter().flatten().find(|item| !known(item)) {
        let (proposal, items) = (proposal.id.clone(), proposal.items.len());
        return Err(Misfit::NoItem { proposal, item: *item, items });
    }
    if word.items.as_ref().is_some_and(Vec::is_empty) {
        return Err(Misfit::NoItems(proposal.id.clone()));
    }
    if all && !proposal.by_item && choices.iter().any(|choice| !choice.accepted) {
        return Err(Misfit::Whole(proposal.id.clone()));
    }
    Ok(choices)
}

fn texts(word: &Word, proposal: &Proposal, choices: &[ItemChoice]) -> Result<(), Misfit> {
    if !word.texts.is_empty() && !proposal.by_item {
        return Err(Misfit::Whole(proposal.id.clone()));
    }
    for (n, NewText { path, text }) in word.texts.iter().enumerate() {
        let path = path.clone();
        if word.texts[..n].iter().any(|earlier| earlier.path == path) {
            return Err(Misfit::TwoTexts(path));
        }
        if text.len() as u64 > LONGEST_TEXT {
            return Err(Misfit::TooLong { path, bytes: text.len() });
        }
        let mut of_file = proposal.items.iter().filter(|item| writes(item, &path)).peekable();
        if of_file.peek().is_none() {
            return Err(Misfit::NoFile { proposal: proposal.id.clone(), path });
        }
        let left = |item: &u32| choices.iter().any(|c| c.item == *item && !c.accepted);
        if let Some(item) = of_file.map(|item| item.item).find(left) {
            return Err(Misfit::LeftOut { path, item });
        }
    }
    Ok(())
}

/// Whether an item is of a file that would stand at a path.
fn writes(item: &ProposalItem, path: &str) -> bool {
    let change = item.change.as_ref().filter(|change| change.path == path);
    let after = change.and_then(|change| change.after.as_ref());
    after.is_some_and(|state| state.kind == FileKind::File)
}
