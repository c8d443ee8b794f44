//! What is left of a statement that is broken, not closed, or closed by what closes nothing. In doubt there is a
//! problem and no op: never another op than the one that was written.

use super::Fault;
use super::gather::Doubt;
use super::read::{Ending, Opener, Reader, Step};
use super::slots::Slots;
use super::{name_at, shown, word_of};
use crate::thinking::closer_at;
use std::collections::HashSet;

/// Where a statement without its end must be over at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Another begins a line here.
    Statement(usize),
    /// A thought ends here, of which it may be part.
    Thought(usize),
    /// The text ends.
    End(usize),
}

impl<'a> Reader<'a> {
    /// Passes over what is left of a broken statement: up to its closer, if that cannot be another's.
    pub(super) fn pass(&mut self, name: &str, broken: usize) -> Step {
        match self.index.closer_of(name, broken) {
            Some(close) if self.is_whole(name, broken, close) => {
                self.skip(broken, close, Ending::Written);
                Step::Past(close + 1 + name.len())
            }
            _ => {
                self.found.taint();
                Step::Past(broken)
            }
        }
    }

    /// A statement without its closer. With a suffix other statements were to be expected in it, so that nothing
    /// behind it can be told from its body.
    pub(super) fn unclosed(&mut self, opener: Opener<'a>, slots: &Slots<'a>, body: usize) -> Step {
        let is_suffixed = opener.name.len() > opener.word.len();
        let bound = match is_suffixed {
            true => Bound::End(self.text.len()),
            false => self.bound(body),
        };
        let (Bound::Statement(over) | Bound::Thought(over) | Bound::End(over)) = bound;
        let said = match bound {
            Bound::Statement(_) => parted(&self.text[body..over]),
            Bound::Thought(_) | Bound::End(_) => &self.text[body..over],
        };
        let close = body + said.len();
        let is_doubtful = is_suffixed
            || matches!(bound, Bound::Thought(_))
            || said.trim().is_empty()
            // The colon before the body may be a closer's.
            || self.index.closes_a_word(body - 1, over)
            || self.index.opens_within(body, over)
            || ends_like_a_closer(said, opener.word);
        if is_doubtful {
            self.lose(opener, said, bound);
            // Closers without a suffix are what makes it doubtful; they need not be another's, unless there was one.
            self.doubt_all(&self.strays(body - 1, over, |name| self.is_likely(name)));
            self.doubt_before(opener, over);
        } else {
            self.take(opener, slots, (body, close), over, Ending::Missing);
        }
        Step::Past(over)
    }

    /// Where what begins here must be over.
    fn bound(&self, from: usize) -> Bound {
        let mut at = from;
        loop {
            let Some(next) = self.text[at..].find(['<', '[', '`', '~']) else {
                return Bound::End(self.text.len());
            };
            at += next;
            if self.index.is_line_opener(at) {
                return Bound::Statement(at);
            }
            if closer_at(self.text, at).is_some() {
                return Bound::Thought(at);
            }
            at = match self.text.as_bytes().get(at) {
                Some(b'`' | b'~') => {
                    self.quote_at(at).map_or_else(|| at + self.marks(at), |quote| quote.end)
                }
                _ => at + 1,
            };
        }
    }

    /// Says that a statement without its closer is lost, and what stands at its end.
    fn lose(&mut self, Opener { start, name, .. }: Opener<'a>, said: &str, bound: Bound) {
        let kind = match bound {
            Bound::End(_) => "unparsed_tail",
            Bound::Statement(_) | Bound::Thought(_) => "unclosed",
        };
        let ending = match last_closer(said) {
            Some(closer) => format!("; it ends with {}", shown(closer)),
            None => String::new(),
        };
        let note = format!("<<{name} is not closed by :{name}{ending}; nothing of it is read");
        self.found.fault(Fault::new(kind, start, note));
        self.found.taint();
    }

    /// A closer of a word at top level closes nothing. In small letters it is one where the line ends behind it and a
    /// statement of that word began before.
    pub(super) fn closer(&mut self, at: usize) -> Step {
        let written = name_at(self.text, at + 1);
        let end = at + 1 + written.len();
        let name = match word_of(written) {
            Some(_) if self.is_path(written, at) => None,
            Some(_) => Some(written),
            None if self.ends_line(end) => self.named.begun_like(written),
            None => None,
        };
        match name.map(|name| self.doubt(name, at)) {
            None => Step::Prose(at + 1),
            Some(None | Some(Doubt::Changes)) => Step::Prose(end),
            Some(Some(Doubt::All)) => Step::Past(end),
        }
    }

    fn ends_line(&self, at: usize) -> bool {
        let rest = self.text[at..].trim_start_matches([' ', '\t', '\r']);
        rest.is_empty() || rest.starts_with('\n')
    }

    fn begins_line(&self, at: usize) -> bool {
        let before = self.text[..at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// Whether it is the last part of a path in prose such as `Kind::OPEN`, and nothing before it may have opened it.
    fn is_path(&self, name: &str, at: usize) -> bool {
        let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let before = self.text[self.prose_from.min(at)..at].strip_suffix(':');
        let may_be_opened =
            self.has_mention || self.found.has_faults() || self.index.is_named_before(name, at);
        before.is_some_and(|before| before.ends_with(is_in_name)) && !may_be_opened
    }

    /// What is passed over as a whole may hold a closer of what was opened before it. If its own end is written, only a
    /// closer with a suffix is taken for that, one of a body that ended within a fence, or one of a word that began
    /// before with a body: the others are spoken of too often.
    pub(super) fn skip(&mut self, from: usize, to: usize, ending: Ending) {
        if ending == Ending::Written && self.is_lone_closer(from, to) {
            return;
        }
        let is_stray = |name: &str| {
            ending == Ending::Missing || self.is_likely(name) || self.named.had_body(name)
        };
        self.doubt_all(&self.strays(from, to, is_stray));
    }

    /// Whether a code span holds a closer and nothing else: so it is spoken of.
    fn is_lone_closer(&self, from: usize, to: usize) -> bool {
        let said = &self.text[from..to];
        let inner = said.trim_matches('`');
        let name = inner.trim_matches(' ').strip_prefix(':').unwrap_or_default();
        let is_name = inner.len() < said.len() && name_at(name, 0) == name;
        is_name && word_of(name) == Some(name)
    }

    fn is_likely(&self, name: &str) -> bool {
        let is_suffixed = word_of(name).is_some_and(|word| word.len() < name.len());
        is_suffixed || self.half_fenced.contains(name)
    }

    /// The closers between two bytes that nothing between them opens, each name once.
    fn strays(
        &self,
        from: usize,
        to: usize,
        is_stray: impl Fn(&str) -> bool,
    ) -> Vec<(&'a str, usize)> {
        let mut told = HashSet::new();
        let closers = self.index.closers_of_words(from, to).iter();
        let closers = closers.map(|at| (name_at(self.text, *at + 1), *at));
        let strays = closers.filter(|(name, at)| {
            is_stray(name) && !self.index.opens(name, from, *at) && told.insert(*name)
        });
        strays.collect()
    }

    fn doubt_all(&mut self, strays: &[(&str, usize)]) {
        for (name, at) in strays {
            self.doubt(name, *at);
        }
    }

    /// What is lost may hold closers of statements before it, whose bodies held their own closers and this opener.
    fn doubt_before(&mut self, Opener { start, name, .. }: Opener<'a>, over: usize) {
        let is_before = |closer: &str| closer != name && self.index.opens(closer, 0, start);
        self.doubt_all(&self.strays(start, over, is_before));
    }

    /// A statement that is not understood may stand in a body of its name that seemed to be over before, and its closer
    /// be the end of that.
    pub(super) fn doubt_begun(&mut self, name: &'a str, start: usize) {
        if self.named.had_body(name) {
            let first = self.named.first(name).unwrap_or_default();
            let count = self.found.take_back(first, Doubt::All);
            if count > 0 {
                let note = format!("<<{name} is not understood, and began before{}", taken(count));
                self.found.fault(Fault::new("closes_nothing", start, note));
            }
        }
        self.named.began(&self.index.names, (name, start));
    }

    /// Where something is closed that was not opened, some opener before was not understood, or a body was closed
    /// before its end. Which of those before it nobody can say, so that everything since the first may have been part of
    /// that body, and is taken back; what is, is answered.
    fn doubt(&mut self, name: &str, at: usize) -> Option<Doubt> {
        self.named.spoken(&self.index.names, at);
        let doubt = match () {
            () if self.is_never_opened(name, at) => None,
            () if self.is_spoken(name, at) => Some(Doubt::Changes),
            () => Some(Doubt::All),
        };
        let first = self.named.first(name).unwrap_or_default();
        let count = doubt.map_or(0, |doubt| self.found.take_back(first, doubt));
        let note = format!(":{name} closes nothing{}", taken(count));
        let fault = Fault::new("closes_nothing", at, note);
        match doubt {
            None | Some(Doubt::Changes) => {
                self.named.pass(&self.index.names, at + 1 + name.len());
                self.found.spoken(fault);
            }
            Some(Doubt::All) => self.found.fault(fault),
        }
        doubt
    }

    /// Whether nothing before a closer can have opened it: neither its name nor its word stands outside of bodies,
    /// and everything was understood. Alone in its line it is meant all the same.
    fn is_never_opened(&self, name: &str, at: usize) -> bool {
        let is_alone = self.begins_line(at) && self.ends_line(at + 1 + name.len());
        let is_named = [Some(name), word_of(name)].into_iter().flatten();
        let is_named = is_named.into_iter().any(|name| self.named.first(name).is_some());
        !is_alone && !is_named && !self.has_mention && !self.found.has_faults()
    }

    /// Whether a closer is likely a word of prose such as `status:OPEN`: it stands behind a word, and nothing before it
    /// has a body that it could close. What only looks at something is then no part of one.
    fn is_spoken(&self, name: &str, at: usize) -> bool {
        let before = &self.text[self.prose_from.min(at)..at];
        word_of(name) == Some(name)
            && before.ends_with(|c: char| c.is_ascii_alphanumeric())
            && !self.has_mention
            && !self.found.has_faults()
            && self.named.only_looks(name)
    }
}

/// What is said of ops that were taken back.
fn taken(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "; what was read before it may be part of a body, and is left out".to_owned(),
        _ => format!("; what was read before it ({count}) may be part of a body, and is left out"),
    }
}

/// A body without the line end that parts it from the statement behind it.
fn parted(said: &str) -> &str {
    let said = said.trim_end_matches([' ', '\t']);
    let said = said.strip_suffix('\n').unwrap_or(said);
    said.strip_suffix('\r').unwrap_or(said)
}

/// What looks like a closer at the end of a body.
fn last_closer(said: &str) -> Option<&str> {
    let said = said.trim_end();
    let (before, _) = said.rsplit_once(':')?;
    let closer = &said[before.len()..];
    closer
        .bytes()
        .skip(1)
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        .then_some(closer)
}

fn ends_like_a_closer(said: &str, word: &str) -> bool {
    last_closer(said).is_some() || said.trim_end().ends_with(word)
}
