//! JSONPath keeps to RFC 9535: every case of its compliance test suite, with the paths.
#![allow(clippy::expect_used, clippy::panic, reason = "a test's helpers fail by panicking")]

use cairn_text::jsonpath::JsonPath;
use cairn_text::tree;
use serde_json::Value;

const SUITE: &str = include_str!("data/jsonpath-cts.json");

/// What is wrong with one case of the suite, if something is.
fn wrong(case: &Value) -> Option<String> {
    let selector = case["selector"].as_str().expect("a selector");
    let path = match (JsonPath::parse(selector), &case["invalid_selector"]) {
        (Err(_), Value::Bool(true)) => return None,
        (Ok(_), Value::Bool(true)) => return Some("it was taken".to_owned()),
        (Err(bad), _) => return Some(bad.to_string()),
        (Ok(path), _) => path,
    };
    let document = case["document"].to_string();
    let root = tree::of(&document, "application/json").expect("JSON").expect("a tree");
    let located = path.locate(&root).expect("few steps");
    let values = located.iter().map(|(_, node)| node.to_string());
    let values: Value =
        values.map(|json| serde_json::from_str::<Value>(&json).expect("JSON")).collect();
    let paths: Value = located.iter().map(|(path, _)| Value::from(path.as_str())).collect();
    let is_one_of =
        |found: &Value, one: &str, several: &str| match (case.get(one), case.get(several)) {
            (Some(expected), _) => found == expected,
            (None, Some(any)) => any.as_array().expect("a list").contains(found),
            (None, None) => panic!("a case says neither {one} nor {several}"),
        };
    let is_right = is_one_of(&values, "result", "results")
        && is_one_of(&paths, "result_paths", "results_paths")
        && path.select(&root).expect("few steps").len() == located.len();
    (!is_right).then(|| format!("{values} at {paths}"))
}

// The suite is whole: its 703 cases are counted, 456 of them with results and paths.
#[test]
fn every_case_of_the_compliance_suite_holds() {
    let suite: Value = serde_json::from_str(SUITE).expect("JSON");
    let cases = suite["tests"].as_array().expect("cases");
    let told = cases.iter().filter(|case| case.get("document").is_some()).count();
    assert_eq!((cases.len(), told), (703, 456));
    let wrongs: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            wrong(case).map(|why| format!("{} {}: {why}", case["name"], case["selector"]))
        })
        .collect();
    assert_eq!(wrongs, [] as [&str; 0], "{} of 703 are wrong", wrongs.len());
}
