//! What stands around the object of a reply and may: blanks, characters that show nothing, thoughts that are marked
//! as such, marks that end what is said, one fence. Each but the blanks is reported. Does not look into the object.

use crate::position::offset;
use crate::thinking::{Mark, closer_at, mark_at};
use serde::de::IgnoredAny;

/// Characters that show nothing: a byte order mark, and those of no width.
const INVISIBLE: [char; 6] =
    ['\u{FEFF}', '\u{200B}', '\u{200C}', '\u{200D}', '\u{2060}', '\u{180E}'];
/// Marks by which models end what they say.
const ENDS: [&str; 10] = [
    "<|im_end|>",
    "<|return|>",
    "<|end|>",
    "<|call|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "</s>",
];
/// What begins a turn; the name of who speaks follows.
const TURNS: [&str; 4] = ["<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|start|>"];
/// Who speaks for themselves.
const SELF: [&str; 2] = ["assistant", "model"];
/// Turns of others that are told by the name alone.
const OTHERS: [&str; 6] =
    ["<|user|>", "<|system|>", "<|tool|>", "<|observation|>", "<|developer|>", "<|ipython|>"];
/// How models begin that think aloud, in small letters.
const PREFACES: [&str; 22] = [
    "we need to",
    "we should",
    "we must",
    "we have to",
    "we can",
    "we are asked",
    "we're asked",
    "plan:",
    "let me",
    "let's",
    "lets ",
    "i need to",
    "i should",
    "i will",
    "i'll",
    "i have to",
    "i think",
    "the user",
    "okay",
    "ok,",
    "hmm",
    "first,",
];

/// A reply without what stands around it.
#[derive(Debug, Default)]
pub(super) struct Framed<'a> {
    /// What is left.
    pub(super) body: &'a str,
    /// What was thought.
    pub(super) thoughts: String,
    /// What was taken away: its kind, what was done, and where in the reply.
    pub(super) taken: Vec<(&'static str, &'static str, usize)>,
}

/// Takes away what may stand around the object.
pub(super) fn framed(text: &str) -> Framed<'_> {
    let mut framed = Framed { body: text, ..Framed::default() };
    framed.trim(text);
    while let Some((inner, after)) = thought(framed.body) {
        let at = offset(text, framed.body);
        framed.thought(inner, at);
        framed.body = after;
        framed.trim(text);
    }
    framed.leave_ends(text);
    if let Some(inner) = unfenced(framed.body) {
        framed.take("fence", "a fence taken off", offset(text, framed.body));
        framed.body = inner;
        framed.trim(text);
    }
    framed.leave_thoughts_behind(text);
    framed
}

impl Framed<'_> {
    fn thought(&mut self, said: &str, at: usize) {
        self.take("thinking", "thoughts taken out", at);
        let said = said.trim();
        if !self.thoughts.is_empty() && !said.is_empty() {
            self.thoughts.push('\n');
        }
        self.thoughts.push_str(said);
    }

    /// Takes off the marks that end what is said, where something whole stands before them.
    fn leave_ends(&mut self, text: &str) {
        while let Some(before) = ENDS.iter().find_map(|end| self.body.strip_suffix(end)) {
            let at = offset(text, self.body) + before.len();
            if !before.trim_end().ends_with(['}', '`', '>']) {
                return;
            }
            self.take("marks", "marks that end what is said taken off", at);
            self.body = before;
            self.trim(text);
        }
    }

    /// Takes out thoughts behind the object, if nothing else stands there.
    fn leave_thoughts_behind(&mut self, text: &str) {
        let mut values = serde_json::Deserializer::from_str(self.body).into_iter::<IgnoredAny>();
        let Some(Ok(_)) = values.next().filter(|_| self.body.starts_with('{')) else { return };
        let (object, behind) = self.body.split_at(values.byte_offset());
        let (mut thoughts, mut rest) = (Vec::new(), behind.trim_start());
        while !rest.is_empty() {
            match mark_at(rest, 0) {
                Some(Mark::Thought { said, end, is_closed: true }) => {
                    thoughts.push(said);
                    rest = rest[end..].trim_start();
                }
                Some(Mark::Frame { end }) => rest = rest[end..].trim_start(),
                _ => return,
            }
        }
        if behind.trim().is_empty() {
            return;
        }
        let at = offset(text, self.body) + object.len();
        thoughts.into_iter().for_each(|said| self.thought(said, at));
        self.take("thinking", "thoughts taken out", at);
        self.body = object;
    }

    /// Each kind is told once, at the first place: a reply of thousands of thoughts is no news after the first.
    fn take(&mut self, kind: &'static str, note: &'static str, at: usize) {
        if self.taken.iter().all(|(taken, ..)| *taken != kind) {
            self.taken.push((kind, note, at));
        }
    }

    /// Takes blanks and characters that show nothing off both ends.
    fn trim(&mut self, text: &str) {
        let at = offset(text, self.body);
        let is_edge = |c: char| c.is_whitespace() || INVISIBLE.contains(&c);
        let after = self.body.trim_start_matches(is_edge);
        let trimmed = after.trim_end_matches(is_edge);
        let (before, end) = (self.body.len() - after.len(), trimmed.len());
        if self.body[..before].contains(INVISIBLE) {
            self.take("edges", "characters that show nothing taken off", at);
        } else if after[end..].contains(INVISIBLE) {
            self.take("edges", "characters that show nothing taken off", at + before + end);
        }
        self.body = trimmed;
    }
}

/// A thought that a text begins with, and what follows. Its opening may be missing: some models are given it.
fn thought(text: &str) -> Option<(&str, &str)> {
    if text.starts_with(['{', '`']) || other_turn(text).is_some() {
        return None;
    }
    match mark_at(text, 0) {
        Some(Mark::Thought { said, end, is_closed: true }) => return Some((said, &text[end..])),
        Some(Mark::Thought { .. }) => return None,
        Some(Mark::Closer { end } | Mark::Frame { end }) => return Some(("", &text[end..])),
        None => {}
    }
    text.match_indices(['<', '[']).find_map(|(at, _)| {
        let end = closer_at(text, at)?;
        Some((&text[..at], &text[end..]))
    })
}

/// The header of a turn of somebody else that a text begins with: what they say asks for nothing.
pub(super) fn other_turn(text: &str) -> Option<&str> {
    let begins =
        |mark: &&&str| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    if let Some(mark) = OTHERS.iter().find(begins) {
        return text.get(..mark.len());
    }
    let mark = TURNS.iter().find(begins)?;
    let from = text[mark.len()..].trim_start_matches([' ', '\t']);
    let role = from.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let is_own = role.is_empty() || SELF.iter().any(|own| own.eq_ignore_ascii_case(role));
    let end = text.len() - from.len() + role.len();
    text.get(..end).filter(|_| !is_own)
}

/// Whether a text begins with a thought. Where that was not taken away, its end is missing.
pub(super) fn is_open_thought(text: &str) -> bool {
    matches!(mark_at(text, 0), Some(Mark::Thought { .. }))
}

/// What stands in a fence that is around all of a text.
fn unfenced(text: &str) -> Option<&str> {
    let ticks = text.bytes().take_while(|byte| *byte == b'`').count();
    if ticks < 3 {
        return None;
    }
    let (fence, inner) = text.split_at(ticks);
    let inner = inner.strip_suffix(fence)?;
    Some(inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c)))
}

/// Whether words before an object are somebody thinking aloud.
pub(super) fn is_preface(before: &str) -> bool {
    let start: String = before.trim_start().chars().take(32).collect();
    let start = start.to_lowercase().replace('\u{2019}', "'");
    PREFACES.iter().any(|words| start.starts_with(words))
}
