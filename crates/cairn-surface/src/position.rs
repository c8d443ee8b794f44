//! Places in a text as people count them: lines and columns from 1, columns in characters.

/// So many lines before and after a place are shown with it.
const AROUND: usize = 1;
/// Of a line no more characters than this are shown.
const WIDTH: usize = 160;
/// So many of them stand behind the place that is meant, where there are more before it than fit.
const BEHIND: usize = 40;

/// A place in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub struct Places<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// How many characters begin before each step, so that a place in a long line costs no more than in a short one.
    before: Vec<usize>,
}

/// So many bytes are a step.
const STEP: usize = 256;

/// How many characters begin in these bytes: those that go on with one begin with 10.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

impl<'a> Places<'a> {
    /// The places of this text.
    #[must_use]
    pub fn new(text: &'a str) -> Places<'a> {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        let steps = text.as_bytes().chunks(STEP).scan(0, |sum, step| {
            *sum += characters(step);
            Some(*sum)
        });
        let before = std::iter::once(0).chain(steps).collect();
        Places { text, starts, before }
    }

    /// The place of this byte. One within a character is that character's.
    #[must_use]
    pub fn at(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= byte).max(1);
        let before = self.characters_to(byte) - self.characters_to(self.starts[line - 1]);
        let is_within = !self.text.is_char_boundary(byte);
        Position { line, column: before + usize::from(!is_within) }
    }

    /// The byte at a place.
    #[must_use]
    pub fn byte_of(&self, at: Position) -> usize {
        let start = self.starts.get(at.line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let mut characters = self.text[start..].char_indices();
        let found = characters.nth(at.column.saturating_sub(1));
        found.map_or(self.text.len(), |(byte, _)| start + byte)
    }

    /// How many characters begin before this byte.
    fn characters_to(&self, byte: usize) -> usize {
        let step = byte / STEP;
        self.before[step] + characters(&self.text.as_bytes()[step * STEP..byte])
    }

    /// The lines around a byte, each with its number, long ones cut.
    #[must_use]
    pub fn snippet(&self, byte: usize) -> String {
        let meant = self.at(byte).line;
        let (first, last) = (meant.saturating_sub(AROUND).max(1), meant + AROUND);
        let shown = (first..=last.min(self.starts.len())).map(|n| {
            let end = self.starts.get(n).copied().unwrap_or(self.text.len());
            let line = self.text[self.starts[n - 1]..end].trim_end_matches(['\n', '\r']);
            let place = byte.saturating_sub(self.starts[n - 1]).min(line.len());
            format!("{n}:\t{}", cut(line, if n == meant { place } else { 0 }))
        });
        shown.collect::<Vec<_>>().join("\n")
    }
}

/// What is shown of a line, with the place that is meant in it.
fn cut(line: &str, place: usize) -> String {
    let place = (0..=place).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let before = line[..place].char_indices().rev().nth(WIDTH - BEHIND - 1);
    let start = before.map_or(0, |(at, _)| at);
    let shown: String = line[start..].chars().take(WIDTH).collect();
    let (more_before, more_behind) = (start > 0, start + shown.len() < line.len());
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{shown}{}", mark(more_before), mark(more_behind))
}

/// Where a part of a text stands in it.
pub(crate) fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let text = "ab\nçde\n\nlast";
        let places = Places::new(text);
        let at = |byte| (places.at(byte).line, places.at(byte).column);
        assert_eq!(
            [at(0), at(2), at(3), at(4), at(5), at(6)],
            [(1, 1), (1, 3), (2, 1), (2, 1), (2, 2), (2, 3)]
        );
        assert_eq!([at(8), at(9), at(999)], [(3, 1), (4, 1), (4, 5)]);
        assert_eq!(places.snippet(0), "1:\tab\n2:\tçde");
        assert_eq!(places.snippet(text.len()), "3:\t\n4:\tlast");
        assert_eq!(Places::new("").snippet(0), "1:\t");
        let long = format!("x\n{}HERE{}\ny", "é".repeat(300), "ü".repeat(300));
        let (before, behind) = ("é".repeat(120), "ü".repeat(36));
        assert_eq!(
            Places::new(&long).snippet(long.find("HERE").unwrap()),
            format!("1:\tx\n2:\t…{before}HERE{behind}…\n3:\ty")
        );
        for length in [255, 256, 257, 512, 1000] {
            let text = format!("a\n{}", "é".repeat(length));
            assert_eq!(Places::new(&text).at(text.len()).column, length + 1);
        }
    }

    #[test]
    fn a_long_line_is_shown_cut() {
        let shown = Places::new(&"x".repeat(1000)).snippet(0);
        assert_eq!(shown.chars().count(), "1:\t…".chars().count() + WIDTH);
    }
}
