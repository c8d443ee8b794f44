//! Drawing on a terminal or into pipes: lines, blocks, a line that is still moving. Whatever it is
//! given is cleaned here, so nothing reaches the terminal raw. Knows nothing of runs.

use cairn_text::shown::clean;
use std::io::{IsTerminal, Write};

/// What is drawn with.
#[derive(Default)]
pub struct Pen {
    open: Open,
    colour: bool,
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
        Pen { open: Open::None, colour: wants_colour && std::io::stderr().is_terminal() }
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

    /// Several lines, indented, the middle left out when there are too many.
    pub fn block(&mut self, text: &str, most: usize) {
        let lines: Vec<&str> = text.lines().collect();
        let (head, tail) =
            if lines.len() <= most { (lines.len(), 0) } else { (most / 2, most - most / 2) };
        for line in &lines[..head] {
            self.diff_line(line);
        }
        if tail > 0 {
            self.line(Tone::Dim, &format!("      … {} lines …", lines.len() - head - tail));
        }
        for line in &lines[lines.len() - tail..] {
            self.diff_line(line);
        }
    }

    fn diff_line(&mut self, line: &str) {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
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
        let text: String = clean(text).chars().filter(|c| *c != '\n').take(78).collect();
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "\x1b[2m{text}\x1b[0m").and_then(|()| out.flush());
        self.open = Open::Moving;
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
        let mut out = crate::out::stdout();
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
            Open::Words => writeln!(crate::out::stdout()),
            Open::Prompt => writeln!(std::io::stderr().lock()),
            Open::Moving => write!(std::io::stderr().lock(), "\r\x1b[K"),
        };
        open == Open::Words
    }
}
