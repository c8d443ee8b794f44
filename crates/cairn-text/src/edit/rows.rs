//! A text as its lines with their ends, and where a sequence of lines stands in it. Work is linear
//! in both texts.

use std::collections::HashMap;
use std::ops::Range;

/// The lines of a text and where they stand in it.
pub(crate) struct TextLines<'a> {
    text: &'a str,
    /// Where each line begins, where its text ends, where its line end ends.
    at: Vec<(usize, usize, usize)>,
}

impl<'a> TextLines<'a> {
    pub(crate) fn of(text: &'a str) -> TextLines<'a> {
        let mut at = Vec::new();
        let mut from = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let bare = if bare.len() < line.len() {
                bare.strip_suffix('\r').unwrap_or(bare)
            } else {
                bare
            };
            at.push((from, from + bare.len(), from + line.len()));
            from += line.len();
        }
        TextLines { text, at }
    }

    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }

    /// A line without its end; empty beyond the last.
    pub(crate) fn line(&self, index: usize) -> &'a str {
        self.at.get(index).map_or("", |&(from, to, _)| &self.text[from..to])
    }

    pub(crate) fn lines(&self, range: Range<usize>) -> Vec<&'a str> {
        range.map(|index| self.line(index)).collect()
    }

    /// How a line ends: with a line feed, both, or nothing.
    pub(crate) fn end(&self, index: usize) -> &'a str {
        self.at.get(index).map_or("", |&(_, to, end)| &self.text[to..end])
    }

    /// Where these lines stand in the text, line ends included.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Range<usize> {
        let from = self.at.get(range.start).map_or(self.text.len(), |&(from, ..)| from);
        let to = range.end.checked_sub(1).and_then(|last| self.at.get(last));
        from..to.map_or(from, |&(.., end)| end).max(from)
    }

    /// The index of the line that holds this byte.
    pub(crate) fn index_of(&self, byte: usize) -> usize {
        self.at.partition_point(|&(.., end)| end <= byte).min(self.at.len().saturating_sub(1))
    }

    /// The line end that new lines among these take.
    pub(crate) fn usual_end(&self, range: Range<usize>) -> &'a str {
        let near = range.map(|index| self.end(index)).find(|end| !end.is_empty());
        let first = || (0..self.len()).map(|index| self.end(index)).find(|end| !end.is_empty());
        near.or_else(first).unwrap_or("\n")
    }
}

/// A text meant as whole lines: each without its end. A line end after the last one is no line.
pub(crate) fn meant_lines(text: &str) -> Vec<&str> {
    let bare = |line: &'_ str| line.strip_suffix('\r').map_or(line.len(), str::len);
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| &line[..bare(line)]).collect()
}

/// Where `wanted` stands in `all`, each line compared by its key. Overlapping places count.
pub(crate) fn places<'a>(
    all: &[&'a str],
    wanted: &[&'a str],
    key: impl Fn(&'a str) -> &'a str,
) -> Vec<usize> {
    if wanted.is_empty() || wanted.len() > all.len() {
        return Vec::new();
    }
    let mut names: HashMap<&str, usize> = HashMap::new();
    let pattern: Vec<usize> = wanted
        .iter()
        .map(|line| {
            let next = names.len();
            *names.entry(key(line)).or_insert(next)
        })
        .collect();
    let text = all.iter().map(|line| names.get(key(line)).copied().unwrap_or(usize::MAX));
    let fallback = borders(&pattern);
    let (mut found, mut matched) = (Vec::new(), 0);
    for (at, name) in text.enumerate() {
        while matched > 0 && (matched == pattern.len() || pattern[matched] != name) {
            matched = fallback[matched - 1];
        }
        if pattern[matched] == name {
            matched += 1;
        }
        if matched == pattern.len() {
            found.push(at + 1 - matched);
        }
    }
    found
}

/// For each beginning of a pattern, the length of its longest proper beginning that also ends it.
fn borders(pattern: &[usize]) -> Vec<usize> {
    let mut table = vec![0; pattern.len()];
    let mut length = 0;
    for at in 1..pattern.len() {
        while length > 0 && pattern[at] != pattern[length] {
            length = table[length - 1];
        }
        if pattern[at] == pattern[length] {
            length += 1;
        }
        table[at] = length;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_all_windows_that_are_equal(all in "[aé]{0,30}|[日😀]{0,30}", wanted in "[aé]{1,4}|[日😀]{1,4}") {
            let split = |text: &'static str| text.split("").filter(|s| !s.is_empty());
            let all: Vec<&str> = split(Box::leak(all.into_boxed_str())).collect();
            let wanted: Vec<&str> = split(Box::leak(wanted.into_boxed_str())).collect();
            let plain: Vec<usize> = all
                .windows(wanted.len())
                .enumerate()
                .filter(|(_, window)| *window == wanted)
                .map(|(at, _)| at)
                .collect();
            prop_assert_eq!(places(&all, &wanted, |line| line), plain);
        }

        #[test]
        fn lines_and_their_ends_make_up_the_text(text in "[aé日😀\r\n]{0,20}") {
            let rows = TextLines::of(&text);
            let back: String =
                (0..rows.len()).map(|at| format!("{}{}", rows.line(at), rows.end(at))).collect();
            prop_assert_eq!(&back, &text);
            prop_assert_eq!(rows.bytes(0..rows.len()), 0..text.len());
        }
    }
}
