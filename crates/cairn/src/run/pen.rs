//! Drawing on a terminal or into pipes: lines, blocks, a line that is still moving. Whatever it is
//! given is cleaned here, so nothing reaches the terminal raw. Knows nothing of runs.

use super::excerpt::{Excerpt, counted};
use super::thought::{Thought, columns_of};
use cairn_text::shown::clean;
use rustix::termios::tcgetwinsize;
use std::io::{IsTerminal, Write};

/// How many rows of a thought are drawn at most.
const ROWS: usize = 6;

/// What is drawn with.
#[derive(Default)]
pub struct Pen {
    open: Open,
    colour: bool,
    is_terminal: bool,
    thought: Thought,
}

/// The line that has no end yet.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Open {
    #[default]
    None,
    /// On stdout.
    Words,
    /// On stderr, waiting for an answer.
    Prompt,
    /// On stderr, to be drawn over.
    Moving,
    /// So many rows of a thought on stderr, to be drawn over.
    Thought(usize),
}

/// What the lines of a block are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// A diff: what was added and removed is told apart.
    Diff,
    /// Anything else.
    Text,
}

/// How a line is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// In the background.
    Dim,
    /// Something went well, or was added.
    Good,
    /// Something went wrong, or was removed.
    Bad,
}

impl Pen {
    /// A pen for this process; colours only on a terminal of someone who wants them.
    pub fn new(wants_colour: bool) -> Pen {
        let is_terminal = std::io::stderr().is_terminal();
        Pen { colour: wants_colour && is_terminal, is_terminal, ..Pen::default() }
    }

    /// A line on stderr.
    pub fn line(&mut self, tone: Tone, text: &str) {
        self.end_line();
        let text = clean(text);
        let code = match tone {
            Tone::Plain => "",
            Tone::Dim => "\x1b[2m",
            Tone::Good => "\x1b[32m",
            Tone::Bad => "\x1b[31m",
        };
        let _ = match self.colour && !code.is_empty() {
            true => writeln!(std::io::stderr().lock(), "{code}{text}\x1b[0m"),
            false => writeln!(std::io::stderr().lock(), "{text}"),
        };
    }

    /// Several lines, indented, all of them.
    pub fn block(&mut self, kind: Block, text: &str) {
        text.lines().for_each(|line| self.block_line(kind, line));
    }

    /// Several lines, indented, the middle left out when there are too many.
    pub fn excerpt(&mut self, kind: Block, excerpt: Excerpt) {
        let least = if excerpt.is_part { "at least " } else { "" };
        let (head, hidden, tail) = excerpt.lines();
        head.iter().for_each(|line| self.block_line(kind, line));
        if hidden > 0 {
            self.line(Tone::Dim, &format!("      … {least}{} …", counted(hidden)));
        }
        tail.iter().for_each(|line| self.block_line(kind, line));
    }

    fn block_line(&mut self, kind: Block, line: &str) {
        let tone = match (kind, line.as_bytes().first()) {
            (Block::Diff, Some(b'+')) => Tone::Good,
            (Block::Diff, Some(b'-')) => Tone::Bad,
            _ => Tone::Dim,
        };
        self.line(tone, &format!("      {line}"));
    }

    /// A line that the next one is drawn over. Nothing where lines cannot be drawn over.
    pub fn moving(&mut self, text: &str) {
        if !self.colour {
            return;
        }
        self.end_line();
        let (columns, _) = size();
        let text = fitting(&clean(text), columns);
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "\x1b[2m{text}\x1b[0m").and_then(|()| out.flush());
        self.open = Open::Moving;
    }

    /// The model thinks: the last rows are drawn, dimmed, where lines can be drawn over.
    pub fn thinks(&mut self, text: &str) {
        self.thought.push(text);
        if !self.colour {
            return;
        }
        self.end_line();
        let (columns, rows) = size();
        let drawn = self.thought.rows(columns, ROWS.min(rows / 2).max(1));
        let mut out = std::io::stderr().lock();
        let text = drawn.join("\x1b[0m\r\n\x1b[2m");
        let _ = write!(out, "\x1b[2m{text}\x1b[0m").and_then(|()| out.flush());
        self.open = Open::Thought(drawn.len());
    }

    /// The thought is over: it is drawn no longer. How many lines it was, where a person saw it come.
    pub fn thought(&mut self) -> Option<u64> {
        let lines = std::mem::take(&mut self.thought).lines();
        if matches!(self.open, Open::Thought(_)) {
            self.end_line();
        }
        Some(lines).filter(|lines| *lines > 0 && self.is_terminal)
    }

    /// A question; the answer is typed behind it.
    pub fn prompt(&mut self, text: &str) {
        self.end_line();
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "{text}").and_then(|()| out.flush());
        self.open = Open::Prompt;
    }

    /// Someone pressed return: the line is over.
    pub fn answered(&mut self) {
        self.open = Open::None;
    }

    /// Words on stdout, as they come.
    pub fn says(&mut self, text: &str) {
        if self.open != Open::Words {
            self.end_line();
        }
        let text = clean(text);
        let mut out = crate::output::out::stdout();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match text.chars().last() {
            Some('\n') => self.open = Open::None,
            Some(_) => self.open = Open::Words,
            None => {}
        }
    }

    /// Ends the line that has no end yet. Whether it was words.
    pub fn end_line(&mut self) -> bool {
        let open = std::mem::take(&mut self.open);
        let _ = match open {
            Open::None => Ok(()),
            Open::Words => writeln!(crate::output::out::stdout()),
            Open::Prompt => writeln!(std::io::stderr().lock()),
            Open::Moving => write!(std::io::stderr().lock(), "\r\x1b[K"),
            Open::Thought(0 | 1) => write!(std::io::stderr().lock(), "\r\x1b[J"),
            Open::Thought(rows) => write!(std::io::stderr().lock(), "\r\x1b[{}A\x1b[J", rows - 1),
        };
        open == Open::Words
    }
}

/// The columns that can be used without touching the edge, and the rows, of the screen as it is now.
fn size() -> (usize, usize) {
    let size = tcgetwinsize(std::io::stderr()).ok().filter(|size| size.ws_col > 0);
    let (columns, rows) = size.map_or((80, 24), |size| (size.ws_col, size.ws_row));
    (usize::from(columns).saturating_sub(1), usize::from(rows))
}

/// As much of a text as fits on a line.
fn fitting(text: &str, columns: usize) -> String {
    let mut left = columns;
    let fits = |c: &char| {
        let takes = columns_of(*c);
        let fits = takes <= left;
        left = left.saturating_sub(takes);
        fits
    };
    let plain = text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c });
    plain.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_line_is_never_wider_than_the_screen() {
        let check = |columns: usize, expected: &str| {
            assert_eq!(fitting("  1/1/1 bash x: a\tb 漢字 end", columns), expected, "{columns}");
        };
        check(79, "  1/1/1 bash x: a b 漢字 end");
        check(21, "  1/1/1 bash x: a b ");
        check(22, "  1/1/1 bash x: a b 漢");
        check(5, "  1/1");
        check(0, "");
    }
}
