//! Where a model marks what it thinks aloud: tags, and the channels of Harmony. Knows nothing of ops, and is asked
//! only at top level: what stands in a body or a quote is no mark.

/// The names of what holds thoughts, `<think>` and `</think>`, whatever the case of the letters.
pub(crate) const NAMES: [&str; 11] = [
    "think",
    "thinking",
    "reasoning",
    "thought",
    "thoughts",
    "seed:think",
    "analysis",
    "scratchpad",
    "antthinking",
    "reflection",
    "antml:thinking",
];
/// What one training puts before the names of its tags, of calls as of thoughts.
pub(crate) const SPACE: &str = "antml:";
/// Those that are words as well: where one stands in a line and closes nowhere, it is one.
pub(crate) const COMMON: [&str; 3] = ["reasoning", "analysis", "reflection"];
/// How many of them stand in square brackets as well.
const BRACKETED: usize = 3;
/// Thoughts between marks of other kinds.
const PAIRS: [(&str, &str); 4] = [
    ("<|channel>thought", TURN_END),
    ("◁think▷", "◁/think▷"),
    ("<|think|>", "<|/think|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
];
/// An end that says nothing where it stands alone.
const TURN_END: &str = "<channel|>";

/// What a channel begins with, and what stands between its name and what is said in it.
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// What may stand between them besides: how the message is written.
const CONSTRAIN: &str = "<|constrain|>";
/// The channel that is no thought.
const FINAL: &str = "final";
/// What ends what is said in a channel. The last two begin something else, and are no part of it.
const ENDS: [&str; 5] = ["<|end|>", "<|return|>", "<|call|>", "<|start|>", CHANNEL];
/// What begins a message; the name of who speaks follows.
const START: &str = "<|start|>";
const STARTS: [&str; 4] = [START, "<|im_start|>", "<|start_header_id|>", "<start_of_turn>"];
/// Marks that say nothing by themselves.
const LONE: [&str; 9] = [
    MESSAGE,
    "<|im_end|>",
    "<|end_header_id|>",
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<|end_of_text|>",
    "<|assistant|>",
];

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark<'a> {
    /// A thought, whole.
    Thought {
        /// What was thought.
        said: &'a str,
        /// Where it is over.
        end: usize,
        /// Whether its end was written. One without goes on to the end of the text.
        is_closed: bool,
    },
    /// The end of a thought whose beginning was not written: everything before it was thought.
    Closer {
        /// Where it is over.
        end: usize,
    },
    /// A mark around what is said aloud; it says nothing itself.
    Frame {
        /// Where it is over.
        end: usize,
    },
}

/// The mark that begins at this byte, which is at top level. Asked from left to right, past what was answered, the
/// answers take time linear in the text.
#[must_use]
pub fn mark_at(text: &str, at: usize) -> Option<Mark<'_>> {
    let rest = text.get(at..).filter(|rest| rest.starts_with(['<', '[', '◁']))?;
    match tag_at(rest) {
        Some(Tag { is_whole: true, length, .. }) => return Some(Mark::Frame { end: at + length }),
        Some(Tag { is_closer: true, length, .. }) => {
            return Some(Mark::Closer { end: at + length });
        }
        Some(tag) => return Some(thought(text, at + tag.length, tag)),
        None => {}
    }
    if let Some((open, close)) = PAIRS.iter().find(|(open, _)| begins(rest, open)) {
        let from = at + open.len();
        let found = text[from..].find(close).map(|found| (from + found, close.len()));
        return Some(between(text, from, found));
    }
    if let Some(end) = lone_end(rest) {
        return Some(Mark::Closer { end: at + end });
    }
    if let Some(start) = STARTS.iter().find(|start| rest.starts_with(**start)) {
        let name = at + start.len();
        let spoken = text[name..].find(|c: char| !c.is_ascii_alphanumeric());
        return Some(Mark::Frame { end: name + spoken.unwrap_or(text.len() - name) });
    }
    if rest.starts_with(CHANNEL) {
        return Some(channel(text, at + CHANNEL.len()));
    }
    let lone = ENDS.into_iter().chain(LONE).find(|mark| rest.starts_with(mark))?;
    Some(Mark::Frame { end: at + lone.len() })
}

/// Where the end of a thought is over that stands at this byte. Its beginning is not looked for.
#[must_use]
pub fn closer_at(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let tag = tag_at(rest).filter(|tag| tag.is_closer).map(|tag| tag.length);
    Some(at + tag.or_else(|| lone_end(rest))?)
}

/// Whether a text begins with this mark, whatever the case of the letters.
fn begins(text: &str, mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// The length of the mark that ends a thought, if the text begins with one that says so by itself.
fn lone_end(text: &str) -> Option<usize> {
    let mut ends = PAIRS.iter().map(|(_, close)| *close).filter(|close| *close != TURN_END);
    ends.find(|close| begins(text, close)).map(str::len)
}

/// A tag, or what stands in square brackets like one.
#[derive(Debug, Clone, Copy)]
struct Tag {
    name: &'static str,
    bracket: char,
    is_closer: bool,
    /// It opens and closes at once, and holds nothing.
    is_whole: bool,
    length: usize,
}

/// The tag that a text begins with, if it is one that holds thoughts.
fn tag_at(text: &str) -> Option<Tag> {
    let bracket = text.chars().next()?;
    let (ends, names) = match bracket {
        '<' => ('>', &NAMES[..]),
        '[' => (']', &NAMES[..BRACKETED]),
        _ => return None,
    };
    let is_closer = text[1..].starts_with('/');
    let from = if is_closer { 2 } else { 1 };
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b':';
    let length = text[from..].bytes().take(24).take_while(is_name).count();
    let written = &text[from..from + length];
    let name = names.iter().find(|name| name.eq_ignore_ascii_case(written))?;
    let rest = &text[from + length..];
    // An angle bracket may close in another line.
    let is_over = |c: char| matches!(c, '<' | '>' | '[' | ']') || (bracket == '[' && c == '\n');
    let over = rest.find(is_over).filter(|at| rest[*at..].starts_with(ends))?;
    let inner = &rest[..over];
    let is_whole = !is_closer && bracket == '<' && inner.ends_with('/');
    // Attributes may stand in a tag that opens; behind brackets in prose there may be a link.
    let is_it = match (bracket, is_closer) {
        ('<', false) => inner.is_empty() || is_whole || inner.starts_with(char::is_whitespace),
        (_, true) => inner.trim().is_empty(),
        _ => inner.is_empty() && !rest[1..].starts_with('('),
    };
    let length = from + length + over + 1;
    is_it.then_some(Tag { name, bracket, is_closer, is_whole, length })
}

/// The thought from here to the closer of what opened it.
fn thought(text: &str, from: usize, opener: Tag) -> Mark<'_> {
    let closes = |(at, _): (usize, &str)| {
        let tag = tag_at(&text[from + at..]).filter(|tag| tag.is_closer)?;
        (tag.name == opener.name).then_some((from + at, tag.length))
    };
    let close = text[from..].match_indices(opener.bracket).find_map(closes);
    between(text, from, close)
}

/// The thought from here to its end, which stands there with this length, or to that of the text.
fn between(text: &str, from: usize, close: Option<(usize, usize)>) -> Mark<'_> {
    match close {
        Some((at, length)) => {
            Mark::Thought { said: &text[from..at], end: at + length, is_closed: true }
        }
        None => Mark::Thought { said: &text[from..], end: text.len(), is_closed: false },
    }
}

/// The channel whose name stands here.
fn channel(text: &str, name: usize) -> Mark<'_> {
    let ended = |from: usize| {
        let marks = text[from..].match_indices("<|").map(|(at, _)| from + at);
        marks
            .filter_map(|at| Some((at, *ENDS.iter().find(|end| text[at..].starts_with(**end))?)))
            .next()
    };
    let marks = text[name..].match_indices("<|").map(|(at, _)| name + at);
    let mut marks = marks.skip_while(|at| text[*at..].starts_with(CONSTRAIN));
    // What leads to the message stands in one line.
    let message = marks.next().filter(|at| text[*at..].starts_with(MESSAGE));
    let Some(message) = message.filter(|at| !text[name..*at].contains('\n')) else {
        let length = text[name..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let behind = name + length;
        // A channel without a message says nothing, but what stands below the name of one of thoughts is thought.
        if length == 0 || !text[behind..].starts_with('\n') || &text[name..behind] == FINAL {
            return Mark::Frame { end: name };
        }
        return said_until(text, behind, ended(behind));
    };
    let from = message + MESSAGE.len();
    if text[name..message].split_whitespace().next() == Some(FINAL) {
        return Mark::Frame { end: from };
    }
    said_until(text, from, ended(from))
}

/// The thought from here to a mark that ends what is said in a channel.
fn said_until<'a>(text: &'a str, from: usize, ended: Option<(usize, &str)>) -> Mark<'a> {
    match ended {
        None => Mark::Thought { said: &text[from..], end: text.len(), is_closed: false },
        Some((at, end)) => {
            let begins_another = [START, CHANNEL].contains(&end);
            let end = if begins_another { at } else { at + end.len() };
            Mark::Thought { said: &text[from..at], end, is_closed: true }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text as it is read: thoughts in braces, what an orphan closer takes in double braces.
    fn read(text: &str) -> String {
        let (mut out, mut at) = (String::new(), 0);
        while at < text.len() {
            match mark_at(text, at) {
                Some(Mark::Thought { said, end, is_closed }) => {
                    out.push_str(&format!("{{{said}{}", if is_closed { "}" } else { "…}" }));
                    at = end;
                }
                Some(Mark::Closer { end }) => {
                    out = format!("{{{{{out}}}}}");
                    at = end;
                }
                Some(Mark::Frame { end }) => at = end,
                None => {
                    let c = text[at..].chars().next().unwrap();
                    out.push(c);
                    at += c.len_utf8();
                }
            }
        }
        out
    }

    #[test]
    fn thoughts_are_told_from_what_is_said() {
        for (text, expected) in [
            ("<think>a</think>b", "{a}b"),
            ("x <THINK>a < b</Think> b", "x {a < b} b"),
            ("<thinking>a</think>b</thinking>c", "{a</think>b}c"),
            ("<reasoning>\na\n</reasoning>", "{\na\n}"),
            ("[thinking]a[/thinking]b", "{a}b"),
            ("[THINK]a[/THINK]b", "{a}b"),
            ("<think>never closed", "{never closed…}"),
            ("a</think>b", "{{a}}b"),
            ("<think>a<think>b</think>c</think>d", "{{{a<think>b}c}}d"),
            ("<thinks>a", "<thinks>a"),
            ("<Thought a=\"1\">a</thought >b", "{a}b"),
            ("<think/>a", "a"),
            ("<think\n>a</think\n>b", "{a}b"),
            ("<think\n<a>b", "<think\n<a>b"),
            ("◁think▷a◁/think▷b", "{a}b"),
            ("a◁/think▷b", "{{a}}b"),
            ("<seed:think>a</seed:think>b", "{a}b"),
            ("<|begin_of_thought|>a<|end_of_thought|>b", "{a}b"),
            ("<analysis>a</analysis><scratchpad>b</scratchpad>c", "{a}{b}c"),
            ("<antThinking>a</antThinking><Reflection>b</Reflection>c", "{a}{b}c"),
            ("<|im_start|>assistant\na<|im_end|>", "\na"),
            ("[Thinking]a[/think]b[/Thinking]c", "{a[/think]b}c"),
            ("[thinking](a) b", "[thinking](a) b"),
            ("<|channel>thought\na<channel|>b", "{\na}b"),
            ("a<channel|>b", "a<channel|>b"),
            ("<|channel|>commentary to=x <|constrain|>json<|message|>a<|call|>b", "{a}b"),
            ("< think>é[ç", "< think>é[ç"),
            ("<|channel|>analysis<|message|>a<|end|>b", "{a}b"),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
                "{a}b",
            ),
            ("<|channel|>commentary<|message|>a<|channel|>final<|message|>b", "{a}b"),
            ("<|channel|>analysis<|message|>a", "{a…}"),
            ("<|channel|>analysis a <|x|>", "analysis a <|x|>"),
            ("<|channel|>analysis\na\n<|message|>b<|end|>c", "{\na\n<|message|>b}c"),
            ("<|channel|>final\na", "final\na"),
            ("<|start|>", ""),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }
}
