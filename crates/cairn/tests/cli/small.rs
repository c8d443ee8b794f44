//! What a small model is asked with: six tools, a short beginning, and how to stop.

use crate::bench_world::Bench;
use serde_json::{Value, json};

const SURFACES: [&str; 4] = ["native", "tags", "heredoc", "envelope"];

/// A model that says it is done, as it has to say it on this surface.
fn bench(surface: &str) -> Bench {
    let said = match surface {
        "heredoc" => "<<SEND[200]:ok:SEND",
        _ => "<update status=\"200\">ok</update>",
    };
    Bench::new(json!([
        {"expect": "NONCE is", "say": "{\"action\":\"final\",\"nonce\":\"{NONCE}\"}", "else": {"say": said}},
        {"say": "ok"}
    ]))
}

/// All the words of a request that a model reads.
fn words(request: &Value) -> usize {
    let messages = request["messages"].as_array().unwrap().iter();
    let said: usize = messages.map(|one| one["content"].as_str().unwrap().len()).sum();
    let tools = request["tools"].as_array().into_iter().flatten();
    said + tools.map(|tool| tool["function"].to_string().len()).sum::<usize>()
}

// keeps: small-profile
#[test]
fn the_first_request_to_a_small_model_is_short_and_has_six_tools_on_every_surface() {
    for surface in SURFACES {
        let bench = bench(surface);
        bench.temp.write("AGENTS.md", "long ".repeat(2000));
        let task = "Rename draft.txt to final.txt, and say when it is done.";
        let run = bench.cairn(&["run", "--small", "--surface", surface, task]);
        assert_eq!(run.code, 0, "{surface}: {}", run.err);
        let tokens = words(&bench.requests()[0]).div_ceil(4);
        println!("{surface}: about {tokens} tokens");
        assert!(tokens <= 900, "{surface}: about {tokens} tokens");
        let told = bench.cairn(&["surface", "show", surface, "--small", "--json"]);
        let told: Value = serde_json::from_str(&told.out).unwrap();
        assert!(told["tools"].as_array().unwrap().len() <= 6, "{surface}: {told}");
    }
}

// keeps: small-profile
#[test]
fn a_small_model_is_reminded_after_each_result_how_to_stop() {
    let call = |tool: &str, path: &str| json!({"tool": tool, "args": {"path": path}});
    let replies = json!([
        {"calls": [call("read", "a.txt"), call("read", "b.txt")]},
        {"calls": [call("list", ".")]},
        {"say": "done"}
    ]);
    let bench = Bench::new(replies.clone());
    bench.temp.write("a.txt", "a\n");
    assert_eq!(bench.cairn(&["run", "--small", "look"]).code, 0);
    let requests = bench.requests();
    let results: Vec<&str> = requests[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["role"] == "tool")
        .map(|one| one["content"].as_str().unwrap())
        .collect();
    assert_eq!(results.len(), 3, "{results:?}");
    let reminder = "\n(If the task is done, answer in words and call nothing.)";
    assert!(results.iter().all(|told| told.ends_with(reminder)), "{results:?}");
    let shown = bench.cairn(&["show", "log:///1/3#request"]);
    assert!(shown.out.contains("answer in words and call nothing"), "{}", shown.out);
    let usual = Bench::new(replies);
    assert_eq!(usual.cairn(&["run", "look"]).code, 0);
    assert!(!usual.requests()[2].to_string().contains("call nothing"));
}

// keeps: near-names
#[test]
fn an_address_that_is_not_there_names_the_nearest_entry() {
    let bench = Bench::new(json!([]));
    for (op, address) in [("edit", "known:///plans/autumn"), ("edit", "known:///colours")] {
        assert_eq!(bench.cairn(&["op", op, address, "--body", "x"]).code, 0);
    }
    for (address, near) in [
        ("known:///plans/autunm", "; the nearest is known:///plans/autumn"),
        ("known:///colors", "; the nearest is known:///colours"),
        ("known:///unlike", ""),
    ] {
        let read = bench.cairn(&["op", "read", address]);
        let told = format!("{address} does not exist{near}");
        assert!((read.out + &read.err).contains(&format!("{told}\n")), "{told}");
    }
}
