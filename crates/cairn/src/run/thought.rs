//! What a model thinks before it answers, as it comes: its last few rows, and how many lines it was.
//! Draws nothing, and holds no more of it than can be drawn.

use cairn_text::shown::clean;

/// How many bytes of the end are held.
const HELD: usize = 8 * 1024;

/// A thought that goes on.
#[derive(Debug, Default)]
pub struct Thought {
    /// The end of it.
    end: String,
    lines: u64,
    /// Line ends after which nothing came yet.
    ends: u64,
}

impl Thought {
    /// More of it.
    pub fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\n' {
                self.ends += 1;
            } else if !c.is_whitespace() {
                // What stands before the first word is no line.
                self.lines += if self.lines == 0 { 1 } else { self.ends };
                self.ends = 0;
            }
        }
        self.end.push_str(text);
        if self.end.len() > 2 * HELD {
            let from = self.end.len() - HELD;
            let from = (from..).find(|at| self.end.is_char_boundary(*at)).unwrap_or(from);
            self.end.drain(..from);
        }
    }

    /// How many lines it is so far; none of blanks alone.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Its last rows on a screen so wide.
    pub fn rows(&self, columns: usize, most: usize) -> Vec<String> {
        let end = clean(self.end.trim_end());
        let mut rows: Vec<String> = Vec::new();
        for line in end.lines().rev() {
            let mut of_line = wrapped(line, columns);
            of_line.extend(std::mem::take(&mut rows));
            rows = of_line;
            if rows.len() >= most {
                break;
            }
        }
        rows.split_off(rows.len().saturating_sub(most))
    }
}

/// How many columns a character takes at most. Of those beyond ASCII some take two.
pub fn columns_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// A line in rows that fit; a blank for a tab.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let (mut rows, mut used) = (vec![String::new()], 0);
    for c in line.chars().map(|c| if c == '\t' { ' ' } else { c }) {
        let takes = columns_of(c);
        if used + takes > columns && used > 0 {
            rows.push(String::new());
            used = 0;
        }
        used += takes;
        if let Some(row) = rows.last_mut() {
            row.push(c);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thought(pieces: &[&str]) -> Thought {
        let mut thought = Thought::default();
        pieces.iter().for_each(|piece| thought.push(piece));
        thought
    }

    #[test]
    fn lines_are_counted_however_they_come() {
        let check = |pieces: &[&str], lines: u64| {
            assert_eq!(thought(pieces).lines(), lines, "{pieces:?}");
        };
        check(&[], 0);
        check(&["\n \n"], 0);
        check(&["\n", "hm"], 1);
        check(&["a\nb", "\n", "\nc\n\n"], 4);
        let long = "a line\n".repeat(10_000);
        check(&[&long], 10_000);
    }

    #[test]
    fn the_last_rows_fit_the_screen() {
        let of = thought(&["one\ntwo\n", "three four\tfive 漢字\u{1b}[2J\n"]);
        assert_eq!(of.rows(8, 4), ["two", "three fo", "ur five ", "漢字\u{fffd}"]);
        assert_eq!(of.rows(80, 2), ["two", "three four five 漢字\u{fffd}"]);
        assert!(of.rows(0, 3).len() <= 3);
        let long = thought(&["x".repeat(100_000).as_str()]);
        assert!(long.end.len() <= 2 * HELD);
        assert_eq!(long.rows(10, 3), ["xxxxxxxxxx", "xxxxxxxxxx", "xx"]);
    }
}
