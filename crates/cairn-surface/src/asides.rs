//! What stands in a text and is not said by who writes it: quoted lines, indented code, comments, and the results of
//! tools said again. Nothing in it is asked for. Asked only at top level, as what stands in a body is the body's.

use crate::prose::{Closers, fence_in, is_blank, leading_fence, lines, unlisted};
use std::collections::HashMap;

/// What holds what was said by others, by the name of its tag, whatever the case of the letters.
const HOLDERS: [Holder; 19] = [
    Holder::of("tool_response"),
    Holder::of("tool_result"),
    Holder::of("tool_results"),
    Holder::of("tool_output"),
    Holder::of("function_result"),
    Holder::of("function_results"),
    Holder::of("function_response"),
    Holder::of("tool-result"),
    Holder::of("file_content"),
    Holder::of("document_content"),
    Holder::common("stdout", Ends::Last),
    Holder::common("observation", Ends::Last),
    Holder::common("results", Ends::Last),
    Holder::common("output", Ends::Last),
    Holder::common("result", Ends::Last),
    Holder::common("document", Ends::Last),
    Holder::common("file", Ends::Last),
    Holder::common("pre", Ends::First),
    Holder::common("code", Ends::First),
];
/// The same between marks of other kinds.
const PAIRS: [(&str, &str, Ends); 5] = [
    ("<!--", "-->", Ends::First),
    ("<![CDATA[", "]]>", Ends::First),
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]", Ends::Last),
    ("<|tool_response>", "<tool_response|>", Ends::Last),
    ("[INST]", "[/INST]", Ends::Last),
];
/// What begins a turn; the name of who speaks follows.
const TURNS: [&str; 4] = ["<|start_header_id|>", "<|im_start|>", "<start_of_turn>", "<|start|>"];
/// What begins a turn and names who speaks itself.
const NAMED_TURNS: [&str; 4] = ["<|user|>", "<|system|>", "<|tool|>", "<|observation|>"];
const OWN_TURN: &str = "<|assistant|>";
/// Who speaks for themselves.
const SELF: [&str; 2] = ["assistant", "model"];
/// What a row of the log begins with, as it is shown to models.
const ROW: &str = "## log:///";
/// What stands above what is shown to models, if a heading of the second rank follows, and in the lines next to that
/// what is shown: a row, a frame, or lines with their numbers.
const SHOWN: [&str; 2] = ["# Visible", "# Log"];
/// What texts are framed with that are shown, and how many digits of their hash follow.
const FRAME: (&str, usize) = ("text-", 12);
const NEXT: usize = 8;
/// So many blanks before a line make it code, where a blank line stands before it.
const CODE: usize = 4;

/// The lines of a text that are quoted.
#[derive(Debug)]
pub(crate) struct Asides<'a> {
    text: &'a str,
    /// Where each begins and ends.
    lines: Vec<(usize, usize)>,
    /// Where lines begin that are quoted by a fence in a line which is quoted otherwise.
    doubtful: Vec<usize>,
    /// Where lines begin from which on everything was shown before, and is said again.
    shown: Vec<usize>,
    /// Of each holder, where its closers begin and end.
    closers: HashMap<&'static str, Vec<(usize, usize)>>,
    /// Of each holder, from where on each is closed before the next opens.
    paired: HashMap<&'static str, usize>,
    /// Where the one who writes goes on speaking.
    turns: Vec<usize>,
}

/// Which of several closers counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    First,
    /// What was said may hold anything, also the end of what holds it.
    Last,
}

/// A tag that holds what was said by others.
#[derive(Debug, Clone, Copy)]
struct Holder {
    name: &'static str,
    ends: Ends,
    /// It may be a word in prose as well.
    is_common: bool,
}

impl Holder {
    const fn of(name: &'static str) -> Holder {
        Holder { name, ends: Ends::Last, is_common: false }
    }

    const fn common(name: &'static str, ends: Ends) -> Holder {
        Holder { name, ends, is_common: true }
    }
}

/// Something that is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Aside {
    /// Where it is over.
    pub(crate) end: usize,
    /// Whether that is beyond doubt.
    pub(crate) is_sure: bool,
}

impl<'a> Asides<'a> {
    pub(crate) fn new(text: &'a str) -> Asides<'a> {
        let Quoted { lines, doubtful, shown } = quoted_lines(text);
        let (closers, turns) = (closers_of(text), own_turns(text));
        let paired = paired_from(text, &closers);
        Asides { text, lines, doubtful, shown, closers, paired, turns }
    }

    /// What is not said from this byte on. `from` is where what was said last was over: a line that begins before it
    /// is quoted in nothing.
    pub(crate) fn at(&self, at: usize, from: usize) -> Option<Aside> {
        let shown = self.shown.get(self.shown.partition_point(|start| *start < from));
        if shown.is_some_and(|start| *start <= at) {
            return Some(Aside { end: self.text.len(), is_sure: false });
        }
        let line = self.lines.partition_point(|(_, end)| *end <= at);
        match self.lines.get(line) {
            Some((start, end)) if (from..=at).contains(start) => {
                let first = self.doubtful.partition_point(|line| line < start);
                let is_sure = self.doubtful.get(first).is_none_or(|line| line >= end);
                Some(Aside { end: *end, is_sure })
            }
            _ => self.pair(at).or_else(|| self.turn(at)).or_else(|| self.held(at)),
        }
    }

    fn pair(&self, at: usize) -> Option<Aside> {
        let rest = &self.text[at..];
        let (open, close, ends) = PAIRS.iter().find(|(open, ..)| begins(rest, open))?;
        let inner = &rest[open.len()..];
        let first = inner.find(close);
        let last = match ends {
            Ends::First => first,
            Ends::Last => inner.rfind(close),
        };
        let end = last.map(|last| self.text.len() - inner.len() + last + close.len());
        let is_sure = end.is_some() && first == last;
        Some(Aside { end: end.unwrap_or(self.text.len()), is_sure })
    }

    /// A turn of somebody else goes on until the one who writes speaks again.
    fn turn(&self, at: usize) -> Option<Aside> {
        let is_own = is_own_turn(&self.text[at..])?;
        let next = self.turns.get(self.turns.partition_point(|turn| *turn <= at)).copied();
        let end = next.unwrap_or(self.text.len());
        (!is_own).then_some(Aside { end, is_sure: next.is_some() })
    }

    fn held(&self, at: usize) -> Option<Aside> {
        let rest = self.text[at..].strip_prefix('<')?;
        let holder = holder_of(rest).filter(|_| !rest.starts_with('/'))?;
        let closers = self.closers.get(holder.name).map(Vec::as_slice).unwrap_or_default();
        let closers = &closers[closers.partition_point(|(start, _)| *start < at)..];
        // Words that are common stand around several things, one behind the other.
        let is_paired =
            holder.is_common && self.paired.get(holder.name).is_some_and(|from| *from <= at);
        let is_first = holder.ends == Ends::First || is_paired;
        let last = if is_first { closers.first() } else { closers.last() };
        let before = &self.text[..at];
        match last {
            Some((_, end)) => {
                let is_sure = is_first || closers.len() == 1;
                Some(Aside { end: *end, is_sure })
            }
            // A word in angle brackets that closes nowhere.
            None if holder.is_common && !before.is_empty() && !before.ends_with('\n') => None,
            None => Some(Aside { end: self.text.len(), is_sure: false }),
        }
    }
}

/// Whether a text begins with this mark, whatever the case of the letters.
fn begins(text: &str, mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// The holder whose name stands here, in a tag that opens or behind the slash of one that closes.
fn holder_of(text: &str) -> Option<Holder> {
    let text = text.strip_prefix('/').unwrap_or(text);
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let length = text.bytes().take(24).take_while(is_name).count();
    let is_over = text[length..].starts_with(['>', ' ', '\t', '\n', '\r']);
    let holder = HOLDERS.iter().find(|holder| holder.name.eq_ignore_ascii_case(&text[..length]))?;
    is_over.then_some(*holder)
}

/// Of each holder, where its closers begin and end.
fn closers_of(text: &str) -> HashMap<&'static str, Vec<(usize, usize)>> {
    let mut closers: HashMap<&'static str, Vec<(usize, usize)>> = HashMap::new();
    for (at, _) in text.match_indices("</") {
        let Some(holder) = holder_of(&text[at + 1..]) else { continue };
        let behind = &text[at + 2 + holder.name.len()..];
        if let Some(rest) = behind.trim_start().strip_prefix('>') {
            closers.entry(holder.name).or_default().push((at, text.len() - rest.len()));
        }
    }
    closers
}

/// Of each holder, from where on to the end each is closed before the next opens.
fn paired_from(
    text: &str,
    closers: &HashMap<&'static str, Vec<(usize, usize)>>,
) -> HashMap<&'static str, usize> {
    let mut openers: HashMap<&'static str, Vec<usize>> = HashMap::new();
    for (at, _) in text.match_indices('<') {
        let rest = &text[at + 1..];
        if let Some(holder) = holder_of(rest).filter(|_| !rest.starts_with('/')) {
            openers.entry(holder.name).or_default().push(at);
        }
    }
    let from = |(name, openers): (&'static str, Vec<usize>)| {
        let closers = closers.get(name)?;
        let (mut from, mut above) = (None, usize::MAX);
        let before = closers.iter().rev().skip(1).map(|(close, _)| Some(*close)).chain([None]);
        let pairs = openers.iter().rev().zip(closers.iter().rev()).zip(before);
        for ((open, (close, _)), before) in pairs {
            // Nothing of the name stands within, and nothing is closed again.
            if open >= close || *close >= above || before.is_some_and(|before| before > *open) {
                break;
            }
            (from, above) = (Some(*open), *open);
        }
        Some((name, from?))
    };
    openers.into_iter().filter_map(from).collect()
}

/// Where the one who writes begins to speak.
fn own_turns(text: &str) -> Vec<usize> {
    let turns = text.match_indices('<').map(|(at, _)| at);
    turns.filter(|at| is_own_turn(&text[*at..]) == Some(true)).collect()
}

/// Whether a turn that begins here is of the one who writes.
fn is_own_turn(text: &str) -> Option<bool> {
    if begins(text, OWN_TURN) {
        return Some(true);
    }
    if NAMED_TURNS.iter().any(|mark| begins(text, mark)) {
        return Some(false);
    }
    let mark = TURNS.iter().find(|mark| begins(text, mark))?;
    let role = text[mark.len()..].trim_start_matches([' ', '\t', '\r', '\n']);
    let is_own = SELF.iter().any(|own| begins(role, own));
    (is_own || role.starts_with(|c: char| c.is_alphabetic())).then_some(is_own)
}

/// The lines that are quoted, and those from which on everything was shown before.
fn quoted_lines(text: &str) -> Quoted {
    let (closers, frames) = (Closers::new(text), frames_of(text));
    let (mut found, mut doubtful, mut shown, mut told) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let (mut is_parted, mut is_code) = (false, false);
    // Where what stands in the list before begins in its lines.
    let mut listed = 0;
    // The fence that is open in the quoted lines before.
    let mut fence: Option<(u8, usize)> = None;
    for (start, end, next) in lines(text) {
        let line = &text[start..end];
        let is_empty = line.chars().all(|c| is_blank(c) || c.is_whitespace());
        // A fence that closes is told as such, wherever it is indented.
        let is_fence =
            || leading_fence(line).is_some_and(|fence| closers.next(fence, next).is_some());
        is_code = match is_empty {
            true => is_code,
            false => {
                listed = listed_behind(line, listed, is_parted);
                indent(line) >= listed + CODE && (is_parted || is_code) && !is_fence()
            }
        };
        let over = match (quoted(line), fence.take()) {
            (Some(inner), open) => {
                fence = fenced(inner, open);
                next
            }
            // It opened in a quoted line and closes in one that is not.
            (None, Some(open)) => {
                doubtful.push(start);
                closers.next(open, start).map_or(told, |(_, end)| end)
            }
            _ if is_code && !is_empty || is_numbered(line) => next,
            _ => frames.get(&start).copied().unwrap_or(told),
        };
        if told < over {
            found.push((start.max(told), over));
            told = over;
        }
        if is_shown(line, &text[next..]) || frames.get(&start) == Some(&text.len()) {
            shown.push(start);
        }
        is_parted = is_empty && start > 0;
    }
    Quoted { lines: joined(text, found), doubtful, shown }
}

/// The lines of a text that are quoted, as `Asides` keeps them.
struct Quoted {
    lines: Vec<(usize, usize)>,
    doubtful: Vec<usize>,
    shown: Vec<usize>,
}

/// Whether what was shown before begins in a line, before this rest.
fn is_shown(line: &str, rest: &str) -> bool {
    line.starts_with(ROW)
        || (SHOWN.contains(&line.trim_end())
            && rest.trim_start().starts_with("## ")
            && lines(rest).take(NEXT).any(|(start, end, _)| is_showing(&rest[start..end])))
}

/// Whether a line is one of what is shown to models.
fn is_showing(line: &str) -> bool {
    line.starts_with(ROW) || is_numbered(line) || frame_of(line).is_some()
}

/// The hash in a line that frames a text.
fn frame_of(line: &str) -> Option<&str> {
    let hash = line.trim_end().strip_prefix(FRAME.0).filter(|hash| hash.len() == FRAME.1)?;
    hash.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(hash)
}

/// A line as files are shown: its number stands before it, and a tab, an arrow or a bar.
fn is_numbered(line: &str) -> bool {
    let line = line.trim_start_matches(is_blank);
    let digits = line.bytes().take(9).take_while(u8::is_ascii_digit).count();
    digits > 0 && ["\t", "→", "| "].iter().any(|mark| line[digits..].starts_with(mark))
}

/// Where framed texts begin and end. One whose end was not said again goes on to the end.
fn frames_of(text: &str) -> HashMap<usize, usize> {
    let (mut open, mut frames): (HashMap<&str, usize>, HashMap<usize, usize>) = Default::default();
    for (start, end, next) in lines(text) {
        let Some(hash) = frame_of(&text[start..end]) else { continue };
        match open.remove(hash) {
            Some(from) => frames.insert(from, next),
            None => open.insert(hash, start),
        };
    }
    frames.extend(open.into_values().map(|start| (start, text.len())));
    frames
}

/// How far in a line begins.
fn indent(line: &str) -> usize {
    let blanks = line.trim_start_matches('\u{FEFF}').chars().take_while(|c| is_blank(*c));
    blanks.fold(0, |width, c| if c == '\t' { width / CODE * CODE + CODE } else { width + 1 })
}

/// How far in what stands in a list begins, from this line on, if it began there before.
fn listed_behind(line: &str, listed: usize, is_parted: bool) -> usize {
    let blanks = line.len() - line.trim_start_matches(is_blank).len();
    let marks = line.len() - unlisted(line).len();
    let indent = indent(line);
    match marks > blanks {
        // A mark that is as far in as code is part of that.
        true if indent < listed + CODE => indent + (marks - blanks).min(CODE + 1),
        false if is_parted && indent < listed.min(CODE / 2) => 0,
        _ => listed,
    }
}

/// What a quoted line says.
fn quoted(line: &str) -> Option<&str> {
    unlisted(line).strip_prefix('>')
}

/// The fence that is open behind a quoted line, if this one was open before.
fn fenced(inner: &str, open: Option<(u8, usize)>) -> Option<(u8, usize)> {
    let inner = inner.trim_start_matches(|c| is_blank(c) || c == '>').trim_end();
    let Some((mark, length)) = open else { return fence_in(inner) };
    let closes = inner.len() >= length && inner.bytes().all(|byte| byte == mark);
    (!closes).then_some((mark, length))
}

/// A line is quoted up to its line feed, whatever else may end lines.
fn joined(text: &str, found: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut lines: Vec<(usize, usize)> = Vec::with_capacity(found.len());
    for (start, end) in found {
        if lines.last().is_some_and(|(_, told)| end <= *told) {
            continue;
        }
        let is_over = text[..end].ends_with('\n');
        let rest = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
        lines.push((start, if is_over { end } else { rest }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text without what is not said.
    fn said(text: &str) -> String {
        let asides = Asides::new(text);
        let (mut out, mut at) = (String::new(), 0);
        while let Some(c) = text[at..].chars().next() {
            match asides.at(at, 0) {
                Some(Aside { end, is_sure }) => {
                    out.push_str(if is_sure { "{}" } else { "{?}" });
                    at = end;
                }
                None => {
                    out.push(c);
                    at += c.len_utf8();
                }
            }
        }
        out
    }

    #[test]
    fn what_is_not_said_is_told_from_what_is() {
        for (text, expected) in [
            ("> a\nb", "{}b"),
            ("a > b\n  > c\nd", "a > b\n{}d"),
            ("a\n    b", "a\n    b"),
            ("    a", "    a"),
            ("a\n\n    b\n\tc\n\n    d\ne", "a\n\n{}{}\n{}e"),
            ("a\n\n   b", "a\n\n   b"),
            ("a\r> b\rc\nd", "a\r{}d"),
            ("a\u{2028}> b\nc", "a\u{2028}{}c"),
            ("\u{FEFF}> b\n\u{A0}\u{200B}> c\nd", "{}{}d"),
            ("- a\n    > b\n1. > c\nd", "- a\n{}{}d"),
            ("> ```\nb\n```\nc", "{}{?}c"),
            ("> ```\n> b\n> ```\nc\n```\nd\n```", "{}{}{}c\n```\nd\n```"),
            ("> ```\nb", "{}b"),
            ("a\n\n    ```\nb\n    ```\nc", "a\n\n    ```\nb\n    ```\nc"),
            ("a\n\n    ```\nb", "a\n\n{}b"),
            ("a <!-- b\n --> c --> d", "a {} c --> d"),
            ("a <!-- b", "a {?}"),
            ("<tool_result>a</tool_result>b", "{}b"),
            ("<tool_response id=\"1\">a</tool_response>b</tool_response>c", "{?}c"),
            ("<function_results>a", "{?}"),
            ("<TOOL_RESULT>a</Tool_Result >b", "{}b"),
            ("<output>a</output>b", "{}b"),
            ("<file path=\"a\">a</file>b", "{}b"),
            ("Vec<file>a", "Vec<file>a"),
            ("a <result> b", "a <result> b"),
            ("<result>\nb", "{?}"),
            ("<code>a</code>b<pre>c</pre>d<code>e</code>", "{}b{}d{}"),
            ("<![CDATA[a]]>b", "{}b"),
            ("[TOOL_RESULTS]a[/TOOL_RESULTS]b", "{}b"),
            (
                "a<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\nc",
                "a{}<|im_start|>assistant\nc",
            ),
            ("<|start_header_id|>ipython<|end_header_id|>a", "{?}"),
            ("<start_of_turn>user\na<start_of_turn>model\nb", "{}<start_of_turn>model\nb"),
            ("<|start|>assistant<|message|>a", "<|start|>assistant<|message|>a"),
            ("a\n## log:///1/2/1 read a.md, 200\nb", "a\n{?}"),
            ("## log/a\nb", "## log/a\nb"),
            ("1\ta\n 20\tb\n3 c", "{}{}3 c"),
            ("# Visible\n## a.md\n1\tb", "{?}"),
            ("# Visible\n## a.md\nb", "# Visible\n## a.md\nb"),
            ("1. a\n\n    b\n\n        c\nd\n\ne\n\n    f", "1. a\n\n    b\n\n{}d\n\ne\n\n{}"),
            ("<output>a</output>b<output>c</output>d", "{}b{}d"),
            ("<output>a</output>b</output>c<output>d</output>", "{?}"),
            ("<output>a</output>b</output>c", "{?}c"),
            ("<output>a<output>b</output>c</output>d", "{?}d"),
            ("<|user|>a<|assistant|>b", "{}<|assistant|>b"),
            ("  3→a\n4| b\n5 | c", "{}{}5 | c"),
            ("# Log\nb", "# Log\nb"),
            ("text-0123456789ab\n# a\ntext-0123456789ab\nb", "{}b"),
            ("text-0123456789ab\n# a\n", "{?}"),
            ("<tool_resulting>a", "<tool_resulting>a"),
            ("<tool_result/>é", "<tool_result/>é"),
        ] {
            assert_eq!(said(text), expected, "{text:?}");
        }
    }
}
