//! Walks over a reply outside of statements, quotes and thoughts, and takes down what it meets there.

use super::foreign::{self, Met};
use super::found::Found;
use super::head::{Shape, decoded, goes_on};
use super::later::Later;
use super::marks::{Kind, Mark, Marks, is_cut_at};
use super::meaning::{self, Ending, Said};
use crate::asides::Asides;
use crate::native::Given;
use crate::prose::Quotes;
use crate::thinking;
use std::collections::HashMap;

/// A fence whose inside is read.
const READ_FENCE: &str = "tool_code";

pub(super) struct Scan<'a, 'f> {
    pub(super) text: &'a str,
    /// Where the text begins in the whole reply.
    base: usize,
    pub(super) marks: Marks<'a>,
    quotes: Quotes<'a>,
    asides: Asides<'a>,
    pub(super) later: Later<'a>,
    pub(super) found: &'f mut Found,
    /// How far it was read.
    pub(super) at: usize,
    /// How far prose was taken down.
    told: usize,
    /// How far everything was thought.
    thought: usize,
    /// The first angle bracket in prose: what is left of a tag, perhaps.
    trace: Option<usize>,
    /// The last statement, if it has no body: its name, and where it ended.
    last: Option<(&'static str, usize)>,
    /// Of each name, where its last statement begins.
    begun: HashMap<&'static str, usize>,
    /// The first statement whose body ends in a fence: it may go on behind that.
    half_fenced: Option<usize>,
    /// The names of closers that close nothing.
    strays: Vec<&'static str>,
}

impl<'a, 'f> Scan<'a, 'f> {
    pub(super) fn new(text: &'a str, base: usize, found: &'f mut Found) -> Scan<'a, 'f> {
        Scan {
            text,
            base,
            marks: Marks::new(text),
            quotes: Quotes::new(text),
            asides: Asides::new(text),
            later: Later::new(text),
            found,
            at: 0,
            told: 0,
            thought: 0,
            trace: None,
            last: None,
            begun: HashMap::new(),
            half_fenced: None,
            strays: Vec::new(),
        }
    }

    /// Reads all of it, and answers the names of the closers that close nothing in it.
    pub(super) fn run(mut self) -> Vec<&'static str> {
        let bytes = self.text.as_bytes();
        let is_met = |byte: &u8| matches!(byte, b'<' | b'`' | b'~' | b'[' | b'{' | b'>');
        while let Some(met) = bytes[self.at..].iter().position(is_met) {
            self.at += met;
            if self.aside() {
                continue;
            }
            match bytes[self.at] {
                b'<' => self.bracket(),
                b'`' | b'~' => self.quote(),
                b'>' => self.leave(),
                _ => {
                    if !self.thought() && !self.foreign() {
                        self.at += 1;
                    }
                }
            }
        }
        self.tell(self.text.len(), self.text.len());
        self.strays
    }

    /// Leaves an angle bracket as prose.
    fn leave(&mut self) {
        self.trace.get_or_insert(self.at);
        self.at += 1;
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
            None => {
                // Two backticks in different lines need not belong together.
                if self.text[from..to].contains('\n') {
                    self.quotes_ops(
                        from,
                        to,
                        "a statement between two backticks is quoted by them",
                    );
                    self.look_for_strays(from, to);
                }
                self.at = quote.end;
            }
            Some(READ_FENCE) if self.base == 0 && !quote.is_led => {
                let place = self.place(self.at);
                self.found.repair(place, "foreign_call", format!("a {READ_FENCE} fence is read"));
                self.tell(self.at, self.at);
                let strays = Scan::new(&self.text[from..to], from.max(1), self.found).run();
                for name in strays {
                    self.take_back(name);
                }
                self.told = quote.end;
                self.at = quote.end;
            }
            Some(_) => {
                match quote.is_closed {
                    true if self.half_fenced.is_some() => self.look_for_strays(from, to),
                    true => {}
                    false => self.quote_unclosed(from),
                }
                self.at = quote.end;
            }
        }
    }

    /// Passes over what is not said, if something of that kind stands here.
    fn aside(&mut self) -> bool {
        let (at, Some(aside)) = (self.at, self.asides.at(self.at, self.told)) else { return false };
        if !aside.is_sure && self.holds_ops(at, aside.end) {
            let note =
                "it is doubtful where a comment or a result ends; what stands in it is not read";
            self.problem(at, "quote_unclosed", note);
        }
        self.look_for_strays(at, aside.end);
        self.at = aside.end;
        true
    }

    fn holds_ops(&self, from: usize, to: usize) -> bool {
        self.first_op(from, to).is_some()
    }

    /// Where the first tag of an op between two bytes begins.
    fn first_op(&self, from: usize, to: usize) -> Option<usize> {
        self.marks.within(from, to).iter().find(|mark| !mark.is_thought()).map(|mark| mark.at)
    }

    /// A fence that is not closed takes everything to the end. It may be the second of two that stand in the body of
    /// a statement which seemed to be over before.
    fn quote_unclosed(&mut self, from: usize) {
        let doubtful = self.half_fenced.map_or(0, |start| self.found.doubt(self.base + start));
        if doubtful > 0 || self.holds_ops(from, self.text.len()) {
            let note = "a fence is not closed; what follows is quoted";
            self.problem(self.at, "quote_unclosed", note);
        }
        self.look_for_strays(from, self.text.len());
    }

    /// What is passed over may hold the closer of something that was opened before it.
    fn look_for_strays(&mut self, from: usize, to: usize) {
        for stray in self.marks.strays_within(from, to) {
            self.closes_nothing(stray.name, self.base + stray.at);
        }
    }

    /// Tells of what may have been meant and was not done, as it is quoted.
    fn quotes_ops(&mut self, from: usize, to: usize, note: &str) {
        if let Some(at) = self.first_op(from, to) {
            self.problem(at, "statement_quoted", note);
        }
    }

    /// Whether the mark here is escaped: spoken of, and no mark.
    fn is_escaped(&self) -> bool {
        let before = &self.text[..self.at];
        let is_odd = (before.len() - before.trim_end_matches('\\').len()) % 2 == 1;
        is_odd && !self.text[self.at..].starts_with("</")
    }

    fn bracket(&mut self) {
        // A thought is one all the same: nothing in it is meant.
        if self.is_escaped() && thinking::mark_at(self.text, self.at).is_none() {
            return self.leave();
        }
        // A message to a function is a call, though its channel is that of thoughts.
        if self.foreign() || self.thought() {
            return;
        }
        match self.marks.at(self.at) {
            Some(mark) if mark.is_thought() => match mark.is_close() {
                true => self.all_was_thought(mark.at, mark.end),
                false => self.thought_unclosed(mark.end),
            },
            Some(mark) => self.statement(mark),
            None if is_cut_at(self.text, self.at) => {
                self.problem(self.at, "truncated", "the reply ends within a tag");
                self.tell(self.at, self.text.len());
            }
            None => self.leave(),
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
        if body.is_some_and(|(from, to)| self.marks.is_fenced(from, to)) {
            self.half_fenced.get_or_insert(mark.at);
        }
        let body = body.map(|(from, to)| &self.text[from..to]);
        // A bracket too many, or too early: it is doubtful where the tag ends and the body begins.
        let is_stray = |body: &str| body.starts_with('>') || body.ends_with('<') || goes_on(body);
        if body.is_some_and(is_stray) {
            let note = format!("it is doubtful where the body of <{}> begins or ends", mark.name);
            self.problem(mark.at, "bracket_stray", note);
            self.found.taint();
            return self.done(mark, end);
        }
        self.say(mark, body, repairs, Ending::Written);
        self.done(mark, end);
    }

    /// Takes down what a statement says.
    pub(super) fn say(
        &mut self,
        mark: Mark,
        body: Option<&'a str>,
        mut repairs: Vec<(&'static str, String)>,
        ending: Ending,
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
            ending: if head.is_requoted { Ending::Missing } else { ending },
            repairs,
        };
        meaning::take(said, self.found);
    }

    /// Goes on behind a statement.
    pub(super) fn done(&mut self, mark: Mark, end: usize) {
        self.begun.insert(mark.name, mark.at);
        self.last = (mark.kind == Kind::Head(Shape::Whole)).then_some((mark.name, end));
        self.tell(mark.at, end);
    }

    /// A closer that closes nothing. Directly behind a tag of its name that has no body it is one too many.
    fn orphan(&mut self, close: Mark) {
        if self.last == Some((close.name, close.at)) && self.trace.is_none() {
            self.repair(close.at, "closer_extra", format!("</{}> closes nothing", close.name));
        } else {
            self.closes_nothing(close.name, self.base + close.at);
        }
        self.tell(close.at, close.end);
    }

    /// Where something is closed that was not opened, an opener before it was not read as such, or a body held its
    /// own closer. What was read since may have stood in that body, and is taken back.
    pub(super) fn closes_nothing(&mut self, name: &'static str, place: usize) {
        let count = self.take_back(name);
        let mut note = format!("</{name}> closes nothing");
        if count > 0 {
            note.push_str(&format!("; {count} ops before it may stand in what it closes"));
        }
        self.found.problem(place, "closer_alone", note);
        self.strays.push(name);
    }

    /// Whether a statement of this name was read.
    pub(super) fn has_begun(&self, name: &str) -> bool {
        self.begun.contains_key(name)
    }

    /// Takes back what may stand in a body that ends here, and belongs to this name; how many ops that were.
    fn take_back(&mut self, name: &str) -> usize {
        let opened = [self.begun.remove(name), self.trace.take()];
        let from = opened.into_iter().flatten().min().unwrap_or_default();
        self.found.withdraw(self.base + from)
    }

    /// Takes the mark of a thought, if one stands here.
    fn thought(&mut self) -> bool {
        let at = self.at;
        let Some(mark) = thinking::mark_at(self.text, at) else { return false };
        match mark {
            thinking::Mark::Frame { end } => self.tell(at, end),
            thinking::Mark::Closer { end } => self.all_was_thought(at, end),
            thinking::Mark::Thought { said, is_closed: false, .. } => {
                self.thought_unclosed(self.text.len() - said.len());
            }
            thinking::Mark::Thought { said, end, .. } => {
                self.found.thought(said);
                self.tell(at, end);
            }
        }
        true
    }

    /// Everything before a closer that opens nowhere was thought.
    fn all_was_thought(&mut self, at: usize, end: usize) {
        let count = self.found.all_was_thought(&self.text[self.thought..at]);
        self.thought = end;
        let note = "everything before the end of a thought is taken as thought";
        self.repair(at, "thought_unopened", note);
        if count > 0 {
            let note = format!("{count} ops before the end of a thought are taken as thought");
            self.problem(at, "thought_closed", note);
        }
        (self.told, self.trace, self.last) = (at, None, None);
        self.begun.clear();
        self.tell(at, end);
    }

    /// A thought that is not closed goes on to the end: no op in it is meant.
    fn thought_unclosed(&mut self, from: usize) {
        let (at, to) = (self.at, self.text.len());
        self.found.thought(&self.text[from..]);
        self.repair(at, "thought_unclosed", "a thought is not closed; taken to end at the end");
        if self.holds_ops(from, to) {
            let note = "a thought is not closed; the tags in it are taken as thought";
            self.problem(at, "thought_unclosed", note);
        }
        self.look_for_strays(from, to);
        self.tell(at, to);
    }

    /// Takes what is written in another format, if something is.
    fn foreign(&mut self) -> bool {
        let Some(met) = foreign::read(self.text, self.at, &mut self.later) else { return false };
        let at = self.at;
        let place = self.place(at);
        let end = match met {
            Met::Calls { calls, format, end } => {
                self.begun.extend(foreign::CLOSERS.iter().map(|(name, _)| (*name, at)));
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
            Met::Markup { end } => end,
            Met::Closer { name, end } => {
                self.closes_nothing(name, place);
                end
            }
            Met::Prose { end } => {
                self.look_for_strays(at, end);
                self.at = end;
                return true;
            }
            Met::Malformed { why, end } => {
                self.found.problem(place, "foreign_malformed", why);
                self.look_for_strays(at, end);
                end
            }
        };
        self.last = None;
        self.tell(at, end);
        true
    }
}
