//! Where calls in tags of other trainings open and close, wherever they stand: what is passed over may hold the end
//! of a call that seemed to be over before.

use super::xml::{CLOSERS, OPENERS, begins};
use std::collections::HashMap;

/// What opens or closes a call, by the name of that.
struct End {
    at: usize,
    name: &'static str,
    is_close: bool,
}

pub(in super::super) struct Ends(Vec<End>);

impl Ends {
    pub(in super::super) fn new(text: &str) -> Ends {
        let end = |(at, _): (usize, &str)| {
            let rest = &text[at..];
            let of = |marks: &[(&'static str, &str)]| {
                marks.iter().find(|(_, mark)| begins(rest, mark)).map(|(name, _)| *name)
            };
            let close = of(&CLOSERS).map(|name| End { at, name, is_close: true });
            close.or_else(|| of(&OPENERS).map(|name| End { at, name, is_close: false }))
        };
        Ends(text.match_indices('<').filter_map(end).collect())
    }

    /// Whether a call opens between two bytes.
    pub(in super::super) fn opens_within(&self, from: usize, to: usize) -> bool {
        let first = self.0.partition_point(|end| end.at < from);
        let within = self.0[first..].iter().take_while(|end| end.at < to);
        within.into_iter().any(|end| !end.is_close && end.name != "parameter")
    }

    /// The first closer of each name between two bytes that closes nothing there.
    pub(in super::super) fn strays_within(
        &self,
        from: usize,
        to: usize,
    ) -> Vec<(&'static str, usize)> {
        let place = |byte: usize| self.0.partition_point(|end| end.at < byte);
        let (mut open, mut strays): (HashMap<&str, usize>, Vec<(&str, usize)>) = Default::default();
        for end in self.0.get(place(from)..place(to)).unwrap_or_default() {
            let depth = open.entry(end.name).or_default();
            match end.is_close {
                false => *depth += 1,
                true if *depth > 0 => *depth -= 1,
                true if strays.iter().all(|(name, _)| *name != end.name) => {
                    strays.push((end.name, end.at));
                }
                true => {}
            }
        }
        strays
    }
}
