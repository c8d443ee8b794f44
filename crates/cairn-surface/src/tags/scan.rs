//! Walks over a reply outside of statements, quotes and thoughts, and takes down what it meets there.

use super::foreign::{self, Met};
use super::found::Found;
use super::head::{Shape, decoded, goes_on};
use super::later::Later;
use super::marks::{Kind, Mark, Marks, is_cut_at};
use super::meaning::{self, Said};
use crate::native::Given;
use crate::prose::Quotes;
use std::collections::HashMap;

/// A fence whose inside is read.
const READ_FENCE: &str = "tool_code";

pub(super) struct Scan<'a, 'f> {
    pub(super) text: &'a str,
    /// Where the text begins in the whole reply.
    base: usize,
    pub(super) marks: Marks<'a>,
    quotes: Quotes<'a>,
    pub(super) later: Later<'a>,
    pub(super) found: &'f mut Found,
    /// How far it was read.
    pub(super) at: usize,
    /// How far prose was taken down.
    told: usize,
    /// How far everything was thought.
    thought: usize,
    /// The last angle bracket in prose: what is left of a tag, perhaps.
    trace: Option<usize>,
    /// The last statement: its name, and where it ended.
    last: Option<(&'static str, usize)>,
    /// Of each name, from where on a statement may go on that was taken to be over.
    short: HashMap<&'static str, usize>,
    /// Where paragraphs end.
    gaps: Vec<usize>,
}

impl<'a, 'f> Scan<'a, 'f> {
    pub(super) fn new(text: &'a str, base: usize, found: &'f mut Found) -> Scan<'a, 'f> {
        Scan {
            text,
            base,
            marks: Marks::new(text),
            quotes: Quotes::new(text),
            later: Later::new(text),
            found,
            at: 0,
            told: 0,
            thought: 0,
            trace: None,
            last: None,
            short: HashMap::new(),
            gaps: text.match_indices("\n\n").map(|(at, _)| at).collect(),
        }
    }

    pub(super) fn run(mut self) {
        let bytes = self.text.as_bytes();
        let is_met = |byte: &u8| matches!(byte, b'<' | b'`' | b'~' | b'[' | b'{' | b'>');
        while let Some(met) = bytes[self.at..].iter().position(is_met) {
            self.at += met;
            match bytes[self.at] {
                b'<' => self.bracket(),
                b'`' | b'~' => self.quote(),
                b'>' => {
                    self.trace = Some(self.at);
                    self.at += 1;
                }
                _ => {
                    if !self.foreign() {
                        self.at += 1;
                    }
                }
            }
        }
        self.tell(self.text.len(), self.text.len());
    }

    pub(super) fn place(&self, at: usize) -> usize {
        self.base + at
    }

    pub(super) fn repair(&mut self, at: usize, kind: &'static str, note: impl Into<String>) {
        self.found.repair(self.base + at, kind, note);
    }

    pub(super) fn problem(&mut self, at: usize, kind: &'static str, note: impl Into<String>) {
        self.found.problem(self.base + at, kind, note);
    }

    /// Takes down the prose before a place, and goes on behind another. A line that held nothing else is gone.
    pub(super) fn tell(&mut self, to: usize, end: usize) {
        self.found.text.push_str(&self.text[self.told..to]);
        let text = &self.found.text;
        let rest = &self.text[end..];
        let is_line = text.is_empty() || text.ends_with('\n');
        let line_end = ["\r\n", "\n"].into_iter().find(|mark| rest.starts_with(mark));
        self.told = end + line_end.filter(|_| is_line).map_or(0, str::len);
        self.at = end;
    }

    fn quote(&mut self) {
        let bytes = self.text.as_bytes();
        let run = bytes[self.at..].iter().take_while(|byte| **byte == bytes[self.at]).count();
        let Some(quote) = self.quotes.quote_at(self.at) else {
            self.at += run;
            return;
        };
        let (from, to) = quote.body;
        match quote.info {
            // A span is within a paragraph; two backticks far from each other quote nothing.
            None if self.is_broken_up(self.at, quote.end) => self.at += run,
            None => self.at = quote.end,
            Some(READ_FENCE) if self.base == 0 => {
                let place = self.place(self.at);
                self.found.repair(place, "foreign_call", format!("a {READ_FENCE} fence is read"));
                self.tell(self.at, self.at);
                Scan::new(&self.text[from..to], from.max(1), self.found).run();
                self.told = quote.end;
                self.at = quote.end;
            }
            Some(_) => {
                if !quote.is_closed && self.marks.next_clean(from).is_some() {
                    self.problem(
                        self.at,
                        "fence_unclosed",
                        "a fence is not closed; what follows is quoted",
                    );
                }
                self.at = quote.end;
            }
        }
    }

    /// Whether a paragraph ends or an op stands between two places.
    fn is_broken_up(&self, from: usize, to: usize) -> bool {
        let gap = self.gaps.get(self.gaps.partition_point(|at| *at < from));
        gap.is_some_and(|gap| *gap < to) || self.marks.next_clean(from).is_some_and(|at| at < to)
    }

    fn bracket(&mut self) {
        match self.marks.at(self.at) {
            Some(mark) if mark.is_thought() => self.thought(mark),
            Some(mark) => self.statement(mark),
            None => {
                if self.foreign() {
                    return;
                }
                if is_cut_at(self.text, self.at) {
                    self.problem(self.at, "truncated", "the reply ends within a tag");
                    self.tell(self.at, self.text.len());
                    return;
                }
                self.trace = Some(self.at);
                self.at += 1;
            }
        }
    }

    fn statement(&mut self, mark: Mark) {
        match mark.kind {
            Kind::Close | Kind::CloseUnended => self.orphan(mark),
            Kind::Head(Shape::Whole) => self.take(mark, None, mark.end),
            Kind::Head(Shape::Open) => match self.marks.mate(mark) {
                Some(close) => self.take(mark, Some((mark.end, close.at)), close.end),
                None => self.unclosed(mark),
            },
            Kind::Head(Shape::Truncated) => {
                self.problem(mark.at, "truncated", format!("the reply ends within <{}", mark.name));
                self.tell(mark.at, self.text.len());
            }
            Kind::Head(Shape::Broken | Shape::BrokenWhole) => self.broken(mark),
        }
    }

    /// Takes a statement that is closed.
    fn take(&mut self, mark: Mark, body: Option<(usize, usize)>, end: usize) {
        let mut repairs = Vec::new();
        let close = body.and_then(|(_, to)| self.marks.at(to));
        if close.is_some_and(|close| close.kind == Kind::CloseUnended) {
            repairs.push(("closer_unended", format!("</{} is not ended", mark.name)));
        }
        let body = body.map(|(from, to)| &self.text[from..to]);
        // A bracket too many, or too early: it is doubtful where the tag ends and the body begins.
        let is_stray = |body: &str| body.starts_with('>') || body.ends_with('<') || goes_on(body);
        if body.is_some_and(is_stray) {
            let note = format!("it is doubtful where the body of <{}> begins or ends", mark.name);
            self.problem(mark.at, "bracket_stray", note);
            return self.done(mark, end, false);
        }
        self.say(mark, body, repairs, false);
        self.done(mark, end, false);
    }

    /// Takes down what a statement says.
    pub(super) fn say(
        &mut self,
        mark: Mark,
        body: Option<&'a str>,
        mut repairs: Vec<(&'static str, String)>,
        is_unclosed: bool,
    ) {
        let head = self.marks.head(mark);
        if mark.is_shouted {
            repairs.push(("tag_case", format!("a tag in capitals read as {}", mark.name)));
        }
        if head.is_requoted {
            repairs
                .push(("quote_closed", "a value's quote closed at the end of its tag".to_owned()));
        }
        let given = head
            .attrs
            .iter()
            .map(|(name, raw)| (*name, raw.map_or(Given::Flag, |raw| Given::Text(decoded(raw)))));
        let body = body.map(|body| {
            let line_end = ["\r\n", "\n"].into_iter().find(|mark| body.starts_with(mark));
            &body[line_end.map_or(0, str::len)..]
        });
        let said = Said {
            name: mark.name,
            given: given.collect(),
            body,
            at: self.place(mark.at),
            is_unclosed: is_unclosed || head.is_requoted,
            repairs,
        };
        meaning::take(said, self.found);
    }

    /// Goes on behind a statement. Where its end was not written, it may have been meant to go on.
    pub(super) fn done(&mut self, mark: Mark, end: usize, is_short: bool) {
        match mark.kind {
            _ if is_short => self.short.insert(mark.name, mark.at),
            Kind::Head(Shape::Whole) => self.short.insert(mark.name, end),
            _ => self.short.remove(mark.name),
        };
        self.last = Some((mark.name, end));
        self.tell(mark.at, end);
    }

    /// A closer that closes nothing. Directly behind a statement of its name it is one too many. Otherwise it
    /// closes something whose opening was not read as such, and what was read in between stood in a body.
    fn orphan(&mut self, close: Mark) {
        let is_extra = |end: usize| self.text[end..close.at].trim().is_empty();
        if self.last.is_some_and(|(name, end)| name == close.name && is_extra(end)) {
            self.repair(close.at, "closer_extra", format!("</{}> closes nothing", close.name));
            self.last = Some((close.name, close.end));
            return self.tell(close.at, close.end);
        }
        let opened = self.short.remove(close.name).max(self.trace);
        let count = opened.map_or(0, |from| self.found.withdraw(self.base + from));
        let mut note = format!("</{}> closes nothing", close.name);
        if count > 0 {
            note.push_str(&format!("; {count} ops before it may stand in what it closes"));
        }
        self.problem(close.at, "closer_alone", note);
        self.trace = None;
        self.tell(close.at, close.end);
    }

    fn thought(&mut self, mark: Mark) {
        if mark.is_close() {
            return self.all_was_thought(mark.at, mark.end);
        }
        match (mark.kind, self.marks.mate(mark)) {
            (Kind::Head(Shape::Open), Some(close)) => {
                self.found.thought(&self.text[mark.end..close.at]);
                self.tell(mark.at, close.end);
            }
            (Kind::Head(Shape::Open), None) => self.thought_unclosed(mark),
            _ => self.tell(mark.at, mark.end),
        }
    }

    /// Everything before a closer that opens nowhere was thought.
    fn all_was_thought(&mut self, at: usize, end: usize) {
        self.found.all_was_thought(&self.text[self.thought..at]);
        self.thought = end;
        self.repair(
            at,
            "thought_unopened",
            "everything before the end of a thought is taken as thought",
        );
        (self.told, self.trace, self.last) = (at, None, None);
        self.short.clear();
        self.tell(at, end);
    }

    /// A thought that is not closed ends where a whole op stands on lines of its own: later ops are not lost.
    fn thought_unclosed(&mut self, mark: Mark) {
        let stop = self.marks.next_clean(mark.end).unwrap_or(self.text.len());
        let close = self.marks.last_close(mark.name, mark.end, stop);
        let (to, end) = close.map_or((stop, stop), |close| (close.at, close.end));
        self.found.thought(&self.text[mark.end..to]);
        self.repair(mark.at, "thought_unclosed", "a thought is not closed");
        self.tell(mark.at, end);
    }

    /// Takes what is written in another format, if something is.
    fn foreign(&mut self) -> bool {
        let Some(met) = foreign::read(self.text, self.at, &mut self.later) else { return false };
        let at = self.at;
        let place = self.place(at);
        let end = match met {
            Met::Calls { calls, format, end } => {
                let mut is_known = false;
                for (name, args) in calls {
                    let note = format!("{format} read as a call of {name}");
                    is_known |= meaning::take_call(&name, args, place, self.found, note);
                }
                // What calls nothing that there is stays prose.
                if !is_known {
                    self.at = end;
                    return true;
                }
                end
            }
            Met::Thought { from, to, end } => {
                self.found.thought(&self.text[from..to]);
                end
            }
            Met::ThoughtEnd { end } => {
                self.all_was_thought(at, end);
                return true;
            }
            Met::Markup { end } => end,
            Met::Malformed { why, end } => {
                self.found.problem(place, "foreign_malformed", why);
                end
            }
        };
        self.last = None;
        self.tell(at, end);
        true
    }
}
