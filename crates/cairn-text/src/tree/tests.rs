//! What each form is as a tree, with its lines, and what is no document of its form.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// The leaves of a tree, each with its line and where it lies, and the whole as JSON.
fn check(mime: &str, text: &str, expected: Expect) {
    let shown = match of(text, mime) {
        Ok(None) => "no structure\n".to_owned(),
        Ok(Some(root)) => {
            let mut shown = format!("{root}\n");
            list(&root, "", &mut shown);
            shown
        }
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&shown);
}

fn list(node: &Node, path: &str, out: &mut String) {
    out.push_str(&format!("{}: {}\n", node.line(), if path.is_empty() { "." } else { path }));
    match node.value() {
        Value::List(items) => {
            for (n, item) in items.iter().enumerate() {
                list(item, &format!("{path}/{n}"), out);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                list(field, &format!("{path}/{name}"), out);
            }
        }
        _ => {}
    }
}

#[test]
fn json_keeps_lines_order_and_how_numbers_were_written() {
    check(
        "application/json",
        "\u{feff}{\"b\": [1.50, -0, 1e3,\r\n  \"\\u00e9\\ud83d\\ude00\\n\\/\"],\n\n\"a\": null, \"b2\": {}}\n",
        expect![[r#"
            {"b":[1.50,-0,1e3,"é😀\n/"],"a":null,"b2":{}}
            1: .
            1: /b
            1: /b/0
            1: /b/1
            1: /b/2
            2: /b/3
            4: /a
            4: /b2
        "#]],
    );
    check(
        "application/ld+json; charset=utf-8",
        "{\"a\":1,\"b\":2,\n\"a\":3}",
        expect![[r#"
            {"a":3,"b":2}
            1: .
            2: /a
            1: /b
        "#]],
    );
    check(
        "application/x-ndjson",
        "{\"a\":1}\n\n[2]\r\n3\n",
        expect![[r#"
            [{"a":1},[2],3]
            1: .
            1: /0
            1: /0/a
            3: /1
            3: /1/0
            4: /2
        "#]],
    );
}

#[test]
fn what_is_no_json_is_told_with_its_line() {
    let check = |text: &str, expected: &str| {
        assert_eq!(of(text, "application/json").expect_err(text).to_string(), expected, "{text}");
    };
    check("", "line 1 is not JSON: it ends where a value was expected");
    check("{\n\"a\": 1,\n}", "line 3 is not JSON: a name in double quotes was expected");
    check("[1,\n2,]", "line 2 is not JSON: a value was expected");
    check("[1 2]", "line 1 is not JSON: a comma or ] was expected");
    check("{\"a\" 1}", "line 1 is not JSON: a colon was expected after a name");
    check("{\"a\":1 \"b\":2}", "line 1 is not JSON: a comma or } was expected");
    check("\"a\nb\"", "line 1 is not JSON: a text is not closed");
    check("\"a\tb\"", "line 1 is not JSON: a control character in a text is not escaped");
    check("\"\\x\"", "line 1 is not JSON: a backslash stands before what it does not escape");
    check("\"\\u12g4\"", "line 1 is not JSON: four hexadecimal digits were expected after \\u");
    check("\"\\ud800\\u0041\"", "line 1 is not JSON: half of a surrogate pair stands alone");
    check("\"\\udc00\"", "line 1 is not JSON: half of a surrogate pair stands alone");
    check("01", "line 1 is not JSON: JSON writes no number like this");
    check("-", "line 1 is not JSON: a digit was expected after -");
    check("nul", "line 1 is not JSON: a value was expected");
    check("1\n// no\n", "line 2 is not JSON: something follows the value");
}

#[test]
fn yaml_is_read_by_its_core_schema() {
    check(
        "application/yaml",
        "# top\nname: cairn\nports:\n  - 80\n  - 0x1F\n  - 0o17\n  - +1\n  - .5\n  - 1.\n  - .inf\n  - 007\n",
        expect![[r#"
            {"name":"cairn","ports":[80,31,15,1,0.5,1.0,".inf",7]}
            2: .
            2: /name
            4: /ports
            4: /ports/0
            5: /ports/1
            6: /ports/2
            7: /ports/3
            8: /ports/4
            9: /ports/5
            10: /ports/6
            11: /ports/7
        "#]],
    );
    check(
        "text/yaml",
        "[~, Null, true, FALSE, yes, '1', \"2\", !!str 3, !!int '4', ! 5, 1e3, 1_000, 2026-11-16]",
        expect![[r#"
            [null,null,true,false,"yes","1","2","3",4,"5",1e3,"1_000","2026-11-16"]
            1: .
            1: /0
            1: /1
            1: /2
            1: /3
            1: /4
            1: /5
            1: /6
            1: /7
            1: /8
            1: /9
            1: /10
            1: /11
            1: /12
        "#]],
    );
}

#[test]
fn yaml_aliases_are_copies_and_several_documents_a_list() {
    check(
        "application/yaml",
        "base: &b {x: 1}\nuse: *b\n<<: *b\n? [a, 1]\n: key\n1: one\ntext: |\n  two\n  lines\n",
        expect![[r#"
            {"base":{"x":1},"use":{"x":1},"<<":{"x":1},"[\"a\",1]":"key","1":"one","text":"two\nlines\n"}
            1: .
            1: /base
            1: /base/x
            2: /use
            1: /use/x
            3: /<<
            1: /<</x
            5: /["a",1]
            6: /1
            8: /text
        "#]],
    );
    check(
        "application/yaml",
        "---\na: 1\n---\n- b\n...\n",
        expect![[r#"
            [{"a":1},["b"]]
            1: .
            2: /0
            2: /0/a
            4: /1
            4: /1/0
        "#]],
    );
    check(
        "application/yaml",
        "",
        expect![[r#"
            null
            1: .
        "#]],
    );
    check(
        "application/yaml",
        "a: 1\nb: [1\n",
        expect![[r#"
            line 2 is not YAML: while parsing a flow sequence, expected ',' or ']'
        "#]],
    );
    check(
        "application/yaml",
        "a: *b\n",
        expect![[r#"
        line 1 is not YAML: while parsing node, found unknown anchor
    "#]],
    );
}

#[test]
fn toml_keeps_the_order_of_the_document() {
    check(
        "application/toml",
        "z = 1_000\nf = +1.5\nh = 0xff\nn = nan\nd = 2026-11-16T05:00:00Z\n\n[t]\ny.x = true\n\n[[l]]\na = [\n  1,\n  'two',\n]\n[[l]]\n",
        expect![[r#"
            {"z":1000,"f":1.5,"h":255,"n":"nan","d":"2026-11-16T05:00:00Z","t":{"y":{"x":true}},"l":[{"a":[1,"two"]},{}]}
            1: .
            1: /z
            2: /f
            3: /h
            4: /n
            5: /d
            7: /t
            8: /t/y
            8: /t/y/x
            10: /l
            10: /l/0
            11: /l/0/a
            12: /l/0/a/0
            13: /l/0/a/1
            15: /l/1
        "#]],
    );
    check(
        "application/toml",
        "a = 1\nb = \n",
        expect![[r#"
        line 2 is not TOML: string values must be quoted, expected literal string
    "#]],
    );
    check(
        "application/toml",
        "a = 1\na = 2\n",
        expect![[r#"
        line 2 is not TOML: duplicate key
    "#]],
    );
}

#[test]
fn csv_is_a_list_of_objects_by_its_first_row() {
    check(
        "text/csv",
        "name,age,note\r\nAnn,41,\"a\r\nb\"\r\n\r\nBob,007\r\nEve,1.5,x,more\r\n",
        expect![[r#"
            [{"name":"Ann","age":41,"note":"a\r\nb"},{"name":"Bob","age":"007"},{"name":"Eve","age":1.5,"note":"x","4":"more"}]
            1: .
            2: /0
            2: /0/name
            2: /0/age
            2: /0/note
            5: /1
            5: /1/name
            5: /1/age
            6: /2
            6: /2/name
            6: /2/age
            6: /2/note
            6: /2/4
        "#]],
    );
    check(
        "text/csv",
        "name,age\n",
        expect![[r#"
        []
        1: .
    "#]],
    );
    check(
        "text/csv",
        "",
        expect![[r#"
        []
        1: .
    "#]],
    );
}

#[test]
fn other_types_have_no_structure() {
    for mime in ["text/plain", "text/markdown", "text/x-rust", "application/xml", ""] {
        assert_eq!(of("{}", mime), Ok(None));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_json_is_what_others_read(text in r#"([\[\]{},: ]|"a"|"b"|1|-2\.5|true|null|"\\n"|é|日|😀|"é日😀"){0,14}"#) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text).ok();
        let ours = of(&text, "application/json").ok().flatten();
        prop_assert_eq!(ours.is_some(), theirs.is_some(), "{}", text);
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            let again: serde_json::Value = serde_json::from_str(&ours.to_string()).expect("JSON");
            prop_assert_eq!(again, theirs);
        }
    }

    #[test]
    fn any_text_of_any_form_is_read_or_refused_and_lines_lie_in_it(
        text in r##"([]\[{},:&*!|>?'"#~=.%@`-]|- |: |\? |\n|\n  |\t|\r\n|a|b|0x|1|"a"|é|日|😀|<<|---|\.\.\.|&a |\*a|!!int|\[\[|\]\]|'''){0,24}"##,
    ) {
        for mime in ["application/json", "application/x-ndjson", "application/yaml", "application/toml", "text/csv"] {
            if let Ok(Some(root)) = of(&text, mime) {
                let lines = text.lines().count().max(1);
                let mut nodes = vec![&root];
                while let Some(node) = nodes.pop() {
                    prop_assert!((1..=lines).contains(&node.line()), "{} {:?}", mime, text);
                    nodes.extend(node.children());
                }
                let printed = root.to_string();
                prop_assert!(!printed.contains('\n'));
                let again = of(&printed, "application/json").expect("JSON").expect("a tree");
                prop_assert_eq!(again.to_string(), printed);
            }
        }
    }
}
