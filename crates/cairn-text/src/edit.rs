//! Exchanging one text for another inside a file's content. Exact matches only; says where the new
//! text stands. Knows nothing of files.

/// How many lines are looked at for the nearest one.
const NEAREST_LINES: usize = 20_000;
/// How much of the nearest line is quoted, in characters.
const NEAREST_CHARS: usize = 200;

/// A content after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new content.
    pub content: String,
    /// First and last line of each replaced place, as numbered in the new content, from 1.
    pub spans: Vec<(usize, usize)>,
}

/// Why a text could not be exchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditProblem {
    /// There is no text to look for.
    #[error("the text to replace is empty")]
    Empty,
    /// Nothing would change.
    #[error("the old and the new text are the same")]
    Same,
    /// The text does not stand there.
    #[error("the text to replace was not found{}", nearest_words(.nearest.as_ref()))]
    NotFound {
        /// The line most like its first line, with its number.
        nearest: Option<(usize, String)>,
    },
    /// The text stands there more than once.
    #[error("the text to replace stands in {} places, at lines {}", .lines.len(), listed(.lines))]
    Several {
        /// Where each begins.
        lines: Vec<usize>,
    },
}

fn nearest_words(nearest: Option<&(usize, String)>) -> String {
    nearest.map_or_else(String::new, |(line, text)| format!("; the nearest line is {line}: {text}"))
}

fn listed(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(20).map(ToString::to_string).collect();
    let rest = if lines.len() > shown.len() { ", …" } else { "" };
    format!("{}{rest}", shown.join(", "))
}

/// Exchanges `old` for `new`: the only occurrence, or `all` of them. Where the content's lines end
/// in CRLF and `old` has bare line feeds, both are taken to mean CRLF.
pub fn replace(content: &str, old: &str, new: &str, all: bool) -> Result<Edited, EditProblem> {
    if old.is_empty() {
        return Err(EditProblem::Empty);
    }
    if old == new {
        return Err(EditProblem::Same);
    }
    let (old, new) = in_the_files_line_ends(content, old, new);
    let starts: Vec<usize> = content.match_indices(&old).map(|(at, _)| at).collect();
    match starts.len() {
        0 => Err(EditProblem::NotFound { nearest: nearest(content, &old) }),
        1 => Ok(splice(content, &starts, old.len(), &new)),
        _ if all => Ok(splice(content, &starts, old.len(), &new)),
        _ => Err(EditProblem::Several { lines: lines_of(content, &starts) }),
    }
}

fn in_the_files_line_ends(content: &str, old: &str, new: &str) -> (String, String) {
    let as_given = (old.to_owned(), new.to_owned());
    if old.contains('\r') || !content.contains("\r\n") {
        return as_given;
    }
    if old.contains('\n') && !content.contains(old) {
        return (crlf(old), crlf(new));
    }
    let bare = content.matches('\n').count() > content.matches("\r\n").count();
    if bare { as_given } else { (old.to_owned(), crlf(new)) }
}

fn crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn splice(content: &str, starts: &[usize], old_len: usize, new: &str) -> Edited {
    let mut out = String::with_capacity(content.len() + starts.len() * new.len());
    let (mut from, mut line) = (0, 1);
    let mut spans = Vec::with_capacity(starts.len());
    for &start in starts {
        let kept = &content[from..start];
        out.push_str(kept);
        line += newlines(kept);
        let first = line;
        out.push_str(new);
        line += newlines(new);
        spans.push((first, if new.ends_with('\n') { line - 1 } else { line }));
        from = start + old_len;
    }
    out.push_str(&content[from..]);
    Edited { content: out, spans }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|&b| b == b'\n').count()
}

fn lines_of(content: &str, starts: &[usize]) -> Vec<usize> {
    let (mut from, mut line) = (0, 1);
    let mut lines = Vec::with_capacity(starts.len());
    for &start in starts {
        line += newlines(&content[from..start]);
        from = start;
        lines.push(line);
    }
    lines
}

/// The line that shares the longest beginning and end with the first line looked for, if that is
/// most of it.
fn nearest(content: &str, old: &str) -> Option<(usize, String)> {
    let wanted: Vec<char> = old.lines().map(str::trim).find(|l| !l.is_empty())?.chars().collect();
    let mut best: Option<(usize, usize, &str)> = None;
    for (number, line) in content.lines().take(NEAREST_LINES).enumerate() {
        let score = likeness(&wanted, line.trim());
        if score >= 60 && best.is_none_or(|(top, ..)| score > top) {
            best = Some((score, number + 1, line));
        }
    }
    best.map(|(_, number, line)| (number, line.trim_end().chars().take(NEAREST_CHARS).collect()))
}

/// How much of two lines is a common beginning or end, in percent of the longer one.
fn likeness(wanted: &[char], line: &str) -> usize {
    let longer = wanted.len().max(line.chars().count());
    if longer == 0 || line.is_empty() {
        return 0;
    }
    let head = wanted.iter().zip(line.chars()).take_while(|(a, b)| **a == *b).count();
    let tail = wanted.iter().rev().zip(line.chars().rev()).take_while(|(a, b)| **a == *b).count();
    (head + tail).min(wanted.len()).min(longer) * 100 / longer
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(content: &str, (old, new): (&str, &str), all: bool, expected: &str) {
        let got = match replace(content, old, new, all) {
            Ok(done) => format!("{:?} {:?}", done.content, done.spans),
            Err(problem) => problem.to_string(),
        };
        assert_eq!(got, expected, "{content:?} {old:?} -> {new:?}");
    }

    #[test]
    fn an_exact_match_is_exchanged_and_its_new_lines_are_named() {
        check("a\nb\nc\n", ("b", "x\ny"), false, r#""a\nx\ny\nc\n" [(2, 3)]"#);
        check("a\nb\nc\n", ("b\n", "x\n"), false, r#""a\nx\nc\n" [(2, 2)]"#);
        check("a\nb\nc\n", ("b\n", ""), false, r#""a\nc\n" [(2, 2)]"#);
        check("a\nb\na\n", ("a", "x\nx"), true, r#""x\nx\nb\nx\nx\n" [(1, 2), (4, 5)]"#);
        check("a", ("a", "b"), true, r#""b" [(1, 1)]"#);
    }

    #[test]
    fn what_cannot_be_exchanged_is_said_as_a_fact() {
        check("a\n", ("", "x"), false, "the text to replace is empty");
        check("a\n", ("a", "a"), false, "the old and the new text are the same");
        check("a\n", ("zzz", "x"), false, "the text to replace was not found");
        let near = "the text to replace was not found; the nearest line is 2:   let x = 1;";
        check("fn f() {\n  let x = 1;\n}\n", ("let x = 2;\n", "y"), false, near);
        let twice = "the text to replace stands in 2 places, at lines 1, 3";
        check("a\nb\na\n", ("a", "x"), false, twice);
    }

    #[test]
    fn line_feeds_mean_crlf_where_the_file_uses_crlf() {
        check("a\r\nb\r\n", ("a\nb", "x\ny"), false, r#""x\r\ny\r\n" [(1, 2)]"#);
        check("a\r\nb\r\n", ("a", "x\ny"), false, r#""x\r\ny\r\nb\r\n" [(1, 2)]"#);
        check("a\r\nb\r\n", ("a\r\n", "x\n"), false, r#""x\nb\r\n" [(1, 1)]"#);
        check("a\nb\r\nc\n", ("a", "x\ny"), false, r#""x\ny\nb\r\nc\n" [(1, 2)]"#);
    }

    proptest! {
        #[test]
        fn any_edit_is_the_plain_replacement_or_a_problem(
            content in "[ab\r\n]{0,24}", old in "[ab\n]{0,3}", new in "[abé\n]{0,3}", all: bool
        ) {
            match replace(&content, &old, &new, all) {
                Ok(done) if !content.contains('\r') => {
                    prop_assert_eq!(done.content, content.replace(&old, &new));
                }
                Ok(done) => prop_assert!(!done.spans.is_empty()),
                Err(EditProblem::Several { lines }) => prop_assert!(lines.len() > 1 && !all),
                Err(_) => {}
            }
        }
    }
}
