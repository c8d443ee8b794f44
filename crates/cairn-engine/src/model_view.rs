//! What the model has been told and shown in a run.

use crate::view::Item;
use crate::words;
use cairn_types::{ContentRef, Coord, Delta, Hash, Outcome, Seen, Surface, Visible};
use std::collections::HashMap;

/// A result of at most this many bytes is repeated; a longer one is pointed at.
const SHORT_RESULT: u64 = 200;

/// The messages of a run, and what the model can still see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelView {
    pub(crate) items: Vec<Item>,
    /// The files the model has seen, as it saw them last.
    pub(crate) seen: HashMap<String, Hash>,
    /// Results of reads that the model can still see, and the row that holds each.
    pub(crate) in_view: HashMap<Hash, Coord>,
    /// How often rows were folded or opened.
    pub(crate) folds: u64,
    /// How often the run was told what others changed.
    changes_rows: u32,
}

impl ModelView {
    /// How often rows were folded or opened: messages made before the last time are not as they are sent now.
    #[must_use]
    pub fn folds(&self) -> u64 {
        self.folds
    }

    /// How often the run was told what others changed: each time is a row.
    #[must_use]
    pub fn changes_row_count(&self) -> u32 {
        self.changes_rows
    }

    /// Others changed something.
    pub(crate) fn took_delta(&mut self, delta: &Delta) {
        self.items.push(Item::News(delta.text));
        self.changes_rows += 1;
    }

    /// Whether the model has seen this file, and seen it last as it was then.
    #[must_use]
    pub fn has_seen(&self, file: &Seen) -> bool {
        self.seen.get(&file.path) == Some(&file.hash)
    }

    /// Whether the model has not been told that the stream of this row is over.
    #[must_use]
    pub fn is_unheard(&self, row: Coord) -> bool {
        let is_reply = |item: &&Item| matches!(item, Item::Assistant { .. });
        let mut unheard = self.items.iter().rev().take_while(|item| !is_reply(item));
        unheard.any(|item| matches!(item, Item::Ended(stream) if stream.at == row))
    }

    /// The sentence that names the row where the model already sees this result; none if it does not see it, or the
    /// result is so short that naming the row would be no shorter.
    #[must_use]
    pub fn same_as_in_view(&self, result: &ContentRef, surface: Surface) -> Option<String> {
        // The envelope cuts results: the row may not show all of it.
        let is_whole = surface != Surface::Envelope;
        let is_long = result.bytes > SHORT_RESULT && is_whole;
        let at = self.in_view.get(&result.hash).filter(|_| is_long)?;
        Some(words::same_as(*at))
    }

    /// The model has now seen a file as it is, or no longer knows it. Returns how it knew it before.
    pub(crate) fn sees(&mut self, path: &str, hash: Option<Hash>) -> Option<Hash> {
        match hash {
            Some(hash) => self.seen.insert(path.to_owned(), hash),
            None => self.seen.remove(path),
        }
    }

    /// The model is shown these as they stand now.
    pub(crate) fn saw_visible(&mut self, visible: &[Visible]) {
        let whole = visible.iter().filter_map(|shown| Some((shown.path.clone(), shown.hash?)));
        self.seen.extend(whole);
    }

    /// An op has its outcome: if it is a look that went well, its result is in the model's view.
    pub(crate) fn took_look(&mut self, outcome: &Outcome, is_look: bool) {
        if is_look && outcome.status.is_success() {
            let own = outcome.own.unwrap_or(outcome.result.hash);
            self.in_view.entry(own).or_insert(outcome.at);
        }
    }
}
