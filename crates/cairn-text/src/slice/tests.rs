//! Tables of what scopes select and replace, and what holds for any of them.

use super::*;
use crate::scope::line_hash;
use proptest::prelude::*;

fn scope(text: &str) -> Scope {
    Scope::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn a_scope_selects_lines_or_says_how_many_there_are() {
    let check = |text: &str, wanted: &str, expected: &str| {
        let found = match select(text, &scope(wanted)) {
            Ok(Selected { first, last, text }) => format!("{first}-{last} {text:?}"),
            Err(problem) => format!("{} {problem}", problem.status()),
        };
        assert_eq!(found, expected, "{wanted} of {text:?}");
    };
    let text = "a\nbé\r\nc";
    check(text, "1", r#"1-1 "a\n""#);
    check(text, "2", r#"2-2 "bé\r\n""#);
    check(text, "3", r#"3-3 "c""#);
    check(text, "0", r#"1-0 """#);
    check(text, "-1", r#"4-3 """#);
    check(text, "1-2", r#"1-2 "a\nbé\r\n""#);
    check(text, "1,-1", r#"1-3 "a\nbé\r\nc""#);
    check(text, "-2--1", r#"2-3 "bé\r\nc""#);
    check(text, "-1--1", r#"3-3 "c""#);
    check(text, "4", "416 4 is out of range: the text has 3 lines");
    check(text, "-2", "416 -2 is out of range: the text has 3 lines");
    check(text, "2-4", "416 2-4 is out of range: the text has 3 lines");
    check(text, "3-2", "416 3-2 is out of range: the text has 3 lines");
    check(text, "0-2", "416 0-2 is out of range: the text has 3 lines");
    check(text, "-4--1", "416 -4--1 is out of range: the text has 3 lines");
    check("a\n", "2", "416 2 is out of range: the text has 1 line");
    check("", "1", "416 1 is out of range: the text has 0 lines");
    check("", "1,-1", r#"1-0 """#);
    check("", "0", r#"1-0 """#);
    check("", "-1", r#"1-0 """#);
    check("\n\n", "2", r#"2-2 "\n""#);

    check(text, "2,1,2,3", r#"2-2 "bé""#);
    check(text, "2,2,2,3", r#"2-2 "é""#);
    check(text, "1,1,2,2", r#"1-2 "a\nb""#);
    check(text, "1,2,3,1", r#"1-2 "\nbé\r\n""#);
    check(text, "2,2,2,2", r#"2-2 """#);
    check(text, "1,1,-1,2", r#"1-3 "a\nbé\r\nc""#);
    check(text, "2,1,2,4", "416 2,1,2,4 is out of range: line 2 has 2 characters");
    check(text, "2,0,2,1", "416 2,0,2,1 is out of range: line 2 has 2 characters");
    check(text, "2,-1,2,1", "416 2,-1,2,1 is out of range: line 2 has 2 characters");
    check(text, "0,1,2,1", "416 0,1,2,1 is out of range: the text has 3 lines");
    check(text, "1,1,4,1", "416 1,1,4,1 is out of range: the text has 3 lines");
    check(text, "2,2,2,1", "416 2,2,2,1 is out of range: the text has 3 lines");
    check(text, "3,1,2,1", "416 3,1,2,1 is out of range: the text has 3 lines");
    check("a\nb\n", "1,1,3,1", r#"1-2 "a\nb\n""#);
    check("a\nb\n", "3,1,3,1", r#"3-2 """#);
    check("a\nb\n", "3,2,3,2", "416 3,2,3,2 is out of range: line 3 has 0 characters");
    check("", "1,1,1,1", r#"1-0 """#);
    check("", "2,1,2,1", "416 2,1,2,1 is out of range: the text has 0 lines");
}

/// A text with `{a}` replaced by the hash of the line `a`, and so on.
fn hashed(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (line, after))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        out.push_str(before);
        out.push_str(&line_hash(line.as_bytes()).to_string());
        rest = after;
    }
    out + rest
}

#[test]
fn an_anchor_means_one_line_or_the_fresh_text_is_told() {
    let check = |text: &str, wanted: &str, expected: &str| {
        let found = match select(text, &scope(&hashed(wanted))) {
            Ok(Selected { first, last, .. }) => format!("{first}-{last}"),
            Err(problem) => format!("{} {problem}", problem.status()),
        };
        assert_eq!(found, hashed(expected), "{wanted} of {text:?}");
    };
    let text = "a\nb\r\ny\nc\ny\nd\r";
    check(text, "@{a}", "1-1");
    check(text, "@{b}", "2-2");
    check(text, "@{d}", "6-6");
    check(text, "2:{b}", "2-2");
    check(text, "5:{y}", "5-5");
    check(text, "@{a}-@{c}", "1-4");
    check(text, "1:{a}-4:{c}", "1-4");
    check(text, "@{c}-@{a}", "416 @{c}-@{a} is out of range: the text has 6 lines");
    check(
        "a\nb\nc\nd\ne\nf\ng\nh\n",
        "1:{g}",
        "409 line 1 no longer has the hash {g}, line 7 has it; the text is now:\n\
         1:{a}\ta\n2:{b}\tb\n3:{c}\tc\n4:{d}\td\n5:{e}\te\n6:{f}\tf\n7:{g}\tg\n8:{h}\th",
    );
    check(
        "a\nb\nc\nd\ne\nf\ng\nh\n",
        "2:{x}",
        "409 line 2 no longer has the hash {x}; the text is now:\n\
         1:{a}\ta\n2:{b}\tb\n3:{c}\tc\n4:{d}\td\n5:{e}\te",
    );
    check(
        "a\nb\nc\nd\ne\nf\ng\nh\n",
        "99:{x}",
        "409 line 99 no longer has the hash {x}; the text is now:\n\
         5:{e}\te\n6:{f}\tf\n7:{g}\tg\n8:{h}\th",
    );
    check(
        "a\nb\n",
        "0:{a}",
        "409 line 0 no longer has the hash {a}, line 1 has it; the text is now:\n1:{a}\ta\n2:{b}\tb",
    );
    check(
        "a\nb\nc\nd\ne\nf\ng\nh\n",
        "@{h}-@{x}",
        "409 no line has the hash {x}; the text is now:\n\
         5:{e}\te\n6:{f}\tf\n7:{g}\tg\n8:{h}\th",
    );
    check(
        "x\na\nx\n",
        "@{x}",
        "409 lines 1, 3 have the hash {x}; put the number before it, as in 1:{x}; \
         the text is now:\n1:{x}\tx\n2:{a}\ta\n3:{x}\tx",
    );
    check(
        "x\na\nx\n",
        "2:{x}",
        "409 line 2 no longer has the hash {x}, lines 1, 3 have; \
         the text is now:\n1:{x}\tx\n2:{a}\ta\n3:{x}\tx",
    );
    check("", "@{x}", "409 no line has the hash {x}; the text is empty");
    check("", "3:{x}", "409 line 3 no longer has the hash {x}; the text is empty");
}

#[test]
fn what_a_stale_anchor_tells_is_bounded() {
    let text = "x\n".repeat(10_000);
    let told = select(&text, &scope(&hashed("@{x}"))).unwrap_err().to_string();
    assert!(told.contains("18, 19, 20, … have") && told.len() < 1000, "{told}");
    let told = select(&text, &scope(&hashed("@{y}"))).unwrap_err().to_string();
    assert!(told.contains("1:") && told.contains("10000:") && told.len() < 2000, "{told}");
}

#[test]
fn a_splice_replaces_inserts_and_deletes_and_keeps_line_ends() {
    let check = |text: &str, wanted: &str, body: &str, expected: (&str, usize, usize)| {
        let body = Some(body).filter(|body| *body != "None");
        let Spliced { text: new, first, last, .. } = splice(text, &scope(wanted), body).unwrap();
        assert_eq!((new.as_str(), first, last), expected, "{wanted} of {text:?}: {body:?}");
    };
    // Lines are replaced by lines, with or without a line end at the body's end.
    check("a\nb\nc\n", "2", "x", ("a\nx\nc\n", 2, 2));
    check("a\nb\nc\n", "2", "x\n", ("a\nx\nc\n", 2, 2));
    check("a\nb\nc\n", "2", "x\ny", ("a\nx\ny\nc\n", 2, 3));
    check("a\nb\nc\n", "1-2", "x", ("x\nc\n", 1, 1));
    check("a\nb\nc\n", "1,-1", "x", ("x\n", 1, 1));
    check("a\nb\nc\n", "2", "\n", ("a\n\nc\n", 2, 2));
    check("a\nb\nc\n", "2", "x\n\n", ("a\nx\n\nc\n", 2, 3));
    // Without a body they are deleted.
    check("a\nb\nc\n", "2", "", ("a\nc\n", 2, 1));
    check("a\nb\nc\n", "2", "None", ("a\nc\n", 2, 1));
    check("a\nb\nc\n", "3", "", ("a\nb\n", 3, 2));
    check("a\nb\nc\n", "1,-1", "", ("", 1, 0));
    // Before the first and after the last the body is inserted.
    check("a\nb\n", "0", "x", ("x\na\nb\n", 1, 1));
    check("a\nb\n", "0", "x\ny\n", ("x\ny\na\nb\n", 1, 2));
    check("a\nb\n", "-1", "x", ("a\nb\nx\n", 3, 3));
    check("a\nb\n", "0", "", ("a\nb\n", 1, 0));
    check("a\nb\n", "-1", "None", ("a\nb\n", 3, 2));
    // An empty text gets lines with ends.
    check("", "0", "x", ("x\n", 1, 1));
    check("", "-1", "x\n", ("x\n", 1, 1));
    check("", "1,-1", "x\ny", ("x\ny\n", 1, 2));
    // A text that ends without a line end goes on to do so; its other lines keep theirs.
    check("a\nb", "2", "x", ("a\nx", 2, 2));
    check("a\nb", "2", "x\n", ("a\nx", 2, 2));
    check("a\nb", "2", "x\ny\n", ("a\nx\ny", 2, 3));
    check("a\nb", "2", "\n", ("a\n\n", 2, 2));
    check("a\nb", "1", "x", ("x\nb", 1, 1));
    check("a\nb", "2", "", ("a\n", 2, 1));
    check("a\nb", "1", "", ("b", 1, 0));
    check("a\nb", "0", "x", ("x\na\nb", 1, 1));
    check("a\nb", "-1", "x", ("a\nb\nx", 3, 3));
    check("a\nb", "-1", "x\n", ("a\nb\nx", 3, 3));
    check("a", "-1", "", ("a", 2, 1));
    check("a", "1", "x\ny", ("x\ny", 1, 2));
    // The kind of line end is the text's.
    check("a\r\nb\r\n", "2", "x\ny", ("a\r\nx\r\ny\r\n", 2, 3));
    check("a\r\nb\r\n", "2", "x\r\ny\r\n", ("a\r\nx\r\ny\r\n", 2, 3));
    check("a\r\nb\r\n", "0", "x\n", ("x\r\na\r\nb\r\n", 1, 1));
    check("a\r\nb", "-1", "x\n", ("a\r\nb\r\nx", 3, 3));
    check("a\r\nb", "2", "x\ny\n", ("a\r\nx\r\ny", 2, 3));
    check("a\nb\n", "2", "x\r\ny\r\n", ("a\nx\ny\n", 2, 3));
    check("a\nb\n", "2", "x\r", ("a\nx\n", 2, 2));
    check("a\nb\r\n", "2", "x\n", ("a\nx\r\n", 2, 2));
    check("a\nb\r\n", "1-2", "x\r\ny\nz", ("x\r\ny\nz\n", 1, 3));
    // A span is replaced as it is, but for the kind of line end.
    check("abc\nd\n", "1,2,1,3", "X", ("aXc\nd\n", 1, 1));
    check("abc\nd\n", "1,2,1,2", "X", ("aXbc\nd\n", 1, 1));
    check("abc\nd\n", "1,2,2,1", "", ("ad\n", 1, 1));
    check("abc\nd\n", "1,2,2,1", "X\nY", ("aX\nYd\n", 1, 2));
    check("abc\r\nd\r\n", "1,2,1,3", "X\nY", ("aX\r\nYc\r\nd\r\n", 1, 2));
    check("aéc", "1,2,1,3", "è", ("aèc", 1, 1));
    check("a\n", "2,1,2,1", "b", ("a\nb", 2, 2));
    check("a\n", "2,1,2,1", "b\n", ("a\nb\n", 2, 2));
    check("", "1,1,1,1", "b", ("b", 1, 1));
    check("a\r\nb\n", "1,1,3,1", "x\r\ny\n", ("x\r\ny\n", 1, 2));
    check("a\r\nb\n", "1,1,2,1", "x\ny\n", ("x\r\ny\r\nb\n", 1, 3));
}

#[test]
fn an_edit_with_a_stale_anchor_is_refused_with_the_fresh_text() {
    let read = "a\nb\nc\n";
    let anchor = scope(&format!("2:{}", line_hash(b"b")));
    assert_eq!(splice(read, &anchor, Some("x")).map(|s| s.text), Ok("a\nx\nc\n".to_owned()));
    let now = "a\nB\nc\n";
    let Err(OutOfScope::Stale(stale)) = splice(now, &anchor, Some("x")) else {
        panic!("not refused");
    };
    assert_eq!(stale.fresh, hashed("1:{a}\ta\n2:{B}\tB\n3:{c}\tc"));
    assert_eq!(stale.lines, Vec::<usize>::new());
}

#[test]
fn several_splices_mean_the_same_text() {
    let check = |text: &str, splices: &[(&str, &str)], expected: &str| {
        let parsed: Vec<(Scope, Option<&str>)> =
            splices.iter().map(|(wanted, body)| (scope(wanted), Some(*body))).collect();
        let found = match splice_all(text, &parsed) {
            Ok(SplicedAll { text, spans }) => format!("{text:?} {spans:?}"),
            Err(problem) => format!("{} {problem}", problem.status()),
        };
        assert_eq!(found, expected, "{splices:?} of {text:?}");
    };
    let text = "a\nb\nc\n";
    check(text, &[], r#""a\nb\nc\n" []"#);
    check(text, &[("1", "x\ny"), ("3", "z")], r#""x\ny\nb\nz\n" [(1, 2), (4, 4)]"#);
    check(text, &[("3", "z"), ("1", "x\ny")], r#""x\ny\nb\nz\n" [(4, 4), (1, 2)]"#);
    check(text, &[("1", ""), ("-1", "z")], r#""b\nc\nz\n" [(1, 0), (3, 3)]"#);
    check(text, &[("0", "x"), ("1", "y")], r#""x\ny\nb\nc\n" [(1, 1), (2, 2)]"#);
    check(text, &[("1,1,1,2", "x"), ("2", "y")], r#""x\ny\nc\n" [(1, 1), (2, 2)]"#);
    check(text, &[("1,-1", ""), ("-1", "z")], r#""z\n" [(1, 0), (1, 1)]"#);
    check("a\nb", &[("2", ""), ("-1", "z")], r#""a\nz" [(2, 1), (2, 2)]"#);
    check("a\nb", &[("2", "y\n"), ("-1", "z")], r#""a\ny\nz" [(2, 2), (3, 3)]"#);
    check("a\nb", &[("1,1,1,2", "x"), ("-1", "z")], r#""x\nb\nz" [(1, 1), (3, 3)]"#);
    check(text, &[("1-2", "x"), ("2-3", "y")], "409 1-2 and 2-3 overlap; make one edit of them");
    check(text, &[("2", "x"), ("1-3", "y")], "409 2 and 1-3 overlap; make one edit of them");
    check(text, &[("2", "x"), ("2", "x")], "409 2 and 2 overlap; make one edit of them");
    check(
        text,
        &[("2", "x"), ("2,1,2,2", "y")],
        "409 2 and 2,1,2,2 overlap; make one edit of them",
    );
    check(text, &[("-1", "x"), ("-1", "y")], "409 -1 and -1 overlap; make one edit of them");
    check(text, &[("2", "x"), ("9", "y")], "416 9 is out of range: the text has 3 lines");
}

fn any_text() -> impl Strategy<Value = String> {
    "(a|é|日|😀|b|\r|\n|\r\n|x\n){0,12}"
}

fn any_scope() -> impl Strategy<Value = Scope> {
    let number = || -3i64..7;
    prop_oneof![
        number().prop_map(Scope::At),
        (number(), number()).prop_map(|(a, b)| Scope::Range(a, b)),
        (number(), number(), number(), number()).prop_map(|(a, b, c, d)| Scope::Span(
            Place { line: a, column: b },
            Place { line: c, column: d }
        )),
        ("[abé日😀]{0,2}", proptest::option::of(0u64..7)).prop_map(|(line, number)| Scope::Anchor(
            crate::scope::Anchor { line: number, hash: line_hash(line.as_bytes()) }
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn putting_back_what_was_selected_changes_nothing(text in any_text(), scope in any_scope()) {
        if let Ok(selected) = select(&text, &scope) {
            let spliced = splice(&text, &scope, Some(selected.text)).unwrap();
            prop_assert_eq!(&spliced.text, &text);
            if !selected.text.is_empty() {
                prop_assert_eq!(spliced.first, selected.first);
            }
        }
    }

    #[test]
    fn lines_that_are_not_selected_stay(
        text in any_text(), first in 1i64..6, count in 0i64..3, body in any_text(),
    ) {
        let scope = Scope::Range(first, first + count);
        if let Ok(new) = splice(&text, &scope, Some(&body)) {
            let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
                (text.split_inclusive('\n').collect(), new.text.split_inclusive('\n').collect());
            let (above, below) = (new.first - 1, new_lines.len() - new.last);
            prop_assert_eq!(&old_lines[..above], &new_lines[..above]);
            prop_assert_eq!(&old_lines[old_lines.len() - below..], &new_lines[new.last..]);
            prop_assert_eq!(new.last + 1 - new.first, body.split_inclusive('\n').count());
        }
    }

    #[test]
    fn the_order_of_splices_does_not_matter(
        text in any_text(),
        splices in proptest::collection::vec((any_scope(), any_text()), 0..4),
    ) {
        let forth: Vec<(Scope, Option<&str>)> =
            splices.iter().map(|(scope, body)| (*scope, Some(body.as_str()))).collect();
        let back: Vec<(Scope, Option<&str>)> = forth.iter().rev().copied().collect();
        match (splice_all(&text, &forth), splice_all(&text, &back)) {
            (Ok(one), Ok(two)) => {
                prop_assert_eq!(one.text, two.text);
                prop_assert_eq!(one.spans, two.spans.into_iter().rev().collect::<Vec<_>>());
            }
            (one, two) => prop_assert_eq!(one.is_err(), two.is_err()),
        }
    }

    #[test]
    fn one_splice_is_as_good_alone(text in any_text(), scope in any_scope(), body in any_text()) {
        let alone = splice(&text, &scope, Some(&body));
        match splice_all(&text, &[(scope, Some(&body))]) {
            Ok(all) => {
                let alone = alone.unwrap();
                prop_assert_eq!(all.spans, vec![(alone.first, alone.last)]);
                prop_assert_eq!(all.text, alone.text);
            }
            Err(problem) => prop_assert_eq!(problem.status(), alone.unwrap_err().status()),
        }
    }

    #[test]
    fn new_lines_are_where_they_are_said_to_be(text in any_text(), scope in any_scope()) {
        if let Ok(new) = splice(&text, &scope, Some("new\nlines")) {
            let lines: Vec<&str> = new.text.lines().collect();
            prop_assert!(lines[new.first - 1].contains("new"), "{:?}", new);
            prop_assert!(lines[new.last - 1].contains("lines"), "{:?}", new);
        }
    }
}
