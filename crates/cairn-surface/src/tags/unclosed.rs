//! Statements whose end was not written, or whose head makes no sense: where they are taken to end, so that no
//! later op is lost and nothing in a body becomes one.

use super::head::Shape;
use super::marks::{Kind, Mark};
use super::meaning::Ending;
use super::scan::Scan;

/// So many characters of what makes no sense are shown.
const SHOWN: usize = 40;

impl<'a> Scan<'a, '_> {
    /// A tag that opens and is not closed.
    pub(super) fn unclosed(&mut self, mark: Mark) {
        let has_attributes = !self.marks.head(mark).attrs.is_empty();
        if !has_attributes && !self.marks.begins_line(mark.at) {
            return self.mentioned(mark);
        }
        let next = self.marks.next(mark.end).filter(|next| !next.is_close() && !next.is_thought());
        let next = next.map_or(self.text.len(), |next| next.at);
        if self.text[mark.end..next].trim_start().is_empty() {
            return self.bodiless(mark, next);
        }
        let stop = self.marks.next_clean(mark.end).unwrap_or(self.text.len());
        if let Some(close) = self.marks.next_stray(mark.end).filter(|close| close.at < stop) {
            // It may be that of an op before, whose body held its own closer and this tag.
            if self.statements.has_begun(close.name) {
                self.problem(mark.at, "unclosed", format!("<{}> is not closed", mark.name));
                self.closes_nothing(close.name, self.place(close.at));
                self.found.taint();
                return self.done(mark, close.end);
            }
            let note = format!("</{}> read as </{}>", close.name, mark.name);
            let body = &self.text[mark.end..close.at];
            // With other brackets in between it may be the closer of something else.
            let is_cut = close.kind == Kind::CloseUnended && close.end == self.text.len();
            let is_doubtful = is_cut || body.contains(['<', '>']);
            let ending = if is_doubtful { Ending::Missing } else { Ending::Guessed };
            self.say(mark, Some(body), vec![("closer_mismatched", note)], ending);
            return self.done(mark, close.end);
        }
        let inner = self.marks.last_close(mark.name, mark.end, stop);
        let inner = inner.filter(|close| self.text[close.end..stop].trim().is_empty());
        let (to, end) = inner.map_or((stop, stop), |close| (close.at, close.end));
        let body = without_cut_closer(&self.text[mark.end..to], mark.name);
        let ends = if stop < self.text.len() { "where the next op begins" } else { "at the end" };
        let note = format!("<{}> is not closed; taken to end {ends}", mark.name);
        self.say(mark, Some(body), vec![("unclosed", note)], Ending::Missing);
        self.done(mark, end);
    }

    /// Nothing stands between it and the next tag: it was meant to be whole.
    fn bodiless(&mut self, mark: Mark, end: usize) {
        let is_last = end == self.text.len();
        let kind = if is_last { "unclosed" } else { "self_closed" };
        let note = format!("<{}> is not closed and has no body", mark.name);
        let ending = if is_last { Ending::Missing } else { Ending::Guessed };
        self.say(mark, None, vec![(kind, note)], ending);
        self.done(mark, end);
    }

    /// A bare name in the middle of a line that is closed nowhere is spoken of, and says nothing. What follows may
    /// stand in it all the same.
    fn mentioned(&mut self, mark: Mark) {
        let before = self.text[..mark.at].chars().next_back();
        if !before.is_some_and(char::is_alphanumeric) {
            self.problem(mark.at, "unclosed", format!("<{}> is not closed", mark.name));
            // With words of the same line behind it, it is one of them.
            let behind = self.text[mark.end..].strip_prefix(' ');
            if !behind.is_some_and(|behind| behind.starts_with(char::is_alphabetic)) {
                self.found.taint();
            }
        }
        self.at = mark.end;
    }

    /// A head that makes no sense: no op, and none in what it holds.
    pub(super) fn broken(&mut self, mark: Mark) {
        let has_body = mark.kind == Kind::Head(Shape::Broken);
        let at = self.marks.head(mark).last;
        let written: String = self.text[at..mark.end.max(at)]
            .chars()
            .take(SHOWN)
            .take_while(|c| *c != '\n')
            .collect();
        let note =
            format!("the attributes of <{}> make no sense from here on: {written}", mark.name);
        self.found.misread(self.place(at), "tag_malformed", note);
        let is_whole = self.text[..mark.end].ends_with("/>");
        let close = self.marks.next_stray_of(mark.name, mark.end).filter(|_| !is_whole);
        let stop = self.marks.next_clean(mark.end).unwrap_or(self.text.len());
        let end = match close {
            Some(close) => close.end,
            None if has_body => stop,
            None => mark.end,
        };
        if close.is_none() && !is_whole {
            self.found.taint();
        }
        // Its own closer, too, where a body of its name may have held it.
        for stray in self.marks.strays_within(mark.at, end) {
            if stray.name != mark.name || self.statements.had_body(stray.name) {
                self.closes_nothing(stray.name, self.place(stray.at));
            }
        }
        self.done(mark, end);
    }
}

/// A body without the beginning of its closer at the very end.
fn without_cut_closer<'a>(body: &'a str, name: &str) -> &'a str {
    let Some(at) = body.rfind("</") else { return body };
    let begun = body[at + 2..].trim_end();
    if name.starts_with(begun) { &body[..at] } else { body }
}
