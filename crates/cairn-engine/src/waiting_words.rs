//! What waits until a turn ends to be told to the model.

use crate::view::Item;
use cairn_types::ContentRef;

/// What waits for the end of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WaitingWords {
    /// Words of people and clients: a reason for another turn.
    words: Vec<ContentRef>,
    /// What is told with the turn's end, and is no reason for another.
    news: Vec<Item>,
    /// Words of whoever drives the run are among them: the rest of the turn is not performed.
    pub(crate) steered: bool,
}

impl WaitingWords {
    /// Whether there are words that the model must hear.
    pub(crate) fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    pub(crate) fn add_words(&mut self, text: ContentRef) {
        self.words.push(text);
    }

    pub(crate) fn add_news(&mut self, item: Item) {
        self.news.push(item);
    }

    /// All of it, in the order in which the model hears it; nothing waits any longer.
    pub(crate) fn take_items(&mut self) -> Vec<Item> {
        let WaitingWords { words, news, .. } = std::mem::take(self);
        news.into_iter().chain(words.into_iter().map(Item::words)).collect()
    }
}
