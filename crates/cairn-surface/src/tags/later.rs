//! Where a mark next occurs. Asked from left to right, all answers together take time linear in the text for each
//! mark, also where there is none.

use std::collections::HashMap;

pub(super) struct Later<'a> {
    text: &'a str,
    /// Of each mark, from where it was looked for and what was found.
    known: HashMap<&'static str, (usize, Option<usize>)>,
    /// Up to here something that began like JSON goes, and is none: what begins in it is not tried again.
    pub(super) tried: usize,
    /// How often something began in it.
    pub(super) again: usize,
}

impl<'a> Later<'a> {
    pub(super) fn new(text: &'a str) -> Later<'a> {
        Later { text, known: HashMap::new(), tried: 0, again: 0 }
    }

    /// Where this mark next occurs from here on.
    pub(super) fn next(&mut self, mark: &'static str, from: usize) -> Option<usize> {
        if let Some((asked, found)) = self.known.get(mark)
            && *asked <= from
            && found.is_none_or(|found| from <= found)
        {
            return *found;
        }
        let found = self.text.get(from..).and_then(|rest| rest.find(mark)).map(|at| at + from);
        self.known.insert(mark, (from, found));
        found
    }

    /// The first of these marks from here on, and where it occurs.
    pub(super) fn first(
        &mut self,
        marks: &[&'static str],
        from: usize,
    ) -> Option<(usize, &'static str)> {
        let found = |mark: &&'static str| self.next(mark, from).map(|at| (at, *mark));
        marks.iter().filter_map(found).min()
    }
}
