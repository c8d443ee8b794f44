//! A long text in a few lines: its first, its last, and how many lie between, counted exactly. Draws
//! nothing, and holds no more of the text than it shows.

use std::collections::VecDeque;

/// How many bytes of a line are shown where lines are cut.
const LONGEST: usize = 1000;

/// Both ends of a text that comes piece by piece.
pub struct Excerpt {
    /// How many lines are shown at most.
    most: usize,
    /// How many bytes of a line are.
    longest: usize,
    /// Whether the text itself is only a part.
    pub is_part: bool,
    head: Vec<Line>,
    tail: VecDeque<Line>,
    /// How many lines fell out between head and tail.
    hidden: u64,
    /// The line that has no end yet.
    open: Option<Line>,
}

/// A line, or its beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Line {
    bytes: Vec<u8>,
    /// How many more it had.
    cut: usize,
}

impl Line {
    fn push(&mut self, bytes: &[u8], longest: usize) {
        let taken = bytes.len().min(longest.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&bytes[..taken]);
        self.cut += bytes.len() - taken;
    }

    fn shown(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match self.cut {
            0 => text.into_owned(),
            // Half a character at the cut is none.
            more => format!("{} … {more} bytes more", text.trim_end_matches('\u{fffd}')),
        }
    }
}

impl Excerpt {
    fn new(most: usize, longest: usize) -> Excerpt {
        Excerpt {
            most,
            longest,
            is_part: false,
            head: Vec::new(),
            tail: VecDeque::new(),
            hidden: 0,
            open: None,
        }
    }

    /// Of nothing yet, in so many lines at most, of which long ones are cut.
    pub fn cut(most: usize) -> Excerpt {
        Excerpt::new(most, LONGEST)
    }

    /// Of a whole text, with whole lines.
    pub fn of(text: &str, most: usize) -> Excerpt {
        Excerpt::new(most, usize::MAX).with(text)
    }

    /// With this text.
    pub fn with(mut self, text: &str) -> Excerpt {
        self.take(text.as_bytes());
        self
    }

    /// More of the text.
    pub fn take(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let mut line = self.open.take().unwrap_or_default();
            line.push(&bytes[..end], self.longest);
            self.line(line);
            bytes = &bytes[end + 1..];
        }
        if !bytes.is_empty() {
            self.open.get_or_insert_default().push(bytes, self.longest);
        }
    }

    /// Ends the line that has no end yet.
    pub fn end_line(&mut self) {
        if let Some(line) = self.open.take() {
            self.line(line);
        }
    }

    fn line(&mut self, line: Line) {
        if self.head.len() < self.most / 2 {
            self.head.push(line);
            return;
        }
        self.tail.push_back(line);
        // One line is not hidden behind a line that says so.
        if self.tail.len() > self.most - self.most / 2 + 1 {
            self.tail.pop_front();
            self.hidden += 1;
        }
    }

    /// The first lines, how many are hidden after them, and the last ones.
    pub fn lines(mut self) -> (Vec<String>, u64, Vec<String>) {
        self.end_line();
        if self.hidden > 0 {
            self.tail.pop_front();
            self.hidden += 1;
        }
        let shown = |line: &Line| line.shown();
        (self.head.iter().map(shown).collect(), self.hidden, self.tail.iter().map(shown).collect())
    }
}

/// So many lines, in words.
pub fn counted(lines: u64) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_ends_are_shown_and_one_line_is_never_hidden() {
        let check = |count: usize, head: &[&str], hidden: u64, tail: &[&str]| {
            let text: String = (1..=count).map(|n| format!("{n}\n")).collect();
            let (first, between, last) = Excerpt::of(&text, 4).lines();
            assert_eq!(
                (&first[..], between, &last[..]),
                (&strings(head)[..], hidden, &strings(tail)[..])
            );
        };
        check(0, &[], 0, &[]);
        check(4, &["1", "2"], 0, &["3", "4"]);
        check(5, &["1", "2"], 0, &["3", "4", "5"]);
        check(6, &["1", "2"], 2, &["5", "6"]);
        check(1000, &["1", "2"], 996, &["999", "1000"]);
        let long = "é".repeat(800);
        let (line, ..) = Excerpt::cut(4).with(&long).lines();
        assert_eq!(line, [format!("{} … 600 bytes more", "é".repeat(500))]);
        assert_eq!(Excerpt::of(&long, 4).lines().0, [long]);
    }

    fn strings(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    proptest! {
        #[test]
        fn every_line_is_shown_or_counted_however_the_text_is_cut(
            text in "[aé日😀\n]{0,60}", most in 2usize..9, cut in 0usize..60,
        ) {
            let cut = cut.min(text.len());
            let mut excerpt = Excerpt::cut(most);
            excerpt.take(&text.as_bytes()[..cut]);
            excerpt.take(&text.as_bytes()[cut..]);
            let (head, hidden, tail) = excerpt.lines();
            let lines: Vec<&str> = text.lines().collect();
            prop_assert_eq!(head.len() + tail.len() + hidden as usize, lines.len());
            prop_assert_eq!(&head[..], &lines[..head.len()]);
            prop_assert_eq!(&tail[..], &lines[lines.len() - tail.len()..]);
            prop_assert!(hidden != 1 && head.len() + tail.len() <= most + 1);
        }
    }
}
