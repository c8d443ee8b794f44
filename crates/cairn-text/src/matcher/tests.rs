//! Which dialect a matcher is, what it finds, and what is none.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const TEXT: &str = "note: one\nNote: [two]\n  a note\r\n\nlog/a.log\nif x[0] { note() }\n";

fn shown(matched: &Matched) -> String {
    match matched {
        Matched::Hits(hits) => listing(hits),
        Matched::None => "nothing".to_owned(),
        Matched::Unreadable { reason } => format!("unreadable: {reason}"),
        Matched::TooMuch { reason } => format!("too much: {reason}"),
    }
}

/// The numbers of the lines that are found.
fn check(matcher: &str, expected: &str) {
    let found = match Matcher::parse(matcher).expect(matcher).over(TEXT, "text/plain") {
        Matched::Hits(hits) => {
            hits.iter().map(|hit| hit.line.to_string()).collect::<Vec<_>>().join(" ")
        }
        other => shown(&other),
    };
    assert_eq!(found, expected, "{matcher}");
}

#[test]
fn a_literal_is_looked_for_as_it_stands() {
    check("note", "1 3 6");
    check("a.log", "5");
    check("note()", "6");
    check("{ note", "6");
    check("absent", "nothing");
    check("one\\", "nothing");
}

#[test]
fn a_glob_is_about_whole_lines() {
    check("note*", "1");
    check("*note", "3");
    check("*note*", "1 3 6");
    check("*.log", "5");
    check("[Nn]ote*", "1 2");
    check("[!n]ote*", "2");
    check("[^n]ote*", "2");
    check("[]N]ote*", "2");
    check("*[[]two[]]", "2");
    check("*\\[two\\]", "2");
    check("note: ???", "1");
    check("?", "nothing");
    check("*", "1 2 3 4 5 6");
    check("**a**", "3 5");
    check("*x[0-9]*", "nothing");
    check("*x[[]0] { *", "6");
}

#[test]
fn a_regex_is_about_lines_one_by_one() {
    check("/note/", "1 3 6");
    check("/NOTE/i", "1 2 3 6");
    check("/^n o t e : # a comment/x", "1");
    check("/^note/gmsu", "1");
    check("/note$/", "3");
    check("/note\\r$/", "3");
    check("/log\\/a/", "5");
    check("/log[/]a/", "5");
    check("/log/a/", "5");
    check("/^$/", "4");
    check("/[^\\n]two/", "2");
    check("/a(?= note)/", "3");
    check("/(?<!a )NOTE/i", "1 2 6");
    check("/(.)\\1/", "3");
    check("/^(?!.*note)/", "2 4 5");
    check("/(?=X)x/ii", "6");
}

#[test]
fn groups_nest_only_so_deep() {
    let nested = |depth: usize| format!("/{}a{}/", "(".repeat(depth), ")".repeat(depth));
    assert!(Matcher::parse(&nested(64)).is_ok() && Matcher::check(&nested(64)).is_ok());
    let why = Matcher::check(&nested(65)).unwrap_err().to_string();
    assert!(why.ends_with("its groups nest deeper than 64"), "{why}");
    assert!(
        Matcher::parse(&format!("/{}/", "\\(".repeat(200))).is_ok(),
        "what is escaped is no group"
    );
}

#[test]
fn a_bad_expression_is_an_error_and_no_other_dialect() {
    let bad = |matcher: &str| match Matcher::parse(matcher) {
        Ok(_) => format!("{matcher:?} was taken\n"),
        Err(error) => format!("{matcher:?}: {error}\n"),
    };
    let all: String = [
        "",
        "a\nb",
        "*\n*",
        "/",
        "/unclosed",
        "/a\\/",
        "/(abc/",
        "/hello/i:",
        "/etc/hosts",
        "/a\nb/",
        "/a\\nb/",
        "/[/",
        "/*/",
        "/a{2,1}/",
        "/(?=a/",
        "/\\2(?=a)/",
        "/(?<=a+)(?!b)\\1/",
        "//h1",
        "// a comment",
        "//**/foo{bar}",
        "@name",
        "@<name",
        "~how it works",
        "$[(",
        "$HOME",
        "$x[?",
        "[",
        "*[a",
        "[z-a]",
        "*\\",
    ]
    .into_iter()
    .map(bad)
    .collect();
    expect![[r#"
        "": the matcher is empty; write what to look for
        "a\nb": the matcher has a line end, and is looked for within one line
        "*\n*": the matcher has a line end, and is looked for within one line
        "/": read as /regex/flags: no / closes the expression; a text with / in it is written /a\/b/
        "/unclosed": read as /regex/flags: no / closes the expression; a text with / in it is written /a\/b/
        "/a\\/": read as /regex/flags: no / closes the expression; a text with / in it is written /a\/b/
        "/(abc/": read as /regex/flags: unclosed group
        "/hello/i:": read as /regex/flags: ':' is not a flag (they are i m s x g u); a / in the expression is written \/
        "/etc/hosts": read as /regex/flags: 'h' is not a flag (they are i m s x g u); a / in the expression is written \/
        "/a\nb/": read as /regex/flags: lines are matched one by one, so a line end is never found
        "/a\\nb/": read as /regex/flags: lines are matched one by one, so a line end is never found
        "/[/": read as /regex/flags: unclosed character class
        "/*/": read as /regex/flags: repetition operator missing expression
        "/a{2,1}/": read as /regex/flags: invalid repetition count range, the start must be <= the end
        "/(?=a/": read as /regex/flags: Parsing error at position 4: Opening parenthesis without closing parenthesis
        "/\\2(?=a)/": read as /regex/flags: Error compiling regex: Invalid back reference to group 2
        "/(?<=a+)(?!b)\\1/": read as /regex/flags: Error compiling regex: Invalid back reference to group 1
        "//h1": XPath (//…) matchers are not there yet
        "// a comment": XPath (//…) matchers are not there yet
        "//**/foo{bar}": XPath (//…) matchers are not there yet
        "@name": symbol graph (@…) matchers are not there yet
        "@<name": symbol graph (@…) matchers are not there yet
        "~how it works": meaning (~…) matchers are not there yet
        "$[(": read as a JSONPath: at character 3: a selector was expected: 'name', 0, 1:3, * or ?filter
        "$HOME": read as a JSONPath: at character 2: the query ends here; . or .. or [ may follow it
        "$x[?": read as a JSONPath: at character 2: the query ends here; . or .. or [ may follow it
        "[": read as a glob over whole lines: [ is not closed; a bracket itself is written [[]
        "*[a": read as a glob over whole lines: [ is not closed; a bracket itself is written [[]
        "[z-a]": read as a glob over whole lines: [z-a] goes backwards
        "*\\": read as a glob over whole lines: a backslash ends it
    "#]].assert_eq(&all);
}

#[test]
fn a_jsonpath_finds_nodes_with_their_lines() {
    let check = |matcher: &str, text: &str, mime: &str, expected: Expect| {
        expected.assert_eq(&shown(&Matcher::parse(matcher).expect(matcher).over(text, mime)));
    };
    let json = "{\n \"a\": [1.0,\n  {\"b\": \"two\\nlines\\t\"}],\n \"c\": null}";
    check(
        "$.a[*]",
        json,
        "application/json",
        expect![[r#"
        2:	1.0
        3:	{"b":"two\nlines\t"}"#]],
    );
    check("$..b", json, "application/json", expect![[r#"3:	"two\nlines\t""#]]);
    check(
        "$",
        json,
        "application/json",
        expect![[r#"1:	{"a":[1.0,{"b":"two\nlines\t"}],"c":null}"#]],
    );
    check("$.x", json, "application/json", expect!["nothing"]);
    check(
        "$..port",
        "web:\n  port: 80\ndb:\n  port: 5432\n",
        "application/yaml",
        expect![[r#"
        2:	80
        4:	5432"#]],
    );
    check(
        "$.package.name",
        "[package]\nname = 'cairn'\n",
        "application/toml",
        expect![[r#"2:	"cairn""#]],
    );
    check(
        "$[?@.age > 40].name",
        "name,age\nAnn,41\nBob,40\n",
        "text/csv",
        expect![[r#"2:	"Ann""#]],
    );
    check(
        "$.a",
        "{\n",
        "application/json",
        expect!["unreadable: line 2 is not JSON: a name in double quotes was expected"],
    );
    check(
        "$.a",
        "# Title\n",
        "text/markdown",
        expect!["unreadable: text/markdown has no structure that a JSONPath could go through"],
    );
    check(
        "$..[?@..a]",
        &("[".repeat(200) + &"]".repeat(200)),
        "application/json",
        expect!["too much: line 1: values lie more than 128 deep in each other"],
    );
}

#[test]
fn a_long_value_is_shown_by_its_beginning() {
    let check = |matcher: &str, text: &str, mime: &str, expected: &str| {
        assert_eq!(shown(&Matcher::parse(matcher).expect(matcher).over(text, mime)), expected);
    };
    let line = "é".repeat(600);
    let cut = format!("1:\t{}… (200 more bytes in this line)", "é".repeat(500));
    check("é", &line, "text/plain", &cut);
    check("é", &line[..1000], "text/plain", &format!("1:\t{}", "é".repeat(500)));
    let json = format!("[\"{line}\"]");
    let cut = format!("1:\t[\"{}… (206 more bytes in this line)", "é".repeat(498));
    check("$", &json, "application/json", &cut);
    let json = format!("[\"{}\"]", "é".repeat(496));
    check("$", &json, "application/json", &format!("1:\t{json}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_text_is_a_matcher_or_is_refused_and_finds_lines_of_the_text(
        matcher in r#"(/|//|\$|@|~|\*|\?|\[|\]|\\|\(|\)|\(\?=|\(\?<!|\\1|\{1,2\}|\+|\||\^|\.|a|b|é|日|😀|i|\n){0,10}"#,
        lead in prop_oneof![Just(""), Just("/"), Just("$[?"), Just("*")],
        end in prop_oneof![Just(""), Just("/"), Just("/i"), Just("]")],
        text in r#"(a|b|é|日|😀|\.|\[|"|\r?\n){0,30}"#,
    ) {
        let Ok(matcher) = Matcher::parse(&format!("{lead}{matcher}{end}")) else { return Ok(()) };
        for mime in ["text/plain", "application/json", "text/csv"] {
            if let Matched::Hits(hits) = matcher.over(&text, mime) {
                prop_assert!(!hits.is_empty());
                prop_assert_eq!(listing(&hits).lines().count(), hits.len());
                for hit in hits.iter().filter(|_| mime == "text/plain") {
                    prop_assert_eq!(text.lines().nth(hit.line - 1), Some(hit.value.as_str()));
                }
            }
        }
    }
}
