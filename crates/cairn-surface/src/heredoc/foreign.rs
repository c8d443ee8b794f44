//! Calls as other trainings write them, and JSON in lines of its own. None of it is read on this surface, and nothing
//! in it is a statement. Says only where it is over.

use serde::de::IgnoredAny;
use serde_json::Value;

/// What stands around calls, by what it begins and ends with.
const FRAMES: [(&str, &str); 8] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<tool_use>", "</tool_use>"),
    ("<function_call>", "</function_call>"),
    ("<function_calls>", "</function_calls>"),
    ("<function=", "</function>"),
    ("<invoke ", "</invoke>"),
    ("<|tool_call|>", "<|/tool_call|>"),
];
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
    /// Whether it is a call.
    pub(super) is_call: bool,
}

/// The frames of a text. Asked from left to right, the answers take time linear in the text.
#[derive(Debug)]
pub(super) struct Foreign<'a> {
    text: &'a str,
    /// Of each frame, where its openers and closers stand.
    frames: [(Vec<usize>, Vec<usize>); FRAMES.len()],
    /// Up to here stands what begins like JSON and is none.
    tried: usize,
}

impl<'a> Foreign<'a> {
    pub(super) fn new(text: &'a str) -> Foreign<'a> {
        let mut frames: [(Vec<usize>, Vec<usize>); FRAMES.len()] = Default::default();
        for (at, _) in text.match_indices('<') {
            for ((open, close), places) in FRAMES.iter().zip(&mut frames) {
                places.0.extend(text[at..].starts_with(open).then_some(at));
                places.1.extend(text[at..].starts_with(close).then_some(at));
            }
        }
        Foreign { text, frames, tried: 0 }
    }

    /// What begins at this byte in another form.
    pub(super) fn at(&mut self, at: usize) -> Option<Met> {
        let rest = self.text.get(at..)?;
        if rest.starts_with(['<', '[']) {
            let frame = FRAMES.iter().position(|(open, _)| rest.starts_with(open));
            let mark = || MARKS.iter().find(|mark| rest.starts_with(**mark));
            if let Some(frame) = frame {
                return Some(self.framed(at, frame));
            }
            if let Some(mark) = mark() {
                return Some(self.marked(at + mark.len()));
            }
        }
        self.json(at)
    }

    /// A call in a frame: up to what closes it, if no text in it can hold that.
    fn framed(&mut self, at: usize, frame: usize) -> Met {
        let (open, close) = FRAMES[frame];
        let met = |end, is_sure| Met { end, is_sure, is_call: true };
        let inner = self.text[at + open.len()..].trim_start();
        if let Some(end) = self.extent(self.text.len() - inner.len()) {
            let rest = self.text[end..].trim_start();
            if rest.starts_with(close) {
                return met(self.text.len() - rest.len() + close.len(), true);
            }
        }
        let (opens, closes) = &self.frames[frame];
        let opens = &opens[opens.partition_point(|open| *open < at)..];
        let closes = &closes[closes.partition_point(|close| *close < at)..];
        let next = opens.get(1).copied().unwrap_or(self.text.len());
        match closes.first() {
            Some(first) if *first < next && opens.len() == closes.len() => {
                met(first + close.len(), true)
            }
            _ => met(self.text.len(), false),
        }
    }

    /// The calls behind a mark: JSON in its line, perhaps behind a name. Otherwise nobody can say where they end.
    fn marked(&mut self, from: usize) -> Met {
        let rest = &self.text[from..];
        let begins = rest.find(['{', '[', '\n', '<']).filter(|at| !rest[*at..].starts_with('\n'));
        match begins.and_then(|begins| self.extent(from + begins)) {
            Some(end) => Met { end, is_sure: true, is_call: true },
            None => Met { end: self.text.len(), is_sure: false, is_call: true },
        }
    }

    /// JSON that begins a line.
    fn json(&mut self, at: usize) -> Option<Met> {
        let before = self.text[..at].trim_end_matches([' ', '\t']);
        if !before.is_empty() && !before.ends_with('\n') {
            return None;
        }
        let end = self.extent(at)?;
        Some(Met { end, is_sure: true, is_call: is_call(&self.text[at..end]) })
    }

    /// Where an object or a list is over that begins at this byte and is JSON as a whole.
    fn extent(&mut self, at: usize) -> Option<usize> {
        if at < self.tried || !self.text[at..].starts_with(['{', '[']) {
            return None;
        }
        let (over, is_whole) = balanced(&self.text[at..]);
        let end = at + over;
        let is_json = is_whole && serde_json::from_str::<IgnoredAny>(&self.text[at..end]).is_ok();
        if !is_json {
            self.tried = end;
        }
        is_json.then_some(end)
    }
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
fn balanced(text: &str) -> (usize, bool) {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            // No text of JSON goes over a line.
            b'\n' if is_text => return (at, false),
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
