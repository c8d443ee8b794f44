//! Walks over a reply outside of statements, quotes and thoughts, and takes down what it meets there.

use super::foreign::{self, Ends, Met};
use super::found::Found;
use super::head::{Shape, decoded, goes_on};
use super::later::Later;
use super::marks::{Kind, Mark, Marks, is_cut_at};
use super::meaning::{self, Ending, Said};
use super::statements::Statements;
use crate::asides::Asides;
use crate::native::{self, Given};
use crate::prose::Quotes;
use crate::thinking;

/// No more tags of no name than this are looked into.
const MOST_UNKNOWN: usize = 64;
/// A longer name is none.
const LONGEST_NAME: usize = 24;
/// What a tag works on is called so.
const TARGETS: [&str; 6] = ["path", "file_path", "filepath", "filename", "file", "command"];
/// The first byte of the one mark that is none of ASCII's: ◁.
const FOREIGN_MARK: u8 = 0xE2;

pub(super) struct Scan<'a, 'f> {
    pub(super) text: &'a str,
    /// Where the text begins in the whole reply.
    pub(super) base: usize,
    pub(super) marks: Marks<'a>,
    pub(super) quotes: Quotes<'a>,
    pub(super) asides: Asides<'a>,
    pub(super) later: Later<'a>,
    /// Where foreign calls open and close.
    pub(super) ends: Ends,
    pub(super) found: &'f mut Found,
    /// How far it was read.
    pub(super) at: usize,
    /// How far prose was taken down.
    pub(super) told: usize,
    /// How far everything was thought.
    pub(super) thought: usize,
    /// The first angle bracket in prose: what is left of a tag, perhaps.
    trace: Option<usize>,
    pub(super) statements: Statements,
    /// How many tags of no name were met.
    unknown: usize,
    /// How many statements of another surface were.
    pub(super) others: usize,
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
            ends: Ends::new(text),
            found,
            at: 0,
            told: 0,
            thought: 0,
            trace: None,
            statements: Statements::default(),
            unknown: 0,
            others: 0,
        }
    }

    /// Reads all of it, and returns what was read.
    pub(super) fn run(mut self) -> Statements {
        let bytes = self.text.as_bytes();
        let is_met =
            |byte: &u8| matches!(*byte, b'<' | b'`' | b'~' | b'[' | b'{' | b'>' | FOREIGN_MARK);
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
                        let next = self.text[self.at..].chars().next();
                        self.at += next.map_or(1, char::len_utf8);
                    }
                }
            }
        }
        self.tell(self.text.len(), self.text.len());
        if self.base == 0
            && let Some(place) = self.statements.quoted.filter(|_| self.found.counts() == (0, 0))
        {
            let note = "a statement stands in a quote and was not done";
            self.found.problem(place, "statement_quoted", note);
        }
        self.statements
    }

    /// Leaves an angle bracket as prose.
    pub(super) fn leave(&mut self) {
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
        if self.is_word() {
            return self.leave();
        }
        if self.other_surface() {
            return;
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
            None => self.unknown_tag(),
        }
    }

    /// A tag of no name that is much like one: it is told, and nothing in it is an op.
    fn unknown_tag(&mut self) {
        let Some(written) = named_at(&self.text[self.at..]) else { return self.leave() };
        // To compare each with all names, and to look for its end, would take long in all.
        if self.unknown >= MOST_UNKNOWN {
            self.found.taint();
            return self.leave();
        }
        let Some(name) = nearest(written) else { return self.leave() };
        let at = self.at;
        let note = format!("there is no tag <{written}>; the nearest is <{name}>");
        self.found.misread(self.place(at), "tag_unknown", note);
        self.unknown += 1;
        let closer = format!("</{written}>");
        let close = self.text[at..].find(&closer);
        self.leave();
        if let Some(close) = close {
            self.look_for_strays(at, at + close);
            self.at = at + close + closer.len();
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
        let is_unended = close.is_some_and(|close| close.kind == Kind::CloseUnended);
        if is_unended {
            repairs.push(("closer_unended", format!("</{} is not ended", mark.name)));
        }
        if body.is_some_and(|(from, to)| self.marks.is_fenced(from, to)) {
            self.statements.note_half_fenced(mark.at);
        }
        if close.is_some_and(|close| close.is_sloppy) {
            repairs.push(("closer_sloppy", format!("read as </{}>", mark.name)));
        }
        let body = body.map(|(from, to)| &self.text[from..to]);
        // A bracket too many, or too early: it is doubtful where the tag ends and the body begins.
        let is_stray = |body: &str| body.starts_with('>') || body.ends_with('<') || goes_on(body);
        if body.is_some_and(is_stray) {
            let note = format!("it is doubtful where the body of <{}> begins or ends", mark.name);
            self.problem(mark.at, "bracket_stray", note);
            self.found.taint();
            self.closes_another(mark, close);
            return self.done(mark, end);
        }
        // What the end of the text cuts may be the closer of something else.
        let is_cut = is_unended && end == self.text.len();
        let (count, _) = self.found.counts();
        self.say(mark, body, repairs, if is_cut { Ending::Missing } else { Ending::Written });
        let is_bare = is_cut && body.is_some_and(|body| body.trim().is_empty());
        // One with attributes is a statement, whatever is wrong with their values.
        let says_nothing = self.found.counts().0 == count && self.marks.head(mark).attrs.is_empty();
        if is_bare || says_nothing {
            self.closes_another(mark, close);
        }
        self.done(mark, end);
    }

    /// A pair that says nothing is spoken of, perhaps, and its closer that of a body which seemed to be over before.
    fn closes_another(&mut self, mark: Mark, close: Option<Mark>) {
        if let Some(close) = close.filter(|_| self.statements.had_body(mark.name)) {
            self.closes_nothing(close.name, self.base + close.at);
        }
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
            repairs.push(("tag_case", format!("a tag in another case read as {}", mark.name)));
        }
        if head.is_requoted {
            repairs
                .push(("quote_closed", "a value's quote closed at the end of its tag".to_owned()));
        }
        let names: Vec<String> =
            head.attrs.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        for ((written, _), name) in head.attrs.iter().zip(&names).filter(|((w, _), n)| w != n) {
            repairs.push(("attribute_name", format!("{written} read as {name}")));
        }
        let given = names.iter().zip(&head.attrs).map(|(name, (_, raw))| {
            (name.as_str(), raw.map_or(Given::Flag, |raw| Given::Text(decoded(raw))))
        });
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
        self.statements.begin(mark.name, mark.at);
        if matches!(mark.kind, Kind::Head(Shape::Open | Shape::Broken)) {
            self.statements.note_body(mark.name);
        }
        self.statements.last_bodiless =
            (mark.kind == Kind::Head(Shape::Whole)).then_some((mark.name, end));
        self.tell(mark.at, end);
    }

    /// A closer that closes nothing. Directly behind a tag of its name that has no body it is one too many, if none
    /// before had a body that may end here.
    fn orphan(&mut self, close: Mark) {
        let is_behind =
            self.statements.last_bodiless == Some((close.name, close.at)) && self.trace.is_none();
        if is_behind && !self.statements.had_body(close.name) {
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
            note.push_str(&format!("; {} before it may stand in what it closes", ops(count)));
        }
        self.found.problem(place, "closer_alone", note);
        self.statements.strays.push(name);
    }

    /// Takes back what may stand in a body that ends here, and belongs to this name; how many ops that were. What
    /// follows is doubtful then.
    pub(super) fn take_back(&mut self, name: &str) -> usize {
        let begun = self.statements.first_begin(name);
        let from = self.trace.map_or(begun, |trace| trace.min(begun));
        let count = self.found.withdraw(self.base + from);
        if count > 0 || self.statements.had_body(name) {
            self.found.beware();
        }
        count
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
                self.look_for_begun(at, end);
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
            let note = format!("{} before the end of a thought taken as thought", ops(count));
            self.problem(at, "thought_closed", note);
        }
        (self.told, self.trace) = (at, None);
        self.statements.reset_after_thought();
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
                for (name, _) in foreign::CLOSERS {
                    self.statements.begin(name, at);
                }
                if self.marks.is_fenced(at, end) {
                    self.statements.note_half_fenced(at);
                }
                let mut is_known = false;
                for (name, args) in calls {
                    let note = format!("{format} read as a call of {name}");
                    is_known |= meaning::take_call(&name, args, place, self.found, note);
                }
                self.look_for_closers(at, end);
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
                self.note_quoted(at, end);
                self.look_for_strays(at, end);
                self.at = end;
                return true;
            }
            Met::Malformed { why, end } => {
                self.found.misread(place, "foreign_malformed", why);
                self.look_for_strays(at, end);
                end
            }
        };
        self.statements.last_bodiless = None;
        self.tell(at, end);
        true
    }
}

/// The name in a tag that there is not. Only one that works on something is told from other markup.
fn named_at(text: &str) -> Option<&str> {
    let inner = text[1..].trim_start_matches(' ');
    let blanks = text.len() - 1 - inner.len();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let length = inner.bytes().take(LONGEST_NAME).take_while(|c| is_name(char::from(*c))).count();
    let (name, rest) = (&inner[..length], inner[length..].trim_start());
    let works =
        |key: &&str| rest.strip_prefix(*key).is_some_and(|r| r.trim_start().starts_with('='));
    if blanks > 1 || length == 0 || rest.len() + length == inner.len() || !TARGETS.iter().any(works)
    {
        return None;
    }
    Some(name)
}

/// The tag or tool that a name is most like.
fn nearest(name: &str) -> Option<&'static str> {
    let tags = native::skins().iter().flat_map(|skin| skin.tags.iter().copied());
    let own = native::skins().iter().map(|skin| skin.tool.name);
    let near = native::nearest(name, tags.chain(own).map(|tag| (tag, &[][..])));
    native::tool(name).map(|tool| tool.name).or(near.first().copied())
}

/// So many ops, in words.
fn ops(count: usize) -> String {
    format!("{count} {}", if count == 1 { "op" } else { "ops" })
}
