//! What waits until a turn ends to be told to the model.

use crate::view::Item;
use cairn_types::ContentRef;

/// What waits for the end of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WaitingWords {
    /// Words of people and clients: the model is asked again to hear them.
    words: Vec<ContentRef>,
    /// What the model hears at the end of the turn. Alone it is not a reason for another turn.
    news: Vec<Item>,
    /// A person steered the run: the rest of the turn is not performed.
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
