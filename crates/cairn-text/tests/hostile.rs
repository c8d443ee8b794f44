//! Documents, queries and matchers that are made to take forever, or all memory, end with an error.
#![allow(clippy::expect_used, clippy::panic, reason = "a test's helpers fail by panicking")]

use cairn_text::jsonpath::JsonPath;
use cairn_text::matcher::{Matched, Matcher};
use cairn_text::tree::{self, Unreadable};

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const TOML: &str = "application/toml";
const CSV: &str = "text/csv";

fn refused(text: &str, mime: &str) -> Unreadable {
    match tree::of(text, mime) {
        Err(error) => error,
        Ok(_) => panic!("{mime} was read: {}", text.chars().take(60).collect::<String>()),
    }
}

#[test]
fn values_a_million_deep_are_refused_in_every_form() {
    let deep = 1_000_000;
    let check = |text: String, mime| {
        let error = refused(&text, mime);
        let is_depth = matches!(error, Unreadable::TooDeep { line: 1, limit: 128 });
        assert!(is_depth || error.to_string().contains("recursion"), "{error}");
    };
    check("[".repeat(deep), JSON);
    check("{\"a\":".repeat(deep), JSON);
    check("[".repeat(deep), "application/x-ndjson");
    check("[".repeat(deep), YAML);
    check("{a: ".repeat(deep), YAML);
    check("- ".repeat(deep) + "a", YAML);
    check("? ".repeat(deep) + "a", YAML);
    check(format!("a = {}", "[".repeat(deep)), TOML);
    check(format!("{}a = 1", "a.".repeat(deep)), TOML);
    check(format!("a = {}", "{ a = ".repeat(deep)), TOML);
    check(format!("[{}a]", "a.".repeat(100)) + "\n" + &"a.".repeat(79) + "b = 1", TOML);
}

#[test]
fn the_deepest_tree_that_is_read_is_printed_and_dropped_on_a_small_stack() {
    let work = || {
        let text = "[".repeat(128) + &"]".repeat(128);
        let root = tree::of(&text, JSON).expect("JSON").expect("a tree");
        assert_eq!(root.to_string(), text);
        let found = JsonPath::parse("$..[?@ == $..[0]]");
        assert!(found.is_err(), "the right side selects several");
        let path = JsonPath::parse("$..[?@[0] != $[0]]").expect("a path");
        assert_eq!(path.select(&root).expect("few steps").len(), 127);
        drop(root.clone());
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread");
    thread.join().expect("it ends");
}

#[test]
fn aliases_that_stand_for_billions_are_refused() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for n in 1..20 {
        let aliases = vec![format!("*a{}", n - 1); 10].join(", ");
        laughs.push_str(&format!("a{n}: &a{n} [{aliases}]\n"));
    }
    assert_eq!(refused(&laughs, YAML), Unreadable::TooMany { limit: 1_000_000 });
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(100));
    assert!(matches!(refused(&long, YAML), Unreadable::TooMuchCopied { .. }));
    assert!(matches!(refused("&a [*a]", YAML), Unreadable::Malformed { line: 1, .. }));
    let deeper: String = (1..200).map(|n| format!("a{n}: &a{n} [*a{}]\n", n - 1)).collect();
    let deeper = format!("a0: &a0 []\n{deeper}");
    assert!(matches!(refused(&deeper, YAML), Unreadable::TooDeep { .. }));
}

#[test]
fn documents_with_too_many_values_or_bytes_are_refused() {
    let many = 1_000_001;
    assert_eq!(
        refused(&format!("[{}1]", "1,".repeat(many)), JSON),
        Unreadable::TooMany { limit: 1_000_000 }
    );
    assert_eq!(refused(&"- 1\n".repeat(many), YAML), Unreadable::TooMany { limit: 1_000_000 });
    assert_eq!(
        refused(&format!("a = [{}]", "1,".repeat(many)), TOML),
        Unreadable::TooMany { limit: 1_000_000 }
    );
    assert_eq!(refused(&"1\n".repeat(many), CSV), Unreadable::TooMany { limit: 1_000_000 });
    let long = format!("\"{}\"", "x".repeat(32 << 20));
    assert!(matches!(refused(&long, JSON), Unreadable::TooLong { .. }));
}

#[test]
fn large_documents_of_every_form_are_read() {
    let check = |text: String, mime| {
        let root = tree::of(&text, mime).expect("it is read").expect("a tree");
        assert!(!matches!(root.value(), tree::Value::Null), "{mime}");
    };
    let many = 100_000;
    check((0..many).map(|n| format!("k{n}: {{a: 'x', b: [1, 2]}}\n")).collect(), YAML);
    check(format!("[{}0]", "a, ".repeat(many)), YAML);
    check("a: 1\n".repeat(many), YAML);
    check("x".repeat(1 << 20), YAML);
    check(format!("a: |\n{}", "  line\n".repeat(many)), YAML);
    check((0..many).map(|n| format!("[[a]]\nk{n} = 1\n")).collect(), TOML);
    check((0..many).map(|n| format!("k{n} = 1\n")).collect(), TOML);
    check((0..many).map(|n| format!("[a.k{n}]\n")).collect(), TOML);
    check((0..many).map(|n| format!("{n},\"a\nb\"\n")).collect(), CSV);
    check(format!("{{{}\"z\":1}}", "\"a\":1,".repeat(many)), JSON);
}

#[test]
fn queries_that_would_take_forever_end_with_an_error() {
    let text = format!("[{}0]", "[0,[1,[2,[3]]]],".repeat(2_000));
    let deep = "[".repeat(100) + &"[0],".repeat(2_000) + "0" + &"]".repeat(100);
    let wide: String = (0..5_000).map(|n| format!("\"k{n}\":{{\"a\":\"aaaaaaaa\"}},")).collect();
    let wide = format!("{{{wide}\"z\":0}}");
    let check = |text: &str, query: &str| {
        let root = tree::of(text, JSON).expect("JSON").expect("a tree");
        let path = JsonPath::parse(query).expect(query);
        assert_eq!(path.select(&root).map(|nodes| nodes.len()).ok(), None, "{query}");
        assert_eq!(path.locate(&root).ok(), None, "{query}");
    };
    check(&deep, "$..[?@..[?@..x]]");
    check(&text, "$..[?$..[?$..x]]");
    check(&text, "$..[?count($..*) > 5]");
    check(&text, "$[?$ == $ && $ == $ && $ == $ && $ == $ && $ == $]");
    check(&deep, "$..*..*..*..*..*..*..*..*..*..*..*..*..*");
    check(&text, &format!("${}", "[*,*,*,*,*,*,*,*]".repeat(5)));
    check(&deep, &format!("${}", "..[0,0,0,0,0,0,0,0]".repeat(8)));
    check(&wide, "$[?$ == $]");
    check(&wide, "$[?$[?$.nothing]]");
    check(&wide, "$[?$[?match(@.a, @.a)]]");
}

#[test]
fn long_names_in_many_paths_are_refused() {
    let text = format!("{{\"{}\":[{}0]}}", "x".repeat(1 << 20), "0,".repeat(10_000));
    let root = tree::of(&text, JSON).expect("JSON").expect("a tree");
    let path = JsonPath::parse("$.*.*").expect("a path");
    assert_eq!(path.select(&root).map(|nodes| nodes.len()), Ok(10_001));
    assert!(path.locate(&root).is_err());
}

#[test]
fn queries_are_read_to_a_depth() {
    for (open, close) in
        [("(", ")"), ("!(", ")"), ("length(", ")==0"), ("@[?", "]"), ("count(@[?", "])==1")]
    {
        let query = |deep: usize| {
            let end = close.chars().next().map(String::from).unwrap_or_default();
            let closes = close.to_owned();
            match open {
                "length(" => format!("$[?{}@{}==0]", open.repeat(deep), end.repeat(deep)),
                _ => format!("$[?{}@{}]", open.repeat(deep), closes.repeat(deep)),
            }
        };
        assert!(JsonPath::parse(&query(10)).is_ok(), "{}", query(10));
        let bad = JsonPath::parse(&query(100_000)).expect_err("too deep");
        assert_eq!(bad.why, "the query is more than 32 deep here");
    }
}

fn over(matcher: &str, text: &str, mime: &str) -> Matched {
    Matcher::parse(matcher).expect(matcher).over(text, mime)
}

#[test]
fn expressions_that_try_forever_end_with_an_error() {
    let line = "a".repeat(100 << 10);
    let lines = format!("{}\n", "a".repeat(100)).repeat(100 << 10);
    let check = |matcher: &str, text: &str| {
        let found = over(matcher, text, "text/plain");
        assert!(matches!(found, Matched::TooMuch { .. }), "{matcher:.40}");
    };
    for matcher in ["/(?=(a+)+$)b/", "/(a*)*\\1b/", "/(a|aa)+(?<!a)$/", "/((a+)+)+\\2\\1b/"] {
        check(matcher, &line);
        check(matcher, &lines);
    }
    check("/(?:(?=a)a|a)*?(?!a)b/", &line);
    check("/^(?:(?=.*$)a)*/", &line);
    check("/(?=(?:(?=.*$)a)*)b/", &line);
    check(&format!("/{}b/", "(?!.*x)".repeat(500)), &line);
    check("/(?=(a|aa)+$)b|(?!(a|aa)+c)(a|aa)+d/", &lines);
    check("/(?:[ab]{1,100}){1,90}c/", &line);
    check("/(?:a|b)*a(?:a|b){4900}c/", &line);
    check(&format!("*a{}c", "?".repeat(6_000)), &line);
}

#[test]
fn expressions_that_look_around_are_matched_in_texts_of_honest_size() {
    let log: String = (0..20_000).map(|n| format!("{n} GET /index.html took {n} ms\n")).collect();
    let check = |matcher: &str, count: usize| match over(matcher, &log, "text/plain") {
        Matched::Hits(hits) => assert_eq!(hits.len(), count, "{matcher}"),
        found => panic!("{matcher}: {found:?}"),
    };
    check("/^(?!.*7)/", 2 * 6_561);
    check("/took (?=42 )/", 1);
    check("/(?<!x)GET/", 20_000);
    check("/^(?:(?!took).)*$|^19999 /", 1);
    check("/^(\\d)\\1+ /", 9 * 3 + 1);
}

#[test]
fn expressions_that_repeat_without_trying_are_refused() {
    for matcher in [
        "/(?:(?:(?:(?=a)){999}){999}){999}/",
        "/(?:(?=(?:a(?=a)){900})a){900}/",
        "/(?<a>(?=x)b)\\g<a>/",
        "/(?:(?=a)){99999999999}/",
        "/(?~a(?=b))/",
    ] {
        let error = Matcher::parse(matcher).expect_err(matcher);
        assert!(error.to_string().starts_with("read as /regex/flags: "), "{error}");
    }
}

#[test]
fn a_line_of_fifty_megabytes_is_matched_whole_and_shown_by_its_beginning() {
    let mut line = "a".repeat(50_000_000);
    line.push_str("end");
    for matcher in ["end", "*end", "a*end", "/aend$/", "/a(?=end)/"] {
        match over(matcher, &line, "text/plain") {
            Matched::Hits(hits) => {
                assert_eq!(hits.len(), 1);
                let shown = format!("{}… (49999503 more bytes in this line)", "a".repeat(500));
                assert_eq!((hits[0].line, hits[0].value == shown), (1, true), "{matcher}");
            }
            found => assert!(matcher.contains("(?=") && matches!(found, Matched::TooMuch { .. })),
        }
    }
    assert_eq!(over("b", &line, "text/plain"), Matched::None);
    assert!(matches!(over("$", &line, JSON), Matched::TooMuch { .. }));
}

#[test]
fn more_hits_than_fit_are_refused() {
    assert!(matches!(over("a", &"a\n".repeat(1_000_001), "text/plain"), Matched::TooMuch { .. }));
    let deep = "[".repeat(120) + "\"" + &"x".repeat(2 << 20) + "\"" + &"]".repeat(120);
    assert!(matches!(over("$..*", &deep, JSON), Matched::TooMuch { .. }));
}
