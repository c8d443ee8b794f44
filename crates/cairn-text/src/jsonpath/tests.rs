//! What is wrong with a query is told with its place; selecting gives a value for every tree.

use super::*;
use crate::tree;
use proptest::prelude::*;

#[test]
fn a_bad_query_is_told_with_its_place() {
    let check = |query: &str, expected: &str| {
        assert_eq!(JsonPath::parse(query).expect_err(query).to_string(), expected, "{query}");
    };
    check("", "at character 1: a query begins with $");
    check("$HOME", "at character 2: the query ends here; . or .. or [ may follow it");
    check("$é.", "at character 2: the query ends here; . or .. or [ may follow it");
    check(
        "$.é.",
        "at character 5: a name or * was expected; other names are written ['like this']",
    );
    check("$.a-b", "at character 4: the query ends here; . or .. or [ may follow it");
    check("$[(", "at character 3: a selector was expected: 'name', 0, 1:3, * or ?filter");
    check("$[a]", "at character 3: a selector was expected: 'name', 0, 1:3, * or ?filter");
    check("$['a]", "at character 3: this quote is not closed");
    check("$['\\x']", "at character 4: the backslash stands before what it does not escape");
    check("$[0", "at character 4: a comma or ] was expected");
    check("$[01]", "at character 3: a whole number does not begin with 0, and there is no -0");
    check(
        "$[9007199254740992]",
        "at character 3: a whole number here lies between -(2^53)+1 and (2^53)-1",
    );
    check("$[?1]", "at character 4: a literal alone is no test; compare it");
    check(
        "$[?length(@)]",
        "at character 4: this function has a value, which is no test; compare it",
    );
    check(
        "$[?@.* == 1]",
        "at character 4: a query here must select one node at most: names and indexes, one at a time",
    );
    check(
        "$[?size(@) == 1]",
        "at character 4: the functions are length, count, value, match and search",
    );
    check("$[?@.a == yes]", "at character 11: yes is no literal; a text stands in quotes");
    check(
        "$[?match(@, 'a') == true]",
        "at character 4: match and search are true or false, and have no value",
    );
    check("$[?match(@, '\\\\d')]", "at character 13: I-Regexp has no \\d; write [0-9]");
    check("$[?count(1) == 1]", "at character 10: this function is given a query");
}

#[test]
fn a_pattern_of_the_document_that_is_none_matches_nothing() {
    let root = tree::of(r#"{"p":["a","(","\\d"],"t":["a","(","1"]}"#, "application/json");
    let root = root.expect("JSON").expect("a tree");
    let found = |query: &str| {
        let nodes = JsonPath::parse(query).expect(query).select(&root).expect("few steps");
        nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("$.t[?match(@, $.p[0])]"), "\"a\"");
    assert_eq!(found("$.t[?search(@, $.p[1])]"), "");
    assert_eq!(found("$.t[?search(@, $.p[2])]"), "");
    assert_eq!(found("$.t[?search(@, $.nothing)]"), "");
}

/// Scraps of queries, to be put together in any way.
const SCRAPS: [&str; 38] = [
    "$", "@", ".", "..", "*", "[", "]", "?", "(", ")", "!", "&&", "||", "==", "<=", "<", "'a'",
    "\"b\"", "a", "b", "0", "-1", ":", ",", " ", "length(", "count(", "match(", "search(",
    "value(", "'['", "true", "null", "1.5", "[?@", "[0:2]", "'é日'", "😀",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text_is_a_query_or_is_refused_within_it(text in "(é|日|😀|.)*", scraps in proptest::collection::vec(0..SCRAPS.len(), 0..16)) {
        let made: String = scraps.iter().map(|at| SCRAPS[*at]).collect();
        for text in [text, format!("${made}"), format!("$[?{made}]")] {
            if let Err(bad) = JsonPath::parse(&text) {
                prop_assert!((1..=text.chars().count() + 1).contains(&bad.at), "{:?}", text);
            }
        }
    }

    #[test]
    fn any_query_over_any_tree_gives_nodes_of_that_tree(
        scraps in proptest::collection::vec(prop_oneof![
            Just("[?@.a==1]"), Just("[*]"), Just("..*"), Just(".a"), Just("..a"), Just("[-1]"), Just("[1::-1]"),
            Just("[?@..a && !@.b]"), Just("[?length(@)>=1]"), Just("[?count(@.*)<3 || value(@..b)==null]"),
            Just("[?search(@, 'a') || match(@.a, $..a)]"), Just("[0,'a',::2]"), Just("[?@==$.a||@!=@[0]]"),
        ], 0..5),
        text in r#"\[(([\[{]|\[1,"a",\[|\{"a":){0,4}1([\]}]){0,6},?){0,3}\]|\{"a":\[1,\{"b":null,"a":"a"\}\],"b":\{"a":1\}\}"#,
    ) {
        let path = JsonPath::parse(&format!("${}", scraps.concat()));
        if let (Ok(path), Ok(Some(root))) = (path, tree::of(&text, "application/json"))
            && let (Ok(nodes), Ok(located)) = (path.select(&root), path.locate(&root))
        {
            prop_assert_eq!(nodes.len(), located.len());
            for (place, node) in located {
                // A normalized path is a query that selects its node alone.
                let again = JsonPath::parse(&place).expect("a path").select(&root).expect("few steps");
                prop_assert!(again.len() == 1 && std::ptr::eq(again[0], node), "{}", place);
            }
        }
    }
}
