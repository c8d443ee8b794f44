//! What a reply quotes, and is passed over: spans, fences, and what is said by others. What it may hold all the same is
//! looked for: the end of something that was opened before, and statements that may have been meant.

use super::foreign;
use super::marks::Mark;
use super::meaning;
use super::scan::Scan;
use crate::native;
use crate::prose::Quote;
use crate::thinking::COMMON;

/// A fence whose inside is read.
const READ_FENCE: &str = "tool_code";
/// No word of the surface of heredocs is longer, with what tells it from others.
const LONGEST_WORD: usize = 24;
/// The ends of so many of its statements are looked for.
const MOST_OTHERS: usize = 64;

impl Scan<'_, '_> {
    pub(super) fn quote(&mut self) {
        let bytes = self.text.as_bytes();
        let run = bytes[self.at..].iter().take_while(|byte| **byte == bytes[self.at]).count();
        let Some(quote) = self.quotes.quote_at(self.at) else {
            self.at += run;
            return;
        };
        let (from, to) = quote.body;
        if quote.info != Some(READ_FENCE) || quote.is_led {
            self.note_quoted(from, to);
        }
        match quote.info {
            None => {
                // Two backticks in different lines need not belong together.
                if self.text[from..to].contains('\n') {
                    self.quotes_ops(
                        from,
                        to,
                        "a statement between two backticks is quoted by them",
                    );
                    self.look_for_strays(from, to);
                } else if !self.marks.is_closer(from, to) {
                    self.look_for_begun(from, to);
                }
                self.at = quote.end;
            }
            Some(READ_FENCE) if self.base == 0 && !quote.is_led => {
                let place = self.place(self.at);
                self.found.repair(place, "foreign_call", format!("a {READ_FENCE} fence is read"));
                self.tell(self.at, self.at);
                self.read_fence(quote);
            }
            Some(_) => {
                // Behind the marks of a fence, in their line, there may be anything as well.
                let from = self.at + run;
                match quote.is_closed {
                    true if self.statements.half_fenced.is_some() => self.half_quote(from, to),
                    // The closer alone is spoken of.
                    true if self.marks.is_closer(quote.body.0, to) => {
                        self.look_for_begun(from, quote.body.0);
                    }
                    true => self.look_for_begun(from, to),
                    false => self.quote_unclosed(from),
                }
                self.at = quote.end;
            }
        }
    }

    /// Reads what stands in a fence.
    fn read_fence(&mut self, quote: Quote<'_>) {
        let (place, (from, to)) = (self.place(self.at), quote.body);
        let (count, body) = (self.found.counts(), &self.text[from..to]);
        match foreign::python_calls(body) {
            Some(calls) => {
                for (name, args) in calls {
                    let note = format!("a {READ_FENCE} fence read as a call of {name}");
                    meaning::take_call(&name, args, place, self.found, note);
                }
            }
            None => self.read_tags(quote),
        }
        if self.found.counts() == count && !body.trim().is_empty() {
            let note = format!("a {READ_FENCE} fence holds no call that can be read");
            self.found.misread(place, "foreign_malformed", note);
        }
        if !quote.is_closed {
            self.found.doubt(place);
            self.found.repair(place, "unclosed", format!("a {READ_FENCE} fence is not closed"));
        }
        self.told = quote.end;
        self.at = quote.end;
    }

    fn read_tags(&mut self, quote: Quote<'_>) {
        let (at, (from, to)) = (self.at, quote.body);
        let mut inner = Scan::new(&self.text[from..to], from.max(1), self.found);
        inner.statements = self.statements.for_inside();
        let inside = inner.run();
        for name in self.statements.add_inside(at, inside) {
            self.take_back(name);
        }
    }

    /// Passes over what is not said, if something of that kind stands here.
    pub(super) fn aside(&mut self) -> bool {
        let (at, Some(aside)) = (self.at, self.asides.at(self.at, self.told)) else { return false };
        if !aside.is_sure && self.holds_ops(at, aside.end) {
            let note =
                "it is doubtful where a comment, a result or what was shown ends; it is not read";
            self.problem(at, "quote_unclosed", note);
        }
        self.note_quoted(at, aside.end);
        self.look_for_strays(at, aside.end);
        self.at = aside.end;
        true
    }

    /// Whether a name of thoughts stands here that is a word as well, in the middle of a line, and closes nowhere.
    pub(super) fn is_word(&self) -> bool {
        let is_open = |mark: &Mark| !mark.is_close() && COMMON.contains(&mark.name);
        let Some(mark) = self.marks.at(self.at).filter(is_open) else { return false };
        let is_closed = self.marks.last_close(mark.name, mark.at, self.text.len()).is_some();
        !is_closed && !self.marks.leads_line(mark.at)
    }

    /// Passes over a statement of the surface of heredocs, if one begins the line here: what stands in it is its body.
    pub(super) fn other_surface(&mut self) -> bool {
        let at = self.at;
        let Some(inner) = self.text[at..].strip_prefix("<<") else { return false };
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = inner.bytes().take(LONGEST_WORD).take_while(is_name).count();
        let (name, rest) = inner.split_at(length);
        // What follows a word, and is no letter, tells one statement from another.
        let is_known = || {
            let is_suffix = |c: char| c.is_ascii_digit() || c == '_';
            native::is_word(name) || native::is_word(name.trim_end_matches(is_suffix))
        };
        if !rest.starts_with(['(', '[', ':']) || !self.marks.leads_line(at) || !is_known() {
            return false;
        }
        // To look for the end of each would take more than linear time.
        self.others += 1;
        let is_sought = self.others <= MOST_OTHERS;
        let end = is_sought.then(|| closed_within(rest, name)).flatten();
        let end = end.map(|end| self.text.len() - rest.len() + end);
        if self.others == 1 {
            let note = "this is written in heredoc, and replies are read as tags here";
            self.problem(at, "other_surface", note);
        }
        let end = end.unwrap_or(self.text.len());
        self.note_quoted(at, end);
        self.look_for_strays(at, end);
        self.at = end;
        true
    }

    pub(super) fn holds_ops(&self, from: usize, to: usize) -> bool {
        self.first_op(from, to).is_some()
    }

    /// Where the first tag of an op between two bytes begins.
    fn first_op(&self, from: usize, to: usize) -> Option<usize> {
        self.marks.within(from, to).iter().find(|mark| !mark.is_thought()).map(|mark| mark.at)
    }

    /// What stands in a fence may be what stands between two, where one before it was half in a body.
    fn half_quote(&mut self, from: usize, to: usize) {
        let count = self.statements.strays.len();
        self.look_for_strays(from, to);
        if self.statements.strays.len() > count {
            self.found.taint();
        }
    }

    /// A fence that is not closed takes everything to the end. It may be the second of two that stand in the body of
    /// a statement which seemed to be over before.
    fn quote_unclosed(&mut self, from: usize) {
        let doubtful =
            self.statements.half_fenced.map_or(0, |start| self.found.doubt(self.base + start));
        if doubtful > 0 || self.holds_ops(from, self.text.len()) {
            let note = "a fence is not closed; what follows is quoted";
            self.problem(self.at, "quote_unclosed", note);
        }
        self.look_for_strays(from, self.text.len());
    }

    /// What is passed over may hold the closer of something that was opened before it.
    pub(super) fn look_for_strays(&mut self, from: usize, to: usize) {
        for stray in self.marks.strays_within(from, to) {
            self.closes_nothing(stray.name, self.base + stray.at);
        }
        self.look_for_ends(from, to);
    }

    /// The same where what is passed over is closed itself: then only what was begun by that name can end in it.
    pub(super) fn look_for_begun(&mut self, from: usize, to: usize) {
        self.look_for_closers(from, to);
        self.look_for_ends(from, to);
    }

    pub(super) fn look_for_closers(&mut self, from: usize, to: usize) {
        for stray in self.marks.strays_within(from, to) {
            if self.statements.had_body(stray.name) {
                self.closes_nothing(stray.name, self.base + stray.at);
            }
        }
    }

    /// The same of calls in other formats, where there were any.
    fn look_for_ends(&mut self, from: usize, to: usize) {
        for (name, at) in self.ends.strays_within(from, to) {
            if self.statements.has_begun(name) {
                self.closes_nothing(name, self.base + at);
            }
        }
    }

    /// Keeps in mind that a statement is quoted, as one that stands alone there may have been meant.
    pub(super) fn note_quoted(&mut self, from: usize, to: usize) {
        if self.statements.quoted.is_some() {
            return;
        }
        let is_call =
            || self.ends.opens_within(from, to) || foreign::names_a_call(&self.text[from..to]);
        let first = self.marks.first_sound(from, to).or_else(|| is_call().then_some(from));
        self.statements.quoted = first.map(|at| self.place(at));
    }

    /// Tells of what may have been meant and was not done, as it is quoted.
    fn quotes_ops(&mut self, from: usize, to: usize, note: &str) {
        if let Some(at) = self.first_op(from, to) {
            self.problem(at, "statement_quoted", note);
        }
    }
}

/// Where a statement of the surface of heredocs is closed, if it is closed once.
fn closed_within(text: &str, name: &str) -> Option<usize> {
    let (open, close) = (format!("<<{name}"), format!(":{name}"));
    let closer = |from: usize| {
        let is_over = |(at, _): &(usize, &str)| {
            let behind = text[from + at + close.len()..].chars().next();
            !behind.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        text[from..].match_indices(&close).find(is_over).map(|(at, _)| from + at + close.len())
    };
    let end = closer(0)?;
    let next = text[end..].find(&open).map_or(text.len(), |at| end + at);
    closer(end).is_none_or(|again| again > next).then_some(end)
}
