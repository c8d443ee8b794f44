//! Tables of what scopes select and replace in documents, and what holds for any of them.

use super::*;
use crate::scope::{Place, line_hash};
use proptest::prelude::*;
use serde_json::Value;

fn scope(text: &str) -> Scope {
    Scope::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn a_scope_selects_items_or_pairs_as_they_stand() {
    let check = |text: &str, wanted: &str, expected: &str| {
        let found = match select(text, &scope(wanted)) {
            Ok(Selected { first, last, text }) => format!("{first}-{last} {text}"),
            Err(problem) => format!("{} {problem}", problem.status()),
        };
        assert_eq!(found, expected, "{wanted} of {text:?}");
    };
    check("[1, 2, 3]", "2", "2-2 [2]");
    check("[1, 2, 3]", "2-3", "2-3 [2, 3]");
    check("[1, 2, 3]", "1,-1", "1-3 [1, 2, 3]");
    check("[1, 2, 3]", "-2--1", "2-3 [2, 3]");
    check("[\n  1,\n  {\n    \"a\": 2\n  }\n]\n", "2", "2-2 [\n  {\n    \"a\": 2\n  }\n]");
    check("{\"a\": 1, \"b\": [2]}", "2", "2-2 {\"b\": [2]}");
    check("{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}", "1", "1-1 {\r\n\t\"a\": 1\r\n}");
    check("[1, 2]", "0", "1-0 []");
    check("[1, 2]", "-1", "3-2 []");
    check("{\"a\": 1}", "-1", "2-1 {}");
    check("[]", "1,-1", "1-0 []");
    check("{ }", "1,-1", "1-0 {}");
    check(" \"a\" \n", "1", "1-1 \"a\"");
    check("5", "1,-1", "1-1 5");
    check("5", "-1", "2-1 []");
    check("[1, 2]", "3", "416 3 is out of range: the document has 2 items");
    check("[1]", "2-1", "416 2-1 is out of range: the document has 1 item");
    check("[1]", "-2", "416 -2 is out of range: the document has 1 item");
    check("{}", "1", "416 1 is out of range: the document has 0 pairs");
    check("5", "2", "416 2 is out of range: the document has one value");
    check("[1, 2]", "1,1,1,2", "400 a scope on JSON counts items; it has no columns");
    check("[1, 2]", "@abcde", "400 a scope on JSON counts items; it has no line hashes");
    check("[1,", "1", "400 the text is not JSON: line 1, column 4: a value is expected");
    check("", "0", "400 the text is not JSON: line 1, column 1: a value is expected");
}

/// What a splice comes to, on one line or several.
fn spliced(text: &str, wanted: &str, body: &str) -> String {
    match splice(text, &scope(wanted), Some(body)) {
        Ok(Spliced { text, first, last, .. }) => {
            assert!(is_document(&text), "{text}");
            format!("{first}-{last} {text}")
        }
        Err(problem) => format!("{} {problem}", problem.status()),
    }
}

#[test]
fn items_of_an_array_are_replaced_inserted_and_deleted() {
    let check = |text: &str, wanted: &str, body: &str, expected: &str| {
        assert_eq!(spliced(text, wanted, body), expected, "{wanted} of {text:?}: {body:?}");
    };
    let one_line = "[1, 2, 3]";
    check(one_line, "2", "9", "2-2 [1, 9, 3]");
    check(one_line, "2", "[8, 9]", "2-3 [1, 8, 9, 3]");
    check(one_line, "2", "[[8, 9]]", "2-2 [1, [8, 9], 3]");
    check(one_line, "2-3", "9", "2-2 [1, 9]");
    check(one_line, "1,-1", "[]", "1-0 []");
    check(one_line, "2", "", "2-1 [1, 3]");
    check(one_line, "2", "[]", "2-1 [1, 3]");
    check(one_line, "1", " \n", "1-0 [2, 3]");
    check(one_line, "3", "", "3-2 [1, 2]");
    check(one_line, "0", "0", "1-1 [0, 1, 2, 3]");
    check(one_line, "-1", "[4, 5]", "4-5 [1, 2, 3, 4, 5]");
    check(one_line, "-1", "", "4-3 [1, 2, 3]");
    check(
        one_line,
        "-1",
        "{\n  \"a\": [\n    1\n  ],\n\n  \"b\": 2\n}\n",
        "4-4 [1, 2, 3, {\"a\": [1], \"b\": 2}]",
    );
    check("[1,2]", "-1", "3", "3-3 [1,2,3]");
    check("[1]", "-1", "2", "2-2 [1, 2]");
    check("[ 1 ]", "0", "[2]", "1-1 [ 2, 1 ]");

    let pretty = "[\n  1,\n  2\n]\n";
    check(pretty, "1", "{\"a\": 1}", "1-1 [\n  {\"a\": 1},\n  2\n]\n");
    check(pretty, "-1", "[3, 4]", "3-4 [\n  1,\n  2,\n  3,\n  4\n]\n");
    check(pretty, "0", "0", "1-1 [\n  0,\n  1,\n  2\n]\n");
    check(pretty, "1", "", "1-0 [\n  2\n]\n");
    check(pretty, "2", "", "2-1 [\n  1\n]\n");
    check(pretty, "1,-1", "", "1-0 []\n");
    check(pretty, "2", "{\n  \"a\": 1\n}", "2-2 [\n  1,\n  {\n    \"a\": 1\n  }\n]\n");
    check(pretty, "2", "{\r\n      \"a\": 1\r\n    }", "2-2 [\n  1,\n  {\n    \"a\": 1\n  }\n]\n");
    check(
        "[\r\n\t1\r\n]",
        "-1",
        "[\n{\n\t\"a\": 1\n}\n]",
        "2-2 [\r\n\t1,\r\n\t{\r\n\t\t\"a\": 1\r\n\t}\r\n]",
    );
    check("[\n    1\n]", "-1", "2", "2-2 [\n    1,\n    2\n]");
    check("[1\n,2]", "-1", "3", "3-3 [1\n,2\n,3]");
    check("[1\n,2]", "2", "{\n \"a\": 3\n}", "2-2 [1\n,{\n \"a\": 3\n}]");

    check("[]\n", "0", "[1, 2]", "1-2 [\n  1,\n  2\n]\n");
    check("[ ]", "-1", "1", "1-1 [\n  1\n]");
    check("[]", "1,-1", "1", "1-1 [\n  1\n]");
    check("\u{feff}[]", "-1", "1", "1-1 \u{feff}[\n  1\n]");

    check(one_line, "2", "x", "400 the body is not JSON: line 1, column 1: a value is expected");
    check(
        one_line,
        "2",
        "1 2",
        "400 the body is not JSON: line 1, column 3: something follows the document",
    );
    check(one_line, "4", "1", "416 4 is out of range: the document has 3 items");
    check("[1,]", "1", "2", "400 the text is not JSON: line 1, column 4: a value is expected");
    check(one_line, "1,1,1,2", "1", "400 a scope on JSON counts items; it has no columns");
}

#[test]
fn pairs_of_an_object_are_replaced_inserted_and_deleted() {
    let check = |text: &str, wanted: &str, body: &str, expected: &str| {
        assert_eq!(spliced(text, wanted, body), expected, "{wanted} of {text:?}: {body:?}");
    };
    let pretty = "{\n  \"a\": 1,\n  \"b\": [2]\n}\n";
    check(pretty, "2", "3", "2-2 {\n  \"a\": 1,\n  \"b\": 3\n}\n");
    check(pretty, "2-2", "[3]", "2-2 {\n  \"a\": 1,\n  \"b\": [3]\n}\n");
    check(pretty, "2", "[\n  3\n]", "2-2 {\n  \"a\": 1,\n  \"b\": [\n    3\n  ]\n}\n");
    check(pretty, "2", "{\"b\": {}}", "2-2 {\n  \"a\": 1,\n  \"b\": {}\n}\n");
    check(
        pretty,
        "1",
        "{\"c\": 3, \"d\": 4}",
        "1-2 {\n  \"c\": 3,\n  \"d\": 4,\n  \"b\": [2]\n}\n",
    );
    check(pretty, "-1", "{\"c\": 3}", "3-3 {\n  \"a\": 1,\n  \"b\": [2],\n  \"c\": 3\n}\n");
    check(pretty, "1", "", "1-0 {\n  \"b\": [2]\n}\n");
    check(pretty, "1", "{}", "1-0 {\n  \"b\": [2]\n}\n");
    check(pretty, "1,-1", "{\"b\": 1, \"a\": 2}", "1-2 {\n  \"b\": 1,\n  \"a\": 2\n}\n");
    check("{}", "0", "{\"a\": 1}", "1-1 {\n  \"a\": 1\n}");
    check("{\"a\":1}", "0", "{\n  \"b\": 2\n}", "1-1 {\"b\": 2, \"a\":1}");
    check(pretty, "1-2", "3", "400 the document is an object; put pairs there, as an object");
    check(pretty, "-1", "3", "400 the document is an object; put pairs there, as an object");
    check(pretty, "-1", "{\"a\": 3}", "409 the object would have the key \"a\" twice");
    check(pretty, "1", "{\"c\": 3, \"c\": 4}", "409 the object would have the key \"c\" twice");
    check(pretty, "3", "3", "416 3 is out of range: the document has 2 pairs");
}

#[test]
fn a_document_of_one_value_is_replaced_and_never_grows() {
    let check = |wanted: &str, body: &str, expected: &str| {
        assert_eq!(spliced(" 5\n", wanted, body), expected, "{wanted}: {body:?}");
    };
    let refused = "400 the document is one value; 1 replaces it by one other value, and nothing can \
                   be added";
    check("1", "6", "1-1  6\n");
    check("1,-1", "\"a\"", "1-1  \"a\"\n");
    check("1", "[6]", "1-1  6\n");
    check("1", "[[6, 7]]", "1-1  [6, 7]\n");
    check("1", "{\"a\": 6, \"b\": 7}", "1-1  {\"a\": 6, \"b\": 7}\n");
    check("1", "[6, 7]", refused);
    check("1", "[]", refused);
    check("1", "", refused);
    check("0", "6", refused);
    check("-1", "6", refused);
    check("2", "6", "416 2 is out of range: the document has one value");
}

#[test]
fn items_that_are_put_back_keep_odd_layouts() {
    let text = "[ {\n\"a\" :1 ,\n      \"b\":2}\n ,\t[3,\n\n4 ]\r\n,5]";
    let check = |wanted: &str, body: &str, expected: &str| {
        let new = splice(text, &scope(wanted), Some(body)).map(|spliced| spliced.text);
        assert_eq!(new.as_deref(), Ok(expected), "{wanted}: {body}");
    };
    check("1,-1", text, text);
    check("2", "[[3,\n\n4 ]]", text);
    check("2-3", "[[3,\n\n4 ], 6]", &text.replace(",5]", ",6]"));
}

#[test]
fn nothing_gets_too_deep_to_be_read_again() {
    let nested = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
    let check = |text: &str, body: &str, fits: bool| {
        let new = splice(text, &scope("1"), Some(body));
        assert_eq!(new.is_ok(), fits, "{new:?}");
        if let Ok(new) = new {
            assert!(is_document(&new.text));
        }
    };
    check("[1]", &nested(126), true);
    check("[1]", &nested(127), false);
    check("[1]", &format!("[{}]", nested(126)), true);
    check("{\"b\": 1}", &nested(127), true);
    check("{\"b\": 1}", &format!("[{}]", nested(125)), true);
    check("{\"b\": 1}", &format!("[{}]", nested(126)), false);
    check("1", &nested(127), true);
    check("1", &nested(1_000_000), false);
    check(&nested(1_000_000), "1", false);
}

/// A document.
pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a\"\\\\\\[\\]{},é日😀\n]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec(("[a-cé日😀\"]{1,2}", inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// A document's text, with blanks of several kinds.
fn any_text() -> impl Strategy<Value = String> {
    (any_json(), 0usize..5).prop_map(|(value, how)| {
        let pretty = || serde_json::to_string_pretty(&value).unwrap();
        match how {
            0 => value.to_string(),
            1 => pretty() + "\n",
            2 => pretty().replace('\n', "\r\n"),
            3 => pretty().replace("  ", "\t"),
            _ => pretty().replace('\n', " \n "),
        }
    })
}

fn any_scope() -> impl Strategy<Value = Scope> {
    let number = || -3i64..6;
    prop_oneof![
        4 => number().prop_map(Scope::At),
        4 => (number(), number()).prop_map(|(a, b)| Scope::Range(a, b)),
        1 => Just(Scope::Span(Place { line: 1, column: 1 }, Place { line: 1, column: 2 })),
        1 => Just(Scope::Anchor(crate::scope::Anchor { line: None, hash: line_hash(b"") })),
    ]
}

/// The items of a document, each as its text; pairs with their keys.
fn texts(text: &str) -> Vec<&str> {
    let outline = Outline::of(text).unwrap();
    outline.items.iter().map(|item| &text[item.start..item.value.end]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn putting_back_what_was_selected_changes_nothing(text in any_text(), scope in any_scope()) {
        if let Ok(selected) = select(&text, &scope) {
            prop_assert!(is_document(&selected.text));
            match splice(&text, &scope, Some(&selected.text)) {
                Ok(new) => {
                    prop_assert_eq!(new.text, text);
                    prop_assert_eq!((new.first, new.last), (selected.first, selected.last));
                }
                // There is no way to put nothing beside a single value.
                Err(problem) => prop_assert_eq!(problem, ItemsProblem::OneValue),
            }
        }
    }

    #[test]
    fn a_result_parses_and_other_items_are_untouched(
        text in any_text(), scope in any_scope(), body in prop_oneof![any_text(), Just(String::new())],
    ) {
        if let Ok(new) = splice(&text, &scope, Some(&body)) {
            prop_assert!(serde_json::from_str::<Value>(&new.text).is_ok(), "{}", new.text);
            if Outline::of(&text).unwrap().kind == Kind::Scalar {
                return Ok(());
            }
            let (before, after) = (texts(&text), texts(&new.text));
            let (above, below) = (new.first - 1, after.len() - new.last);
            prop_assert_eq!(&before[..above], &after[..above]);
            prop_assert_eq!(&before[before.len() - below..], &after[new.last..]);
            let was_one_line = !before.is_empty() && !text.trim().contains('\n');
            prop_assert!(!was_one_line || !new.text.trim().contains('\n'), "{:?}", new.text);
        }
    }

    #[test]
    fn new_items_mean_what_the_body_says(
        text in any_text(), scope in any_scope(), body in any_text(),
    ) {
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let Ok(new) = splice(&text, &scope, Some(&body)) else { return Ok(()) };
        if let (Value::Array(items), Value::Array(all)) = (parsed(&body), parsed(&new.text))
            && text.starts_with('[')
        {
            prop_assert_eq!(&items[..], &all[new.first - 1..new.last]);
        }
        if let (Value::Object(pairs), Value::Object(all)) = (parsed(&body), parsed(&new.text))
            && text.starts_with('{')
        {
            let put: Vec<_> = all.iter().skip(new.first - 1).take(pairs.len()).collect();
            prop_assert_eq!(pairs.iter().collect::<Vec<_>>(), put);
        }
    }

    #[test]
    fn any_texts_give_a_value(
        text in "([\\[\\]{},:1 \n]|\"a\"|é|\"日😀\"){0,12}", scope in any_scope(),
        body in proptest::option::of("([\\[\\]{},:1 \n]|\"b\"|😀|\"é日\"){0,8}"),
    ) {
        if select(&text, &scope).is_ok() {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        }
        if let Ok(new) = splice(&text, &scope, body.as_deref()) {
            prop_assert!(is_document(&new.text));
        }
    }
}
