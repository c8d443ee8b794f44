//! Reads a reply from left to right: statements, thoughts, quotes and prose. Never fails, and takes time linear in the
//! text. What is not closed, or closes nothing, is `recover`'s.

use super::foreign::{Foreign, Form, Met, is_message_to_function};
use super::gather::Gathered;
use super::index::Index;
use super::meant::{Framed, meant};
use super::named::Named;
use super::slots::{End, Slots, slots};
use super::{Fault, name_at, opens_slot, shown, word_of};
use crate::asides::{Aside, Asides};
use crate::prose::{Quote, Quotes};
use crate::thinking::{Mark, mark_at};
use crate::{Places, Reading, native};
use std::collections::HashSet;

/// What a mark of thoughts begins with, besides brackets.
const UNUSUAL: char = '◁';

/// What a reply says. No more than `cap` ops are read.
#[must_use]
pub fn parse(text: &str, cap: usize) -> Reading {
    let mut reader = Reader {
        text,
        cap,
        index: Index::new(text),
        quotes: Quotes::new(text),
        asides: Asides::new(text),
        places: Places::new(text),
        foreign: Foreign::new(text),
        named: Named::default(),
        half_fenced: HashSet::new(),
        half_fenced_from: None,
        found: Gathered::default(),
        thought_from: 0,
        has_mention: false,
        quoted: None,
        prose_from: 0,
    };
    reader.walk();
    reader.tell_quoted();
    reader.found.reading(&reader.places, cap)
}

/// A text being read.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    cap: usize,
    pub(super) index: Index<'a>,
    quotes: Quotes<'a>,
    asides: Asides<'a>,
    places: Places<'a>,
    foreign: Foreign<'a>,
    pub(super) named: Named<'a>,
    /// The names of statements whose bodies end in a fence: they may go on behind that.
    pub(super) half_fenced: HashSet<&'a str>,
    /// Where the first of them begins.
    half_fenced_from: Option<usize>,
    pub(super) found: Gathered<'a>,
    /// Where a thought would have begun whose opener was not written.
    thought_from: usize,
    /// Whether a `<<` was taken for prose, which may have been an opener.
    pub(super) has_mention: bool,
    /// Where the first statement is quoted.
    quoted: Option<usize>,
    /// Where the prose begins that is being read.
    pub(super) prose_from: usize,
}

/// What stands at a place, and where it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Prose.
    Prose(usize),
    /// Something else, which was dealt with.
    Past(usize),
}

/// Whether the end of something stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It does.
    Written,
    /// It was taken to be where it must be at the latest.
    Missing,
}

impl Ending {
    fn of(is_closed: bool) -> Ending {
        if is_closed { Ending::Written } else { Ending::Missing }
    }
}

/// A statement by its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opener<'a> {
    /// The byte where it begins.
    pub start: usize,
    /// Word and suffix.
    pub name: &'a str,
    /// The word.
    pub word: &'a str,
}

impl<'a> Reader<'a> {
    fn walk(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            let rest = &self.text[at..];
            let Some(next) = rest.find(['<', '[', '{', ':', '`', '~', UNUSUAL]) else { break };
            match self.step(at + next) {
                Step::Prose(end) => at = end,
                Step::Past(end) => {
                    // What was said before may have been taken for a thought just now.
                    let from = self.prose_from.max(self.thought_from.min(at + next));
                    self.found.prose(&self.text[from..at + next]);
                    (at, self.prose_from) = (end, end);
                }
            }
        }
        self.found.prose(&self.text[self.prose_from..]);
    }

    fn step(&mut self, at: usize) -> Step {
        if let Some(aside) = self.asides.at(at, self.prose_from) {
            return self.aside(at, aside);
        }
        match self.text.as_bytes()[at..] {
            [b'`' | b'~', ..] => self.quoted(at),
            [b'<', b'<', ..] if self.text[..at].ends_with('\\') => Step::Prose(at + 2),
            [b'<', b'<', ..] => {
                let step = self.statement(at);
                self.has_mention |= matches!(step, Step::Prose(_));
                step
            }
            [b':', ..] => self.closer(at),
            _ => match self.foreign.at(at) {
                Some(met) => self.foreign(at, met),
                None => self.thought(at),
            },
        }
    }

    /// Passes over what is written in another form.
    fn foreign(&mut self, at: usize, Met { end, is_sure, form }: Met) -> Step {
        match form {
            Form::Tag => {
                let note = "this is written in tags, and was not read";
                self.found.fault(Fault::new("other_surface", at, note));
            }
            Form::Text if !self.index.opens_any(at, end) => {}
            Form::Call | Form::Text => self.not_read(at),
        }
        self.skip(at, end, Ending::of(is_sure));
        // It may have begun in prose, and end in a body.
        if self.index.opens_across(at, end) {
            self.found.taint();
        }
        Step::Prose(end)
    }

    fn not_read(&mut self, at: usize) {
        let note = "a call in another form was not read";
        self.found.fault(Fault::new("foreign_call", at, note));
    }

    /// Passes over what is not said.
    fn aside(&mut self, at: usize, Aside { end, is_sure }: Aside) -> Step {
        if !is_sure && self.index.opens_any(at, end) {
            let note =
                "it is doubtful where a comment or a result ends; what stands in it is not read";
            self.found.fault(Fault::new("quote_unclosed", at, note));
        }
        self.note_quoted(at, end);
        self.skip(at, end, Ending::Missing);
        Step::Prose(end)
    }

    fn thought(&mut self, at: usize) -> Step {
        match mark_at(self.text, at) {
            None => Step::Prose(at + self.text[at..].chars().next().map_or(1, char::len_utf8)),
            Some(Mark::Frame { end }) => Step::Past(end),
            Some(Mark::Closer { end }) => {
                let count = self.found.all_was_thought(&self.text[self.thought_from..at]);
                self.thought_from = end;
                let note = "everything before the end of a thought is taken as thought";
                self.found.repair(at, "thought_unopened", note.to_owned());
                if count > 0 {
                    let note =
                        format!("{count} ops before the end of a thought are taken as thought");
                    self.found.fault(Fault::new("thought_closed", at, note));
                }
                Step::Past(end)
            }
            Some(Mark::Thought { said, end, is_closed }) => {
                self.found.thought(said);
                if is_message_to_function(self.text, at) {
                    self.not_read(at);
                }
                self.skip(at, end, Ending::of(is_closed));
                if !is_closed {
                    self.found.repair(at, "thought_unclosed", "read to the end".to_owned());
                }
                if !is_closed && self.index.opens_any(at, end) {
                    let note = "a thought is not closed; the statements in it are taken as thought";
                    self.found.fault(Fault::new("thought_unclosed", at, note));
                }
                Step::Past(end)
            }
        }
    }

    /// What is quoted here.
    pub(super) fn quote_at(&self, at: usize) -> Option<Quote<'a>> {
        self.quotes.quote_at(at)
    }

    /// How many backticks or tildes stand here.
    pub(super) fn marks(&self, at: usize) -> usize {
        let bytes = &self.text.as_bytes()[at..];
        bytes.iter().take_while(|byte| Some(*byte) == bytes.first()).count()
    }

    fn quoted(&mut self, at: usize) -> Step {
        let Some(quote) = self.quote_at(at) else { return Step::Prose(at + self.marks(at)) };
        let is_span = quote.info.is_none();
        // Two backticks in different lines need not belong together.
        let is_wide = is_span && self.text[at..quote.end].contains('\n');
        let doubtful = match self.half_fenced_from {
            // It may be the second of two that stand in the body of a statement which seemed to be over before.
            Some(from) if !quote.is_closed => self.found.doubt(from),
            _ => 0,
        };
        let is_told = (!quote.is_closed && self.index.line_opens(at, quote.end))
            || (is_wide && self.index.opens_any(at, quote.end));
        if doubtful > 0 || is_told {
            let (kind, note) = match quote.info {
                None => (
                    "statement_quoted",
                    "a statement stands between backticks in two lines, and is quoted by them",
                ),
                Some(_) => (
                    "quote_unclosed",
                    "a statement stands in a code block that is not closed, and is quoted by it",
                ),
            };
            self.found.fault(Fault::new(kind, at, note));
        }
        self.note_quoted(at, quote.end);
        let is_sure = quote.is_closed && !is_wide;
        self.skip(at, quote.end, Ending::of(is_sure));
        Step::Prose(quote.end)
    }

    /// Keeps in mind that a statement is quoted, as one that stands alone there may have been meant.
    fn note_quoted(&mut self, from: usize, to: usize) {
        if self.quoted.is_none() && self.index.opens_any(from, to) {
            self.quoted = Some(from);
        }
    }

    /// Tells of it, where nothing else was said.
    fn tell_quoted(&mut self) {
        if let Some(at) =
            self.quoted.filter(|_| self.found.count() == 0 && !self.found.has_faults())
        {
            let note = "a statement is quoted, and was not done";
            self.found.fault(Fault::new("statement_quoted", at, note));
        }
    }

    fn statement(&mut self, start: usize) -> Step {
        let name = name_at(self.text, start + 2);
        let behind = start + 2 + name.len();
        let Some(word) = word_of(name) else { return self.unknown(start, name) };
        let opener = Opener { start, name, word };
        let (slots, end) = slots(self.text, start, name);
        match end {
            End::Mention => Step::Prose(behind),
            End::Body(body) => self.with_body(opener, &slots, body),
            End::Broken(at) => {
                self.doubt_begun(name, start);
                self.found.fault(slots.fault.unwrap_or_else(|| {
                    Fault::new("slot_unknown", start, format!("<<{name} is not understood"))
                }));
                self.pass(name, at)
            }
        }
    }

    fn with_body(&mut self, opener: Opener<'a>, slots: &Slots<'a>, body: usize) -> Step {
        let Opener { name, .. } = opener;
        if let Some(end) = self.unfenced(opener, body) {
            let note = format!("the body of <<{name} is not closed; an empty body is \"::\"");
            self.doubt_begun(name, opener.start);
            self.found.misread(Fault::new("body_unfenced", opener.start, note));
            self.found.taint();
            return Step::Past(end);
        }
        match self.index.closer_of(name, body) {
            Some(close) if self.is_whole(name, body, close) => {
                let end = close + 1 + name.len();
                if self.index.is_half_fenced(self.text, body, close) {
                    self.half_fenced.insert(name);
                    self.half_fenced_from.get_or_insert(opener.start);
                }
                self.take(opener, slots, (body, close), end, Ending::Written);
                Step::Past(end)
            }
            _ => self.unclosed(opener, slots, body),
        }
    }

    /// Whether what stands up to a closer is one body, and not what was left open and all that follows.
    pub(super) fn is_whole(&self, name: &str, body: usize, close: usize) -> bool {
        let is_suffixed = word_of(name).is_some_and(|word| word.len() < name.len());
        let swallows = !is_suffixed && self.index.opens_across(body, close);
        !swallows && !self.index.opens(name, body, close)
    }

    /// The end of a statement whose body is closed where it should begin: `<<OP(target):OP` alone.
    fn unfenced(&self, Opener { name, .. }: Opener<'a>, body: usize) -> Option<usize> {
        let end = body + name.len();
        let is_it = name_at(self.text, body) == name;
        let rest = self.text.get(end..)?.trim_start_matches([' ', '\t', '\r']);
        let is_over = rest.is_empty() || rest.starts_with('\n') || rest.starts_with("<<");
        (is_it && is_over).then_some(end)
    }

    /// Takes a statement whose body is known.
    pub(super) fn take(
        &mut self,
        Opener { start, word, name }: Opener<'a>,
        slots: &Slots<'a>,
        (body, close): (usize, usize),
        end: usize,
        ending: Ending,
    ) {
        let is_unclosed = ending == Ending::Missing;
        if let Some(fault) = &slots.fault {
            self.doubt_begun(name, start);
            self.found.misread(fault.clone());
            if is_unclosed {
                self.found.taint();
            }
            return;
        }
        if self.found.count() >= self.cap {
            self.named.stated(&self.index.names, (name, start), (end, false));
            return self.found.op(start..end, None, false);
        }
        let at = self.places.at(start);
        let body = (&self.text[body..close], body);
        let mut repairs = Vec::new();
        match meant(Framed { word, slots, body, start: (start, at) }, &mut repairs) {
            // With slots and a closer it is a statement: a bad value of it makes none before it doubtful.
            Err(fault) if !is_unclosed && slots.is_any() => {
                self.named.stated(&self.index.names, (name, start), (end, false));
                self.found.misread(fault);
            }
            Err(fault) => {
                self.doubt_begun(name, start);
                self.found.misread(fault);
                if is_unclosed {
                    self.found.taint();
                }
            }
            Ok(written) => {
                for note in repairs {
                    self.found.repair(start, "argument", note);
                }
                if is_unclosed {
                    let note = format!("<<{word} is not closed; read to where it ends");
                    self.found.repair(start, "unclosed", note);
                }
                let looks = body.0.is_empty() && written.parsed.effect.is_read_only();
                self.named.stated(&self.index.names, (name, start), (end, looks));
                let written = crate::Written { is_unclosed, ..written };
                self.found.op(start..end, Some(written), looks);
            }
        }
    }

    /// A name that is no word, if it is written as one: with slots, and closed or like a word.
    fn unknown(&mut self, start: usize, name: &'a str) -> Step {
        let behind = start + 2 + name.len();
        // Of `<<<`, the last two may open something.
        let prose = Step::Prose(if name.is_empty() { start + 1 } else { behind });
        if name.is_empty() || !opens_slot(&self.text[behind..]) {
            return prose;
        }
        let nearest = native::nearest_word(name);
        let is_closed = self.index.closer_of(name, behind).is_some();
        let (slots, end) = slots(self.text, start, name);
        let is_framed = slots.is_any() && matches!(end, End::Body(_));
        if nearest.is_none() && !is_closed && !is_framed {
            return prose;
        }
        let near = nearest.map_or_else(String::new, |word| format!("; the nearest is {word}"));
        let note = format!("there is no {}{near}", shown(name));
        self.found.misread(Fault::new("unknown_word", start, note));
        self.pass(name, behind)
    }
}
