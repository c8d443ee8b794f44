//! What runs cost: counted exactly, said as unknown where it is, and kept below a cap.

use crate::bench_world::Bench;
use serde_json::{Value, json};

const PRICED: &str =
    "[models.\"openai/test\"]\ninput = \"2\"\noutput = 10.0\ncache_read = \"0.5\"\n";
/// 60 × 2 + 40 × 0.5 + 7 × 10 micro-dollars.
const TURN: u64 = 210_000_000;

fn turn(then: Value) -> Value {
    let mut turn = json!({"usage": {"input": 100, "output": 7, "cache_read": 40, "reasoning": 3}});
    turn.as_object_mut().unwrap().extend(then.as_object().unwrap().clone());
    turn
}

fn works() -> Value {
    turn(json!({"calls": [{"tool": "bash", "args": {"command": "true"}}]}))
}

/// A turn of 5 cents.
fn dear(n: usize) -> Value {
    let calls = json!([{"tool": "bash", "args": {"command": format!("true {n}")}}]);
    json!({"calls": calls, "usage": {"input": 5000, "output": 4000}})
}

fn says(what: &str) -> Value {
    turn(json!({"say": what}))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// keeps: cost-counted
#[test]
fn every_turn_loop_run_and_session_says_what_it_cost() {
    let bench = Bench::new(json!([works(), says("one"), says("two"), says("three")]));
    bench.own("cairn.toml", PRICED);
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let turns = events.iter().filter(|e| e["type"] == "turn/replied").map(|e| &e["cost"]);
    assert_eq!(turns.collect::<Vec<_>>(), [TURN, TURN]);
    let result = events.last().unwrap();
    assert_eq!((&result["cost"], &result["cost_shown"]), (&json!(2 * TURN), &json!("$0.0004")));
    assert_eq!((&result["loop_cost"], &result["unpriced_turns"]), (&json!(2 * TURN), &json!(0)));
    let again = bench.events(&["run", "--yolo", "--json", "-c", "more"]);
    let result = again.last().unwrap();
    assert_eq!((&result["cost"], &result["loop_cost"]), (&json!(3 * TURN), &json!(TURN)));
    let third = bench.cairn(&["run", "--yolo", "-c", "and more"]);
    let line = "done: 4 turns, 400 tokens in, 28 out, $0.0008 (the last loop $0.0002)";
    assert!(third.err.contains(line), "{}", third.err);
    assert_eq!(bench.cairn(&["run", "--yolo", "other"]).code, 0);
    let log = bench.cairn(&["log", events[0]["run"].as_str().unwrap()]).out;
    for part in [
        "1/1  (100 tokens in, 7 out, $0.0002)\n",
        "loop 1 ended: 200 (2 turns, 200 tokens in, 14 out, $0.0004)\n",
        "loop 2 ended: 200 (1 turn, 100 tokens in, 7 out, $0.0002)\n",
        "\nrun: 4 turns, 400 tokens in, 28 out, $0.0008\n",
        "\nsession: 6 turns, 600 tokens in, 42 out, $0.0013\n",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

// keeps: cost-counted
#[test]
fn the_price_comes_from_the_list_of_models_and_what_is_not_listed_is_unknown_not_free() {
    let bench = Bench::new(json!([says("hi")]));
    let cost = |model: &str| {
        let events = bench.events(&["run", "--json", "--model", model, "greet"]);
        events.last().unwrap().clone()
    };
    // 0.25 a million in, 0.025 cached, 2 out.
    assert_eq!(cost("openai/gpt-5-mini")["cost"], 60 * 250_000 + 40 * 25_000 + 7 * 2_000_000);
    assert_eq!(cost("openai/gpt-5-mini-2025-08-07")["cost"], 30_000_000);
    let unknown = cost("openai/test");
    assert_eq!((&unknown["cost"], &unknown["cost_shown"]), (&Value::Null, &Value::Null));
    assert_eq!(unknown["unpriced_turns"], 1);
    let said = bench.cairn(&["run", "greet"]).err;
    assert!(said.contains("done: 1 turn, 100 tokens in, 7 out, cost unknown, "), "{said}");
    assert!(
        bench.cairn(&["log"]).out.contains("\nrun: 1 turn, 100 tokens in, 7 out, cost unknown\n")
    );
}

// keeps: usage-adds-up
#[test]
fn usage_adds_up_every_reply_of_the_home_once() {
    let bench = Bench::new(json!([works(), says("done"), {"say": "nobody counted"}]));
    bench.own("cairn.toml", PRICED);
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let run = events[0]["run"].as_str().unwrap();
    assert_eq!(bench.cairn(&["fork", "--run", run]).code, 0);
    assert_eq!(bench.cairn(&["run", "--yolo", "-c", "the fork goes on"]).code, 0);
    assert_eq!(bench.cairn(&["run", "--yolo", "--model", "openai/other", "work"]).code, 0);
    let by = |by: &[&str]| lines(&bench.cairn(&[&["usage", "--json"], by].concat()).out);
    let models = by(&["--by", "model"]);
    assert_eq!(models[0]["model"], "openai/other");
    assert_eq!((&models[0]["cost"], &models[0]["unpriced_turns"]), (&Value::Null, &json!(2)));
    assert_eq!(models[1]["model"], "openai/test");
    assert_eq!(models[1]["turns"], 3, "a fork does not pay for its parent");
    assert_eq!((&models[1]["cost"], &models[1]["unpriced_turns"]), (&json!(2 * TURN), &json!(1)));
    let tokens = json!({"input": 200, "output": 14, "cache_read": 80, "reasoning": 6});
    assert_eq!((&models[1]["usage"], &models[1]["unmeasured_turns"]), (&tokens, &json!(1)));
    let sum =
        |lines: &[Value]| lines.iter().map(|line| line["turns"].as_u64().unwrap()).sum::<u64>();
    for (args, groups) in
        [(&["--by", "run"][..], 3), (&["--by", "session"], 1), (&["--by", "day"], 1), (&[], 2)]
    {
        let found = by(args);
        assert_eq!((found.len(), sum(&found)), (groups, 5), "{args:?}: {found:?}");
    }
    let table = bench.cairn(&["usage"]).out;
    assert!(table.contains("openai/other") && table.contains("  unknown\n"), "{table}");
    assert!(table.contains("  $0.0004 and 1 turn of unknown cost\n"), "{table}");
    assert!(table.lines().last().unwrap().contains("the provider did not say"), "{table}");
    assert_eq!(
        bench.cairn(&["usage", "--since", "2999-01-01"]).out,
        "no model was asked since 2999-01-01\n"
    );
    let wrong = bench.cairn(&["usage", "--since", "soon"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("\"soon\" is not a day; write it as 2026-01-31"), "{}", wrong.err);
}

// keeps: cost-cap
#[test]
fn a_loop_that_has_cost_its_cap_pauses_with_code_4_before_it_asks_again_and_can_go_on() {
    let bench = Bench::new(json!([dear(1), dear(2), dear(3), says("ok")]));
    bench.own("cairn.toml", PRICED);
    // Two turns are above the cap, one is below; the model takes more than it may.
    let done = bench.cairn(&["run", "--yolo", "--max-cost", "0.09", "work"]);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(
        done.err.contains("limit: the loop has cost $0.100000; its cap is $0.090000"),
        "{}",
        done.err
    );
    assert_eq!(bench.requests().len(), 2);
    assert!(bench.cairn(&["log"]).out.contains("loop 1 ended: 429 the loop has cost"));
    let on = bench.cairn(&["run", "--yolo", "-c", "--max-cost", "5", "go on"]);
    assert_eq!((on.code, on.out.as_str()), (0, "ok\n"), "{}", on.err);
}

// keeps: cost-cap
#[test]
fn a_project_may_lower_the_cap_and_it_is_told_to_programs() {
    let bench = Bench::new(json!([dear(1), dear(2), says("ok")]));
    bench.own("cairn.toml", &format!("max_cost = 1\n{PRICED}"));
    bench.temp.write("cairn.toml", "max_cost = 0.04\n");
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let driven = events.iter().find(|e| e["type"] == "run/driven").unwrap();
    assert_eq!(driven["max_cost"], 40_000_000_000_u64);
    let result = events.last().unwrap();
    assert_eq!((&result["status"], &result["exit_code"]), (&json!("limit"), &json!(4)));
    assert_eq!(bench.requests().len(), 1);
}

// keeps: cost-cap
#[test]
fn a_cap_that_cannot_be_kept_is_refused_at_the_start_or_ends_the_loop() {
    let bench = Bench::new(
        json!([{"calls": [{"tool": "bash", "args": {"command": "true"}}]}, {"say": "ok"}]),
    );
    let refused = bench.cairn(&["run", "--yolo", "--max-cost", "1", "work"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    for part in [
        "no price of openai/test is known, so max_cost cannot be kept",
        "cairn.toml",
        "[models.\"openai/test\"]",
    ] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
    assert!(bench.requests().is_empty());
    for (cost, told) in
        [("0", "must be US dollars above 0"), ("-1", "unexpected"), ("many", "must be US dollars")]
    {
        let wrong = bench.cairn(&["run", "--max-cost", cost, "work"]);
        assert_eq!(wrong.code, 2, "{}", wrong.err);
        assert!(wrong.err.contains(told), "{cost}: {}", wrong.err);
    }
    // The price is known, but the provider does not say what it took.
    bench.own("cairn.toml", PRICED);
    let ended = bench.cairn(&["run", "--yolo", "--max-cost", "1", "work"]);
    assert_eq!((ended.code, bench.requests().len()), (4, 1), "{}", ended.err);
    assert!(ended.err.contains("nobody knows what turn 1 cost"), "{}", ended.err);
}
