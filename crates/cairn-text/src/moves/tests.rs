//! What holds for parts of a text after edits of it.

use super::*;
use crate::edit::Edited;
use crate::patch;
use crate::slice::splice_all;
use proptest::prelude::*;

/// One edit of the text `before`, made in what earlier edits left of it. Line numbers mean `before`.
fn edit_scope(
    before: &str,
    now: &Edited,
    scope: &Scope,
    body: &str,
) -> Result<Edited, ScopeProblem> {
    let scope = now.moves.scope_now(scope, before, &now.content, false)?;
    let spliced = slice::splice(&now.content, &scope, Some(body)).map_err(ScopeProblem::Lines)?;
    let mut moves = now.moves.clone();
    moves.then(spliced.moves);
    Ok(Edited { content: spliced.text, spans: Vec::new(), notes: Vec::new(), moves })
}

fn unedited(text: &str) -> Edited {
    let (content, spans, notes) = (text.to_owned(), Vec::new(), Vec::new());
    Edited { content, spans, notes, moves: Moves::default() }
}

fn after_exchange(now: &Edited, old: &str, new: &str) -> Edited {
    let mut edited = crate::edit::replace(&now.content, old, new, false).unwrap();
    let mut moves = now.moves.clone();
    moves.then(std::mem::take(&mut edited.moves));
    Edited { moves, ..edited }
}

fn scope(text: &str) -> Scope {
    Scope::parse(text).unwrap()
}

#[test]
fn line_numbers_mean_the_text_before_exchanges_of_it() {
    let text = "one\ntwo\nthree\nfour\n";
    let check = |old: &str, new: &str, lines: &str, expected: &str| {
        let edited = after_exchange(&unedited(text), old, new);
        let got = match edit_scope(text, &edited, &scope(lines), "X\n") {
            Ok(edited) => edited.content,
            Err(problem) => format!("{} {problem}", problem.status()),
        };
        assert_eq!(got, expected, "{old:?} {lines}");
    };
    check("one\n", "a\nb\nc\n", "3", "a\nb\nc\ntwo\nX\nfour\n");
    check("four", "4", "2-3", "one\nX\n4\n");
    // The same line stands there twice now: the one that was there before is meant.
    check("one\n", "one\ntwo\n", "2", "one\ntwo\nX\nthree\nfour\n");
    check("two\n", "", "3", "one\nX\nfour\n");
    check("one\n", "a\nb\n", "-1", "a\nb\ntwo\nthree\nfour\nX\n");
    check("one\n", "a\nb\n", "0", "X\na\nb\ntwo\nthree\nfour\n");
    check("one\n", "a\nb\n", "-1--1", "a\nb\ntwo\nthree\nX\n");
    let overlap = "409 2-3 overlaps an earlier edit of the same reply; make one edit of them";
    check("hre", "HRE", "2-3", overlap);
    check("one\n", "", "5", "416 5 is out of range: the text has 4 lines");
}

#[test]
fn lines_that_an_earlier_edit_joined_with_others_are_a_conflict() {
    let text = "one\ntwo\nthree\nfour\n";
    let spliced = |lines: &str, body: &str| edit_scope(text, &unedited(text), &scope(lines), body);
    let joined = [
        after_exchange(&unedited(text), "two\n", "2 "),
        spliced("3,1,3,1", "ins ").unwrap(),
        spliced("2,4,3,1", " ").unwrap(),
    ];
    for edited in joined {
        let overlap = ScopeProblem::Overlap(scope("3"));
        assert_eq!(edit_scope(text, &edited, &scope("3"), "THREE"), Err(overlap));
        for body in ["<<REPLACE[3]\nX\nREPLACE\n", "3d"] {
            let patch = patch::parse(body).unwrap().remove(0);
            let problem = patch.after_moves(&edited.moves, text, &edited.content).unwrap_err();
            assert_eq!(problem.status(), Status::CONFLICT, "{body:?} {:?}", edited.content);
        }
        // Controls: a line that was joined with nothing, and a part of the line that was.
        let other = edit_scope(text, &edited, &scope("4"), "FOUR").unwrap();
        assert_eq!(other.content, edited.content.replace("four", "FOUR"));
        let part = edit_scope(text, &edited, &scope("3,1,3,6"), "THREE").unwrap();
        assert_eq!(part.content, edited.content.replace("three", "THREE"));
    }
}

#[test]
fn the_last_line_without_its_end_stays_a_line_when_lines_are_appended() {
    for (text, all) in [("a\nb", "a\nB\nc"), ("a\r\nb", "a\r\nB\r\nc")] {
        let appended = edit_scope(text, &unedited(text), &scope("-1"), "c").unwrap();
        assert_eq!(edit_scope(text, &appended, &scope("2"), "B").unwrap().content, all);
    }
    let lengthened = edit_scope("a\nb", &unedited("a\nb"), &scope("2,2,2,2"), " x\nc").unwrap();
    let overlap = ScopeProblem::Overlap(scope("2"));
    assert_eq!(edit_scope("a\nb", &lengthened, &scope("2"), "B"), Err(overlap));
}

#[test]
fn columns_and_hashes_mean_the_text_before_edits_of_it() {
    let text = "one\n日本 two\nthree\n";
    let edited = after_exchange(&unedited(text), "one\n", "a\nb\n");
    let column = edit_scope(text, &edited, &scope("2,1,2,3"), "JP").unwrap();
    assert_eq!(column.content, "a\nb\nJP two\nthree\n");
    let hash = crate::scope::line_hash("three".as_bytes());
    let anchored = edit_scope(text, &edited, &scope(&format!("3:{hash}")), "3\n").unwrap();
    assert_eq!(anchored.content, "a\nb\n日本 two\n3\n");
}

#[test]
fn after_an_edit_that_may_have_replaced_anything_no_line_is_known() {
    let text = "a\nb\n";
    let edited = Edited::rewritten(Some(text), "a\nb\nc\n".to_owned());
    let problem = edit_scope(text, &edited, &scope("1"), "x").unwrap_err();
    assert_eq!(problem, ScopeProblem::Overlap(scope("1")));
    let appended = edit_scope(text, &edited, &scope("-1"), "x").unwrap();
    assert_eq!(appended.content, "a\nb\nc\nx\n");
}

#[test]
fn labels_with_line_numbers_mean_the_text_before_edits_of_it() {
    let text = "a\nb\nc\nd\n";
    let edited = after_exchange(&unedited(text), "a\n", "1\n2\n");
    let patches = patch::parse("<<REPLACE[3-4]\nX\nREPLACE\n").unwrap();
    assert!(patches[0].names_lines());
    let moved = patches[0].clone().after_moves(&edited.moves, text, &edited.content).unwrap();
    let patch::Patched::Edited(after) = moved.apply(Some(&edited.content)).unwrap() else {
        panic!("it is not deleted");
    };
    assert_eq!(after.content, "1\n2\nb\nX\n");
    let overlapping = patch::parse("<<REPLACE[1-2]\nX\nREPLACE\n").unwrap();
    let problem = overlapping[0].clone().after_moves(&edited.moves, text, &edited.content);
    assert_eq!(problem.unwrap_err().status(), Status::CONFLICT);
}

#[test]
fn line_numbers_of_sed_commands_mean_the_text_before_edits_of_it() {
    let text = "a\nb\nc\nd\n";
    let edited = after_exchange(&unedited(text), "a\n", "1\n2\n");
    let script = |script: &str| patch::parse(script).unwrap().remove(0);
    let check = |commands: &str, expected: &str| {
        assert!(script(commands).names_lines(), "{commands}");
        let moved = script(commands).after_moves(&edited.moves, text, &edited.content).unwrap();
        let patch::Patched::Edited(after) = moved.apply(Some(&edited.content)).unwrap() else {
            panic!("it is not deleted");
        };
        assert_eq!(after.content, expected, "{commands}");
    };
    check("2,3d", "1\n2\nd\n");
    check("4s/d/D/\n2i\\\nnew", "1\n2\nnew\nb\nc\nD\n");
    check("/2/,3d", "1\nd\n");
    let overlapping = script("1,2d").after_moves(&edited.moves, text, &edited.content);
    assert_eq!(overlapping.unwrap_err().status(), Status::CONFLICT);
    assert!(!script("s/a/b/").names_lines());
}

fn after_script(text: &str, script: &str) -> Edited {
    match patch::apply(Some(text), script).unwrap() {
        patch::Patched::Edited(edited) => edited,
        patch::Patched::Deleted => panic!("it is not deleted"),
    }
}

#[test]
fn line_numbers_mean_the_text_before_sed_commands_that_changed_the_number_of_lines() {
    let check = |text: &str, script: &str, lines: &str, expected: &str| {
        let edited = after_script(text, script);
        let got = match edit_scope(text, &edited, &scope(lines), "X\n") {
            Ok(edited) => edited.content,
            Err(problem) => format!("{} {problem}", problem.status()),
        };
        assert_eq!(got, expected, "{text:?} {script:?} {lines}");
    };
    let overlap = |lines: &str| {
        format!("409 {lines} overlaps an earlier edit of the same reply; make one edit of them")
    };
    let text = "a\nb\nc\nd\n";
    check(text, "1d", "3", "b\nX\nd\n");
    check(text, "1d", "1", &overlap("1"));
    check(text, "2i\\\nnew", "2", "a\nnew\nX\nc\nd\n");
    check(text, "2a\\\nnew", "2-3", &overlap("2-3"));
    check(text, "2a\\\nnew\n3i\\\nmore", "3", "a\nb\nnew\nmore\nX\nd\n");
    check(text, "2a\\\nnew\n3i\\\nmore", "2", "a\nX\nnew\nmore\nc\nd\n");
    check(text, "2,3c\\\nnew", "4", "a\nnew\nX\n");
    check(text, "1s/a/1\\n2/", "2", "1\n2\nX\nc\nd\n");
    check("a\nb\nc", "1d", "3", "b\nX");
    check("a\nb\nc", "$a\\\nd", "3", "a\nb\nX\nd");
    check("a\r\nb\r\nc", "$s/c/C/\n1d", "2", "X\r\nC");
    check("a\nb\nc", "$d", "2", &overlap("2"));
    check("a\nb\r", "1d", "2", &overlap("2"));
}

#[test]
fn a_sed_range_that_ends_before_it_begins_is_its_first_line_also_after_an_edit() {
    let text = "a\nb\nc\nd\n";
    assert_eq!(after_script(text, "4,2d").content, "a\nb\nc\n");
    let edited = after_exchange(&unedited(text), "a\n", "1\n2\n");
    let script = patch::parse("4,2d").unwrap().remove(0);
    let moved = script.after_moves(&edited.moves, text, &edited.content).unwrap();
    let patch::Patched::Edited(after) = moved.apply(Some(&edited.content)).unwrap() else {
        panic!("it is not deleted");
    };
    assert_eq!(after.content, "1\n2\nb\nc\n");
}

#[test]
fn a_scope_after_an_edit_that_counts_otherwise_is_no_overlap() {
    let text = "[1, 2, 3]";
    let by_text = after_exchange(&unedited(text), "1", "10");
    let other = |problem: ScopeProblem| {
        assert_eq!(
            (problem.status(), problem.to_string().as_str()),
            (
                Status::CONFLICT,
                "3 cannot be placed after an edit of another kind in the same reply; make one edit of them"
            )
        )
    };
    other(by_text.moves.scope_now(&scope("3"), text, &by_text.content, true).unwrap_err());
    let items = items::splice(text, &scope("1"), Some("10")).unwrap();
    let both = Edited { moves: items.moves, ..unedited(&items.text) };
    let both = after_exchange(&both, "2", "20");
    other(both.moves.scope_now(&scope("3"), text, &both.content, true).unwrap_err());
}

/// Scripts of which each command changes a line of four.
fn any_script() -> impl Strategy<Value = String> {
    let verb = prop_oneof![
        Just("d"),
        Just("c\\\nN"),
        Just("i\\\nI\nJ"),
        Just("a\\\nA"),
        Just("s/^/+/"),
        Just("s/^/1\\n/"),
    ];
    let command = (1usize..5, verb).prop_map(|(line, verb)| format!("{line}{verb}"));
    proptest::collection::vec(command, 1..4).prop_map(|commands| commands.join("\n"))
}

#[test]
fn items_mean_the_document_before_edits_of_it() {
    let text = "[1, 2, 3, 4]";
    let first = items::splice(text, &scope("2"), Some("[\"a\", \"b\"]")).unwrap();
    let now = first.moves.scope_now(&scope("4"), text, &first.text, true).unwrap();
    let second = items::splice(&first.text, &now, Some("\"z\"")).unwrap();
    assert_eq!(second.text, r#"[1, "a", "b", 3, "z"]"#);
    let again = first.moves.scope_now(&scope("1-2"), text, &first.text, true);
    assert_eq!(again.unwrap_err().status(), Status::CONFLICT);
}

fn any_lines() -> impl Strategy<Value = String> {
    "(a|b|é|日|😀|\n){0,10}".prop_map(|text| if text.is_empty() { text } else { text + "\n" })
}

/// The same, where the last line need not end.
fn any_open_lines() -> impl Strategy<Value = String> {
    "(a|b|é|日|😀|\n){0,10}"
}

fn any_scope() -> impl Strategy<Value = Scope> {
    let number = || 1i64..7;
    prop_oneof![
        4 => number().prop_map(Scope::At),
        4 => (number(), 0i64..3).prop_map(|(first, more)| Scope::Range(first, first + more)),
        2 => (number(), 1i64..4, 0i64..2, 1i64..4).prop_map(|(line, from, more, to)| Scope::Span(
            Place { line, column: from },
            Place { line: line + more, column: to }
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_one_after_the_other_are_as_good_as_all_at_once(
        text in prop_oneof![any_lines(), any_open_lines()],
        edits in proptest::collection::vec(
            (any_scope(), prop_oneof![any_lines(), any_open_lines()]), 1..5
        ),
    ) {
        let splices: Vec<_> = edits.iter().map(|(scope, body)| (*scope, Some(body.as_str()))).collect();
        let mut is_after_span = false;
        let one_by_one = edits.iter().try_fold(unedited(&text), |now, (scope, body)| {
            let edited = edit_scope(&text, &now, scope, body).map_err(|problem| (problem, is_after_span));
            is_after_span |= matches!(scope, Scope::Span(..));
            edited
        });
        let is_ended = text.ends_with('\n') || text.is_empty();
        // A span whose new text ends within a line, or that gives the last line an end, may join lines; all at
        // once, lines stay lines.
        let may_join = edits.iter().any(|(scope, body)| {
            matches!(scope, Scope::Span(..)) && !(body.ends_with('\n') && is_ended)
        });
        let comparable = |content: &str| match (may_join, is_ended) {
            (true, _) => content.replace('\n', ""),
            (false, true) => content.to_owned(),
            // Without an end of the last line, each edit of it decides anew whether the text ends with one.
            (false, false) => content.strip_suffix('\n').unwrap_or(content).to_owned(),
        };
        match (splice_all(&text, &splices), one_by_one) {
            (Ok(all), Ok(one)) => prop_assert_eq!(comparable(&all.text), comparable(&one.content)),
            // A scope out of range is found first there, and in its turn here.
            (Err(all), Err((one, _))) => prop_assert!(
                all.status() != Status::CONFLICT || one.status() == Status::CONFLICT
            ),
            // What a span left of lines need not be lines.
            (Ok(_), Err((ScopeProblem::Overlap(_), true))) => {}
            (all, one) => prop_assert!(false, "{:?} {:?}", all, one),
        }
    }

    #[test]
    fn a_line_after_sed_commands_is_the_line_it_was_before_them(
        script in any_script(), line in 1i64..5, is_open: bool, has_crlf: bool,
    ) {
        let text = if is_open { "w\nx\ny\nz" } else { "w\nx\ny\nz\n" };
        let text = if has_crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        let own = ["w", "x", "y", "z"][usize::try_from(line - 1).unwrap()];
        if let Ok(patch::Patched::Edited(edited)) = patch::apply(Some(&text), &script)
            && let Ok(after) = edit_scope(&text, &edited, &Scope::At(line), "X")
        {
            prop_assert_eq!(after.content, edited.content.replace(own, "X"));
        }
    }
}
