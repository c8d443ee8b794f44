//! Labels: heredocs whose name says what they do. `<<SEARCH` … `SEARCH` must be followed by
//! `<<REPLACE` … `REPLACE`; `NEW` and `REPLACE` alone give the whole content; `APPEND` and `PREPEND` add to it;
//! `DELETE` takes a text out. There are no other names. One may go on (`SEARCH1`, `SEARCH_b`), so that the plain word
//! can stand inside. `SEARCH[5-10]` looks only at those lines of the file. A label stands in lines of its own, or is
//! opened and closed in one. Text outside of labels is refused: nobody can say where it belongs.

use super::detect::refuse_foreign;
use super::steps::{Step, Where};
use super::{Change, FilePatch, Format, PatchProblem};

/// What a label's name asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Search,
    Replace,
    Whole,
    Append,
    Prepend,
    Delete,
}

/// One label and what it holds.
struct Label<'a> {
    verb: Verb,
    scope: Option<(usize, usize)>,
    /// The held text. Whole lines end with a line end.
    body: &'a str,
    /// Whether it stands in lines of its own.
    lines: bool,
    /// The line of the patch it begins in, from 0.
    line: usize,
}

pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchProblem> {
    let mut reader = Reader { text, at: 0, counted: (0, 0), lines: text.lines().collect() };
    let mut steps = Vec::new();
    while let Some(label) = reader.next_label()? {
        let place = match label.lines || label.scope.is_some() {
            true => Where::Lines(label.scope),
            false => Where::Text,
        };
        let own = |text: &str| text.to_owned();
        steps.push(match label.verb {
            Verb::Search => {
                let new = reader.next_label()?.filter(|next| next.verb == Verb::Replace);
                let why = "a SEARCH must be followed by its REPLACE";
                let new = new.ok_or_else(|| PatchProblem::malformed(label.line, why))?;
                Step::Swap { old: own(label.body), new: own(new.body), place }
            }
            Verb::Delete => Step::Swap { old: own(label.body), new: String::new(), place },
            Verb::Replace if label.scope.is_some() => {
                Step::Swap { old: String::new(), new: own(label.body), place }
            }
            Verb::Replace | Verb::Whole => Step::Whole(own(label.body)),
            Verb::Append => Step::Append(own(label.body)),
            Verb::Prepend => Step::Prepend(own(label.body)),
        });
    }
    Ok(vec![FilePatch::of(Format::Labels, None, Change::Steps(steps))])
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// A place and how many line ends stand before it, so that none is counted twice.
    counted: (usize, usize),
    lines: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    /// The line that holds this place. Places are asked for in order.
    fn line(&mut self, at: usize) -> usize {
        let (from, lines) = self.counted;
        let from = from.min(at);
        self.counted = (at, lines + self.text[from..at].matches('\n').count());
        self.counted.1
    }

    /// The next label. Nothing else stands before it.
    fn next_label(&mut self) -> Result<Option<Label<'a>>, PatchProblem> {
        let Some(Opener { start, name, verb, scope, after }) = self.opener() else {
            self.nothing_before(self.text.len())?;
            return Ok(None);
        };
        self.nothing_before(start)?;
        let line = self.line(start);
        let rest = &self.text[after..];
        let head = rest.split_inclusive('\n').next().unwrap_or_default();
        let lines = head.trim().is_empty() && head.ends_with('\n');
        let held = match lines {
            true => closed_by_a_line(&rest[head.len()..], name)
                .map(|(body, used)| (body, head.len() + used)),
            false => closed_by_a_word(head, name),
        };
        let unclosed = || {
            let place = if lines || head.trim().is_empty() { "" } else { " in its line" };
            PatchProblem::malformed(line, format!("<<{name} is not closed by {name}{place}"))
        };
        let (body, used) = held.ok_or_else(unclosed)?;
        self.at = after + used;
        Ok(Some(Label { verb, scope, body, lines, line }))
    }

    /// The next opener.
    fn opener(&self) -> Option<Opener<'a>> {
        let mut from = self.at;
        while let Some(start) = self.text[from..].find("<<").map(|at| at + from) {
            let before = self.text[..start].chars().next_back();
            let free = start == self.at || before.is_none_or(|c| c.is_whitespace() || c == '>');
            let name = name_of(&self.text[start + 2..]);
            if let (true, Some(verb)) = (free, verb(name)) {
                let after = start + 2 + name.len();
                let (scope, used) = scope(&self.text[after..]);
                return Some(Opener { start, name, verb, scope, after: after + used });
            }
            from = start + 2;
        }
        None
    }

    /// Refuses text that stands outside of labels up to a place.
    fn nothing_before(&mut self, to: usize) -> Result<(), PatchProblem> {
        let between = &self.text[self.at..to];
        if between.trim().is_empty() {
            return Ok(());
        }
        let (first, last) = (self.line(self.at), self.line(to));
        let inner = first + usize::from(!self.text[..self.at].ends_with('\n') && self.at > 0);
        (inner..last.min(self.lines.len()))
            .try_for_each(|at| refuse_foreign(Format::Labels, &self.lines, at))?;
        let blank = between.len() - between.trim_start().len();
        let line = first + between[..blank].matches('\n').count();
        Err(PatchProblem::malformed(line, "text stands outside of the labels"))
    }
}

/// Where a label opens.
struct Opener<'a> {
    /// Where its `<<` stands.
    start: usize,
    name: &'a str,
    verb: Verb,
    scope: Option<(usize, usize)>,
    /// Where its text begins.
    after: usize,
}

/// Whether a text begins with an opener.
pub(super) fn opens(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix("<<");
    rest.is_some_and(|rest| verb(name_of(rest)).is_some())
}

/// The name that a text begins with.
fn name_of(text: &str) -> &str {
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    &text[..text.bytes().take_while(is_in_name).count()]
}

/// `[5-10]`, `[5,10]` or `[5]`, and its length.
fn scope(text: &str) -> (Option<(usize, usize)>, usize) {
    let inner = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((inner, _)) = inner.filter(|(inner, _)| inner.len() < 24) else { return (None, 0) };
    let (first, last) = inner.split_once(['-', ',']).unwrap_or((inner, inner));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) => (Some((first, last)), inner.len() + 2),
        _ => (None, 0),
    }
}

/// What a name asks for: a known word, and behind it nothing or a digit or `_` and whatever follows.
fn verb(name: &str) -> Option<Verb> {
    let known = [
        ("SEARCH", Verb::Search),
        ("REPLACE", Verb::Replace),
        ("NEW", Verb::Whole),
        ("APPEND", Verb::Append),
        ("PREPEND", Verb::Prepend),
        ("DELETE", Verb::Delete),
    ];
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit() || c == '_');
    let is_it = |word: &str| {
        name.strip_prefix(word).is_some_and(|suffix| suffix.is_empty() || goes_on(suffix))
    };
    known.into_iter().find(|(word, _)| is_it(word)).map(|(_, verb)| verb)
}

/// Whole lines up to one that is the name, and how much of the text that takes.
fn closed_by_a_line<'a>(text: &'a str, name: &str) -> Option<(&'a str, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let lead = line.len() - line.trim_start().len();
        if let Some(rest) = line.trim_start().strip_prefix(name) {
            let (_, used) = scope(rest);
            let rest = &rest[used..];
            if rest.trim().is_empty() || rest.starts_with("<<") {
                return Some((&text[..at], at + lead + name.len() + used));
            }
        }
        at += line.len();
    }
    None
}

/// Text up to the name as a word, without the blanks around it.
fn closed_by_a_word<'a>(text: &'a str, name: &str) -> Option<(&'a str, usize)> {
    for (at, _) in text.match_indices(name) {
        let before = text[..at].chars().next_back();
        let (_, used) = scope(&text[at + name.len()..]);
        let after = &text[at + name.len() + used..];
        let ends =
            after.is_empty() || after.starts_with(char::is_whitespace) || after.starts_with("<<");
        if before.is_some_and(char::is_whitespace) && ends {
            let body = &text[..at];
            let body = body.strip_prefix(' ').unwrap_or(body);
            let body = body.strip_suffix([' ', '\n']).unwrap_or(body);
            return Some((body, at + name.len() + used));
        }
    }
    None
}
