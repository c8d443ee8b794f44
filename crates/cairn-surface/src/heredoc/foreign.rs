//! Calls as other trainings and the tags surface write them, and what looks like JSON in lines of its own. None of it is
//! read on this surface, and nothing in it is a statement. Says only where it is over.

use crate::native;
use crate::prose::unlisted;
use crate::thinking::SPACE;
use crate::thinking::mark_at;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::HashMap;

/// The tags that stand around calls, whatever the case of their letters.
const TAGS: [&str; 5] = ["tool_call", "tool_calls", "tool_use", "function_call", "function_calls"];
/// The same, of names that are words of prose, too: bare they count only where they begin a line.
const COMMON: [&str; 3] = ["function", "invoke", "parameter"];
/// What else stands around calls, by what it begins and ends with.
const PAIRS: [(&str, &str); 2] =
    [("<|tool_call|>", "<|/tool_call|>"), ("<|tool_call>", "<tool_call|>")];
/// The longest name of a tag.
const LONGEST_NAME: usize = 24;
/// The longest word before JSON in its line.
const LONGEST_LABEL: usize = 64;
/// For each byte of a text so many are looked at in search of where brackets close.
const LOOKS: usize = 8;
/// Marks that calls follow, which nothing closes.
const MARKS: [&str; 2] = ["[TOOL_CALLS]", "<|python_tag|>"];
/// What a message to a function begins with, and what stands behind its head.
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// The longest head of a message that is looked at.
const LONGEST_HEAD: usize = 256;
/// The keys of a call in JSON.
const CALLED: [&str; 4] = ["name", "tool", "function", "tool_name"];
const GIVEN: [&str; 4] = ["arguments", "args", "parameters", "input"];

/// Something in another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Met {
    /// Where it is over.
    pub(super) end: usize,
    /// Whether that is beyond doubt.
    pub(super) is_sure: bool,
    pub(super) form: Form,
}

/// What something in another form is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A call of another training.
    Call,
    /// A statement of the tags surface.
    Tag,
    /// Text.
    Text,
}

/// The frames of a text. Asked from left to right, the answers take time linear in the text.
#[derive(Debug)]
pub(super) struct Foreign<'a> {
    text: &'a str,
    /// Of each frame, by its name or what it begins with, where it stands.
    frames: HashMap<String, Frame>,
    /// So many bytes may still be looked at in search of where brackets close.
    looks: usize,
}

/// Where a frame stands.
#[derive(Debug, Default)]
struct Frame {
    /// Where its openers begin.
    opens: Vec<usize>,
    /// Where its closers begin and end.
    closes: Vec<(usize, usize)>,
}

/// What a frame begins with.
struct Head {
    /// What its closers are found by.
    name: String,
    /// Where it is over.
    end: usize,
    /// Whether it opens and closes at once.
    is_whole: bool,
    /// Whether it may be prose or a tag of the tags surface: then it counts only where it begins a line and is closed.
    is_tag: bool,
}

impl<'a> Foreign<'a> {
    pub(super) fn new(text: &'a str) -> Foreign<'a> {
        let mut frames: HashMap<String, Frame> = HashMap::new();
        for (at, _) in text.match_indices('<') {
            if let Some((name, end)) = closer_at(text, at) {
                frames.entry(name).or_default().closes.push((at, end));
            } else if let Some(head) = head_at(text, at).filter(|head| !head.is_whole) {
                frames.entry(head.name).or_default().opens.push(at);
            }
        }
        Foreign { text, frames, looks: text.len().saturating_mul(LOOKS) }
    }

    /// What begins at this byte in another form.
    pub(super) fn at(&mut self, at: usize) -> Option<Met> {
        let rest = self.text.get(at..)?;
        if rest.starts_with(['<', '[']) {
            if let Some(head) = head_at(self.text, at) {
                return self.framed(at, &head);
            }
            if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
                return Some(self.marked(at + mark.len()));
            }
        }
        self.json(at)
    }

    /// A call in a frame: up to what closes it, if no text in it can hold that.
    fn framed(&mut self, at: usize, head: &Head) -> Option<Met> {
        let form = if native::is_tag(&head.name) { Form::Tag } else { Form::Call };
        let met = |end, is_sure| Some(Met { end, is_sure, form });
        if head.is_tag && !begins_line(self.text, at) {
            return None;
        }
        if head.is_whole {
            return met(head.end, true);
        }
        let inner = self.text[head.end..].trim_start();
        if let Some(end) = self.extent(self.text.len() - inner.len()) {
            let behind = self.text.len() - self.text[end..].trim_start().len();
            if let Some((_, end)) =
                closer_at(self.text, behind).filter(|(name, _)| *name == head.name)
            {
                return met(end, true);
            }
        }
        let Frame { opens, closes } = self.frames.get(&head.name)?;
        let opens = &opens[opens.partition_point(|open| *open < at)..];
        let closes = &closes[closes.partition_point(|(close, _)| *close < at)..];
        let next = opens.get(1).copied().unwrap_or(self.text.len());
        match closes.first() {
            Some((first, end)) if *first < next && opens.len() == closes.len() => met(*end, true),
            None if head.is_tag => None,
            _ => met(self.text.len(), false),
        }
    }

    /// The calls behind a mark: JSON in its line, perhaps behind a name. Otherwise nobody can say where they end.
    fn marked(&mut self, from: usize) -> Met {
        let rest = &self.text[from..];
        let begins = rest.find(['{', '[', '\n', '<']).filter(|at| !rest[*at..].starts_with('\n'));
        match begins.and_then(|begins| self.extent(from + begins)) {
            Some(end) => Met { end, is_sure: true, form: Form::Call },
            None => Met { end: self.text.len(), is_sure: false, form: Form::Call },
        }
    }

    /// What begins a line with a bracket and is balanced. A text in it that goes over lines is none of JSON, but was
    /// meant as one.
    fn json(&mut self, at: usize) -> Option<Met> {
        let is_mark = || mark_at(self.text, at).is_some();
        let is_bracket = self.text[at..].starts_with(['{', '[']);
        if !is_bracket || !begins_item(self.text, at) || is_mark() {
            return None;
        }
        if self.looks == 0 {
            return Some(Met { end: self.text.len(), is_sure: false, form: Form::Text });
        }
        if let Some(end) = self.closed(at, Texts::OfOneLine) {
            let is_call = is_call(&self.text[at..end]);
            let form = if is_call { Form::Call } else { Form::Text };
            return Some(Met { end, is_sure: true, form });
        }
        let end = self.closed(at, Texts::OfLines)?;
        Some(Met { end, is_sure: false, form: Form::Text })
    }

    /// Where an object or a list is over that begins at this byte and is JSON as a whole.
    fn extent(&mut self, at: usize) -> Option<usize> {
        if !self.text[at..].starts_with(['{', '[']) {
            return None;
        }
        let end = self.closed(at, Texts::OfOneLine)?;
        serde_json::from_str::<IgnoredAny>(&self.text[at..end]).is_ok().then_some(end)
    }

    /// Where the brackets are closed that open at this byte.
    fn closed(&mut self, at: usize, texts: Texts) -> Option<usize> {
        if self.looks == 0 {
            return None;
        }
        let (over, is_whole) = balanced(&self.text[at..], texts);
        self.looks = self.looks.saturating_sub(over);
        is_whole.then_some(at + over)
    }
}

/// Whether nothing but blanks stands before a byte in its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// Whether a byte begins a line, or what a list or a word with a colon has in it.
fn begins_item(text: &str, at: usize) -> bool {
    if begins_line(text, at) {
        return true;
    }
    let from = at.saturating_sub(LONGEST_LABEL);
    let start = text.as_bytes()[from..at].iter().rposition(|byte| *byte == b'\n');
    let start = match start {
        Some(start) => from + start + 1,
        None if from == 0 => 0,
        None => return false,
    };
    let said = unlisted(&text[start..at]).trim_end();
    let is_word = |c: char| c.is_alphanumeric() || "_-.*\"'`".contains(c);
    said.is_empty() || said.strip_suffix(':').is_some_and(|word| word.chars().all(is_word))
}

/// The name of a tag that stands here, in small letters, and where it is over.
fn name_at(text: &str, from: usize) -> Option<(String, usize)> {
    let rest = text.get(from..)?;
    let prefix = rest.get(..SPACE.len()).is_some_and(|start| start.eq_ignore_ascii_case(SPACE));
    let rest = if prefix { &rest[SPACE.len()..] } else { rest };
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = rest.bytes().take(LONGEST_NAME).take_while(is_in_name).count();
    let name = rest[..length].to_ascii_lowercase();
    (length > 0).then_some((name, text.len() - rest.len() + length))
}

/// The frame that opens at this byte.
fn head_at(text: &str, at: usize) -> Option<Head> {
    let begins = |mark: &str| {
        let start = text.get(at..at + mark.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    if let Some((open, _)) = PAIRS.iter().find(|(open, _)| begins(open)) {
        let end = at + open.len();
        return Some(Head { name: (*open).to_owned(), end, is_whole: false, is_tag: false });
    }
    if !begins("<") {
        return None;
    }
    let (name, behind) = name_at(text, at + 1)?;
    let rest = &text[behind..];
    let is_common = COMMON.contains(&&*name);
    let is_call = is_common || TAGS.contains(&&*name);
    let may_follow = |c: char| c.is_whitespace() || matches!(c, '>' | '/') || (is_call && c == '=');
    if !rest.starts_with(may_follow) || !(is_call || native::is_tag(&name)) {
        return None;
    }
    let is_tag = !is_call || (is_common && rest.starts_with('>'));
    let over = head_length(rest);
    let is_whole = over.is_some_and(|over| rest[..over].ends_with("/>"));
    Some(Head { name, end: behind + over.unwrap_or_default(), is_whole, is_tag })
}

/// How far the attributes of a tag go, with the bracket that closes it. Those in quotes may hold one.
fn head_length(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().take(LONGEST_HEAD) {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            (b'>', None) => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The frame that is closed at this byte, and where its closer is over.
fn closer_at(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = text.get(at..)?;
    let begins = |mark: &str| rest.get(..mark.len()).is_some_and(|s| s.eq_ignore_ascii_case(mark));
    if let Some((open, close)) = PAIRS.iter().find(|(_, close)| begins(close)) {
        return Some(((*open).to_owned(), at + close.len()));
    }
    let (name, behind) = name_at(text, at + 2).filter(|_| rest.starts_with("</"))?;
    let over = text[behind..].trim_start().strip_prefix('>')?;
    Some((name, text.len() - over.len()))
}

/// Whether texts in brackets may go over lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// None of JSON does.
    OfOneLine,
    OfLines,
}

/// Whether the message whose channel stands at this byte is to a function, and so a call.
pub(super) fn is_message_to_function(text: &str, at: usize) -> bool {
    let Some(head) = text.get(at..).and_then(|rest| rest.strip_prefix(CHANNEL)) else {
        return false;
    };
    let head: String = head.chars().take(LONGEST_HEAD).collect();
    head.split_once(MESSAGE).is_some_and(|(head, _)| head.contains(" to="))
}

/// Where the brackets that a text begins with are closed, and whether they are.
fn balanced(text: &str, texts: Texts) -> (usize, bool) {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'\n' if is_text && texts == Texts::OfOneLine => return (at, false),
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return (at + 1, true),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    (text.len(), false)
}

/// Whether JSON names something and gives it arguments.
fn is_call(json: &str) -> bool {
    let is_one = |value: &Value| {
        let has = |keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
        has(&CALLED) && has(&GIVEN)
    };
    match serde_json::from_str(json) {
        Ok(Value::Array(calls)) => calls.iter().any(is_one),
        Ok(value) => is_one(&value),
        Err(_) => false,
    }
}
