//! Looks into one file for lines, and keeps as many of them as one page can show. Opens nothing:
//! it is handed the open file.

use super::page::{PAGE_BYTES, PAGE_ROWS};
use super::pattern::LineMatcher;
use super::row;
use super::trial::Trial;
use crate::look::read::{SNIFF, is_binary};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use std::fs::File;
use std::io::{self, Read};
use tokio_util::sync::CancellationToken;

/// The largest file looked into.
const MAX_FILE: u64 = 16 << 20;
/// A smaller file is read at once; others pass through in parts of about this size, and between two
/// of them it is seen whether anybody still waits.
const AT_ONCE: usize = 64 * 1024;

/// What was seen in a file.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Lines that match, or none.
    Lines(Lines),
    /// It is not text.
    Binary,
    /// It is larger than what is looked into.
    Large,
    /// What is looked for takes too long to be found in it.
    Long,
    /// It could not be read.
    Unreadable,
}

/// The lines of a file that match.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// How many there are.
    pub(crate) count: u64,
    /// Which of them the first kept one is, from 0.
    pub(crate) from: u64,
    /// Some of them, without a gap.
    pub(crate) kept: Vec<Kept>,
}

/// A matching line as it is told, with the lines around it.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The rows.
    pub(crate) text: String,
    /// How many.
    pub(crate) rows: usize,
}

/// Which matching lines of a file are kept, and how many are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The first to keep, from 0; none is kept when absent.
    pub(crate) keep_from: Option<u64>,
    /// Where counting ends.
    pub(crate) count_to: u64,
}

/// Looks into files, one after another.
pub(crate) struct Looker<'a> {
    matcher: &'a RegexMatcher,
    trial: Trial<'a>,
    cancel: &'a CancellationToken,
    searcher: Searcher,
    buffer: Vec<u8>,
}

impl<'a> Looker<'a> {
    /// Looks for what matches, and for so many lines before and after it.
    pub(crate) fn new(
        lines: &'a LineMatcher,
        context: usize,
        cancel: &'a CancellationToken,
    ) -> Self {
        let (matcher, trial) = (&lines.regex, Trial::new(&lines.pace));
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .line_terminator(matcher.line_terminator().unwrap_or_default())
            .binary_detection(BinaryDetection::none())
            .before_context(context)
            .after_context(context)
            .build();
        Self { matcher, trial, cancel, searcher, buffer: vec![0; AT_ONCE] }
    }

    /// Looks into a file.
    pub(crate) fn look(&mut self, mut file: File, window: Window) -> Seen {
        let Ok(read) = fill(&mut file, &mut self.buffer) else { return Seen::Unreadable };
        let start = &self.buffer[..read];
        if !is_utf16(start) && is_binary(&start[..read.min(SNIFF)]) {
            return Seen::Binary;
        }
        let mut rows = FoundRows::new(self.matcher, window);
        let searched = if read < AT_ONCE {
            if !self.trial.is_little(read) && !self.trial.passes(start) {
                return Seen::Long;
            }
            self.searcher.search_slice(self.matcher, start, &mut rows)
        } else {
            let bytes = match file.metadata() {
                Ok(metadata) if metadata.len() > MAX_FILE => return Seen::Large,
                Ok(metadata) => usize::try_from(metadata.len()).unwrap_or(usize::MAX),
                Err(_) => return Seen::Unreadable,
            };
            let mut rest = Watched { inner: start.chain(file.take(MAX_FILE)), cancel: self.cancel };
            if self.trial.is_little(bytes) {
                self.searcher.search_reader(self.matcher, rest, &mut rows)
            } else {
                let mut whole = Vec::with_capacity(bytes);
                if rest.read_to_end(&mut whole).is_err() {
                    return Seen::Unreadable;
                }
                if !self.trial.passes(&whole) {
                    return Seen::Long;
                }
                self.searcher.search_slice(self.matcher, &whole, &mut rows)
            }
        };
        match searched {
            Ok(()) if rows.has_nul => Seen::Binary,
            Ok(()) => Seen::Lines(rows.lines),
            Err(_) => Seen::Unreadable,
        }
    }
}

/// Fills the buffer as far as the file goes.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// Whether a file says of itself that it is UTF-16, which is full of NULs and text all the same.
fn is_utf16(start: &[u8]) -> bool {
    start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff")
}

/// A reader that ends when nobody waits for it any more.
struct Watched<'a, R> {
    inner: R,
    cancel: &'a CancellationToken,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.inner.read(buffer)
    }
}

/// Collects rows while a file is searched.
struct FoundRows<'a> {
    matcher: &'a RegexMatcher,
    window: Window,
    lines: Lines,
    rows: usize,
    bytes: usize,
    /// Lines before the next match.
    before: String,
    before_rows: usize,
    /// Whether the last match was kept, so that what follows it is too.
    is_keeping: bool,
    /// A line that would be told has a NUL, so the file is not text.
    has_nul: bool,
}

impl<'a> FoundRows<'a> {
    fn new(matcher: &'a RegexMatcher, window: Window) -> Self {
        let from = window.keep_from.unwrap_or(0);
        Self {
            matcher,
            window,
            lines: Lines { from, ..Lines::default() },
            rows: 0,
            bytes: 0,
            before: String::new(),
            before_rows: 0,
            is_keeping: false,
            has_nul: false,
        }
    }

    /// Notes whether a line has a NUL; whether the search goes on.
    fn is_text(&mut self, line: &[u8]) -> bool {
        self.has_nul |= memchr::memchr(0, line).is_some();
        !self.has_nul
    }

    fn wants_next(&self) -> bool {
        self.window.keep_from.is_some_and(|from| self.lines.count >= from)
            && self.rows < PAGE_ROWS
            && self.bytes < PAGE_BYTES
    }

    fn keep(&mut self, found: &SinkMatch<'_>) {
        let line = row::bare(found.bytes());
        let at = if row::is_long(line) {
            self.matcher.find(line).ok().flatten().map_or(0, |m| m.start())
        } else {
            0
        };
        let mut text = std::mem::take(&mut self.before);
        row::push(&mut text, found.line_number(), ':', &row::cut(line, at));
        let rows = std::mem::take(&mut self.before_rows) + 1;
        self.rows += rows;
        self.bytes += text.len();
        self.lines.kept.push(Kept { text, rows });
    }
}

impl Sink for FoundRows<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if !self.is_text(found.bytes()) {
            return Ok(false);
        }
        self.is_keeping = self.wants_next();
        if self.is_keeping {
            self.keep(found);
        }
        self.lines.count += 1;
        Ok(self.lines.count < self.window.count_to)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        if !self.is_text(around.bytes()) {
            return Ok(false);
        }
        let line = row::cut(row::bare(around.bytes()), 0);
        if matches!(around.kind(), SinkContextKind::Before) {
            if self.wants_next() {
                row::push(&mut self.before, around.line_number(), '-', &line);
                self.before_rows += 1;
            }
        } else if self.is_keeping
            && let Some(kept) = self.lines.kept.last_mut()
        {
            let before = kept.text.len();
            row::push(&mut kept.text, around.line_number(), '-', &line);
            kept.rows += 1;
            self.rows += 1;
            self.bytes += kept.text.len() - before;
        }
        Ok(true)
    }
}
