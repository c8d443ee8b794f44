//! `cairn models`: what is known of models, from whom, and how it is replaced.

use crate::bench_world::{Bench, Done};
use serde_json::{Value, json};
use std::fs;

fn bench() -> Bench {
    Bench::new(json!([{"say": "hi"}]))
}

fn shown(bench: &Bench, model: &str) -> Value {
    let done = bench.cairn(&["models", "show", model, "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

fn refused(done: &Done, told: &str) {
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains(told), "{}", done.err);
}

// keeps: models-known
#[test]
fn the_list_shows_what_one_can_use_and_with_all_everything() {
    let bench = bench();
    let mine = bench.cairn(&["models", "list"]).out;
    assert!(mine.starts_with("model "), "{mine}");
    let row = mine.lines().find(|line| line.starts_with("openai/gpt-5-mini ")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words[1..5], ["400k", "128k", "$0.25", "$2.00"]);
    assert!(words.contains(&"tools"), "{row}");
    assert!(!mine.contains("anthropic/"), "its key is not set: {mine}");
    assert!(mine.contains("`cairn models list --all`"), "{mine}");
    let all = bench.cairn(&["models", "list", "--all", "--json"]).out;
    assert!(all.lines().count() >= 865, "{}", all.lines().count());
    assert!(all.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let gemini = bench.cairn(&["models", "list", "gemini"]).out;
    assert!(gemini.contains("\ngoogle/gemini-2.5-pro "), "{gemini}");
    refused(
        &bench.cairn(&["models", "list", "nobody"]),
        "there is no provider \"nobody\"; known are openai",
    );
    let mut bare = bench.command(&["models", "list"]);
    let bare =
        String::from_utf8(bare.env_remove("OPENAI_API_KEY").output().unwrap().stdout).unwrap();
    assert!(!bare.contains("openai/"), "{bare}");
}

// keeps: models-known
#[test]
fn a_model_is_shown_with_its_source_and_an_unknown_one_is_not_made_up() {
    let bench = bench();
    let sonnet = shown(&bench, "anthropic/claude-sonnet-4-5");
    assert_eq!(sonnet["price"]["input"], 3_000_000);
    assert_eq!((&sonnet["context"], &sonnet["source"]), (&json!(200_000), &json!("bundled")));
    let text = bench.cairn(&["models", "show", "anthropic/claude-sonnet-4-5-20991231"]).out;
    for part in [
        "anthropic/claude-sonnet-4-5-20991231 is listed as anthropic/claude-sonnet-4-5\n",
        "input price     $3.00 per million tokens\n",
        "source          bundled with this program\n",
        "key             ANTHROPIC_API_KEY, or `cairn login anthropic`\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    refused(&bench.cairn(&["models", "show", "openai/gpt-0"]), "nothing is known of openai/gpt-0");
    refused(
        &bench.cairn(&["models", "show", "claude-sonnet-4-5"]),
        "is not a model; write provider/name. Alike are anthropic/claude-sonnet-4-5",
    );
}

// keeps: models-known
#[test]
fn a_model_is_shown_with_the_endpoint_that_is_set_and_an_unknown_provider_is_said() {
    let bench = bench();
    bench.own(
        "cairn.toml",
        "[providers.anthropic]\nbase_url = \"http://127.0.0.1:9/x\"\n\
         [providers.mine]\nbase_url = \"http://127.0.0.1:8/v1\"\nkey_env = \"MINE_KEY\"\n\
         [models.\"mine/m\"]\ncontext = 5\n[models.\"nowhere/m\"]\ncontext = 5\n",
    );
    let check = |model: &str, endpoint: Value, format: Value| {
        let said = shown(&bench, model);
        assert_eq!((&said["endpoint"], &said["format"]), (&endpoint, &format), "{model}");
        let text = bench.cairn(&["models", "show", model]).out;
        let line = text.lines().find(|line| line.starts_with("endpoint ")).unwrap();
        assert!(line.contains(endpoint.as_str().unwrap_or("none yet")), "{model}: {line}");
    };
    check("anthropic/claude-sonnet-4-5", json!("http://127.0.0.1:9/x"), json!("anthropic"));
    check("openai/gpt-5", json!(bench.model.url()), json!("chat"));
    check(
        "google/gemini-2.5-pro",
        json!("https://generativelanguage.googleapis.com"),
        json!("gemini"),
    );
    check("mine/m", json!("http://127.0.0.1:8/v1"), json!("chat"));
    check("nowhere/m", Value::Null, Value::Null);
    assert_eq!(shown(&bench, "mine/m")["key_variables"], json!(["MINE_KEY"]));
    refused(&bench.cairn(&["models", "show", "mine/other"]), "nothing is known of mine/other");
    let nobody = bench.cairn(&["models", "show", "nobody/m"]);
    refused(&nobody, "there is no provider \"nobody\"; known are openai");
    assert!(!nobody.err.contains("can be used"), "{}", nobody.err);
    refused(&bench.cairn(&["models", "show", "openai/"]), "is not a model; write provider/name");
    refused(&bench.cairn(&["models", "show", "scripted/walkthrough"]), "is a script");
}

// keeps: models-known
#[test]
fn the_users_words_beat_the_users_file_and_a_project_has_no_say() {
    let bench = bench();
    bench.own("models.json", r#"{"openai":{"models":{"gpt-5":{"cost":{"input":1,"output":2}},"new":{"limit":{"context":5}}}}}"#);
    let entry = shown(&bench, "openai/gpt-5");
    assert_eq!((&entry["price"]["input"], &entry["source"]), (&json!(1_000_000), &json!("file")));
    assert_eq!(shown(&bench, "openai/new")["price"], Value::Null);
    let own =
        "[models.\"openai/gpt-5\"]\ninput = \"0.1\"\n[models.\"gemini/mine.1\"]\ncontext = 7\n";
    bench.own("cairn.toml", own);
    let entry = shown(&bench, "openai/gpt-5");
    assert_eq!(entry["price"]["input"], 100_000);
    assert_eq!(
        (&entry["price"]["output"], &entry["source"]),
        (&json!(2_000_000), &json!("configuration"))
    );
    assert_eq!(shown(&bench, "google/mine.1")["context"], 7);
    for (text, told) in [
        (
            "[models.\"a/b\"]\ninput = 1\n",
            "cairn.toml:2: half a price of a/b is no price; set both input and output",
        ),
        (
            "[models.gpt-5]\ninput = 1\n",
            "models.gpt-5 is not a model; write [models.\"provider/name\"]",
        ),
    ] {
        bench.own("cairn.toml", text);
        refused(&bench.cairn(&["models", "show", "openai/gpt-5"]), told);
    }
    bench.own("cairn.toml", "");
    bench.temp.write("cairn.toml", "[models.\"openai/gpt-5\"]\ninput = 0\noutput = 0\n");
    refused(&bench.cairn(&["run", "x"]), "a project may not set models.openai/gpt-5.input");
}

// keeps: models-update
#[test]
fn an_update_says_what_changed_and_removing_it_goes_back() {
    let bench = bench();
    let file = bench.file("api.json");
    let path = file.to_str().unwrap();
    fs::write(&file, r#"{"openai":{"api":"http://evil","env":["HOME"],"models":{
        "gpt-5":{"name":"GPT-5","cost":{"input":9,"output":10},"limit":{"context":1}},"gpt-x":{"name":"X"},
        "gpt-5-mini":{"cost":{"input":0.25,"output":2,"cache_read":0.025},"limit":{"context":2}}}}}"#).unwrap();
    let said = bench.cairn(&["models", "update", path]);
    assert_eq!(said.code, 0, "{}", said.err);
    for part in [
        "3 models of ",
        "added: 1\n  openai/gpt-x\n",
        "price changed: 1\n  openai/gpt-5: in $9.00 out $10.00, was in $1.25 out $10.00 cached $0.125\n",
        "otherwise changed: 1\n  openai/gpt-5-mini\n",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert_eq!(shown(&bench, "openai/gpt-5")["price"]["input"], 9_000_000);
    let kept = fs::read_to_string(bench.temp.path().join(".config/cairn/models.json")).unwrap();
    assert!(!kept.contains("evil") && !kept.contains("HOME"), "{kept}");
    assert_eq!(bench.cairn(&["run", "x"]).code, 0, "the endpoint is where it was");
    let same = bench.cairn(&["models", "update", path]).out;
    assert!(same.ends_with("nothing is different from before\n"), "{same}");
    let back = bench.cairn(&["models", "update", "--remove"]);
    assert!(back.out.contains("removed: 1\n  openai/gpt-x\n"), "{}", back.out);
    assert_eq!(shown(&bench, "openai/gpt-5")["source"], "bundled");
    assert_eq!(bench.cairn(&["models", "update"]).code, 2);
}

// keeps: models-update
#[test]
fn a_list_that_cannot_be_is_refused_and_what_was_there_stays() {
    let bench = bench();
    let before = bench.own("models.json", r#"{"openai":{"models":{"kept":{"name":"Kept"}}}}"#);
    let text = fs::read_to_string(&before).unwrap();
    let file = bench.file("bad.json");
    let path = file.to_str().unwrap();
    for (content, told) in [
        (&b"not json"[..], "it is not a list of models"),
        (b"\xff\xfe", "Nothing was changed"),
        (b"{}", "it lists 0 models of 0 providers"),
        (
            br#"{"a":{"models":{"m":{"cost":{"input":-1,"output":1}}}}}"#,
            "\"a/m\" has the input price -1",
        ),
        (br#"{"a":{"models":{"\u001b[2J":{}}}}"#, "is not a name of one"),
    ] {
        fs::write(&file, content).unwrap();
        let done = bench.cairn(&["models", "update", path]);
        refused(&done, told);
        assert!(
            done.err.contains("Nothing was changed") && !done.err.contains('\u{1b}'),
            "{}",
            done.err
        );
    }
    let huge = fs::File::create(&file).unwrap();
    huge.set_len(17 << 20).unwrap();
    refused(&bench.cairn(&["models", "update", path]), "it is longer than");
    refused(&bench.cairn(&["models", "update", "/dev/zero"]), "it is not a file");
    refused(&bench.cairn(&["models", "update", "nowhere"]), "there is no such file");
    assert_eq!(fs::read_to_string(&before).unwrap(), text);
    // One that was damaged later is named with the fix, and the fix works.
    fs::write(&before, "{").unwrap();
    refused(&bench.cairn(&["run", "x"]), "`cairn models update --remove`");
    assert_eq!(bench.cairn(&["models", "update", "--remove"]).code, 0);
    assert_eq!(bench.cairn(&["run", "x"]).code, 0);
}

// keeps: models-known
#[test]
fn a_provider_without_a_place_or_a_key_is_told_what_to_write_where() {
    let bench = bench();
    let config = bench.temp.path().join(".config/cairn/cairn.toml");
    let config = config.to_str().unwrap();
    for (model, told) in [
        ("nobody/x", "[providers.nobody]\n  base_url = \"http://127.0.0.1:8080/v1\""),
        ("azure/x", "[providers.azure]\n  base_url = \"https://NAME.openai.azure.com/openai/v1\""),
    ] {
        let done = bench.cairn(&["run", "--model", model, "x"]);
        refused(&done, told);
        assert!(done.err.contains(config), "{}", done.err);
    }
    refused(
        &bench.cairn(&["run", "--model", "groq/x", "x"]),
        "groq needs a key: set GROQ_API_KEY, store one with `cairn login groq`",
    );
    bench.own("cairn.toml", "[providers.gemini]\nkey_env = \"MY_KEY\"\n");
    refused(&bench.cairn(&["run", "--model", "google/x", "x"]), "google needs a key: set MY_KEY,");
    bench.own("cairn.toml", "");
    let google = bench.cairn(&["run", "--model", "gemini/x", "x"]);
    refused(
        &google,
        "google needs a key: set GOOGLE_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY",
    );
}
