//! What the catalogue must know, and must not.

use super::*;
use cairn_types::PicoUsd;
use proptest::prelude::*;

fn own(context: u64, input: u64, output: u64) -> Own {
    Own {
        context: Some(context),
        input_price: Some(PicoUsd(input)),
        output_price: Some(PicoUsd(output)),
        ..Own::default()
    }
}

/// What matters of an entry, on a line.
fn told(entry: Option<Entry>) -> String {
    let Some(entry) = entry else { return "unknown".to_owned() };
    let price = entry
        .price
        .map_or("no price".to_owned(), |price| format!("{}/{}", price.input.0, price.output.0));
    let context = entry.context.map_or("?".to_owned(), |n| n.to_string());
    format!("{}/{} {context} {price} {}", entry.provider, entry.id, entry.source.as_str())
}

#[test]
fn a_name_is_resolved_by_the_written_rules_and_by_no_others() {
    let catalogue = Catalogue::bundled();
    for (name, expect) in [
        (
            "anthropic/claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4-5-20250929 200000 3000000/15000000 bundled",
        ),
        // A dated edition that is not listed has the undated model's price.
        (
            "anthropic/claude-sonnet-4-5-20991231",
            "anthropic/claude-sonnet-4-5 200000 3000000/15000000 bundled",
        ),
        ("openai/gpt-5-2025-08-07", "openai/gpt-5 400000 1250000/10000000 bundled"),
        ("google/models/gemini-2.5-pro", "google/gemini-2.5-pro 1048576 1250000/10000000 bundled"),
        (
            "openrouter/anthropic/claude-sonnet-4.5",
            "openrouter/anthropic/claude-sonnet-4.5 1000000 3000000/15000000 bundled",
        ),
        ("openrouter/openrouter/auto", "openrouter/openrouter/auto 2000000 no price bundled"),
        // The maker's own id is not the reseller's.
        ("openrouter/anthropic/claude-sonnet-4-5-20250929", "unknown"),
        ("openai/models/gpt-5", "unknown"),
        ("openai/gpt-5-99999999", "unknown"),
        ("openai/gpt-5-", "unknown"),
        ("openai/", "unknown"),
        ("openai", "unknown"),
        ("claude-sonnet-4-5", "unknown"),
        ("gpt-5/gpt-5", "unknown"),
        ("openai/GPT-5", "unknown"),
        ("openai/gpt-5\",\"name", "unknown"),
        ("openai\":{/gpt-5", "unknown"),
        ("openai/-20250929", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(told(catalogue.model(name)), expect, "{name}");
    }
}

#[test]
fn the_bundled_list_is_one_line_per_model_and_every_line_is_found_and_sound() {
    let catalogue = Catalogue::bundled();
    let whole = Document::parse(bundle::TEXT).unwrap();
    assert_eq!((catalogue.providers().len(), whole.len()), (21, 868));
    for ((provider, id), parsed) in &whole.models {
        let found = catalogue.model(&format!("{provider}/{id}")).unwrap();
        assert_eq!(found, Entry { source: Source::Bundled, ..parsed.clone() });
    }
    let by_provider: usize = catalogue.providers().iter().map(|p| catalogue.models(p).len()).sum();
    assert_eq!(by_provider, 868);
    let google = Catalogue::provider("google").unwrap();
    assert_eq!(google.name, "Google");
    assert!(google.env.iter().any(|name| name == "GEMINI_API_KEY"));
    assert_eq!(Catalogue::provider("nobody"), None);
}

#[test]
fn what_a_list_does_not_know_stays_unknown() {
    let catalogue = Catalogue::bundled();
    let image = catalogue.model("openai/gpt-image-1").unwrap();
    assert_eq!((image.context, image.output, image.price), (None, None, None));
    let text = r#"{"providers":{"a":{"models":[{"id":"b","cost":{"input":1}}]}}}"#;
    let entry = Catalogue::bundled().with_overrides(text).unwrap().model("a/b").unwrap();
    assert_eq!(
        (entry.price, entry.tools, entry.images),
        (None, None, None),
        "half a price is none"
    );
}

#[test]
fn the_users_words_beat_the_users_file_and_that_beats_the_bundled_list() {
    let file = r#"{"openai":{"name":"OpenAI","models":{
        "gpt-5":{"limit":{"context":7},"cost":{"input":"1","output":2.5,"cache_read":1e-1}},
        "gpt-new":{"limit":{"context":8}}}}}"#;
    let catalogue = Catalogue::bundled().with_overrides(file).unwrap();
    let catalogue = catalogue.with_own("openai/gpt-new", own(9, 4, 5));
    let catalogue = catalogue.with_own("here/mine", Own { context: Some(3), ..Own::default() });
    for (name, expect) in [
        ("openai/gpt-5", "openai/gpt-5 7 1000000/2500000 file"),
        ("openai/gpt-new", "openai/gpt-new 9 4/5 configuration"),
        ("openai/gpt-5-mini", "openai/gpt-5-mini 400000 250000/2000000 bundled"),
        ("here/mine", "here/mine 3 no price configuration"),
        ("here/other", "unknown"),
    ] {
        assert_eq!(told(catalogue.model(name)), expect, "{name}");
    }
    assert_eq!(catalogue.models("openai").len(), 52);
    assert_eq!(catalogue.models("here").len(), 1);
    assert_eq!(catalogue.providers().last().map(String::as_str), Some("here"));
}

#[test]
fn a_list_is_kept_so_that_it_reads_back_the_same() {
    let whole = Document::parse(bundle::TEXT).unwrap();
    assert_eq!(Document::parse(&whole.to_text()).unwrap(), whole);
    let dev = r#"{"x":{"id":"x","env":["X"],"models":{"m":{"id":"m","name":"M","attachment":true,
        "reasoning":true,"tool_call":false,"release_date":"2026-01","modalities":{"input":["text","pdf"],
        "output":["text"]},"open_weights":false,"cost":{"input":0.0000015,"output":2,
        "context_over_200k":{"input":9}},"limit":{"context":10,"output":0}}}}}"#;
    let kept = Document::parse(dev).unwrap();
    assert_eq!(
        kept.to_text(),
        "{\"source\":\"\",\"providers\":{\n\"x\":{\"name\":\"x\",\"models\":[\n\
        {\"id\":\"m\",\"name\":\"M\",\"context\":10,\"cost\":{\"input\":\"0.000002\",\"output\":\"2\"},\
        \"tool_call\":false,\"reasoning\":true,\"input\":[\"text\",\"pdf\"],\"released\":\"2026-01\"}\n]}\n}}\n"
    );
    assert_eq!(Document::parse(&kept.to_text()).unwrap(), kept);
}

#[test]
fn a_list_that_cannot_be_is_refused_whole_with_the_reason() {
    let deep = "[".repeat(100_000);
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(LONGEST));
    let model = |fields: &str| format!(r#"{{"a":{{"models":{{"b":{{{fields}}}}}}}}}"#);
    for (text, told) in [
        (String::new(), "it is not a list of models"),
        ("[]".into(), "it is not a list of models"),
        ("{}".into(), "it lists 0 models of 0 providers"),
        (deep, "it is not a list of models"),
        (long, "it is longer than 16 MiB"),
        (r#"{"a":{"models":[{"name":"no id"}]}}"#.into(), "missing field `id`"),
        (r#"{"A b":{"models":{"m":{}}}}"#.into(), "the provider \"A b\" is not a name"),
        (r#"{"a":{"models":{"x y":{}}}}"#.into(), "the model \"x y\" is not a name"),
        (r#"{"a":{"models":{"\u001b[2J":{}}}}"#.into(), "is not a name of one"),
        (r#"{"a":{"models":{"m":{},"m":{}}}}"#.into(), "\"a/m\" stands in it twice"),
        (r#"{"a":{"models":{"m":{}}},"a":{"models":{}}}"#.into(), "\"a\" stands in it twice"),
        (model(r#""cost":{"input":-1,"output":1}"#), "\"a/b\" has the input price -1"),
        (model(r#""cost":{"input":1,"output":1e7}"#), "has the output price 1e7"),
        (model(r#""cost":{"input":[],"output":1}"#), "has the input price []"),
        (model(r#""context":9999999999999"#), "has the context 9999999999999"),
        (model(r#""context":-5"#), "it is not a list of models"),
    ] {
        let refused = Document::parse(&text).unwrap_err().to_string();
        assert!(refused.contains(told), "{}: {refused}", &text[..text.len().min(60)]);
    }
}

proptest! {
    #[test]
    fn no_list_and_no_name_is_a_panic(text in "[{}\\[\\]\":,a-c0-9.modelsé日😀]{0,200}", name in "(é|日|😀|\\PC){0,40}") {
        let _ = Document::parse(&text);
        let _ = Catalogue::bundled().model(&name);
    }
}
