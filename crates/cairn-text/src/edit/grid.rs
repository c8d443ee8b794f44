//! How a file is indented: by which steps, and where its lines begin. Knows nothing of edits.

use super::indent::indent_of;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// What a level is taken to be where no line is deeper than another.
const DEFAULT_STEP: usize = 4;

/// The depths at which lines of a file stand.
pub(super) struct Grid<'a> {
    /// By how many blanks lines mostly go deeper than the ones above them.
    pub(super) step: usize,
    leads: HashSet<&'a str>,
}

impl<'a> Grid<'a> {
    pub(super) fn of(lines: &[&'a str]) -> Grid<'a> {
        let said = lines.iter().filter(|line| !line.trim().is_empty());
        let leads: Vec<&str> = said.map(|line| indent_of(line)).collect();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for more in leads.windows(2).filter_map(|two| two[1].strip_prefix(two[0])) {
            if !more.is_empty() && more.chars().all(|c| c == ' ') {
                *counts.entry(more.len()).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by_key(|(step, count)| (*count, Reverse(*step)));
        let step = most.map_or(DEFAULT_STEP, |(step, _)| step);
        Grid { step, leads: leads.into_iter().collect() }
    }

    /// Whether the file is indented like this anywhere, or might be.
    pub(super) fn has(&self, indent: &str) -> bool {
        let blanks = indent.chars().all(|c| c == ' ');
        blanks && indent.len().is_multiple_of(self.step)
            || indent.chars().all(|c| c == '\t')
            || self.leads.contains(indent)
    }
}
