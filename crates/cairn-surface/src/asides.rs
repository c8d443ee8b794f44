//! What stands in a text and is not said by who writes it: quoted lines, indented code, comments, and the results of
//! tools said again. Nothing in it is asked for. Asked only at top level, as what stands in a body is the body's.

use crate::prose::{Closers, fence_in, is_blank, leading_fence, lines, unlisted};

/// What holds the results of tools.
const RESULTS: [&str; 5] =
    ["tool_response", "tool_result", "tool_results", "function_result", "function_results"];
const COMMENT: (&str, &str) = ("<!--", "-->");
/// So many blanks before a line make it code, where a blank line stands before it.
const CODE: usize = 4;

/// The lines of a text that are quoted.
#[derive(Debug)]
pub(crate) struct Asides<'a> {
    text: &'a str,
    /// Where each begins and ends.
    lines: Vec<(usize, usize)>,
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
        let closers = Closers::new(text);
        let (mut found, mut told) = (Vec::new(), 0);
        let (mut is_parted, mut is_code) = (false, false);
        // The fence that is open in the quoted lines before.
        let mut fence: Option<(u8, usize)> = None;
        for (start, end, next) in lines(text) {
            let line = &text[start..end];
            let is_empty = line.chars().all(|c| is_blank(c) || c.is_whitespace());
            let quoted = quoted(line);
            // A fence that closes is told as such, wherever it is indented.
            let is_fence =
                || leading_fence(line).is_some_and(|fence| closers.next(fence, next).is_some());
            is_code = match is_empty {
                true => is_code,
                false => is_indented(line) && (is_parted || is_code) && !is_fence(),
            };
            let over = match (quoted, fence.take()) {
                (Some(inner), open) => {
                    fence = fenced(inner, open);
                    next
                }
                // It opened in a quoted line and closes in one that is not.
                (None, Some(open)) => closers.next(open, start).map_or(told, |(_, end)| end),
                _ if is_code && !is_empty => next,
                _ => told,
            };
            if told < over {
                found.push((start.max(told), over));
                told = over;
            }
            is_parted = is_empty && start > 0;
        }
        Asides { text, lines: joined(text, found) }
    }

    /// What is not said from this byte on. `from` is where what was said last was over: a line that begins before it
    /// is quoted in nothing.
    pub(crate) fn at(&self, at: usize, from: usize) -> Option<Aside> {
        let line = self.lines.partition_point(|(_, end)| *end <= at);
        match self.lines.get(line) {
            Some((start, end)) if (from..=at).contains(start) => {
                Some(Aside { end: *end, is_sure: true })
            }
            _ => self.comment(at).or_else(|| self.result(at)),
        }
    }

    fn comment(&self, at: usize) -> Option<Aside> {
        let inner = self.text[at..].strip_prefix(COMMENT.0)?;
        let close = inner.find(COMMENT.1);
        let end = close.map(|close| self.text.len() - inner.len() + close + COMMENT.1.len());
        Some(Aside { end: end.unwrap_or(self.text.len()), is_sure: end.is_some() })
    }

    /// What a tool said may hold anything, also the end of what holds it: the last counts.
    fn result(&self, at: usize) -> Option<Aside> {
        let rest = self.text[at..].strip_prefix('<')?;
        let opens = |name: &&&str| {
            let behind = rest.strip_prefix(**name);
            behind.is_some_and(|behind| behind.starts_with(['>', ' ']))
        };
        let closer = format!("</{}>", RESULTS.iter().find(opens)?);
        let Some(last) = rest.rfind(&closer) else {
            return Some(Aside { end: self.text.len(), is_sure: false });
        };
        let is_sure = rest.find(&closer) == Some(last);
        Some(Aside { end: self.text.len() - rest.len() + last + closer.len(), is_sure })
    }
}

fn is_indented(line: &str) -> bool {
    let line = line.trim_start_matches('\u{FEFF}');
    let blanks = line.chars().take_while(|c| is_blank(*c) && *c != '\t').count();
    blanks >= CODE || line.chars().nth(blanks) == Some('\t')
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
            ("> ```\nb\n```\nc", "{}{}c"),
            ("> ```\n> b\n> ```\nc\n```\nd\n```", "{}{}{}c\n```\nd\n```"),
            ("> ```\nb", "{}b"),
            ("a\n\n    ```\nb\n    ```\nc", "a\n\n    ```\nb\n    ```\nc"),
            ("a\n\n    ```\nb", "a\n\n{}b"),
            ("a <!-- b\n --> c --> d", "a {} c --> d"),
            ("a <!-- b", "a {?}"),
            ("<tool_result>a</tool_result>b", "{}b"),
            ("<tool_response id=\"1\">a</tool_response>b</tool_response>c", "{?}c"),
            ("<function_results>a", "{?}"),
            ("<tool_resulting>a", "<tool_resulting>a"),
            ("<tool_result/>é", "<tool_result/>é"),
        ] {
            assert_eq!(said(text), expected, "{text:?}");
        }
    }
}
