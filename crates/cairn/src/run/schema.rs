//! `--output-schema`: reading the schema, and holding the answer against it. Providers that can are
//! made to follow it; here it is checked, whoever answered.

use crate::run::Usage;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The schema in a file. One that cannot be read is told before anything is asked.
pub fn read(file: &Path) -> Result<Arc<str>, Usage> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|why| Usage(format!("the schema {shown} cannot be read: {why}")))?;
    let no_schema = |why: String| Usage(format!("{shown} is no JSON Schema: {why}"));
    let schema: Value = serde_json::from_str(&text).map_err(|why| no_schema(why.to_string()))?;
    if !schema.is_object() {
        return Err(no_schema("it is not an object".to_owned()));
    }
    jsonschema::validator_for(&schema).map_err(|why| no_schema(why.to_string()))?;
    Ok(Arc::from(text))
}

/// An answer without the fence around it, where the whole of it is one fence that holds JSON.
pub fn unfenced(answer: &str) -> &str {
    const FENCE: &str = "```";
    let inner = answer.trim().strip_prefix(FENCE).and_then(|rest| rest.strip_suffix(FENCE));
    let Some((word, inner)) = inner.and_then(|inner| inner.split_once('\n')) else {
        return answer;
    };
    let is_json = word.trim().is_empty() || word.trim().eq_ignore_ascii_case("json");
    // A text may hold fences of its own, but then it is not JSON between the first and the last.
    let holds = is_json && serde_json::from_str::<serde::de::IgnoredAny>(inner).is_ok();
    if holds { inner.trim() } else { answer }
}

/// Why an answer does not follow the schema; nothing when it does.
pub fn problem(schema: &str, answer: &str) -> Option<String> {
    let schema: Value = serde_json::from_str(schema).ok()?;
    let answer: Value = match serde_json::from_str(unfenced(answer).trim()) {
        Ok(answer) => answer,
        Err(why) => return Some(format!("the answer is not JSON: {why}")),
    };
    let validator = jsonschema::validator_for(&schema).ok()?;
    let error = validator.iter_errors(&answer).next()?;
    let at = error.instance_path().to_string();
    let at = if at.is_empty() { "the answer".to_owned() } else { format!("the answer at {at}") };
    Some(format!("{at} does not follow the schema: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_follows_the_schema_or_it_is_said_where_not() {
        let schema =
            r#"{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}"#;
        let check = |answer: &str, expected: Option<&str>| {
            assert_eq!(problem(schema, answer).as_deref(), expected, "{answer}");
        };
        check(r#" {"n": 3} "#, None);
        check(
            r#"{"n": "3"}"#,
            Some(r#"the answer at /n does not follow the schema: "3" is not of type "integer""#),
        );
        check("{}", Some(r#"the answer does not follow the schema: "n" is a required property"#));
        check("```json\n{\"n\": 3}\n```\n", None);
        check("three", Some("the answer is not JSON: expected ident at line 1 column 2"));
    }
    #[test]
    fn a_fence_is_taken_off_only_where_it_is_the_whole_answer() {
        let check = |answer: &str, left: &str| assert_eq!(unfenced(answer), left, "{answer:?}");
        check("```json\n{}\n```", "{}");
        check(" ```JSON\r\n[1,\n 2]\n```\n", "[1,\n 2]");
        check("```\n\"a ``` b\"\n```", "\"a ``` b\"");
        for whole in [
            "{}",
            "Here:\n```json\n{}\n```",
            "```json\n{}\n```\nThat is all.",
            "```json\n{}\n```\n```json\n{}\n```",
            "```rust\n{}\n```",
            "```json\nthree\n```",
            "```",
            "``````",
        ] {
            check(whole, whole);
        }
    }
}
