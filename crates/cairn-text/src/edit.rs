//! Exchanging one text for another inside a file's content: as it stands, or with declared and
//! reported tolerances where a text was quoted a little wrongly. Says where the new text stands.
//! Knows nothing of files.

mod blocks;
mod elided;
mod elsewhere;
mod escapes;
mod grid;
mod indent;
mod ladder;
mod numbers;
mod parts;
mod preview;
mod problem;
pub(crate) mod rows;
mod typography;
mod whole;
mod work;

use crate::diff;
use crate::moves::Moves;
pub use cairn_types::Exchange;
pub use problem::{Doubt, EditProblem};
use rows::meant_lines;
use std::ops::Range;
pub(crate) use work::Work;

/// How many places of a text may overlap before only separate ones are counted.
const MAX_OVERLAPPING: usize = 100;

/// A content after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new content.
    pub content: String,
    /// First and last line of each replaced place, as numbered in the new content, from 1.
    pub spans: Vec<(usize, usize)>,
    /// What was tolerated, in short phrases. Empty when everything stood as it was quoted.
    pub notes: Vec<String>,
    /// Where the parts that stayed were moved.
    pub moves: Moves,
}

impl Edited {
    /// A content in place of another, of which nothing need have stayed.
    #[must_use]
    pub fn rewritten(before: Option<&str>, content: String) -> Edited {
        let spans = before.map(|before| diff::spans(before, &content)).unwrap_or_default();
        Edited { content, spans, notes: Vec::new(), moves: Moves::everything() }
    }
}

/// Whether an old text may begin and end within lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It may.
    Text,
    /// It is whole lines.
    Lines,
}

/// A new text and the bytes it replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) at: Range<usize>,
    pub(crate) text: String,
}

/// What an edit comes to: pieces in order, and what was tolerated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) notes: Vec<String>,
}

/// What one rung of the ladder found.
enum Look {
    Miss,
    Found(Found),
    /// Several places, which begin at these lines.
    Several(Vec<usize>),
    /// One place, these lines counted from 0, where what was meant is not certain.
    Doubt(Doubt, Range<usize>),
}

/// Exchanges `old` for `new`: the only occurrence, or `all` of them. Where the content's lines end
/// in CRLF and `old` has bare line feeds, both are taken to mean CRLF.
///
/// If `old` does not stand there as it is, tolerances are tried in a fixed order: line ends, blanks
/// at line ends, typographic characters, indentation, pasted line numbers, blank lines around it,
/// surplus escapes, elided middles. Each counts only where it finds exactly one place, also under
/// `all`, and where it is certain what the new text means there. Lines that `new` keeps from `old`
/// stay as the file has them.
pub fn replace(content: &str, old: &str, new: &str, all: bool) -> Result<Edited, EditProblem> {
    let mut work = Work::on(content);
    let notes = exchange(&mut work, old, new, all)?;
    Ok(work.done(notes))
}

/// Makes these exchanges one after the other, each in what the one before left. All or nothing: the
/// first that cannot be made is named, counted from 0.
pub fn replace_each(content: &str, exchanges: &[Exchange]) -> Result<Edited, (usize, EditProblem)> {
    let mut work = Work::on(content);
    let mut notes = Vec::new();
    for (index, Exchange { old, new, all }) in exchanges.iter().enumerate() {
        let more = exchange(&mut work, old, new, *all).map_err(|problem| (index, problem))?;
        for note in more {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(work.done(notes))
}

fn exchange(work: &mut Work, old: &str, new: &str, all: bool) -> Result<Vec<String>, EditProblem> {
    if old.is_empty() {
        return Err(EditProblem::Empty);
    }
    if old == new {
        return Err(EditProblem::Same);
    }
    let found = find_text(work.content(), old, new, all)?;
    work.exchange(&found.pieces);
    Ok(found.notes)
}

/// Where `old` stands as it is, also within lines, or else with tolerances.
pub(crate) fn find_text(
    content: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<Found, EditProblem> {
    let (exact, text) = in_the_files_line_ends(content, old, new);
    let starts: Vec<usize> = match all {
        true => content.match_indices(&exact).map(|(at, _)| at).collect(),
        false => occurrences(content, &exact),
    };
    let piece = |at: &usize| Piece { at: *at..at + exact.len(), text: text.clone() };
    match starts.len() {
        0 => find(content, old, new, How::Text),
        1 => in_its_line(content, old, piece(&starts[0])),
        _ if all => Ok(Found { pieces: starts.iter().map(piece).collect(), notes: Vec::new() }),
        _ => Err(EditProblem::Several { lines: lines_of(content, &starts) }),
    }
}

/// The only exact match, whose new text may have an indentation that stands before it already.
fn in_its_line(content: &str, old: &str, piece: Piece) -> Result<Found, EditProblem> {
    let Some(text) = indented_twice(content, piece.at.start, old, &piece.text) else {
        return Ok(Found { pieces: vec![piece], notes: Vec::new() });
    };
    // A line that the new text keeps without its indentation would stay without it.
    let first = meant_lines(old)[0];
    let indent = indentation_before(content, piece.at.start).unwrap_or_default();
    let rest = meant_lines(&text);
    let mut rest = rest.iter().skip(1).filter(|line| !line.trim().is_empty());
    // And where no other old line shows the file's indentation, one with less may lack as much.
    let lacks = |line: &&str| newlines(old.trim_end()) == 0 && !line.starts_with(indent);
    // Without the line that opens a block, what takes its place may belong into it.
    let one = newlines(old.trim_end()) == 0;
    let opened = one && blocks::opens(first.trim()) && !blocks::opens(meant_lines(&text)[0].trim());
    if opened || rest.any(|line| *line == first || lacks(line)) {
        return Err(ladder::doubtful(content, old, Doubt::Indentation, piece.at.start));
    }
    let note = "the old text began after its line's indentation, the new one before it";
    let notes = vec![note.to_owned()];
    elsewhere::refused(content, old, Found { pieces: vec![Piece { text, ..piece }], notes })
}

/// The new text without the indentation that stands before the match already, where `old` lost the
/// indentation of its first line and `new` did not. A text that is only to be indented stays.
fn indented_twice(content: &str, start: usize, old: &str, new: &str) -> Option<String> {
    let indent = indentation_before(content, start)?;
    if old.starts_with(is_blank) {
        return None;
    }
    let rest = new.strip_prefix(indent).filter(|rest| !rest.starts_with(char::is_whitespace))?;
    (!rest.starts_with(old)).then(|| rest.to_owned())
}

/// Whether a tolerant match begins after its line's indentation and the new text is not one line as
/// well, or is indented: then which of its lines lack that indentation is not certain.
fn leaves_its_indentation(content: &str, start: usize, (old, new): (&str, &str)) -> bool {
    let one = |text: &str| newlines(text) == usize::from(text.ends_with('\n'));
    let alike = one(new) && !new.starts_with(is_blank) && (one(old) || !old.ends_with('\n'));
    let same_end = old.ends_with('\n') == new.ends_with('\n');
    indentation_before(content, start).is_some() && !(alike && same_end)
}

/// The blanks before this byte, if there are some and nothing else in its line.
fn indentation_before(content: &str, start: usize) -> Option<&str> {
    let line = content[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &content[line..start];
    (!indent.is_empty() && indent.chars().all(is_blank)).then_some(indent)
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// Where `old` stands with tolerances, or as whole lines from the first.
pub(crate) fn find(content: &str, old: &str, new: &str, how: How) -> Result<Found, EditProblem> {
    let found = find_also_unchanged(content, old, new, how)?;
    let same = |piece: &Piece| content[piece.at.clone()] == piece.text;
    if found.pieces.iter().all(same) {
        return Err(EditProblem::Same);
    }
    Ok(found)
}

/// The same, where it is no problem that the new text is what stands there.
pub(crate) fn find_also_unchanged(
    content: &str,
    old: &str,
    new: &str,
    how: How,
) -> Result<Found, EditProblem> {
    ladder::find(content, old, new, how)
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

/// Where a text stands in another, also where it overlaps itself: which of those is meant is as
/// uncertain as of any two.
fn occurrences(content: &str, text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let step = text.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    while let Some(at) = content.get(from..).and_then(|rest| rest.find(text)) {
        found.push(from + at);
        // A text that repeats itself everywhere is told by its first places.
        from += at + if found.len() < MAX_OVERLAPPING { step } else { text.len().max(1) };
    }
    found
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
        let near = "the text to replace was not found; the nearest lines are, with * where they \
                    differ:\n2*\t  let x = 1;";
        check("fn f() {\n  let x = 1;\n}\n", ("let x = 2;\n", "y"), false, near);
        let twice = "the text to replace stands in 2 places, at lines 1, 3";
        check("a\nb\na\n", ("a", "x"), false, twice);
    }

    #[test]
    fn several_exchanges_name_their_lines_in_the_final_content() {
        let exchange =
            |old: &str, new: &str| Exchange { old: old.into(), new: new.into(), all: false };
        let check = |exchanges: &[Exchange], expected: &str| {
            let got = match replace_each("a\nb\nc\nd\n", exchanges) {
                Ok(done) => format!("{:?} {:?}", done.content, done.spans),
                Err((index, problem)) => format!("{index}: {problem}"),
            };
            assert_eq!(got, expected, "{exchanges:?}");
        };
        check(
            &[exchange("c\n", "x\ny\n"), exchange("a\n", "1\n2\n")],
            r#""1\n2\nb\nx\ny\nd\n" [(1, 2), (4, 5)]"#,
        );
        check(&[exchange("b", "x"), exchange("x\nc", "y")], r#""a\ny\nd\n" [(2, 2)]"#);
        check(
            &[exchange("b", "x"), exchange("x", "x")],
            "1: the old and the new text are the same",
        );
        check(&[], r#""a\nb\nc\nd\n" []"#);
    }

    #[test]
    fn a_new_line_does_not_take_the_dash_of_one_that_only_ends_in_the_same_letter() {
        let file = "Test:\n   — elsewhere, see below\n   — run it\n";
        let old = "   - elsewhere, see below\n   - run it\n";
        let said = |new: &str| match replace(file, old, new, false) {
            Ok(done) => done.content,
            Err(problem) => problem.to_string(),
        };
        let unclear = said("   - \"an item\" - it's new\n   - run it\n");
        assert!(unclear.contains("is not certain"), "{unclear}");
        let kept = said("   - elsewhere, see above\n   - run it\n");
        assert_eq!(kept, "Test:\n   — elsewhere, see above\n   — run it\n");
    }

    #[test]
    fn indentation_that_only_the_new_text_kept_is_not_doubled() {
        let file = "fn f() {\n    let x = 1;\n    go();\n}\n";
        let once = r#""fn f() {\n    let y = 2;\n    stop();\n}\n" [(2, 3)]"#;
        let (old, new) = ("let x = 1;\n    go();", "    let y = 2;\n    stop();");
        check(file, (old, new), false, once);
        check(
            file,
            ("let x = 1;", "let y = 2;"),
            false,
            r#""fn f() {\n    let y = 2;\n    go();\n}\n" [(2, 2)]"#,
        );
        let deeper = r#""fn f() {\n        let x = 1;\n    go();\n}\n" [(2, 2)]"#;
        check(file, ("let x = 1;", "    let x = 1;"), false, deeper);
        check("a  b\n", ("b", "  c"), false, r#""a    c\n" [(1, 1)]"#);
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
        fn any_edit_is_the_plain_replacement_or_reports_what_it_tolerated_or_is_refused(
            content in "[aé \r\n]{0,24}|[日😀 \n]{0,24}", old in "[aé \n]{0,3}|[日😀 \n]{0,3}", new in "[aé日😀\n]{0,3}", all: bool
        ) {
            match replace(&content, &old, &new, all) {
                Ok(done) if content.contains(&old) && !content.contains('\r') => {
                    prop_assert_eq!(done.content, content.replace(&old, &new));
                    prop_assert!(done.notes.is_empty());
                }
                Ok(done) => {
                    prop_assert!(!done.spans.is_empty());
                    prop_assert!(content.contains('\r') || !done.notes.is_empty());
                }
                Err(EditProblem::Several { lines }) => prop_assert!(lines.len() > 1),
                Err(_) => {}
            }
        }

        #[test]
        fn several_exchanges_are_the_same_as_one_after_the_other(
            content in "[aé\n]{0,24}|[日😀\n]{0,24}", olds in proptest::collection::vec("[aé\n]{1,3}|[日😀\n]{1,3}", 1..4)
        ) {
            let exchange = |old: &String| Exchange { old: old.clone(), new: "c".into(), all: true };
            let each: Vec<Exchange> = olds.iter().map(exchange).collect();
            let by_one = olds.iter().try_fold(content.clone(), |text, old| {
                replace(&text, old, "c", true).map(|done| done.content)
            });
            match (replace_each(&content, &each), by_one) {
                (Ok(done), Ok(text)) => {
                    let lines = text.split('\n').count();
                    prop_assert!(done.spans.iter().all(|(a, b)| 1 <= *a && a <= b && *b <= lines));
                    prop_assert!(done.spans.windows(2).all(|two| two[0].1 < two[1].0));
                    prop_assert_eq!(done.content, text);
                }
                (Err((_, one)), Err(other)) => prop_assert_eq!(one, other),
                (one, other) => prop_assert!(false, "{:?} {:?}", one, other),
            }
        }
    }
}
