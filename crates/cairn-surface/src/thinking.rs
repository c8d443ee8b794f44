//! Where a model marks what it thinks aloud: tags, and the channels of Harmony. Knows nothing of ops, and is asked
//! only at top level: what stands in a body or a quote is no mark.

/// How thoughts are opened and closed, whatever the case of the letters.
const TAGS: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[thinking]", "[/thinking]"),
    ("[think]", "[/think]"),
];

/// What a channel begins with, and what stands between its name and what is said in it.
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// The channel that is no thought.
const FINAL: &str = "final";
/// What ends what is said in a channel. The last two begin something else, and are no part of it.
const ENDS: [&str; 5] = ["<|end|>", "<|return|>", "<|call|>", "<|start|>", CHANNEL];
/// What begins a message; the name of who speaks follows.
const START: &str = "<|start|>";

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
    let rest = text.get(at..).filter(|rest| rest.starts_with(['<', '[']))?;
    for (opener, closer) in TAGS {
        if begins(rest, opener) {
            return Some(thought(text, at + opener.len(), closer));
        }
        if begins(rest, closer) {
            return Some(Mark::Closer { end: at + closer.len() });
        }
    }
    if rest.starts_with(START) {
        let name = at + START.len();
        let spoken = text[name..].find(|c: char| !c.is_ascii_alphanumeric());
        return Some(Mark::Frame { end: name + spoken.unwrap_or(text.len() - name) });
    }
    if rest.starts_with(CHANNEL) {
        return Some(channel(text, at + CHANNEL.len()));
    }
    let lone = ENDS.into_iter().chain([MESSAGE]).find(|mark| rest.starts_with(mark))?;
    Some(Mark::Frame { end: at + lone.len() })
}

fn begins(text: &str, tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

/// The thought from here to its closer.
fn thought<'a>(text: &'a str, from: usize, closer: &str) -> Mark<'a> {
    let first = closer.as_bytes().first().copied();
    let starts = text.bytes().enumerate().skip(from).filter(|(_, byte)| Some(*byte) == first);
    match starts.map(|(at, _)| at).find(|at| begins(&text[*at..], closer)) {
        Some(close) => {
            Mark::Thought { said: &text[from..close], end: close + closer.len(), is_closed: true }
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
    let message = text[name..].find("<|").map(|at| name + at);
    let Some(message) = message.filter(|at| text[*at..].starts_with(MESSAGE)) else {
        // A channel without a message says nothing.
        return Mark::Frame { end: name };
    };
    let from = message + MESSAGE.len();
    if text[name..message].split_whitespace().next() == Some(FINAL) {
        return Mark::Frame { end: from };
    }
    match ended(from) {
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
            ("< think>é[ç", "< think>é[ç"),
            ("<|channel|>analysis<|message|>a<|end|>b", "{a}b"),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
                "{a}b",
            ),
            ("<|channel|>commentary<|message|>a<|channel|>final<|message|>b", "{a}b"),
            ("<|channel|>analysis<|message|>a", "{a…}"),
            ("<|channel|>analysis a <|x|>", "analysis a <|x|>"),
            ("<|start|>", ""),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }
}
