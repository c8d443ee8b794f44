//! Which names of statements were written so far outside of bodies, and where each stood first. A name in a body is
//! what it is about, and opens nothing.

use std::collections::HashMap;

/// The names up to some place.
#[derive(Debug, Default)]
pub(super) struct Named<'a> {
    first: HashMap<&'a str, First>,
    /// The names that statements began with, by their capital letters.
    begun: HashMap<String, &'a str>,
    /// How many names of the text are dealt with.
    next: usize,
}

/// Where a name stood first.
#[derive(Debug, Clone, Copy)]
struct First {
    at: usize,
    /// Whether it was never written but in statements that look at something and have no body.
    only_looks: bool,
}

impl<'a> Named<'a> {
    /// The names of a text that stand before this byte, and are in nothing that was read, are spoken of.
    pub(super) fn spoken(&mut self, names: &[(usize, &'a str)], before: usize) {
        while let Some((at, name)) = names.get(self.next).filter(|(at, _)| *at < before) {
            self.add(name, *at, false);
            self.next += 1;
        }
    }

    /// A statement was read, which ends at this byte.
    pub(super) fn stated(
        &mut self,
        names: &[(usize, &'a str)],
        (name, start): (&'a str, usize),
        (end, looks): (usize, bool),
    ) {
        self.spoken(names, start);
        self.add(name, start, looks);
        self.begun.insert(name.to_ascii_uppercase(), name);
        self.pass(names, end);
    }

    /// A statement began here that was not understood.
    pub(super) fn began(&mut self, names: &[(usize, &'a str)], (name, start): (&'a str, usize)) {
        self.spoken(names, start);
        self.add(name, start, false);
        self.begun.insert(name.to_ascii_uppercase(), name);
    }

    /// The name that a statement began with before, in whatever letters this one is written.
    pub(super) fn begun_like(&self, name: &str) -> Option<&'a str> {
        self.begun.get(&name.to_ascii_uppercase()).copied()
    }

    /// Whether a statement of this name began before that may have had a body.
    pub(super) fn had_body(&self, name: &str) -> bool {
        self.begun_like(name) == Some(name) && !self.only_looks(name)
    }

    /// What stands before this byte opens nothing.
    pub(super) fn pass(&mut self, names: &[(usize, &'a str)], before: usize) {
        while names.get(self.next).is_some_and(|(at, _)| *at < before) {
            self.next += 1;
        }
    }

    fn add(&mut self, name: &'a str, at: usize, looks: bool) {
        let first = self.first.entry(name).or_insert(First { at, only_looks: true });
        first.only_looks &= looks;
    }

    /// Where this name stood first.
    pub(super) fn first(&self, name: &str) -> Option<usize> {
        self.first.get(name).map(|first| first.at)
    }

    /// Whether nothing of this name has a body.
    pub(super) fn only_looks(&self, name: &str) -> bool {
        self.first.get(name).is_none_or(|first| first.only_looks)
    }
}
