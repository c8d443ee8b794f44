//! The statements that were read so far, as far as they decide what may be meant by a closer or a quote that follows.

use std::collections::{HashMap, HashSet};

/// The statements of a text that were read so far.
#[derive(Debug, Default)]
pub(super) struct Statements {
    /// Of each name, where its first statement begins. Any since may be the one that is open.
    begun: HashMap<&'static str, usize>,
    /// The names of statements that had a body.
    bodied: HashSet<&'static str>,
    /// The last statement, if it has no body: its name, and where it ended.
    pub(super) last_bodiless: Option<(&'static str, usize)>,
    /// The first statement whose body ends in a fence: it may go on behind that.
    pub(super) half_fenced: Option<usize>,
    /// The first statement that is quoted, by its place in the whole reply: it may have been meant.
    pub(super) quoted: Option<usize>,
    /// The names of closers that close nothing.
    pub(super) strays: Vec<&'static str>,
}

impl Statements {
    /// Notes that a statement begins at a byte.
    pub(super) fn begin(&mut self, name: &'static str, at: usize) {
        self.begun.entry(name).or_insert(at);
    }

    /// Notes that a statement had a body.
    pub(super) fn note_body(&mut self, name: &'static str) {
        self.bodied.insert(name);
    }

    /// Notes a statement whose body ends in a fence.
    pub(super) fn note_half_fenced(&mut self, at: usize) {
        self.half_fenced.get_or_insert(at);
    }

    /// Whether a statement of this name was read.
    pub(super) fn has_begun(&self, name: &str) -> bool {
        self.begun.contains_key(name)
    }

    /// Whether a statement of this name had a body.
    pub(super) fn had_body(&self, name: &str) -> bool {
        self.bodied.contains(name)
    }

    /// Where the first statement of this name begins; 0 if there is none.
    pub(super) fn first_begin(&self, name: &str) -> usize {
        self.begun.get(name).copied().unwrap_or_default()
    }

    /// Everything so far was thought: each name may have begun anywhere in it.
    pub(super) fn reset_after_thought(&mut self) {
        self.last_bodiless = None;
        self.begun.values_mut().for_each(|begun| *begun = 0);
    }

    /// What matters of them within a fence whose inside is read.
    pub(super) fn for_inside(&self) -> Statements {
        let begun = self.begun.keys().map(|name| (*name, 0)).collect();
        Statements { begun, bodied: self.bodied.clone(), ..Statements::default() }
    }

    /// Adds those of a fence that begins at a byte, and returns the names of closers that close nothing in it.
    pub(super) fn add_inside(&mut self, at: usize, inside: Statements) -> Vec<&'static str> {
        self.bodied.extend(inside.bodied);
        self.quoted = self.quoted.or(inside.quoted);
        for name in inside.begun.into_keys() {
            self.begin(name, at);
        }
        inside.strays
    }
}
